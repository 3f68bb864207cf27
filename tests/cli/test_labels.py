"""Codes with a hierarchy are printed by labels that a person can read."""

from topicfocus.cli.labels import with_labels

RENAL = "dx:renal|disorder|acute kidney failure"
LUNG = "dx:pulmonary|disorder|acute kidney failure"


def test_a_result_of_codes():
    result = {
        "topics": [{"words": [RENAL, "rx:aspirin"], "context": [LUNG], "class": "a|b"}],
        "words": {"kept": 2, "kept_examples": [RENAL], "raises": [{"word": LUNG, "change": 1.0}]},
        "folder": "/some/where/else",
    }
    shown = with_labels(result)
    own, other = shown["topics"][0]["words"][0], shown["topics"][0]["context"][0]
    assert own == "dx: acute kidney failure (renal)"
    assert other == "dx: acute kidney failure (pulmonary)"
    assert shown["topics"][0]["words"][1] == "rx: aspirin"
    assert shown["words"] == {
        "kept": 2,
        "kept_examples": [own],
        "raises": [{"word": other, "change": 1.0}],
    }
    # What is no word stays as it is, and so does what was given.
    assert shown["topics"][0]["class"] == "a|b" and shown["folder"] == "/some/where/else"
    assert result["topics"][0]["words"][0] == RENAL


def test_an_explanation_of_codes():
    shown = with_labels({"words": {RENAL: 0.5, LUNG: -0.1}, "topics": [{"words": [RENAL]}]})
    assert list(shown["words"].values()) == [0.5, -0.1]
    assert next(iter(shown["words"])) == shown["topics"][0]["words"][0]
    assert not any("|" in word for word in shown["words"])


def test_words_stay_words():
    result = {"words": {"and/or": 1.0, "film": 2.0}, "topics": [{"words": ["film"]}]}
    assert with_labels(result) is result
