"""
A model served, with its explorer
=================================

A fitted model is one file without code in it. Twenty lines of plain WSGI answer with predictions
and what they are made of, and serve the explorer page beside them. Any framework does the same.
"""

# %%
# Fit and save
# ------------
import tempfile
from pathlib import Path

from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import FocusedTopicRegressor, TokenCounter
from topicfocus.datasets import make_reviews
from topicfocus.report import Explorer

reviews = make_reviews(3_000, n_themes=3, random_state=0)
pipeline = make_pipeline(TokenCounter(min_df=5), FocusedTopicRegressor(n_topics=6, random_state=0))
pipeline.fit(reviews.texts[:2_000], reviews.target[:2_000])

folder = Path(tempfile.mkdtemp())
topicfocus.save(pipeline, folder / "reviews.model")
explorer = Explorer(
    pipeline,
    texts=reviews.texts[2_000:],
    target=reviews.target[2_000:],
    target_name="rating",
    held_out=True,
    max_documents=100,
)
explorer.save(folder / "reviews.html")
print(sorted(f"{path.name}: {path.stat().st_size // 1024} KB" for path in folder.iterdir()))

# %%
# That is the page, which the server will have at its root:
explorer

# %%
# The server
# ----------
#
# It needs the model file and nothing of the training data. ``load`` executes nothing that is in
# the file.
import json


def make_app(folder):
    model = topicfocus.load(folder / "reviews.model")
    page = (folder / "reviews.html").read_bytes()
    counter, topics = model[0], model[-1]
    words = counter.get_feature_names_out()

    def app(environ, start_response):
        if environ["REQUEST_METHOD"] == "GET":
            start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
            return [page]
        length = int(environ.get("CONTENT_LENGTH") or 0)
        text = json.loads(environ["wsgi.input"].read(length))["text"]
        counts = counter.transform([text])
        low, high = topics.predict_interval(counts, coverage=0.8)
        amounts = topics.explain(counts).words[0].tocoo()
        answer = {
            "rating": round(float(topics.predict(counts)[0]), 2),
            "interval": [round(float(low[0]), 2), round(float(high[0]), 2)],
            "words": {
                words[v]: round(float(a), 3) for v, a in zip(amounts.col, amounts.data, strict=True)
            },
            "known_words": int(topics.relevant_words(counts)[0]),
        }
        start_response("200 OK", [("Content-Type", "application/json")])
        return [json.dumps(answer).encode()]

    return app


# %%
# It runs
# -------
#
# ``wsgiref`` of the standard library will do to try it; gunicorn, uWSGI or waitress take the
# same ``app``.
import threading
import urllib.request
from wsgiref.simple_server import WSGIRequestHandler, make_server


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


server = make_server("127.0.0.1", 0, make_app(folder), handler_class=Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}/"

question = json.dumps({"text": " ".join(reviews.texts[2_500].split()[:25])}).encode()
request = urllib.request.Request(address, data=question, method="POST")
with urllib.request.urlopen(request) as answer:
    print(json.dumps(json.load(answer), indent=1))
with urllib.request.urlopen(address) as answer:
    print("the page:", answer.headers["Content-Type"], len(answer.read()) // 1024, "KB")
server.shutdown()
server.server_close()

# %%
# What to watch when a model is in use: ``known_words``. Texts with fewer than three words that
# the topics contain are predicted like a text without words, whatever they say.
import matplotlib.pyplot as plt

counts = pipeline[0].transform(reviews.texts[2_000:])
mean, deviation = pipeline[-1].predict(counts, return_std=True)
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.errorbar(reviews.target[2_000:2_200], mean[:200], deviation[:200], fmt="o", alpha=0.35)
ax.set_xlabel("rating")
ax.set_ylabel("predicted, with its standard deviation")
ax.spines[["top", "right"]].set_visible(False)
plt.show()
