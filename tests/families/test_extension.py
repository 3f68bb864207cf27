"""A family from outside the package in the kernels; kernels as plain Python, those of texts too."""

import json
import os
from dataclasses import replace
from pathlib import Path

import kernel_cases
import numpy as np
import pytest
from kernel_cases import EXAMPLES, SOURCE_ROOT, local_stats, random_corpus, run_script
from outside_family import NegativeBinomial
from texts import assert_counted

from topicfocus import SLDARegressor
from topicfocus.datasets import make_reviews
from topicfocus.families import Gaussian, common
from topicfocus.kernels import reference
from topicfocus.kernels.constrained import (
    GRADIENTS,
    ConstrainedStats,
    constrained_documents,
    map_documents,
)
from topicfocus.kernels.local import LocalBudget, WordTable, infer_documents
from topicfocus.kernels.uncollapsed import AdamStep, Uncollapsed, UncollapsedStats, step_documents


def test_infer_documents_with_an_outside_family():
    rng = np.random.default_rng(5)
    family = NegativeBinomial(1.3)
    case = random_corpus(rng, [6, 0, 1, 9, 4, 12], 15, 4, Gaussian(1.0))
    target = rng.poisson(2.0, size=(6, 1)).astype(float)
    weight = np.array([[1], [1], [0], [2], [0.5], [1.0]])
    corpus = case.corpus._replace(target=target, target_weight=weight)
    coef = np.array([[-0.5, 0.0, 0.4, 0.9]])
    case = replace(case, corpus=corpus, coef=coef)
    gamma = case.start.copy()
    stats = local_stats(15, 4)
    words = WordTable(case.table, case.multiplicity)
    budget = LocalBudget(6, 0.0)
    infer_documents(0, 6, corpus, words, case.prior, coef, family, gamma, budget, stats)
    expected_target = 0.0
    word_topic = np.zeros((15, 4))
    for d in range(6):
        here = slice(corpus.indptr[d], corpus.indptr[d + 1])
        doc_words, counts = corpus.indices[here], corpus.counts[here]
        expected = reference.infer_document(
            case.table[doc_words],
            counts * case.multiplicity[doc_words],
            case.prior,
            case.start[d],
            family,
            case.local_target(d),
            steps=6,
        )
        np.testing.assert_allclose(gamma[d], expected, rtol=1e-9)
        times = corpus.doc_weight[d]
        expected_target += times * reference.expected_log_likelihood(
            family, case.local_target(d), expected
        )
        word_topic += (
            times
            * reference.document_statistics(doc_words, counts, case.table, case.prior, expected)[0]
        )
    assert stats.parts[2] == pytest.approx(expected_target, rel=1e-9)
    np.testing.assert_allclose(stats.word_topic, word_topic, rtol=1e-8, atol=1e-12)


def test_joint_models_take_an_outside_family():
    reviews = make_reviews(300, random_state=0)
    rate = np.exp((reviews.target - 5) / 3)
    counts = np.random.default_rng(0).negative_binomial(2.0, 2.0 / (2.0 + rate)).astype(float)
    model = SLDARegressor(3, family=NegativeBinomial(2.0), max_epochs=10, random_state=0)
    mean = model.fit(reviews.counts, counts).predict(reviews.counts)
    assert np.corrcoef(mean, counts)[0, 1] > 0.3


#: Also imported by the process that runs without a compiler.
EVERY = {**EXAMPLES, "outside": NegativeBinomial(1.3)}


def all_kernels(family) -> dict[str, list[float]]:
    """Every public loop over documents once, on a corpus small enough for plain Python.

    Kernels are given a family as the package gives it: its own as one of several, compiled once.
    """
    like = Gaussian(1.0) if isinstance(family, NegativeBinomial) else family
    case = random_corpus(np.random.default_rng(11), [5, 0, 1, 8, 3], 10, 5, like)
    target = np.array([[0.0], [1.0], [1.0], [0.0], [1.0]])
    corpus = case.corpus._replace(target=np.tile(target, (1, case.corpus.target.shape[1])))
    result = {}
    # Families differ in double precision only: single is what becomes of words and topics.
    single = isinstance(family, Gaussian)
    family = common(family)
    for dtype in (np.float64, np.float32) if single else (np.float64,):
        gamma = case.start.copy()
        stats = local_stats(10, 5)
        words = WordTable(case.table.astype(dtype), case.multiplicity)
        infer_documents(
            0, 5, corpus, words, case.prior, case.coef, family, gamma, LocalBudget(5, 0.0), stats
        )
        result[f"infer {np.dtype(dtype)}"] = [
            *gamma.ravel(),
            *stats.word_topic.ravel(),
            *stats.word_evidence,
            *stats.log_theta,
            *stats.parts[:3],
        ]
    words = WordTable(case.table, case.multiplicity)
    theta = np.tile(case.prior / case.prior.sum(), (5, 1))
    map_documents(
        0,
        5,
        (corpus.indptr, corpus.indices, corpus.counts),
        words,
        case.prior,
        theta,
        LocalBudget(50, 1e-8),
    )
    result["map"] = [*theta.ravel()]
    nonzeros = len(corpus.indices)
    local = Uncollapsed(
        case.start.copy(),
        np.zeros((5, 5)),
        np.zeros((5, 5)),
        np.random.default_rng(1).normal(size=(nonzeros, 5)),
        np.zeros((nonzeros, 5)),
        np.zeros((nonzeros, 5)),
    )
    out = UncollapsedStats(np.zeros((10, 5)), np.zeros(3))
    log_topics = np.log(case.table + 0.1)
    for t in (1, 2):
        step_documents(
            0,
            5,
            np.arange(5),
            corpus,
            case.multiplicity,
            log_topics,
            case.prior,
            case.coef,
            family,
            local,
            AdamStep(0.025, 1 - 0.9**t, 1 - 0.999**t, 1e-8),
            out,
        )
    result["uncollapsed"] = [*local.concentration.ravel(), *local.logits.ravel(), *out.parts]
    constrained = ConstrainedStats(np.zeros((10, 5)), np.zeros(10), np.zeros(10), np.zeros(3))
    slope = np.empty((5, len(case.coef)))
    constrained_documents(
        GRADIENTS,
        0,
        5,
        corpus,
        words,
        case.prior,
        case.coef,
        family,
        theta,
        slope,
        LocalBudget(50, 1e-8),
        constrained,
    )
    result["constrained"] = [*slope.ravel(), *(x for part in constrained for x in part.ravel())]
    return {name: [float(x) for x in values] for name, values in result.items()}


#: Imports this file in the new process and prints what `all_kernels` gives there.
PLAIN_PYTHON = """
import importlib.util, json, sys
import numba
from texts import count_few
from topicfocus.kernels.local import infer_documents
spec = importlib.util.spec_from_file_location("extension", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
plain = type(infer_documents).__name__ == "function"
results = {name: module.all_kernels(family) for name, family in module.EVERY.items()}
print(json.dumps({"plain": plain, "results": results, "texts": count_few()}))
"""


def test_kernels_run_as_plain_python_with_the_same_numbers(request):
    support = Path(kernel_cases.__file__).parent
    printed = run_script(
        PLAIN_PYTHON,
        str(request.path),
        NUMBA_DISABLE_JIT="1",
        PYTHONPATH=os.pathsep.join([str(SOURCE_ROOT), str(support)]),
        PYTHONWARNINGS="error",
    )
    answer = json.loads(printed)
    assert answer["plain"], "the kernels were compiled after all"
    assert_counted(answer["texts"])
    for name, family in EVERY.items():
        compiled = all_kernels(family)
        for part, values in answer["results"][name].items():
            single = "float32" in part
            np.testing.assert_allclose(
                compiled[part],
                values,
                rtol=1e-4 if single else 1e-9,
                atol=1e-4 if single else 1e-10,
                err_msg=f"{name}: {part}",
            )
