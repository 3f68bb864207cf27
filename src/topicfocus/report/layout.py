"""Topics in a plane: near where they use the same words."""

from __future__ import annotations

import numpy as np


def topic_map(components: np.ndarray, effect: np.ndarray) -> np.ndarray:
    """Places of topics, topics x 2, in a frame of [-1, 1].

    Classical scaling of the Hellinger distances d_jk² = 1 - Σ_v √(β_jv β_kv) between the topics'
    word distributions: the two leading axes of -½ J D² J. The first points to where effects rise,
    which the distances leave open.

    Parameters
    ----------
    components : array (topics, words)
        Rows sum to one.
    effect : array (topics,)

    Returns
    -------
    array (topics, 2)

    Examples
    --------
    >>> import numpy as np
    >>> from topicfocus.report.layout import topic_map
    >>> topic_map(np.eye(2), np.array([1.0, -1.0])).tolist()
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    n = len(components)
    roots = np.sqrt(components)
    squares = 1.0 - np.clip(roots @ roots.T, 0.0, 1.0)
    np.fill_diagonal(squares, 0.0)
    middle = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * middle @ squares @ middle)
    places = np.zeros((n, 2))
    for axis in range(min(2, n - 1)):
        length = max(float(values[n - 1 - axis]), 0.0)
        places[:, axis] = vectors[:, n - 1 - axis] * np.sqrt(length)
        direction = effect - effect.mean() if axis == 0 else places[:, axis] ** 3
        if places[:, axis] @ direction < 0:
            places[:, axis] *= -1
    largest = float(np.abs(places).max(initial=0.0))
    return np.round(places / largest, 4) + 0.0 if largest > 1e-9 else places
