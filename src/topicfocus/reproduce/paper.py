"""The paper's published figures: mean and standard deviation over its five runs.

From the tables of "Prediction Focused Topic Models via Feature Selection" (AISTATS 2020). Its
splits and its Yelp sample are not public, its health records are private: only Pang & Lee is the
same data, and there the vocabulary differs (docs/models.md).
"""

from __future__ import annotations

from typing import NamedTuple


class Published(NamedTuple):
    """A mean and its standard deviation."""

    mean: float
    sd: float


#: (data, model) -> (coherence@50, RMSE or AUC)
MAIN = {
    ("pang_lee", "sLDA"): (Published(0.362, 0.101), Published(1.682, 0.021)),
    ("pang_lee", "pc-sLDA"): (Published(0.492, 0.130), Published(1.298, 0.015)),
    ("pang_lee", "pf-sLDA"): (Published(1.987, 0.092), Published(1.305, 0.024)),
    ("yelp", "sLDA"): (Published(0.848, 0.086), Published(1.162, 0.017)),
    ("yelp", "pc-sLDA"): (Published(1.080, 0.213), Published(0.953, 0.004)),
    ("yelp", "pf-sLDA"): (Published(3.258, 0.102), Published(0.952, 0.011)),
    ("asd", "sLDA"): (Published(1.412, 0.113), Published(0.590, 0.013)),
    ("asd", "pc-sLDA"): (Published(2.178, 0.141), Published(0.701, 0.015)),
    ("asd", "pf-sLDA"): (Published(2.639, 0.091), Published(0.748, 0.013)),
}

#: (p, filter) -> (coherence@50, RMSE) of sLDA on the words that are left, Pang & Lee
FILTERING = {
    (0.10, "pf-sLDA"): (Published(1.916, 0.105), Published(1.418, 0.024)),
    (0.10, "correlation"): (Published(1.115, 0.092), Published(1.729, 0.031)),
    (0.15, "pf-sLDA"): (Published(1.509, 0.077), Published(1.313, 0.008)),
    (0.15, "correlation"): (Published(0.875, 0.088), Published(1.694, 0.017)),
}

#: assumed p -> (precision, recall); the truth is 0.25
SYNTHETIC = {
    0.15: (Published(1.000, 0.000), Published(0.430, 0.013)),
    0.25: (Published(0.981, 0.006), Published(0.962, 0.006)),
    0.35: (Published(0.885, 0.008), Published(0.982, 0.006)),
}

#: N -> coherence of (pc-sLDA, pf-sLDA), Pang & Lee
TOP_N = {10: (0.42, 1.52), 20: (0.44, 1.69), 30: (0.44, 1.76), 40: (0.46, 1.92), 50: (0.49, 1.99)}

#: The original algorithm re-run on our 4,596 words, 500 epochs, one split: p -> (RMSE, coherence)
RERUN = {0.10: (1.299, 1.803), 0.15: (1.313, 1.627)}
