"""Folds that shares of words are compared on: by content, of whole groups, without any seed."""

import numpy as np
import pytest
from scipy import sparse

from topicfocus.corpus import make_corpus
from topicfocus.datasets import make_reviews
from topicfocus.estimators.documents import Documents, make_folds
from topicfocus.estimators.targets import Coding, TargetModel
from topicfocus.families import Bernoulli, Gaussian


@pytest.fixture(scope="module")
def reviews():
    return make_reviews(120, random_state=0)


def numbers(reviews, rows=None, **more):
    rows = np.arange(120) if rows is None else rows
    target = np.asarray(reviews.target, dtype=float)[rows]
    counts = reviews.counts[rows]
    return Documents(make_corpus(counts), target[:, None], **more), TargetModel(
        (Coding(Gaussian()),)
    )


def sets(folds):
    return {frozenset(held.tolist()) for _, held in folds}


def test_every_document_is_predicted_once_from_all_others(reviews):
    folds = make_folds(*numbers(reviews), 5, 1000)
    assert sorted(np.concatenate([held for _, held in folds])) == list(range(120))
    for train, held in folds:
        assert sorted([*train, *held]) == list(range(120)) and 20 <= len(held) <= 28


def test_classes_have_their_proportions(reviews):
    target = (np.arange(120) % 10 == 0).astype(float)
    documents = Documents(make_corpus(reviews.counts), target[:, None])
    targets = TargetModel((Coding(Bernoulli(), np.array([0.0, 1.0])),))
    for _, held in make_folds(documents, targets, 4, 1000):
        assert target[held].sum() == 3


def test_neither_order_nor_a_column_of_zeros_matters(reviews):
    plain = sets(make_folds(*numbers(reviews), 3, 1000))
    order = np.random.default_rng(0).permutation(120)
    mixed = make_folds(*numbers(reviews, order), 3, 1000)
    assert {frozenset(order[held].tolist()) for _, held in mixed} == plain
    documents, targets = numbers(reviews)
    wider = sparse.hstack([reviews.counts, sparse.csr_array((120, 1))]).tocsr()
    wide = Documents(make_corpus(wider), documents.target)
    assert sets(make_folds(wide, targets, 3, 1000)) == plain


def test_copies_and_groups_stay_together(reviews):
    twice = np.repeat(np.arange(60), 2)
    copies = sets(make_folds(*numbers(reviews, twice), 3, 1000))
    weighted = sets(make_folds(*numbers(reviews, np.arange(60), weight=np.full(60, 2.0)), 3, 1000))
    assert {frozenset(twice[list(held)].tolist()) for held in copies} == weighted
    group = np.arange(120) // 6
    for train, held in make_folds(*numbers(reviews, group=group), 3, 1000):
        assert not set(group[train]) & set(group[held])


def test_of_very_many_documents_some_and_of_very_few_none(reviews):
    used = np.concatenate([held for _, held in make_folds(*numbers(reviews), 3, 60)])
    assert len(used) == len(set(used.tolist())) == 60
    assert make_folds(*numbers(reviews, np.arange(3)), 5, 1000) == []
