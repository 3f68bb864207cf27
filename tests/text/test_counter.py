"""TokenCounter: what documents may be, parameters, and scikit-learn's conventions."""

import contextlib
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import run_script
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from texts import documents

from topicfocus import SLDARegressor, TokenCounter
from topicfocus.corpus import make_corpus
from topicfocus.text import sequences

SENTENCES = [
    "The quick brown fox jumps over the lazy dog.",
    "Der schnelle braune Fuchs, die Straße; STRASSE, ẞ!",
    "Быстрая коричневая лиса — быстрая ЛИСА",
    "Η γρήγορη αλεπού. ΟΔΟΣ, ΟΔΟΣ; Σίσυφος ΣΑΣ",
    "İstanbul'da ılık IŞIK, iyi günler",
    "素早い茶色の狐 snake_case 12 3.14 a1 ١٢٣",
    "naïve café cafe\u0301 Å Å ﬁne 😀👩‍🚀 x²",
    "हिन्दी में लिखा हुआ पाठ",
    "",
    "   \n\t",
]


def test_the_number_of_threads_and_the_size_of_chunks_change_nothing(monkeypatch):
    rng = np.random.default_rng(1)
    texts = [" ".join(f"wört{i}" for i in rng.zipf(1.2, 30) % 3000) for _ in range(3000)]
    settings = {"ngram_range": (1, 2), "min_df": 2, "max_features": 2000}
    expected = TokenCounter(**settings, n_jobs=1)
    counts = expected.fit_transform(texts)
    for chunk, n_jobs in ((1 << 23, 2), (5000, 1), (5000, 2), (5000, 5)):
        monkeypatch.setattr(sequences, "CHUNK_BYTES", chunk)
        monkeypatch.setattr(sequences, "_DOCUMENTS_AT_ONCE", 7)
        counter = TokenCounter(**settings, n_jobs=n_jobs)
        found = counter.fit_transform(texts)
        assert counter.vocabulary_ == expected.vocabulary_
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(found, part), getattr(counts, part))
        assert (counter.transform(texts) != counts).nnz == 0
        fitted = TokenCounter(**settings, n_jobs=n_jobs).fit(texts)
        assert fitted.vocabulary_ == expected.vocabulary_


def test_words_that_occur_very_often():
    texts = ["aa " * 300 + "bb", "aa " * 70_000, "bb aa"]
    counts = TokenCounter(max_df=1.0).fit_transform(texts)
    assert counts.toarray().tolist() == [[300, 1], [70_000, 0], [1, 1]]


@settings(max_examples=100)
@given(
    documents=documents,
    min_df=st.sampled_from([1, 2, 0.3]),
    max_df=st.sampled_from([1.0, 0.5, 2]),
    ngram_range=st.sampled_from([(1, 1), (1, 2), (2, 3)]),
)
def test_transform_counts_what_fit_transform_counted(documents, **parameters):
    counter = TokenCounter(**parameters)
    try:
        counts = counter.fit_transform(documents)
    except ValueError as error:
        assert "vocabulary" in str(error) or "max_df" in str(error) or "remain" in str(error)
        return
    assert (counter.transform(documents) != counts).nnz == 0
    present = (counts.toarray() > 0).sum(axis=0)
    assert (present > 0).all()


def test_counts_are_canonical_and_need_no_copy_in_a_corpus():
    counts = TokenCounter().fit_transform(SENTENCES)
    assert counts.has_sorted_indices and counts.has_canonical_format
    assert counts.dtype == np.float64 and counts.indices.dtype == np.int32
    assert np.shares_memory(make_corpus(counts).counts.data, counts.data)


# ---- what documents may be --------------------------------------------------------------------


def test_blocks_generators_and_arrays():
    expected = TokenCounter().fit_transform(SENTENCES).toarray()
    forms = {
        "tuple": tuple(SENTENCES),
        "generator": (text for text in SENTENCES),
        "array": np.array(SENTENCES),
        "objects": np.array(SENTENCES, dtype=object),
        "blocks": iter([SENTENCES[:3], [], SENTENCES[3:]]),
        "blocks of arrays": [np.array(SENTENCES[:3]), np.array(SENTENCES[3:])],
    }
    for name, form in forms.items():
        found = TokenCounter().fit_transform(form)
        np.testing.assert_array_equal(found.toarray(), expected, err_msg=name)


def test_pandas_series():
    pd = pytest.importorskip("pandas")
    expected = TokenCounter().fit_transform(SENTENCES).toarray()
    for dtype in (object, "str"):
        series = pd.Series(SENTENCES, dtype=dtype, index=range(50, 50 + len(SENTENCES)))
        np.testing.assert_array_equal(TokenCounter().fit_transform(series).toarray(), expected)
    with pytest.raises(ValueError, match=r"document 1 is missing"):
        TokenCounter().fit(pd.Series(["good", None], dtype="str"))
    with pytest.raises(ValueError, match=r"one column"):
        TokenCounter().fit(pd.DataFrame({"text": SENTENCES}))


def test_arrow_columns_of_every_kind(monkeypatch):
    pa = pytest.importorskip("pyarrow")
    expected = TokenCounter().fit_transform(SENTENCES).toarray()
    whole = pa.array(["front", *SENTENCES, "back"])
    forms = {
        "slice": whole[1:-1],
        "large": whole[1:-1].cast(pa.large_string()),
        "dictionary": whole[1:-1].dictionary_encode(),
        "chunks": pa.chunked_array([SENTENCES[:4], [], SENTENCES[4:]]),
        "blocks": iter([pa.array(SENTENCES[:4]), pa.array(SENTENCES[4:])]),
    }
    with contextlib.suppress(pa.ArrowNotImplementedError):  # pyarrow 16 has views but makes none
        forms["view"] = whole[1:-1].cast(pa.string_view())
    for chunk in (1 << 23, 10):
        monkeypatch.setattr(sequences, "CHUNK_BYTES", chunk)
        for name, form in forms.items():
            if name == "blocks" and chunk == 10:
                continue
            found = TokenCounter().fit_transform(form)
            np.testing.assert_array_equal(found.toarray(), expected, err_msg=name)


def test_arrow_columns_that_are_not_text():
    pa = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=r"document 2 is missing"):
        TokenCounter().fit(pa.array(["good", "bad", None]))
    with pytest.raises(ValueError, match=r"document 0 is missing"):
        TokenCounter().fit(pa.nulls(3))
    with pytest.raises(TypeError, match=r"document 0 is int \(1\), not text"):
        TokenCounter().fit(pa.array([1, 2]))
    bad = pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.array([0, 2, 4], pa.int32()).buffers()[1], pa.py_buffer(b"ok\xff\xfe")],
    )
    with pytest.raises(ValueError, match=r"2 documents from 0 on is not valid UTF-8"):
        TokenCounter().fit(bad)


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, np.float64("nan")])
def test_a_missing_document_is_named_by_its_row(missing):
    texts = ["good film"] * 2000 + [missing]
    for form in (
        texts,
        iter(texts),
        np.array(texts, dtype=object),
        iter([texts[:1500], texts[1500:]]),
    ):
        with pytest.raises(ValueError, match=r"document 2000 is missing"):
            TokenCounter().fit(form)


def test_wrong_documents():
    with pytest.raises(TypeError, match=r"document 1 is int \(3\), not text"):
        TokenCounter().fit(["good", 3])
    with pytest.raises(TypeError, match=r"document 0 is a list, not text. Join the words"):
        TokenCounter().fit([["good", "film"], ["bad"]])
    with pytest.raises(ValueError, match=r"string object received"):
        TokenCounter().fit("good")
    with pytest.raises(TypeError, match=r"document 1 is bytes .*not text.*bytes\.decode"):
        TokenCounter().fit(["good", b"caf\xe9"])
    with pytest.raises(ValueError, match=r"shape \(1, 2\)"):
        TokenCounter().fit(np.array([["a", "b"]]))


def test_texts_are_taken_only_as_they_are_needed(monkeypatch):
    """A stream of blocks is never read far ahead of what has been counted."""
    monkeypatch.setattr(sequences, "CHUNK_BYTES", 100)
    taken, alive = 0, []

    class Text(str):
        def __del__(self):
            alive.remove(id(self))

    def blocks():
        nonlocal taken
        for i in range(50):
            taken += 1
            block = [Text(f"word{i} again") for _ in range(20)]
            alive.extend(map(id, block))
            yield block
            del block
            assert len(alive) <= 20 * 2

    counts = TokenCounter(max_df=1.0, n_jobs=2).fit_transform(blocks())
    assert counts.shape == (1000, 51) and taken == 50


# ---- as a scikit-learn estimator --------------------------------------------------------------


def test_clone_pipeline_and_grid_search():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["good", "bad", "film", "plot", "the"], 20)) for _ in range(40)]
    target = np.array([text.count("good") - text.count("bad") for text in texts], dtype=float)
    model = make_pipeline(TokenCounter(max_df=1.0, phrases=False), SLDARegressor(2, max_epochs=3))
    search = GridSearchCV(model, {"tokencounter__min_df": [1, 2]}, cv=2).fit(texts, target)
    assert search.predict(texts).shape == (40,)
    names = search.best_estimator_[:-1].get_feature_names_out()
    assert {"bad", "good"} <= set(names.tolist())
    copy = clone(TokenCounter(min_df=3, vocabulary=["a"]))
    assert copy.min_df == 3 and not hasattr(copy, "vocabulary_")
    assert "min_df=3" in repr(copy)


def test_not_fitted():
    with pytest.raises(NotFittedError):
        TokenCounter().transform(["a"])
    with pytest.raises(NotFittedError):
        TokenCounter().get_feature_names_out()
    counts = TokenCounter(vocabulary=["bb", "aa"]).transform(["aa aa bb"])
    assert counts.toarray().tolist() == [[1, 2]]


def test_vocabularies():
    texts = ["aa bb cc"]
    assert TokenCounter(vocabulary={"cc": 0, "aa": 1}).fit_transform(texts).toarray().tolist() == [
        [1, 1]
    ]
    assert TokenCounter(vocabulary={"cc", "aa"}).fit(texts).vocabulary_ == {"aa": 0, "cc": 1}
    for wrong, message in (
        (["aa", "aa"], "Duplicate term"),
        ({"aa": 0, "bb": 2}, "numbers 0 to 1"),
        ([], "empty vocabulary"),
    ):
        with pytest.raises(ValueError, match=message):
            TokenCounter(vocabulary=wrong).fit(texts)
    with pytest.raises(TypeError, match="one string"):
        TokenCounter(vocabulary="aa").fit(texts)
    with pytest.raises(TypeError, match="one term is 3"):
        TokenCounter(vocabulary=["a", 3]).fit(texts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_df": 0}, "min_df must be"),
        ({"min_df": 1.5}, "min_df must be"),
        ({"max_df": -0.1}, "max_df must be"),
        ({"max_df": True}, "max_df must be"),
        ({"min_df": 3, "max_df": 0.5}, "max_df corresponds to < documents than min_df"),
        ({"min_df": 2}, "no terms remain"),
        ({"max_features": 0}, "max_features must be"),
        ({"min_length": 0}, "min_length must be"),
        ({"ngram_range": (2, 1)}, "must not fall"),
        ({"ngram_range": 2}, "two whole numbers"),
        ({"stop_words": "klingon"}, "one of english, dutch, .*, a list"),
        ({"stop_words": ["good", "bad"]}, "only stop words"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ValueError, match=message):
        TokenCounter(**settings).fit_transform(["good", "bad"])


def test_stop_words_that_no_text_contains_are_warned_of():
    with pytest.warns(UserWarning, match=r"inconsistent.*'the'"):
        TokenCounter(stop_words=["The", "don't"]).fit(["the film"])


def test_spans_lead_back_to_the_text():
    text = "Good, GOOD ΟΔΟΣ x ẞa"
    found = TokenCounter().spans(text)
    assert [text[a:b] for a, b, _ in found] == ["Good", "GOOD", "ΟΔΟΣ", "x", "ẞa"]
    assert [word for *_, word in found] == ["good", "good", "οδος", "x", "ßa"]


def test_importing_the_package_or_the_readers_does_not_import_scikit_learn_or_numba():
    script = """
import sys
import topicfocus
from topicfocus.text import ReadError
print(sorted({"sklearn", "numba", "pandas", "pyarrow", "scipy"} & set(sys.modules)))
from topicfocus.text import detect_target, read_table
print(sorted({"sklearn", "numba", "scipy"} & set(sys.modules)))
"""
    assert run_script(script).split() == ["[]", "[]"]
    assert "TokenCounter" in dir(sys.modules["topicfocus"])


def test_all_words_and_pairs_beside_the_terms():
    texts = ["the film is not good. it is a film", "is the film good?", "a good film it is"] * 4
    counter = TokenCounter(remainder=True)
    X = counter.fit_transform(texts)
    names = counter.remainder_vocabulary_
    assert set(X.feature_names) < set(names)
    assert {"the", "the film", "is not", "it is"} <= set(names)
    assert "good it" not in names  # a full stop is between them
    found = counter.transform(["It is a film, is it? The film is ... unknown"])
    rest = found.remainder.toarray()[0]
    assert (rest[names["it"]], rest[names["it is"]], rest[names["the film"]]) == (2, 1, 1)
    assert "is it" not in names or rest[names["is it"]] == 1
    np.testing.assert_array_equal(X[[3, 4]].remainder.toarray(), X.remainder.toarray()[3:5])
    assert X[:, :1].remainder.shape == X.remainder.shape
    plain = TokenCounter().fit_transform(texts)
    assert (plain != X).nnz == 0 and plain.remainder is None
    without = counter.without_remainder()
    assert without.transform(texts).remainder is None and counter.transform(texts).remainder.nnz


def test_all_words_beside_a_given_vocabulary_and_not_beside_codes():
    texts = ["a good film", "a bad film"] * 3
    X = TokenCounter(vocabulary=["good", "bad"], remainder=True).fit_transform(texts)
    assert X.shape == (6, 2) and "a good" in X.remainder.feature_names
    codes = TokenCounter(separator=";", min_df=1, remainder=True).fit_transform(["A1;B2", "A1"])
    assert codes.remainder is None
