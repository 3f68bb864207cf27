"""
In a notebook
=============

This page is a notebook, too (the link is at its end). Models, tables and the explorer show
themselves.
"""

# %%
# A pipeline
# ----------
from sklearn.pipeline import make_pipeline

from topicfocus import FocusedTopicRegressor, TokenCounter
from topicfocus.datasets import make_reviews

reviews = make_reviews(1_500, random_state=0)
model = make_pipeline(TokenCounter(min_df=3), FocusedTopicRegressor(n_topics=5, random_state=0))
model.fit(reviews.texts[:1_000], reviews.target[:1_000])

# %%
# Tables
# ------
counts = model[0].transform(reviews.texts[:1_000])
words = model[0].get_feature_names_out()
model[-1].topic_effects(counts, vocabulary=words).round(2)

# %%
# Words by what one occurrence of them changes:
effects = model[-1].word_effects(counts, vocabulary=words)
effects.sort_values("change").iloc[[0, 1, 2, -3, -2, -1]].round(2)

# %%
# Figures for a paper
# -------------------
#
# They take a model with documents, or an explorer that several share, and an ``ax``.
import matplotlib.pyplot as plt

from topicfocus.report import Explorer, plot_calibration, plot_effects, plot_topics

explorer = Explorer(
    model,
    texts=reviews.texts[1_000:],
    target=reviews.target[1_000:],
    target_name="rating",
    held_out=True,
)
figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
plot_effects(explorer, ax=axes[0])
plot_calibration(explorer, ax=axes[1])
plt.show()

# %%
# The words of each topic, numbered as in the first figure.
plot_topics(explorer)
plt.show()

# %%
# The explorer
# ------------
#
# In a notebook the last line of a cell is enough.
explorer
