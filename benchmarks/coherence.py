"""Coherence of 100 topics x 50 words on IMDB's reviews, beside gensim's CoherenceModel.

    TOPICFOCUS_DATA=... python benchmarks/coherence.py
    TOPICFOCUS_DATA=... python benchmarks/coherence.py --gensim-documents 1000

Topics are words that go together in the data: the 50 words with the highest log ratio to a
seed word, weighted by their document frequency. gensim counts windows in Python, so it is given
fewer documents (and ours the same ones beside it, where the two values are compared); its time
grows with their number. Kernels are compiled before. Without the data: words by Zipf's law.
"""

from __future__ import annotations

import argparse
import re
import time
from typing import Any

import numpy as np
from data import real_data
from scipy import sparse

from topicfocus.metrics import coherence

TOP_N = 50


def documents() -> tuple[list[list[str]], str]:
    """Token lists of all reviews."""
    try:
        loaders = real_data()
        rows = loaders.read_columns(loaders.find_data("imdb") / "imdb50k.csv.gz", "text")["text"]
    except FileNotFoundError:
        rng = np.random.default_rng(0)
        share = 1 / np.arange(10, 60_010)
        lengths = rng.poisson(230, 50_000)
        words = rng.choice(60_000, size=lengths.sum(), p=share / share.sum())
        parts = np.split(words, np.cumsum(lengths)[:-1])
        return [[f"w{i}" for i in part] for part in parts], "Zipf's law"
    word = re.compile(r"\b\w\w+\b")
    return [word.findall(text.replace("<br />", " ").lower()) for text in rows], "IMDB"


def count(texts: list[list[str]]) -> tuple[sparse.csr_array, list[str]]:
    """The paper's rule: no stop words, no word in more than half or in fewer than ten."""
    from topicfocus.text import TokenCounter

    counter = TokenCounter(stop_words="english", max_df=0.5, min_df=10)
    counts = counter.fit_transform([" ".join(text) for text in texts])
    return sparse.csr_array(counts), list(counter.get_feature_names_out())


def make_topics(counts: sparse.csr_array, n_topics: int) -> np.ndarray:
    present = sparse.csc_array(counts > 0, dtype=float)
    frequency = np.asarray(present.sum(axis=0)).ravel()
    seeds = np.argsort(-frequency)[: 20 * n_topics : 20]
    joint = np.asarray((present[:, seeds].T @ present).todense())
    expected = frequency[seeds, None] * frequency / present.shape[0]
    ratio = np.log((joint + 1) / (expected + 1))
    ratio[:, frequency < 50] = -np.inf
    topics = np.zeros(ratio.shape)
    for k, best in enumerate(np.argsort(-ratio, axis=1)[:, :TOP_N]):
        topics[k, best] = frequency[best]
    return topics / topics.sum(axis=1, keepdims=True)


def timed(run: Any) -> tuple[float, Any]:
    began = time.perf_counter()
    result = run()
    return time.perf_counter() - began, result


def by_gensim(topics: np.ndarray, texts: list, vocabulary: list[str], name: str) -> float:
    from gensim.corpora import Dictionary
    from gensim.models import CoherenceModel

    tops = [[vocabulary[v] for v in np.argsort(-t, kind="stable")[:TOP_N]] for t in topics]
    model = CoherenceModel(
        topics=tops,
        texts=texts,
        dictionary=Dictionary([vocabulary]),
        coherence=name,
        topn=TOP_N,
        processes=1,
    )
    return model.get_coherence()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--gensim-documents", type=int, default=0, help="0: without gensim")
    args = parser.parse_args()
    texts, source = documents()
    counts, vocabulary = count(texts)
    topics = make_topics(counts, args.topics)
    distinct = len(np.unique(np.argsort(-topics, axis=1, kind="stable")[:, :TOP_N]))
    print(
        f"{source}: {len(texts)} documents, {sum(map(len, texts)) / 1e6:.1f} million tokens, "
        f"{len(vocabulary)} words; {args.topics} topics x {TOP_N}, {distinct} different words"
    )
    coherence(topics[:1], None, "uci", TOP_N, texts=texts, vocabulary=vocabulary)  # compiles
    for measure in ("pmi", "npmi", "umass", "smoothed_pmi"):
        seconds, value = timed(lambda m=measure: coherence(topics, counts, m, TOP_N))
        print(f"  {measure:12s} {seconds:6.2f} s   {value:8.4f}", flush=True)
    for measure in ("uci", "c_v"):
        for exact in (False, True):
            given = {"texts": texts, "vocabulary": vocabulary, "exact_windows": exact}
            run = lambda m=measure, g=given: coherence(topics, None, m, TOP_N, **g)  # noqa: E731
            seconds, value = timed(run)
            name = measure + (", exact" if exact else "")
            print(f"  {name:12s} {seconds:6.2f} s   {value:8.4f}", flush=True)
    if args.gensim_documents:
        few = [*texts[: args.gensim_documents], vocabulary]  # the last one: every word occurs
        every_word = sparse.csr_array(np.ones((1, counts.shape[1])))
        some = sparse.csr_array(sparse.vstack([counts[: args.gensim_documents], every_word]))
        print(f"the first {args.gensim_documents} documents, and one with every word:")
        for measure, name in (("umass", "u_mass"), ("uci", "c_uci"), ("c_v", "c_v")):
            given = {} if measure == "umass" else {"texts": few, "vocabulary": vocabulary}
            ours, value = timed(lambda m=measure, g=given: coherence(topics, some, m, TOP_N, **g))
            theirs, expected = timed(lambda n=name: by_gensim(topics, few, vocabulary, n))
            print(
                f"  {measure:12s} {ours:6.2f} s, gensim {theirs:7.2f} s: {theirs / ours:6.0f}x;"
                f" values {value:.6f} and {expected:.6f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
