"""The way of the data is the way of the imports: a layer knows only the layers before it."""

import ast
from pathlib import Path

import pytest

import topicfocus

ROOT = Path(topicfocus.__file__).parent
LAYERS = (
    "corpus",
    "families",
    "kernels",
    "text",
    "inference",
    "solvers",
    "persistence",
    "estimators",
    "metrics",
    "datasets",
    "report",
    "reproduce",
    "workflow",
    "cli",
)

#: Modules beside the folders that know no layer, so that every layer may know them.
BELOW = ("folders",)


def imported(path):
    """Layers of topicfocus that a file imports anywhere, functions included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide the layer"
            names = [node.module]
        for name in names:
            parts = name.split(".")
            if parts[0] == "topicfocus" and len(parts) > 1:
                yield parts[1]


def test_every_folder_is_a_known_layer():
    folders = {p.name for p in ROOT.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert folders == set(LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_imports_only_from_layers_before_it(layer):
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    files = sorted((ROOT / layer).glob("**/*.py"))
    assert files
    for path in files:
        for other in imported(path):
            assert other in (*allowed, *BELOW), f"{path.relative_to(ROOT)} imports {other}"


@pytest.mark.parametrize("module", BELOW)
def test_what_is_below_all_layers_knows_none(module):
    assert not list(imported(ROOT / f"{module}.py"))


@pytest.mark.parametrize("layer", LAYERS[: LAYERS.index("estimators")])
def test_nothing_below_the_estimators_knows_scikit_learn(layer):
    for path in (ROOT / layer).glob("**/*.py"):
        if path == ROOT / "text" / "counter.py":
            continue  # the vectoriser is an estimator; what it is made of is not
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [module or ""]
            assert not any(name.startswith("sklearn") for name in names), path
