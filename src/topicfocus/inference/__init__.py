"""What is computed of a model and its documents, between the kernels and the solvers.

Two objectives share a model (`state`), the way words enter a document (`words`, `channels`), topic
mixes and their uncertainty (`mixes`), and what each word adds to a prediction (`contributions`):

- `joint/`: the evidence lower bound of words and targets together (LDA, sLDA, pf-sLDA): sufficient
  statistics, closed-form updates, coefficients, selection, bounds and exact likelihoods.
- `focused/`: the constrained objective, in which a topic mix comes from the words alone, and the
  evidence that words are kept by (the focused model, pc-sLDA).
"""
