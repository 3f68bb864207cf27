"""Where figures are drawn: on the axes that a user gives, else on a new figure of pyplot."""

from __future__ import annotations

from typing import Any


def axes_for(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, else those of a new figure.

    The figure is pyplot's, as a notebook and `plt.show()` expect; a program that draws many closes
    each with `plt.close(ax.figure)`, or gives axes of its own.

    Raises
    ------
    ImportError
        If matplotlib is not installed: the extra ``plots``.
    """
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Figures need matplotlib: pip install 'topicfocus[plots]', or matplotlib itself."
        ) from error
    return plt.figure(figsize=size, layout="constrained").add_subplot()
