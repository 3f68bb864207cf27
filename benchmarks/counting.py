"""Texts, CSV and Parquet to a filtered CSR, beside scikit-learn's CountVectorizer.

    TOPICFOCUS_DATA=... python benchmarks/counting.py
    TOPICFOCUS_DATA=... python benchmarks/counting.py --memory

Documents are windows of 100 words, at random places of IMDB's reviews (without the data: words
drawn by Zipf's law). "Cyrillic" is the same text with every Latin letter replaced by a Cyrillic
one, which keeps lengths and frequencies and leaves no ASCII in words. Vocabulary and counts are
compared, not assumed. Each time is the best of the runs; ours and theirs alternate. Kernels are
compiled before.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from topicfocus.text import TokenCounter, read_table

#: The paper's rule: no stop words, no word in more than half or in fewer than ten documents.
RULE: dict[str, Any] = {"stop_words": "english", "max_df": 0.5, "min_df": 10}
CYRILLIC = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "абцдефгхийклмнопярстувжьызАБЦДЕФГХИЙКЛМНОПЯРСТУВЖЬЫЗ",
)


def windows(n_docs: int, length: int, seed: int = 0) -> tuple[list[str], str]:
    """Documents of ``length`` words each, and where they come from."""
    rng = np.random.default_rng(seed)
    path = Path(os.environ.get("TOPICFOCUS_DATA") or ".") / "imdb" / "imdb50k.csv.gz"
    if not path.exists():
        share = 1 / np.arange(10, 200_010)
        ranks = rng.choice(200_000, size=(n_docs, length), p=share / share.sum())
        return [" ".join(f"Word{r:x}," for r in row) for row in ranks.tolist()], "Zipf's law"
    csv.field_size_limit(10**9)
    with gzip.open(path) as raw:
        rows = csv.DictReader(io.TextIOWrapper(raw, encoding="utf-8"))
        words = [word for row in rows for word in row["text"].split()]
    starts = rng.integers(0, len(words) - length, n_docs).tolist()
    return [" ".join(words[s : s + length]) for s in starts], "IMDB"


def compare(name: str, runs: int, ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """Best times of both, after checking that they say the same.

    Also the processor's time, all threads together: on a machine that others use, too, it is the
    steadier figure, and says what one free core would take.
    """
    times: list[list[tuple[float, float]]] = [[], []]
    for _ in range(runs):
        results = []
        for seconds, run in zip(times, (ours, theirs), strict=True):
            began, worked = time.perf_counter(), time.process_time()
            results.append(run())
            seconds.append((time.perf_counter() - began, time.process_time() - worked))
    (counts, terms), (expected, expected_terms) = results
    assert list(terms) == list(expected_terms), "different vocabularies"
    assert counts.shape == expected.shape and (counts != expected).nnz == 0, "different counts"
    (wall, their_wall), (work, their_work) = (
        tuple(min(pair[i] for pair in seconds) for seconds in times) for i in (0, 1)
    )
    print(
        f"  {name:30s} {wall:6.2f} s, theirs {their_wall:6.2f} s: {their_wall / wall:5.1f}x;"
        f" processor {work:6.2f} s and {their_work:6.2f} s: {their_work / work:5.1f}x"
        f"   ({counts.shape[1]} terms, {counts.nnz} counts)",
        flush=True,
    )


def count(counter: Any, texts: Any) -> tuple[Any, Any]:
    return counter.fit_transform(texts), counter.get_feature_names_out()


def from_lists(texts: list[str], label: str, runs: int, **settings: Any) -> None:
    rule = {**RULE, **settings}
    compare(
        label,
        runs,
        lambda: count(TokenCounter(**rule), texts),
        lambda: count(CountVectorizer(**rule), texts),
    )


def from_files(texts: list[str], label: str, runs: int) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    with tempfile.TemporaryDirectory() as folder:
        frame = pd.DataFrame({"stars": np.arange(len(texts)) % 5 + 1, "text": texts})
        table, lines, columns = (Path(folder) / f"t.{end}" for end in ("csv", "jsonl", "parquet"))
        frame.to_csv(table, index=False)
        frame.to_json(lines, orient="records", lines=True, force_ascii=False)
        parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), columns)
        readers: dict[Path, Callable[[Path], Any]] = {
            table: lambda path: pd.read_csv(path)["text"],
            lines: lambda path: pd.read_json(path, lines=True)["text"],
            columns: lambda path: parquet.read_table(path)["text"].to_pylist(),
        }
        for path, read in readers.items():
            compare(
                f"{label}, {path.suffix} ({path.stat().st_size / 1e6:.0f} MB)",
                runs,
                lambda path=path: count(
                    TokenCounter(**RULE), read_table(path, text="text", target="stars")
                ),
                lambda path=path, read=read: count(CountVectorizer(**RULE), read(path)),
            )


def memory(n_docs: int, length: int) -> None:
    """Peak memory beyond what was there, for a file of ``n_docs`` and one of four times that."""
    import threading

    import psutil

    process = psutil.Process()
    texts, _ = windows(n_docs, length)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        TokenCounter().fit(texts[:1000])
        for times in (1, 4):
            with path.open("w", newline="", encoding="utf-8") as stream:
                writer = csv.writer(stream)
                writer.writerow(["text"])
                for _ in range(times):
                    writer.writerows([text] for text in texts)
            before = process.memory_info().rss
            peak, done = [before], threading.Event()

            def watch(peak: list[int] = peak, done: threading.Event = done) -> None:
                while not done.is_set():
                    peak[0] = max(peak[0], process.memory_info().rss)
                    time.sleep(0.005)

            watcher = threading.Thread(target=watch)
            watcher.start()
            counter = TokenCounter(**RULE)
            counts = counter.fit_transform(read_table(path, text="text"))
            done.set()
            watcher.join()
            held = (counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes) / 2**20
            print(
                f"  file of {path.stat().st_size / 2**20:.0f} MiB: "
                f"+{(peak[0] - before) / 2**20:.0f} MiB at most, of which the result {held:.0f}"
            )
            del counts, counter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=200_000)
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--memory", action="store_true", help="peak memory instead of time")
    args = parser.parse_args()
    if args.memory:
        return memory(args.documents, args.words)
    texts, source = windows(args.documents, args.words)
    print(f"{args.documents} documents of {args.words} words, {source}; best of {args.runs}")
    TokenCounter(**RULE).fit_transform(texts[:2000])
    from_lists(texts, "list of strings", args.runs)
    from_files(texts, "file", args.runs)
    small = texts[: len(texts) // 5]
    from_lists(small, f"{len(small)} documents, pairs too", args.runs, ngram_range=(1, 2))
    other = [text.translate(CYRILLIC) for text in texts]
    from_lists(other, "Cyrillic, list of strings", args.runs)
    return from_files(other, "Cyrillic", args.runs)


if __name__ == "__main__":
    main()
