"""Codes kept whole, and tokens of a user's function: counted, read, saved, loaded."""

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import topicfocus
from topicfocus import SLDARegressor, TokenCounter
from topicfocus.persistence import ModelFileError
from topicfocus.text import ReadError, read_table

RECORDS = ["E11.9; I10;I10", "I10", "", " ;; heart failure;e11.9 ", "NA;E11.9"]


def dense(matrix):
    return matrix.toarray().astype(int).tolist()


def test_codes_are_counted_as_they_are():
    counter = TokenCounter(separator=";")
    counts = counter.fit_transform(RECORDS)
    assert counter.get_feature_names_out().tolist() == [
        *("E11.9", "I10", "NA", "e11.9", "heart failure"),
    ]
    expected = [[1, 2, 0, 0, 0], [0, 1, 0, 0, 0], [0] * 5, [0, 0, 0, 1, 1], [1, 0, 1, 0, 0]]
    assert dense(counts) == dense(counter.transform(RECORDS)) == expected
    assert counts.has_canonical_format and counts.dtype == np.float64
    assert counter.transform(["new;I10"]).toarray().ravel().tolist() == [0, 1, 0, 0, 0]
    given = TokenCounter(separator=";", vocabulary=["I10", "heart failure"])
    assert dense(given.fit_transform(RECORDS)) == [[2, 0], [1, 0], [0, 0], [0, 1], [0, 0]]
    learned = TokenCounter(separator=";", min_df=2, stop_words=["I10"]).fit(RECORDS)
    assert learned.vocabulary_ == {"E11.9": 0}


def test_where_codes_are():
    text = " E11.9 ;; I10;heart  failure"
    found = TokenCounter(separator=";").spans(text)
    assert [text[a:b] for a, b, _ in found] == ["E11.9", "I10", "heart  failure"]
    assert [code for _, _, code in found] == ["E11.9", "I10", "heart  failure"]
    assert TokenCounter(separator=", ").spans("a, b,c") == [(0, 1, "a"), (3, 6, "b,c")]


words = st.text(st.sampled_from("aB é Σ  "), max_size=12)


@settings(deadline=None, max_examples=80)
@given(
    st.lists(words, min_size=1, max_size=10),
    st.booleans(),
    st.sampled_from([(1, 1), (1, 2), (2, 3)]),
    st.sampled_from([None, ["a", "b"]]),
)
def test_a_tokenizer_is_used_as_scikit_learn_does(documents, lowercase, orders, stop):
    settings = {"lowercase": lowercase, "ngram_range": orders, "stop_words": stop}
    theirs = CountVectorizer(tokenizer=str.split, token_pattern=None, **settings)
    same(TokenCounter(tokenizer=str.split, **settings), theirs, documents)


def same(ours, theirs, documents):
    try:
        expected = theirs.fit_transform(documents)
    except ValueError:
        with pytest.raises(ValueError):
            ours.fit_transform(documents)
        return
    found = ours.fit_transform(documents)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    np.testing.assert_array_equal(ours.transform(documents).toarray(), expected.toarray())


def test_spans_of_a_tokenizer():
    text = "GOOD, good film"
    counter = TokenCounter(tokenizer=lambda text: text.replace(",", "").split())
    assert [text[a:b] for a, b, _ in counter.spans(text)] == ["GOOD", "good", "film"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"separator": ""}, "separator must be one character"),
        ({"separator": 3}, "separator must be one character"),
        ({"separator": ";", "ngram_range": (1, 2)}, "no n-grams of codes"),
        ({"separator": ";", "tokenizer": str.split}, "do not go together"),
        ({"tokenizer": "os:system"}, "only the name of a function, 'os:system'"),
        ({"tokenizer": 3}, "must be a function"),
        ({"tokenizer": lambda text: [1]}, "gave 1, not a string"),
    ],
)
def test_mistakes(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        TokenCounter(**settings).fit(["a b"])


def test_no_codes():
    with pytest.raises(ValueError, match="the 2 documents hold no codes"):
        TokenCounter(separator=";").fit([" ; ", ""])


# ---- columns of lists -------------------------------------------------------------------------

LISTS = [["E11.9", "I10"], [], ["heart failure", "I10", "I10"], [3, 4.5]]
JOINED = ["E11.9;I10", "", "heart failure;I10;I10", "3;4.5"]


def test_lists_in_json(tmp_path):
    rows = [{"codes": items, "y": i} for i, items in enumerate(LISTS)]
    lines, array = tmp_path / "r.jsonl", tmp_path / "r.json"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    array.write_text(json.dumps(rows), encoding="utf-8")
    for path in (lines, array):
        assert read_table(path, "codes", "y", separator=";").read().texts == JOINED
        with pytest.raises(ReadError, match=r"row 1.*'codes' is a list.*--separator ';'"):
            read_table(path, "codes", "y").read()


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (";x", "the item ';x', which contains the separator ';'"),
        (None, "None, not"),
        ([1], r"\[1\], not"),
    ],
)
def test_items_that_cannot_be_codes(tmp_path, item, message):
    path = tmp_path / "r.jsonl"
    path.write_text(f'{{"codes": ["a"]}}\n{json.dumps({"codes": ["b", item]})}\n')
    with pytest.raises(ReadError, match=f"row 2.*{message}"):
        read_table(path, "codes", separator=";").read()
    assert read_table(path, "codes", separator=";", skip_bad=True).read().texts == ["a"]


def test_lists_in_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.table({"codes": [*LISTS[:3], None, ["a;b"]], "who": list("abcde")})
    parquet.write_table(table, tmp_path / "r.parquet")
    read = read_table(tmp_path / "r.parquet", "codes", group="who", separator=";", skip_bad=True)
    block = read.read()
    assert (block.texts, block.group) == (JOINED[:3], ["a", "b", "c"])
    assert "row 4: no 'codes'" in read.skipped[0]
    assert "row 5: 'codes' has the item 'a;b'" in read.skipped[1]


# ---- model files ------------------------------------------------------------------------------


def by_spaces(text):
    return text.split()


def other_tokens(text):
    return text.split()


def saved(counter):
    rng = np.random.default_rng(0)
    names = [f"c-{i}" for i in range(30)]
    texts = [" ".join(rng.choice(names, 6)) for _ in range(60)]
    if counter.separator:
        texts = [text.replace(" ", counter.separator) for text in texts]
    model = make_pipeline(counter, SLDARegressor(2, random_state=0, max_epochs=2))
    model.fit(texts, rng.normal(size=60))
    file = io.BytesIO()
    topicfocus.save(model, file)
    return model, texts, file.getvalue()


def test_the_separator_is_in_the_model_file():
    model, texts, content = saved(TokenCounter(separator=";"))
    again = topicfocus.load(io.BytesIO(content))
    assert again[0].separator == ";"
    np.testing.assert_array_equal(again.predict(texts), model.predict(texts))
    with pytest.raises(ModelFileError, match="fitted without a tokenizer of its own"):
        topicfocus.load(io.BytesIO(content), tokenizer=by_spaces)


def test_of_a_tokenizer_a_model_file_has_the_name_only():
    model, texts, content = saved(TokenCounter(tokenizer=by_spaces))
    with pytest.raises(ModelFileError, match=r"test_codes:by_spaces.*load\(path, tokenizer=...\)"):
        topicfocus.load(io.BytesIO(content))
    again = topicfocus.load(io.BytesIO(content), tokenizer=by_spaces)
    np.testing.assert_array_equal(again.predict(texts), model.predict(texts))
    with pytest.warns(UserWarning, match="loaded with .*other_tokens"):
        topicfocus.load(io.BytesIO(content), tokenizer=other_tokens)


def test_a_file_cannot_name_a_function_to_be_imported(monkeypatch):
    """A stranger's file that names os:system is refused, or runs what the user gave instead."""
    import os

    def trap(*_):
        raise AssertionError("a file was executed")

    _, texts, content = saved(TokenCounter(tokenizer=NamedLikeSystem()))
    monkeypatch.setattr(os, "system", trap)
    with pytest.raises(ModelFileError, match="os:system"):
        topicfocus.load(io.BytesIO(content))
    with pytest.warns(UserWarning, match="os:system"):
        topicfocus.load(io.BytesIO(content), tokenizer=by_spaces).predict(texts)


class NamedLikeSystem:
    __module__ = "os"

    def __call__(self, text):
        return text.split()


NamedLikeSystem.__qualname__ = "system"


def test_the_page_says_that_it_does_not_read_codes(tmp_path):
    from topicfocus.report import Explorer

    model, texts, _ = saved(TokenCounter(separator=";"))
    Explorer(model, texts).save(tmp_path / "page.html")
    assert "The documents of this model are lists of codes." in (tmp_path / "page.html").read_text(
        encoding="utf-8"
    )
