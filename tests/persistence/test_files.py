"""A model saved and loaded is the same model."""

import io
import os
import subprocess
import sys
from dataclasses import fields, is_dataclass
from pathlib import Path

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from model_files import (
    KINDS,
    MODELS,
    REVIEWS,
    file_by_hand,
    fitted,
    fitted_kind,
    saved,
    target_of,
)
from numpy.testing import assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import topicfocus
from topicfocus import LDA, SLDARegressor
from topicfocus.persistence import ModelFileError, pack, unpack


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return fitted(request.param)


@pytest.fixture(scope="module")
def regressor():
    return fitted("SLDARegressor")


def round_trip(model):
    return topicfocus.load(io.BytesIO(saved(model)))


def stored(estimator):
    """Attributes of an estimator, without what only the next `partial_fit` or `fit` needs."""
    ignored = {"_stop_words_id", "_stream", "_last_epoch"}
    return {k: v for k, v in sorted(vars(estimator).items()) if k not in ignored}


def assert_same(one, other):
    """Equal to the last bit, types included; NumPy's numbers come back as Python's."""
    one, other = (v.item() if isinstance(v, np.generic) else v for v in (one, other))
    assert type(one) is type(other)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        assert_array_equal(one, other)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif hasattr(one, "get_params"):
        assert_same(stored(one), stored(other))
    elif is_dataclass(one):
        for field in fields(one):  # not what is computed from these
            assert_same(getattr(one, field.name), getattr(other, field.name))
    else:
        assert one == other or (one != one and other != other)  # NaN is NaN here


def test_every_estimator_predicts_to_the_last_bit(model, tmp_path):
    path = tmp_path / "a.model"
    model.save(path)
    loaded = topicfocus.load(path)
    assert loaded.get_params() == model.get_params()
    assert_same(stored(loaded), stored(model))
    for method in ("transform", "predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            old, new = (getattr(m, method)(REVIEWS.counts) for m in (model, loaded))
            assert old.dtype == new.dtype
            assert_array_equal(old, new)
    if hasattr(model, "elbo"):
        assert model.elbo(REVIEWS.counts) == loaded.elbo(REVIEWS.counts)
    assert loaded.top_words(3, REVIEWS.vocabulary) == model.top_words(3, REVIEWS.vocabulary)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_target_to_the_last_bit(kind):
    model = fitted_kind(kind)
    loaded = round_trip(model)
    assert_same(stored(loaded), stored(model))
    extras = KINDS[kind][3]
    for method in ("predict", "predict_proba", "decision_function"):
        if hasattr(model, method):
            assert hasattr(loaded, method)
            assert_same(*(getattr(m, method)(REVIEWS.counts, **extras) for m in (model, loaded)))
    assert_same(*(m.score(REVIEWS.counts, KINDS[kind][2], **extras) for m in (model, loaded)))


def test_what_a_model_asks_of_metadata_routing_travels_with_it():
    with config_context(enable_metadata_routing=True):
        model = SLDARegressor(2, max_epochs=1)
        model.set_fit_request(sample_weight=True, exposure="years", covariates=False)
        model.set_predict_request(return_std=True)
        model.fit(REVIEWS.counts, REVIEWS.target)
        loaded = round_trip(model)
        assert repr(loaded.get_metadata_routing()) == repr(model.get_metadata_routing())
        assert "years" in repr(loaded.get_metadata_routing())
    assert "_metadata_request" not in vars(round_trip(fitted("SLDARegressor")))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"max_features": 60, "stop_words": ["film", "movie"]},
        {"stop_words": "english", "ngram_range": (1, 2), "min_df": 3, "max_df": 0.9},
        {"analyzer": "char_wb", "ngram_range": (2, 2), "strip_accents": "unicode"},
        {"lowercase": False, "binary": True, "token_pattern": r"[a-z]{4,}", "dtype": np.float32},
        {"vocabulary": {"masterpiece": 1, "awful": 0, "film": 2}},
        {"vocabulary": ["awful", "masterpiece", "film"]},
    ],
    ids=lambda options: "-".join(options) or "default",
)
def test_a_pipeline_from_texts(options, tmp_path):
    name = "FocusedTopicRegressor"
    pipeline = make_pipeline(
        CountVectorizer(**options), getattr(topicfocus, name)(n_topics=2, max_epochs=2)
    )
    pipeline.fit(REVIEWS.texts, target_of(name))
    topicfocus.save(pipeline, tmp_path / "pipeline.model")
    loaded = topicfocus.load(tmp_path / "pipeline.model")
    assert_same(pipeline.steps, loaded.steps)
    assert_array_equal(loaded.predict(REVIEWS.texts), pipeline.predict(REVIEWS.texts))
    assert_array_equal(loaded[0].get_feature_names_out(), pipeline[0].get_feature_names_out())
    new = ["A MASTERPIECE, awful film: naïve café 東京", "", "film " * 50]
    assert_array_equal(loaded.predict(new), pipeline.predict(new))
    # Refitted too: the same texts give the same model.
    clone(loaded).fit(REVIEWS.texts, target_of(name))


def test_feature_names_stay():
    frame = pd.DataFrame(REVIEWS.counts.toarray(), columns=list(REVIEWS.vocabulary))
    model = fitted("FocusedTopicRegressor", frame, keep_words=["film"])
    loaded = round_trip(model)
    assert_same(loaded.feature_names_in_, model.feature_names_in_)
    assert loaded.top_words(5) == model.top_words(5)
    assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"film": "talkie"}))


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(-9, 9), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(plain)
def test_plain_values(value):
    # repr, because NaN is not equal to itself, and -0.0 equals 0.0.
    assert repr(unpack(pack(value))) == repr(value)


storable = hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biufU" and dtype.itemsize)


@given(hnp.arrays(storable, hnp.array_shapes(min_dims=0, min_side=0)))
def test_arrays(array):
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with pytest.raises(TypeError, match="Cannot save value"):
            pack(array)
        return
    loaded = unpack(pack(array))
    assert loaded.shape == array.shape and loaded.dtype == array.dtype.newbyteorder("=")
    assert loaded.astype(array.dtype).tobytes() == array.tobytes()
    assert loaded.flags.writeable and loaded.flags.aligned


def test_the_same_model_gives_the_same_bytes(regressor, tmp_path):
    pipeline = make_pipeline(CountVectorizer(stop_words=["the"]), LDA(2, max_epochs=2))
    for k, model in enumerate((regressor, pipeline.fit(REVIEWS.texts))):
        one, two, three = (tmp_path / f"{k}{c}" for c in "abc")
        topicfocus.save(model, one)
        topicfocus.save(model, two)
        topicfocus.save(topicfocus.load(one), three)
        assert one.read_bytes() == two.read_bytes() == three.read_bytes()


def test_paths_of_every_kind(regressor, tmp_path):
    regressor.save(str(tmp_path / "a"))
    topicfocus.save(regressor, tmp_path / "b")
    with open(tmp_path / "c", "wb") as stream:
        topicfocus.save(regressor, stream)
    assert len({(tmp_path / name).read_bytes() for name in "abc"}) == 1
    with open(tmp_path / "c", "rb") as stream:
        topicfocus.load(stream)
    topicfocus.load(str(tmp_path / "a"))
    with pytest.raises(ModelFileError, match='"rb"'):
        topicfocus.load(io.StringIO("text"))
    for place in (None, 3):
        with pytest.raises(TypeError):
            topicfocus.load(place)
        with pytest.raises(TypeError, match="needs a path or a binary file object"):
            regressor.save(place)


def test_loading_in_a_process_that_has_imported_nothing(regressor, tmp_path):
    regressor.save(tmp_path / "a.model")
    code = (
        "import sys, topicfocus; assert 'numpy' not in sys.modules;"
        f"print(topicfocus.load({str(tmp_path / 'a.model')!r}).n_features_in_)"
    )
    root = Path(topicfocus.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    assert int(result.stdout) == regressor.n_features_in_


# ---- what cannot be saved ----------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_an_unfitted_estimator_is_refused(name, tmp_path):
    with pytest.raises(NotFittedError, match=name):
        getattr(topicfocus, name)().save(tmp_path / "a.model")
    assert not list(tmp_path.iterdir())


def split(text):
    return text.split()


@pytest.mark.parametrize("parameter", ["tokenizer", "preprocessor", "analyzer", "strip_accents"])
def test_functions_are_refused_by_name(parameter, tmp_path):
    function = str.upper if parameter in ("preprocessor", "strip_accents") else split
    options = {parameter: function}
    if parameter == "tokenizer":
        options["token_pattern"] = None
    pipeline = make_pipeline(CountVectorizer(**options), LDA(2, max_epochs=1)).fit(REVIEWS.texts)
    with pytest.raises(TypeError, match=rf"CountVectorizer\.{parameter}: .* hold no code"):
        topicfocus.save(pipeline, tmp_path / "a.model")
    assert not list(tmp_path.iterdir())


def test_a_vectoriser_that_opens_files_is_refused(tmp_path):
    """Texts would be names of files: a stranger's model and text could read what is yours."""
    pipeline = make_pipeline(CountVectorizer(), LDA(2, max_epochs=1)).fit(REVIEWS.texts)

    def change(node, arrays):
        _, vectoriser = node["params"]["steps"][0]["value"]
        vectoriser["params"]["input"] = "filename"

    with pytest.raises(ModelFileError, match="must not open any"):
        topicfocus.load(file_by_hand(pipeline, change))
    pipeline[0].set_params(input="file")
    with pytest.raises(ValueError, match="input='content'"):
        topicfocus.save(pipeline, tmp_path / "a.model")
    assert not list(tmp_path.iterdir())


def test_steps_of_other_kinds_are_refused(regressor, tmp_path):
    class Mine(SLDARegressor):
        pass

    path = tmp_path / "a.model"
    texts, y = REVIEWS.texts, REVIEWS.target
    lda = LDA(2, max_epochs=1)
    for step in (TfidfTransformer(use_idf=False, norm=None), FunctionTransformer()):
        pipeline = make_pipeline(CountVectorizer(), step, lda).fit(texts)
        with pytest.raises(TypeError, match=f"{type(step).__name__} is not supported"):
            topicfocus.save(pipeline, path)
    with pytest.raises(TypeError, match="Ridge is not supported"):
        topicfocus.save(make_pipeline(CountVectorizer(), lda, Ridge()).fit(texts, y), path)
    with pytest.raises(TypeError, match="Mine is not supported"):
        topicfocus.save(Mine(2, max_epochs=1).fit(REVIEWS.counts, y), path)
    for thing in (3, "model", None, {"a": regressor}, SLDARegressor):
        with pytest.raises(TypeError, match="it is not an estimator"):
            topicfocus.save(thing, path)
    assert not list(tmp_path.iterdir())


def test_values_that_would_not_come_back_are_refused(regressor, tmp_path):
    model = clone(regressor).fit(REVIEWS.counts, REVIEWS.target)
    endless = []
    endless.append(endless)
    for value in (
        *(object(), 1j, range(3), b"bytes", 2**70, np.longdouble(1), len),
        *(np.array([1j]), np.array([object()]), np.array([["a"]], dtype=object), endless),
    ):
        model.extra_ = value
        with pytest.raises(TypeError, match=r"Cannot save SLDARegressor\.extra_"):
            model.save(tmp_path / "a.model")
    assert not list(tmp_path.iterdir())


def test_a_cache_folder_is_refused(tmp_path):
    pipeline = make_pipeline(CountVectorizer(), LDA(2, max_epochs=1)).fit(REVIEWS.texts)
    pipeline.set_params(memory=str(tmp_path / "cache"))
    with pytest.raises(ValueError, match=r"Pipeline\.memory"):
        topicfocus.save(pipeline, tmp_path / "a.model")


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_random_generator_becomes_none_with_a_warning(make):
    model = fitted("LDA", random_state=make(0))
    with pytest.warns(UserWarning, match=r"LDA\.random_state is a (Generator|RandomState)"):
        loaded = round_trip(model)
    assert loaded.random_state is None
    assert_array_equal(loaded.transform(REVIEWS.counts), model.transform(REVIEWS.counts))


# ---- other versions ----------------------------------------------------------------------------
