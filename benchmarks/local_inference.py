"""One pass of local inference with statistics: documents per second beside scikit-learn and gensim.

    pip install '.[benchmark]'
    TOPICFOCUS_DATA=... python benchmarks/local_inference.py

Ten inner iterations for all, from γ = 1, no early stop, two cores for all: two threads here,
n_jobs=2 for scikit-learn, two processes with half the documents each for gensim. The passes of
all peers are interleaved and the best of each is taken, because machines are shared and noisy.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
from data import review_counts

from topicfocus.corpus import make_corpus
from topicfocus.families import Gaussian
from topicfocus.joint.settings import Hyperparameters
from topicfocus.joint.statistics import collect
from topicfocus.model import ModelState, make_problem

STEPS = 10
#: Passes of one peer in a row, so that each also runs with its own data in the caches.
REPEATS = 3


def ours(counts, n_topics, dtype, n_jobs, with_bound):
    corpus = make_corpus(counts)
    n_words = corpus.n_words
    topics = np.random.default_rng(0).exponential(size=(n_words, n_topics)) + 0.1
    state = ModelState(
        topics / topics.sum(axis=0),
        np.ones(n_words),
        np.zeros(n_words),
        np.zeros(n_topics),
        Gaussian(1.0),
        np.ones(n_topics),
    )
    hyper = Hyperparameters(n_topics=n_topics, selects=False)
    problem = make_problem(corpus, None, n_jobs=n_jobs)
    assert corpus.word_counts is not None  # cached by the corpus, as in a fit

    def one_pass():
        gamma = np.ones((corpus.n_docs, n_topics))
        collect(
            problem,
            state,
            hyper,
            gamma,
            max_steps=STEPS,
            tolerance=0.0,
            dtype=dtype,
            with_bound=with_bound,
        )

    return one_pass


def scikit_learn(counts, n_topics, n_jobs):
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(
        n_topics,
        max_doc_update_iter=STEPS,
        mean_change_tol=0.0,
        n_jobs=n_jobs,
        max_iter=1,
        doc_topic_prior=1.0,
        random_state=0,
    ).fit(counts[:100])
    return lambda: model._e_step(counts, cal_sstats=True, random_init=False)


_gensim = None


def _gensim_setup(n_topics, n_words):
    global _gensim
    from gensim.models import LdaModel

    _gensim = LdaModel(
        num_topics=n_topics,
        id2word={v: str(v) for v in range(n_words)},
        iterations=STEPS,
        gamma_threshold=0.0,
        alpha=[1.0] * n_topics,
        random_state=0,
    )


def _gensim_pass(documents):
    _gensim.inference(documents, collect_sstats=True)
    return len(documents)


def gensim(counts, n_topics, n_jobs):
    documents = [
        list(zip(row.indices.tolist(), row.data.astype(int).tolist(), strict=True))
        for row in (counts[d] for d in range(counts.shape[0]))
    ]
    parts = [documents[i::n_jobs] for i in range(n_jobs)]
    pool = ProcessPoolExecutor(
        n_jobs, initializer=_gensim_setup, initargs=(n_topics, counts.shape[1])
    )
    list(pool.map(_gensim_pass, [part[:5] for part in parts]))
    return lambda: list(pool.map(_gensim_pass, parts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--topics", type=int, nargs="+", default=[5, 20, 50])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    counts, _, description = review_counts("pang_lee")
    results = []
    for n_topics in args.topics:
        passes = {
            "topicfocus, single precision": ours(counts, n_topics, np.float32, args.jobs, False),
            "topicfocus, double precision": ours(counts, n_topics, np.float64, args.jobs, False),
            "topicfocus, double, with the bound": ours(
                counts, n_topics, np.float64, args.jobs, True
            ),
            "scikit-learn": scikit_learn(counts, n_topics, args.jobs),
            "gensim": gensim(counts, n_topics, args.jobs),
        }
        best = dict.fromkeys(passes, np.inf)
        for one_pass in passes.values():
            one_pass()  # warm up: compile, start workers
        for _ in range(args.rounds):
            for name, one_pass in passes.items():
                for _ in range(REPEATS):
                    began = time.perf_counter()
                    one_pass()
                    best[name] = min(best[name], time.perf_counter() - began)
        results.append(
            {"topics": n_topics, **{name: counts.shape[0] / t for name, t in best.items()}}
        )
    if args.json:
        print(json.dumps({"data": description, "documents_per_second": results}, indent=2))
        return
    print(f"{description}; {counts.nnz / counts.shape[0]:.0f} words a document, {args.jobs} cores")
    print("documents per second, and our single / double precision as a multiple of each peer")
    for row in results:
        print(f"  {row['topics']} topics")
        single = row["topicfocus, single precision"]
        double = row["topicfocus, double precision"]
        for name, rate in list(row.items())[1:]:
            ratio = (
                ""
                if name.startswith("topic")
                else f"  {single / rate:5.1f}x  {double / rate:5.1f}x"
            )
            print(f"    {name:30s} {rate:10,.0f}{ratio}")


if __name__ == "__main__":
    main()
