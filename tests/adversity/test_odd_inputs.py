"""Damaged files, odd arrays and odd options: a result, or one line that says what is wrong."""

import gzip
import io
import json
import re

import numpy as np
import pytest
from command_line import topicfocus, write_reviews
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io as scipy_io
from scipy import sparse

import topicfocus as package
from topicfocus.text import ReadError, detect_target, read_table
from topicfocus.workflow import SettingError, read_config

COLUMNS = ("--text", "text", "--target", "stars")
#: A terminal would obey these.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PIECES = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b",", b"\n", b"\r", b"\x1b[31m", b"text", b"1e309"),
    *(b"nan", b"9" * 400, b"{", b"]", b"\\ud800", "é漢😀".encode(), b"PK\x03\x04", b"\x1f\x8b"),
    *(b"PAR1", b"%%MatrixMarket", b"[" * 5000, b"-1", b"null", b"\x80\x04", b"a" * 5000),
)
NUMBERS = (np.nan, np.inf, -1.0, 0.5, 1e300, 1e-300, 3.0)
quick = settings(
    max_examples=40,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def mutated(rng, content):
    """Make one to five changes: cut, insert, flip a bit or repeat."""
    out = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        place, how, size = int(rng.integers(0, len(out) + 1)), rng.integers(0, 5), 20
        if how == 0:
            del out[place:]
        elif how == 1:
            del out[place : place + size]
        elif how == 2:
            out[place:place] = PIECES[int(rng.integers(0, len(PIECES)))]
        elif how == 3 and place < len(out):
            out[place] ^= 1 << int(rng.integers(0, 8))
        else:
            out[place:place] = out[place : place + size]
    return bytes(out)


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    """A file and the result of a fit to it."""
    root = tmp_path_factory.mktemp("fixed")
    data = write_reviews(root / "reviews.csv", 120)
    more = ("--topics", 2, "--jobs", 1, "--inclusion-prior", 0.2, "--out", root / "model")
    done = topicfocus("fit", data, *COLUMNS, *more)
    assert done.returncode == 0, done.stderr
    return data, root / "model"


def check_command(place, *arguments, out=None):
    """Check the exit code, that an error is one line, and that nothing else is written."""
    before = {path.name for path in place.iterdir()}
    done = topicfocus(*arguments, cwd=place)
    about = f"{arguments}: exit {done.returncode}: {done.stderr[-600:]}"
    assert done.returncode in (0, 1, 2), about
    assert "Traceback" not in done.stderr and not CONTROLS.search(done.stderr), about
    allowed = {out} if done.returncode == 0 else set()
    assert {path.name for path in place.iterdir()} - before <= allowed, about
    if done.returncode:
        last = done.stderr.splitlines()[-1]
        assert re.match(r"topicfocus( \w+)?: error: \S", last) and len(last) < 3000, about
        assert not re.search(r"StopIteration|has no attribute|NoneType|nopython", last), about
    return done.returncode


def tables(data):
    """The same 40 rows in every format."""
    lines = data.read_text(encoding="utf-8").splitlines()[:41]
    rows = [dict(zip(("id", "text", "stars"), line.split(","), strict=True)) for line in lines[1:]]
    yield "a.csv", "\n".join(lines).encode()
    yield "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()
    yield "a.json", json.dumps(rows).encode()
    yield "a.csv.gz", gzip.compress("\n".join(lines).encode())


def test_damaged_tables(fixed, tmp_path):
    data, model = fixed
    for seed in range(8):
        for name, content in tables(data):
            rng = np.random.default_rng([seed, len(name)])
            (tmp_path / name).write_bytes(mutated(rng, content))
            more = ["--skip-bad"] if seed % 2 else []
            check_command(tmp_path, "predict", model, name, *more)


def test_fits_to_damaged_tables(fixed, tmp_path):
    for seed in range(3):
        (tmp_path / "a.csv").write_bytes(
            mutated(np.random.default_rng(seed), fixed[0].read_bytes())
        )
        more = ("--topics", 2, "--inclusion-prior", 0.2, "--no-baseline", "--skip-bad")
        out = f"o{seed}"
        if check_command(tmp_path, "fit", "a.csv", *COLUMNS, *more, "--out", out, out=out) == 0:
            package.load(tmp_path / out / "model.topicfocus")


def test_damaged_matrices(fixed, tmp_path):
    (tmp_path / "m.vocab.txt").write_text("superb\nawful\nfilm")
    for seed in range(12):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 4, (5, 3)).astype(float)
        if seed % 3 == 0:
            values[0, 0] = rng.choice(NUMBERS)
        for name in ("m.npz", "m.mtx"):
            stream = io.BytesIO()
            if name == "m.npz":
                sparse.save_npz(stream, sparse.csr_matrix(values))
            else:
                scipy_io.mmwrite(stream, sparse.coo_matrix(values))
            content = stream.getvalue()
            (tmp_path / name).write_bytes(mutated(rng, content) if seed % 2 else content)
            check_command(tmp_path, "predict", fixed[1], name)


def test_damaged_folders_of_counts(tmp_path):
    counts = np.random.default_rng(0).integers(0, 3, (6, 4)) + 1
    for seed in range(8):
        rng, folder = np.random.default_rng(seed), tmp_path / str(seed)
        package.write_counts(folder, [counts], ["a", "b", "é", "d"])
        path = sorted(folder.iterdir())[seed % 4]
        path.write_bytes(mutated(rng, path.read_bytes()))
        try:
            package.LDA(2, max_epochs=1).fit(package.open_counts(folder)[0])
        except (OSError, ValueError) as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    "options",
    [
        ("--topics", "-1"),
        ("--topics", "9" * 30),
        ("--inclusion-prior", "nan"),
        ("--test-share", "inf"),
        ("--max-df", ""),
        ("--kind", "\x1b[2J"),
        ("--covariates", "stars,stars"),
        ("--encoding", "no such"),
        ("--delimiter", "ab"),
        ("--out", "/"),
        ("--config", "."),
    ],
)
def test_options_with_odd_values(fixed, tmp_path, options):
    assert check_command(tmp_path, "fit", fixed[0], *COLUMNS, *options) != 0


@quick
@given(text=st.text(alphabet=st.characters(exclude_characters="\0"), max_size=300))
def test_any_text_is_explained(text, fixed, tmp_path):
    assert check_command(tmp_path, "explain", fixed[1], f"--text={text} superb") == 0


def odd_target(rng, n):
    """Targets of several kinds, some with an odd value or of another length."""
    y = [rng.normal(size=n), rng.integers(0, 2, n), rng.choice(["a", "b"], n)][rng.integers(0, 3)]
    if rng.random() < 0.3:
        y = np.full(n, rng.choice(NUMBERS))
    if rng.random() < 0.2:
        y = np.asarray(y, dtype=object)
        y[: int(rng.integers(0, 3))] = None
    return y[: n - 1] if rng.random() < 0.1 else y


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["LDA", "SLDARegressor", "PFSLDAClassifier", "FocusedTopicRegressor"]
)
def test_odd_arrays(name):
    """An estimator predicts finite numbers, or refuses with a message of its own."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 4, (int(rng.integers(0, 14)), int(rng.integers(0, 9)))).astype(float)
        if X.size and rng.random() < 0.3:
            X[0, 0] = rng.choice(NUMBERS)
        model = getattr(package, name)(int(rng.choice([1, 2, 30])), max_epochs=2, random_state=0)
        y = () if name == "LDA" else (odd_target(rng, len(X)),)
        try:
            model.fit(sparse.csr_array(X) if seed % 2 else X, *y)
            found = getattr(model, "predict_proba", model.transform)(X)
        except (ValueError, TypeError) as error:
            assert str(error) and not re.search("has no attribute|nopython", str(error))
            continue
        for part in found if isinstance(found, list) else [found]:
            assert np.isfinite(np.asarray(part, dtype=float)).all()


@quick
@given(content=st.binary(max_size=400), ending=st.sampled_from([".csv", ".tsv", ".jsonl", ".json"]))
def test_any_bytes_as_a_table(content, ending, tmp_path):
    path = tmp_path / f"a{ending}"
    path.write_bytes(b"text,stars\n" + content if ending == ".csv" else content)
    try:
        for block in read_table(path, "text", "stars", skip_bad=True):
            assert len(block.texts) == len(block.rows)
    except ReadError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv"])
@pytest.mark.parametrize("value", ["[" * 100_000, '{"a":' * 100_000])
def test_bottomless_nesting(ending, value, tmp_path):
    path = tmp_path / f"a{ending}"
    path.write_text('{"text": ' + value + ', "stars": 1}\n')
    with pytest.raises(ReadError):
        list(read_table(path, "text", "stars"))


@quick
@given(
    values=st.lists(st.one_of(st.none(), st.text(max_size=12), st.floats().map(str)), max_size=60),
    kind=st.sampled_from([None, "real", "count", "ordinal", "classes"]),
)
def test_any_column_as_a_target(values, kind):
    try:
        found = detect_target(values, kind, name="the target")
    except ReadError as error:
        assert "\n" not in str(error)
        return
    assert np.isfinite(found.values[~np.isnan(found.values)]).all()


JSON = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["topics", "ngrams", "covariates", "stop_words", "seed", "min-df", "file"])


@quick
@given(key=KEYS, value=JSON)
def test_any_value_in_a_config(key, value, tmp_path):
    path = tmp_path / "c.toml"
    path.write_text(f"{key} = {json.dumps(value)}", encoding="utf-8", errors="replace")
    try:
        found = read_config(path)
    except (SettingError, ReadError) as error:
        assert "\n" not in str(error)
    else:
        assert len(found) == 1
