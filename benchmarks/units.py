"""Does a model depend on the units of its target? Test R² and kept words on Yelp, stars rescaled.

    TOPICFOCUS_DATA=... python benchmarks/units.py

Prints a row a model: R² on 1,250 test documents after a fit to 3,000, for stars times 1e-6 to 1000
and stars + 1e6, and whether kept words and topics are the same to the last bit.
"""

from __future__ import annotations

import numpy as np
from data import real_data

import topicfocus

MODELS = ("FocusedTopicRegressor", "PCSLDARegressor", "PFSLDARegressor", "SLDARegressor")
UNITS = ((1, 0), (1e-6, 0), (1e-4, 0), (100, 0), (1000, 0), (1, 1e6), (1e-150, 0), (1e150, 0))


def main() -> None:
    data = real_data().load("yelp")
    X, y = data.train.counts[:3000], data.train.target[:3000].astype(float)
    for name in MODELS:
        row, first = [], None
        for times, plus in UNITS:
            model = getattr(topicfocus, name)(5, random_state=0).fit(X, times * y + plus)
            first = model if first is None else first
            # As stars again: squares of 1e150 are no numbers.
            predicted = (model.predict(data.test.counts) - plus) / times
            error = np.mean((predicted - data.test.target) ** 2) / np.var(data.test.target)
            words = np.array_equal(model.fitted_.state.inclusion, first.fitted_.state.inclusion)
            topics = np.array_equal(model.components_, first.components_)
            row.append(f"{1 - error:.12f}{'' if words and topics else ' (another model)'}")
        print(f"{name:24s}", *row, flush=True)


if __name__ == "__main__":
    main()
