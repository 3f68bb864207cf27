"""Files that are damaged, foreign, hostile or of another format: one line that says so."""

import contextlib
import hashlib
import io
import json
import os
import pickle
import sys
import time
import zipfile
from itertools import product

import numpy as np
import pytest
from model_files import (
    KINDS,
    ODD_VALUES,
    REVIEWS,
    altered,
    file_by_hand,
    fitted,
    fitted_kind,
    members,
    n_fields,
    saved,
    sealed,
    with_field,
)
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import LDA, SLDARegressor, TokenCounter
from topicfocus.persistence import HEADER, ModelFileError


@pytest.fixture(scope="module")
def model():
    return fitted("SLDAClassifier")


@pytest.fixture(scope="module")
def content(model):
    return saved(model)


def refused(source, match="Cannot load"):
    """The error is one line, begins with what was tried, and matches."""
    if isinstance(source, bytes):
        source = io.BytesIO(source)
    with pytest.raises(ModelFileError, match=match) as caught:
        topicfocus.load(source)
    message = str(caught.value)
    assert message.startswith("Cannot load ") and message.endswith(".")
    assert message.isprintable() and len(message) < 500
    return message


def with_header(content, change):
    """The file with its header changed, and a right digest."""
    return altered(content, lambda node, arrays: change(node)).getvalue()


def test_every_truncation_is_refused(content):
    for length in [0, 1, 20, 44, 45, 100, *np.linspace(200, len(content) - 1, 60).astype(int)]:
        refused(content[:length], "not a model file, or it was truncated or altered")


def test_every_altered_byte_is_refused(content):
    rng = np.random.default_rng(0)
    for place in {0, 30, len(content) - 1, *rng.integers(0, len(content), 300).tolist()}:
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        refused(bytes(flipped), "truncated or altered")


def test_foreign_files(tmp_path):
    arrays, other = io.BytesIO(), io.BytesIO()
    np.savez(arrays, a=np.ones(3))
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr(HEADER, json.dumps({"format": "something else"}))
    noise = np.random.default_rng(0).bytes(5000)
    for foreign in (b"", noise, b"%PDF-1.7 and so on" * 100, arrays.getvalue(), other.getvalue()):
        refused(foreign, "not a model file")
    refused(pickle.dumps({"a": 1}), "never a pickle")
    refused(sealed({HEADER: b'{"other": 3}'}), "there is no model in it")
    refused(sealed({HEADER: b"[]"}), "there is no model in it")
    assert "No such file" in refused(tmp_path / "missing.model", r"missing\.model")
    refused(tmp_path, "folder")


def test_a_pickle_inside_is_never_opened(content, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    parts = members(content)
    name = next(name for name in parts if "topic_word" in name)
    refused(sealed({**parts, name: stream.getvalue()}), "the size or type that it claims")
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize("version, remedy", [(1, "fit the model again"), (4, "upgrade topicfocus")])
def test_other_formats_give_one_clear_line(content, version, remedy):
    mark, other = (b"topicfocus model %d sha256 " % v for v in (3, version))
    unsealed = content[:-64].replace(mark, other)
    file = unsealed + hashlib.sha256(unsealed).hexdigest().encode()
    refused(file, f"format {version}, .* reads format 3 only; {remedy}")


def test_compressed_and_overlapping_members_are_refused(content):
    bomb = sealed({**members(content), "arrays/b.npy": b"\0" * 50_000_000}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 200_000
    refused(bomb, "compressed")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(HEADER, members(content)[HEADER])
        archive.writestr("arrays/a.npy", b"\0" * 10_000)
        for k in range(5):
            info = zipfile.ZipInfo(f"arrays/a{k}.npy")
            for field in ("header_offset", "CRC", "compress_size", "file_size"):
                setattr(info, field, getattr(archive.getinfo("arrays/a.npy"), field))
            archive.filelist.append(info)
            archive.NameToInfo[info.filename] = info
        archive.comment = b"topicfocus model 3 sha256 " + b"0" * 64
    whole = stream.getvalue()[:-64]
    refused(whole + hashlib.sha256(whole).hexdigest().encode(), "larger than the file")


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1000000000000), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -218), }",
        "{'descr': '<U0', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,), }",
        "__import__('os').abort()",
    ],
)
def test_arrays_that_claim_what_they_are_not(content, text):
    data = text.encode().ljust(118) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(data).to_bytes(2, "little") + data + b"\0" * 24
    name = next(name for name in members(content) if "topic_word" in name)
    refused(sealed({**members(content), name: data}))


def test_an_array_is_used_once(model):
    """Otherwise a small file asks for gigabytes: the same array again and again."""

    def change(node, arrays):
        arrays["few.npy"] = np.zeros(1000, np.int8)
        node["fitted"]["extra_"] = [{"$": "array", "value": "few.npy"}] * 2

    refused(file_by_hand(model, change))


@pytest.mark.parametrize(
    "value",
    [
        {"$": "os.system", "params": {}, "fitted": {}},
        {"$": "function", "value": ["tokenizer", "os:system"]},
        {"$": "subprocess.Popen", "params": {"args": ["id"]}, "fitted": {}},
        {"$": 3},
        {"$": None},
        {"$": ["tuple"], "value": []},
        {"$": "topicfocus.Gaussian", "params": {"noise_variance": "x"}, "fitted": {}},
        {"$": "topicfocus.Gaussian", "params": {"other": 1.0}, "fitted": {}},
        {"$": "topicfocus.Gaussian", "params": {}, "fitted": {"other_": 1.0}},
        {"$": "topicfocus.Hyperparameters", "params": {}, "fitted": {}},
        {"$": "topicfocus.Hyperparameters", "params": {"n_topics": 2.5}, "fitted": {}},
        {"$": "topicfocus.Hyperparameters", "params": {"n_topics": 3, "bound": "x"}, "fitted": {}},
        {"$": "dtype", "value": "object"},
        {"$": "array", "value": "../../etc/passwd"},
        {"$": "array"},
        {"$": "dict", "value": [[[1], 1]]},
        {"$": "dict", "value": [1]},
        {"$": "tuple", "value": 3},
        10**30,
        -(10**5000 // 3),
        json.loads("1e999"),
        float("nan"),
    ],
    ids=lambda value: str(value)[:60] if isinstance(value, dict) else type(value).__name__,
)
def test_nonsense_values(content, value):
    sys.set_int_max_str_digits(0)
    try:
        file = with_header(content, lambda node: node["fitted"].update(extra_=value))
    finally:
        sys.set_int_max_str_digits(4300)
    refused(file)


@pytest.mark.parametrize(
    "name", ["predict", "coef_", "__class__", "__dict__", "_stream", "a b_", "n_topics", "save", ""]
)
def test_attributes_cannot_hide_what_the_class_has(content, name):
    refused(with_header(content, lambda node: node["fitted"].update({name: 3})), "no attribute")


def test_a_value_of_another_type_is_refused_without_names_of_internals(content):
    file = with_header(content, lambda node: node.update(requests={"$": "tuple", "value": []}))
    assert "object has no attribute" not in refused(file, "is not valid")


def test_bottomless_nesting(content):
    text = members(content)[HEADER].replace(b'"fitted": {', b'"fitted": {"e": ' + b"[" * 10**6, 1)
    refused(sealed({**members(content), HEADER: text}))


# ---- limits on what a file may ask for -----------------------------------------------------------


def pipeline_file(counter, **changes):
    model = make_pipeline(counter, LDA(2, max_epochs=1)).fit(REVIEWS.texts)

    def change(node, arrays):
        node["params"]["steps"][0]["value"][1]["params"].update(changes)

    return file_by_hand(model, change)


@pytest.mark.parametrize("counter", [CountVectorizer(analyzer="char"), TokenCounter()])
@pytest.mark.parametrize(
    "orders", [[1, 100_000], [1, 10**18], [0, 1], [2, 1], [1], 3, None, ["a", 2]]
)
def test_n_grams_have_a_limit(counter, orders):
    value = {"$": "tuple", "value": orders} if isinstance(orders, list) else orders
    refused(pipeline_file(counter, ngram_range=value), "n-grams|ngram_range")
    counter = type(counter)(ngram_range=(1, 33), max_features=50)
    with pytest.raises(ValueError, match="n-grams must have at most 32"):
        topicfocus.save(
            make_pipeline(counter, LDA(2, max_epochs=1)).fit(REVIEWS.texts), io.BytesIO()
        )


@pytest.mark.parametrize(
    "changes",
    [
        {"token_pattern": "("},
        {"token_pattern": 3},
        {"token_pattern": "(a)(b)"},
        {"analyzer": "words"},
        {"strip_accents": "all"},
        {"stop_words": "klingon"},
        {"input": "filename"},
        {"vocabulary_": {}},
    ],
    ids=str,
)
def test_vectorisers_with_parameters_that_do_not_work(changes):
    refused(pipeline_file(CountVectorizer(), **changes), "CountVectorizer is not valid")


@pytest.mark.parametrize(
    "name, value",
    [
        ("n_topics", 10**12),
        ("n_topics", 10**30),
        ("n_topics", "many"),
        ("n_jobs", 10**9),
        ("n_jobs", 0),
        ("doc_topic_prior", -1.0),
        ("doc_topic_prior", 1e308),
        ("max_epochs", -3),
    ],
)
def test_parameters_have_limits(name, value):
    model = SLDARegressor(3, max_epochs=1).fit(REVIEWS.counts, REVIEWS.target)
    file = file_by_hand(model, lambda node, arrays: node["params"].update({name: value}))
    if value == 1e308:  # a prior of a later fit; this model has its own
        topicfocus.load(file).predict(REVIEWS.counts)
    else:
        refused(file)


@pytest.mark.parametrize("kind", ["several numbers", "several classes", "real with covariates"])
@pytest.mark.parametrize("huge", [1e308, -1e308])
def test_numbers_of_1e308_are_refused(kind, huge):
    """In every array and every number of what was fitted: refused, or without effect."""
    model = fitted_kind(kind)
    content = saved(model)
    names = [name for name in members(content) if name != HEADER]
    for place in names:

        def change(node, arrays, place=place):
            if arrays[place].dtype == np.float64 and arrays[place].size:
                arrays[place].flat[0] = huge
                return
            raise LookupError

        try:
            file = altered(content, change)
        except LookupError:
            continue
        if "evidence" in place or "labels" in place:  # only shown
            continue
        refused(file, "is not valid")


# ---- every field of the header -------------------------------------------------------------------

SWEPT = ["pipeline", "several numbers", "several classes", "real with covariates"]
#: One of so many inputs; all of them take two minutes.
EVERY = 1 if os.environ.get("TOPICFOCUS_SLOW") else 37


@pytest.mark.parametrize("kind", SWEPT)
def test_any_value_of_any_field_is_refused_or_harmless(kind):
    """The file is refused in one line, or its model predicts finite numbers or refuses texts."""
    if kind == "pipeline":
        model = make_pipeline(TokenCounter(min_df=2), SLDARegressor(2, max_epochs=1))
        model.fit(REVIEWS.texts, REVIEWS.target)
        X, more = REVIEWS.texts[:3], {}
    else:
        model, X = fitted_kind(kind), REVIEWS.counts[:3]
        more = {name: values[:3] for name, values in KINDS[kind][3].items()}
    content = saved(model)
    inputs = list(product(range(n_fields(content)), ODD_VALUES))[::EVERY]
    for i, value in inputs:
        began = time.process_time()
        try:
            again = topicfocus.load(io.BytesIO(with_field(content, i, value)))
        except ModelFileError as error:
            assert str(error).isprintable() and len(str(error)) < 600
            assert "NoneType" not in str(error)
            continue
        with contextlib.suppress(ValueError, TypeError):
            method = getattr(again, "predict_proba", again.predict)
            found = method(X, **more)
            parts = found if isinstance(found, list) else [found]
            assert all(np.isfinite(np.asarray(part, dtype=float)).all() for part in parts)
        assert time.process_time() - began < 20
