"""The way of the data is the way of the imports: a layer knows only the layers before it."""

import ast
from functools import cache
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
    "distributed",
    "solvers",
    "persistence",
    "estimators",
    "metrics",
    "datasets",
    "selection",
    "report",
    "reproduce",
    "workflow",
    "cli",
)

#: Modules beside the folders that know no layer, so that every layer may know them.
BELOW = ("folders", "interrupts", "shown")


@cache
def nodes(path):
    """All of a file's syntax tree: every test below looks at every file."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path):
    """Layers of topicfocus that a file imports anywhere, functions included."""
    for node in nodes(path):
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
        for node in nodes(path):
            module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [module or ""]
            assert not any(name.startswith("sklearn") for name in names), path


def attributes(path):
    """Every `value._name` of a file whose value is not the object or class itself."""
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            itself = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not (itself or node.attr.startswith("__")):
                yield node


#: What Python itself has under such a name: fields of a NamedTuple, and leaving at once.
PYTHONS_OWN = {"_replace", "_fields", "_asdict", "_make", "_exit"}


@pytest.mark.parametrize("layer", LAYERS)
def test_no_folder_reads_private_names_of_another(layer):
    """A private name is one that the folder itself defines somewhere."""
    files = sorted((ROOT / layer).glob("**/*.py"))
    own = set()
    for path in files:
        for node in nodes(path):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                own.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                own.add(node.attr)
            elif isinstance(node, (ast.Name, ast.arg)):
                own.add(node.id if isinstance(node, ast.Name) else node.arg)
    for path in files:
        for node in attributes(path):
            known = node.attr in own or node.attr in PYTHONS_OWN or node.attr in ALLOWED
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            assert known, f"{where} reads {ast.unparse(node)}"
        for other in private_imports(path, layer):
            raise AssertionError(f"{path.relative_to(ROOT)} imports {other}")


#: Of other packages, where they have no public name for it.
ALLOWED = {
    "_processes": "workers of a ProcessPoolExecutor, to end them with their parent",
    "_SubParsersAction": "the type that argparse gives to add_subparsers",
    "_getvalue": "the value of numba's struct proxies, as its guide to extensions reads it",
    "_ARRAY_API": "NumPy's table of functions for C, where import_array() finds it",
}


def private_imports(path, layer):
    """Names with an underscore that a file imports from another folder."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("topicfocus."):
            if node.module.split(".")[1] == layer:
                continue
            yield from (
                f"{node.module}.{alias.name}"
                for alias in node.names
                if alias.name.startswith("_") and not alias.name.startswith("__")
            )


FAMILIES = {"Gaussian", "Bernoulli", "Poisson", "Ordinal", "Categorical", "Several"}


@pytest.mark.parametrize("layer", [name for name in LAYERS if name != "families"])
def test_only_families_know_which_family_it_is(layer):
    for path in (ROOT / layer).glob("**/*.py"):
        for node in nodes(path):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance":
                asked = {n.id for n in ast.walk(node.args[1]) if isinstance(n, ast.Name)}
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                assert not asked & FAMILIES, f"{where} asks for a family: {ast.unparse(node)}"
