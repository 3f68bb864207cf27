"""Every kind of file through the command: the same documents, the same predictions."""

import csv
import gzip
import json

import pytest
from command_line import topicfocus, write_reviews
from scipy import io as scipy_io
from scipy import sparse

import topicfocus as package

COLUMNS = ("--text", "text", "--target", "stars")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    path = write_reviews(tmp_path_factory.mktemp("rows") / "r.csv", 150)
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def table(path, rows, delimiter=","):
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def fit(where, *arguments, **more):
    done = topicfocus("fit", *arguments, "--topics", 2, "--out", "o", "--quiet", cwd=where, **more)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return (where / "o" / "predictions.csv").read_bytes()


@pytest.fixture(scope="module")
def from_csv(rows, tmp_path_factory):
    """Predictions for the plain CSV file, and its folder."""
    where = tmp_path_factory.mktemp("csv")
    return fit(where, table(where / "r.csv", rows), *COLUMNS), where


def semicolons(where, rows):
    return [table(where / "r.csv", rows, ";")], None


def tabs(where, rows):
    return [table(where / "r.tsv", rows, "\t")], None


def packed_tabs(where, rows):
    plain = table(where / "r.tsv", rows, "\t").read_bytes()
    (where / "r.tsv.gz").write_bytes(gzip.compress(plain))
    return [where / "r.tsv.gz"], None


def lines(where, rows):
    text = "".join(json.dumps({**row, "stars": float(row["stars"])}) + "\n" for row in rows)
    (where / "r.jsonl").write_text(text, encoding="utf-8")
    return [where / "r.jsonl"], None


def no_name(where, rows):
    return [table(where / "reviews", rows, "\t"), "--format", "tsv"], None


def pipe_of_commas(where, rows):
    return ["-"], table(where / "r.csv", rows).read_text(encoding="utf-8")


def pipe_of_tabs(where, rows):
    return ["-"], table(where / "r.tsv", rows, "\t").read_text(encoding="utf-8")


def utf16(where, rows):
    content = table(where / "r.csv", rows).read_text(encoding="utf-8")
    (where / "r.csv").write_text(content, encoding="utf-16")
    return [where / "r.csv", "--encoding", "utf-16"], None


WRITERS = (semicolons, tabs, packed_tabs, lines, no_name, pipe_of_commas, pipe_of_tabs, utf16)


@pytest.mark.parametrize("write", WRITERS, ids=lambda write: write.__name__)
def test_the_same_documents_give_the_same_predictions(rows, from_csv, tmp_path, write):
    arguments, stdin = write(tmp_path, rows)
    more = {} if stdin is None else {"input": stdin}
    assert fit(tmp_path, *arguments, *COLUMNS, **more) == from_csv[0]


def test_predict_reads_them_all(rows, from_csv, tmp_path):
    written, where = from_csv
    expected = [line.split(b",")[3] for line in written.splitlines()]
    for write in (tabs, lines, pipe_of_tabs):
        arguments, stdin = write(tmp_path, rows)
        more = {} if stdin is None else {"input": stdin}
        done = topicfocus("predict", where / "o", *arguments, **more)
        assert done.returncode == 0, done.stderr
        assert [line.split(",")[1].encode() for line in done.stdout.splitlines()] == expected


def test_a_folder_is_predicted_file_by_file(rows, from_csv, tmp_path):
    written, where = from_csv
    for i, row in enumerate(rows):
        (tmp_path / f"{i:03d}.txt").write_text(row["text"], encoding="utf-8")
    done = topicfocus("predict", where / "o", tmp_path)
    assert done.returncode == 0, done.stderr
    expected = [line.split(b",")[3] for line in written.splitlines()]
    assert [line.split(",")[1].encode() for line in done.stdout.splitlines()] == expected


def test_count_matrices_of_both_kinds(tmp_path):
    reviews = package.datasets.make_reviews(150, random_state=1)
    found = []
    for ending in (".npz", ".mtx", ".mtx.gz"):
        where = tmp_path / ending[1:]
        where.mkdir()
        if ending == ".npz":
            sparse.save_npz(where / "m.npz", sparse.csr_matrix(reviews.counts))
        else:
            scipy_io.mmwrite(where / "m.mtx", sparse.coo_matrix(reviews.counts))
        if ending == ".mtx.gz":
            (where / "m.mtx.gz").write_bytes(gzip.compress((where / "m.mtx").read_bytes()))
            (where / "m.mtx").unlink()
        # With the names that are looked for, and with names that are given.
        given = () if ending == ".npz" else ("--vocabulary", "words", "--target", "stars")
        words = "words" if given else "m.vocab.txt"
        (where / words).write_text("\n".join(reviews.vocabulary) + "\n", encoding="utf-8")
        target = "".join(f"{value:g}\n" for value in reviews.target)
        (where / ("stars" if given else "m.target.txt")).write_text(target, encoding="utf-8")
        found.append(fit(where, f"m{ending}", *given))
    assert found[0] == found[1] == found[2]
