"""Files larger than the memory they are read in.

What is bounded is the text: blocks of some megabytes pass through and are forgotten. The counts
grow with the file, 5 bytes for each different word of a document, so these files have long
documents of few different words. Formats that are read row by row (JSON, Excel, folders) share the
batches that CSV falls back to.
"""

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from command_line import environment

FILE_MIB, LIMIT_MIB = 400, 260  # a file of 300 MiB: 240 for Parquet, of 100 MiB: 180

#: Counts a file; prints how far its memory rose above what libraries and kernels take.
CHILD = """
import sys
from topicfocus.text import TokenCounter, read_table

def memory(field):
    with open("/proc/self/status") as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith(field)) / 1024

if sys.argv[1].endswith("parquet"):
    import pyarrow.parquet
TokenCounter(min_df=1).fit_transform(["good film", "bad film"])  # loads, compiles, makes tables
with open("/proc/self/clear_refs", "w") as stream:
    stream.write("5")  # the highest so far is forgotten
before = memory("VmRSS")
table = read_table(sys.argv[1], "text", "stars")
counts = TokenCounter(min_df=10, max_df=1.0).fit_transform(table)
assert counts.shape == (int(sys.argv[2]), 60) == (len(table.target), 60), counts.shape
print(memory("VmHWM") - before)
"""


def documents():
    """60 different words in all, 12 kB a document, and how many make a file of the wanted size."""
    words, random = [f"word{i:03d}" for i in range(60)], Random(0)  # no two of them a phrase
    texts = [" ".join(random.choices(words, k=1500)) for _ in range(59)]
    assert {word for text in texts for word in text.split()} == set(words)
    return texts, FILE_MIB * 2**20 // len(texts[0])


def write_lines(path: Path) -> int:
    texts, n = documents()
    with path.open("w", encoding="utf-8") as stream:
        stream.write("stars,text\n")
        stream.writelines(f"{i % 5},{texts[i % len(texts)]}\n" for i in range(n))
    return n


def write_parquet(path: Path) -> int:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    texts, n = documents()
    schema = pa.schema([("stars", pa.int64()), ("text", pa.string())])
    plain = {"use_dictionary": False, "compression": "none"}
    with parquet.ParquetWriter(path, schema, **plain) as writer:
        # One group of rows, as most programs write so few: no reader may want a whole group.
        rows = [texts[i % len(texts)] for i in range(n)]
        writer.write_table(pa.table({"stars": [i % 5 for i in range(n)], "text": rows}))
    return n


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux")
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_text_does_not_stay_in_memory(tmp_path, ending):
    path = tmp_path / f"large.{ending}"
    n = write_lines(path) if ending == "csv" else write_parquet(path)
    try:
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(path), str(n)],
            capture_output=True,
            text=True,
            env=environment(),
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert path.stat().st_size > 1.4 * LIMIT_MIB * 2**20
    finally:
        path.unlink()  # pytest keeps folders of the last runs
    assert float(done.stdout) < LIMIT_MIB
