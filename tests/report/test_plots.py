"""The plots show the numbers of the model."""

import numpy as np
import pytest
from report_cases import case

from topicfocus.report import Explorer, plots

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    """Figures of pyplot live until they are closed."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def explorer(kind, **options):
    model, texts, target = case(kind)
    return Explorer(model, texts=texts[:80], target=target[:80], **options)


@pytest.mark.parametrize("kind", ["regression", "multiclass", "graded", "joint"])
def test_every_figure_draws(kind, tmp_path):
    made = explorer(kind, names=["$x$", "b", "c"])
    for name in ("effects", "topics", "calibration"):
        ax = np.ravel(getattr(plots, f"plot_{name}")(made))[0]
        ax.figure.savefig(tmp_path / f"{name}.png", dpi=50)
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_topics_are_drawn_by_what_they_do():
    """From `low` to `high` of `topic_effects`, with the interval of the difference."""
    model, texts, stars = case("regression")
    made = explorer("regression", target_name="stars", held_out=True)
    counts = model[:-1].transform(texts[:80])
    effects = model[-1].topic_effects(counts, stars[:80]).sort_values("change")
    ax = plots.plot_effects(made)
    shown = [t.get_text().replace("\n", " ") for t in ax.get_yticklabels()]
    names = made.summary["topics"]["names"]
    assert shown == [f"{3 - i}: {names[k]}" for i, k in enumerate(effects["topic"])]
    lines = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2][1:]
    np.testing.assert_allclose(lines[1::2], effects[["low", "high"]], rtol=1e-6)
    ends = effects[["lower", "upper"]].to_numpy() + effects[["low"]].to_numpy()
    np.testing.assert_allclose(lines[::2], ends, rtol=1e-6)
    assert ax.get_xlabel().startswith("predicted stars")
    # The same from the pipeline and texts, without an Explorer.
    again = plots.plot_effects(model, texts[:80], stars[:80])
    for one, other in zip(ax.lines, again.lines, strict=True):
        np.testing.assert_array_equal(one.get_xdata(), other.get_xdata())


@pytest.mark.parametrize("kind", ["regression", "graded"])
def test_topics_are_drawn_by_their_words(kind):
    """The first words of Python in their order, with their probabilities."""
    model, texts, _ = case(kind)
    axes = plots.plot_topics(model, texts[:80], n_words=5)
    vocabulary = model[0].get_feature_names_out()
    words = model[-1].top_words(5, vocabulary)
    number = explorer(kind).summary["topics"]["number"]
    for k, place in enumerate(number):
        ax = axes[place - 1]
        assert [t.get_text() for t in ax.get_yticklabels()] == words[k]
        columns = [int(np.flatnonzero(vocabulary == word)[0]) for word in words[k]]
        np.testing.assert_allclose(
            [bar.get_width() for bar in ax.patches], model[-1].components_[k, columns], rtol=1e-5
        )


@pytest.mark.parametrize(
    ("kind", "label"),
    [("binary", "probability of"), ("multiclass", "probability of"), ("poisson", "expected")],
)
def test_topics_are_on_the_scale_of_the_target(kind, label):
    ax = plots.plot_effects(explorer(kind))
    assert ax.get_xlabel().startswith(label)
    if kind != "poisson":
        ax.figure.canvas.draw()
        assert all(t.get_text().endswith("%") for t in ax.get_xticklabels())


def test_a_frontier_has_a_line_for_each_number_of_topics_or_goes_along_them():
    rows = [
        {"n_topics": k, "inclusion_prior": p, "rmse": k + p} for p in (0.3, 0.1) for k in (3, 5)
    ]
    failed = {"n_topics": 9, "inclusion_prior": 0.1, "rmse": float("nan"), "error": "ValueError"}
    ax = plots.plot_frontier([*rows, failed], "rmse")
    assert [line.get_label() for line in ax.lines] == ["3 topics", "5 topics"]
    np.testing.assert_allclose(ax.lines[1].get_xydata(), [[0.1, 5.1], [0.3, 5.3]])
    ax = plots.plot_frontier(explorer("regression", frontier=rows[:2]))
    assert ax.get_xlabel() == "topics" and ax.get_ylabel() == "rmse"
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[3, 3.3], [5, 5.3]])


def test_errors_say_what_is_missing():
    model = case("regression").model
    bare = Explorer(model)
    with pytest.raises(ValueError, match="no frontier"):
        plots.plot_frontier(bare)
    with pytest.raises(ValueError, match="give a target"):
        plots.plot_calibration(bare)
    with pytest.raises(ValueError, match="predictor must be 0 to 0"):
        plots.plot_effects(bare, predictor=1)
    with pytest.raises(ValueError, match="has its documents"):
        plots.plot_effects(bare, ["a text"])
    with pytest.raises(ValueError, match="one of a"):
        plots.plot_frontier([{"inclusion_prior": 0.1, "a": 1.0}], "b")


def test_the_frontier_of_a_search_has_standard_errors_and_the_setting_selected():
    rows = [
        {"n_topics": k, "words": w, "score": w / 100 - k / 50, "score_se": 0.02, "chosen": False}
        for k in (3, 5)
        for w in (40, 90)
    ]
    rows[1]["chosen"] = True
    ax = plots.plot_frontier(rows, score="R²")
    assert ax.get_xlabel() == "words kept" and ax.get_ylabel().startswith("test R²")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "3 topics",
        "5 topics",
        "selected",
    ]
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[40, 0.34], [90, 0.84]])
    dotted = next(line for line in ax.lines if line.get_linestyle() == ":")
    np.testing.assert_allclose(dotted.get_ydata(), 0.84 - 0.02)
    assert len(ax.collections) == 2  # error bars
