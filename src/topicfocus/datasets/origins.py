"""The public files that data sets are prepared from, and by what each is known to be the right one.

Two kinds of check, one for each data set:

- *bytes*: the SHA-256 of the publisher's file, where it is known;
- *content*: a digest over the values that the loader reads (`content.rows_digest`), or of an
  unpacked file, computed from the copy that all figures of this project were made with.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from topicfocus.datasets import prepare
from topicfocus.datasets.content import file_digest
from topicfocus.datasets.fetching import sha256_of
from topicfocus.datasets.sources import Remote


@dataclass(frozen=True)
class Columns:
    """Columns of a gzipped CSV file whose values have this digest."""

    names: tuple[str, ...]
    sha256: str
    ordered: bool = True

    def found(self, path: Path) -> str:
        return file_digest(path, self.names, ordered=self.ordered)


@dataclass(frozen=True)
class Bytes:
    """A file, unpacked if it is gzipped, whose bytes have this SHA-256."""

    sha256: str

    def found(self, path: Path) -> str:
        if path.suffix != ".gz":
            return sha256_of(path)
        import gzip

        with gzip.open(path) as stream:
            digest = hashlib.sha256()
            while block := stream.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()


@dataclass(frozen=True)
class Origin:
    """Where a data set is published, what to fetch, how to prepare it, and how to check it."""

    page: str
    remotes: tuple[Remote, ...]
    prepare: Callable[[Mapping[str, Path], Path], None]
    checks: Mapping[str, Columns | Bytes] = field(default_factory=dict)


_PHYSIONET = "https://physionet.org/files/eicu-crd-demo/2.0.1/"
_NEWSGROUPS = "http://www.cs.umb.edu/~smimarog/textmining/datasets/"
_BNPY = (
    "https://raw.githubusercontent.com/bnpy/bnpy/5f34193bbb54630f24f31af93d6b6b9ded349aac/"
    "datasets/we8there/raw/"
)
_STM = (
    "https://raw.githubusercontent.com/bstewart/stm/7750a9112159625d8e2514b4139fc1099925460c/data/"
)
_STAY = "patientunitstayid"

ORIGINS: dict[str, Origin] = {
    # No published checksum of the archive was found: the content is checked.
    "pang_lee": Origin(
        page="https://www.cs.cornell.edu/people/pabo/movie-review-data/",
        remotes=(
            Remote(
                "https://www.cs.cornell.edu/people/pabo/movie-review-data/scale_data.tar.gz",
                "scale_data.tar.gz",
            ),
        ),
        prepare=prepare.pang_lee,
        checks={
            "pang_lee.csv.gz": Columns(
                ("rating", "label3", "label4", "text"),
                "4dcde12c2e32c0cc49db21eaf45a7f6f16b44ceaf7e95df29ab4fdd194e1a5f3",
            )
        },
    ),
    # Bytes: at least ten public programs have this SHA-256 for this address (as many others, like
    # torchtext, have the MD5 7c2ac02c03563afcf9b574c7e56c153a).
    "imdb": Origin(
        page="https://ai.stanford.edu/~amaas/data/sentiment/",
        remotes=(
            Remote(
                "https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz",
                "aclImdb_v1.tar.gz",
                "c40f74a18d3b61f90feba1e17730e0d38e8b97c05fde7008942e91923d1658fe",
            ),
        ),
        prepare=prepare.imdb,
    ),
    # The copy that figures were made with is the publisher's written anew by other software
    # ("NA" for nothing, numbers in another way), so its bytes say nothing: content, in any order.
    "eicu": Origin(
        page="https://physionet.org/content/eicu-crd-demo/2.0.1/",
        remotes=tuple(
            Remote(f"{_PHYSIONET}{table}.csv.gz", f"{table}.csv.gz")
            for table in prepare.EICU_TABLES
        ),
        prepare=prepare.eicu,
        checks={
            "patient.csv.gz": Columns(
                (_STAY, "hospitaldischargestatus", "uniquepid"),
                "bb5a30e855c189dd93545fe123e8c9be72fcb0172d75eb200eb35fab10d5cb64",
                ordered=False,
            ),
            "diagnosis.csv.gz": Columns(
                (_STAY, "diagnosisstring", "diagnosisoffset"),
                "200df0c0ec950754e03aa6641e18479cfa436cf439fd7014f244499749e5abf2",
                ordered=False,
            ),
            "treatment.csv.gz": Columns(
                (_STAY, "treatmentstring", "treatmentoffset"),
                "de286fe65f7373ed8aad98818074fcf51fea23fe9470a937d56304ee25c4bacd",
                ordered=False,
            ),
            "medication.csv.gz": Columns(
                (_STAY, "drughiclseqno", "drugname", "drugstartoffset", "drugorderoffset"),
                "01f618fe8205454d98569bd7d79dd52ecd1da8d6bc78cfc218157499087963d6",
                ordered=False,
            ),
            "pasthistory.csv.gz": Columns(
                (_STAY, "pasthistorypath", "pasthistoryoffset", "pasthistoryenteredoffset"),
                "ecd6f2e2bae7dbdd6739ac8d292a3a022673a616011df57bcdb0e4827fbe85b6",
                ordered=False,
            ),
            "admissiondx.csv.gz": Columns(
                (_STAY, "admitdxpath", "admitdxenteredoffset"),
                "8242d8a35cb20e08a14d98d8b946085d23e2c596bc45662cc6ecc614706e1d9f",
                ordered=False,
            ),
        },
    ),
    # The unpacked files, so that packing anew does not matter. Several public projects report these
    # two for UCI's zip (f82ac129da2ddd2299391ff6fbae3a6a58b3edcf59ac9d7bd480c00fe453112a), and the
    # copy that figures were made with has them.
    "diabetes": Origin(
        page="https://archive.ics.uci.edu/dataset/296",
        remotes=(
            Remote(
                "https://archive.ics.uci.edu/static/public/296/"
                "diabetes+130-us+hospitals+for+years+1999-2008.zip",
                "diabetes130.zip",
            ),
        ),
        prepare=prepare.diabetes,
        checks={
            "diabetic_data.csv.gz": Bytes(
                "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97"
            ),
            "IDs_mapping.csv": Bytes(
                "f1bb82b471cb34649352597572c9b1fb00bd27f77b9f5a22a03dc3eb1039749e"
            ),
        },
    ),
    # No published checksum was found: content.
    "poliblog": Origin(
        page="https://github.com/bstewart/stm",
        remotes=(Remote(f"{_STM}poliblog5k.RData", "poliblog5k.RData"),),
        prepare=prepare.poliblog,
        checks={
            "poliblog5k.csv.gz": Columns(
                ("rating", "bag"),
                "7f9d8ad392ac1d1336657fdfb46b1c53c43e70ffa3a494f67d3b30d6f8ad0fba",
            )
        },
    ),
    # A mirror without a published checksum: content.
    "newsgroups": Origin(
        page="https://ana.cachopo.org/datasets-for-single-label-text-categorization",
        remotes=tuple(
            Remote(f"{_NEWSGROUPS}20ng-{split}-all-terms.txt", f"20ng-{split}-all-terms.txt")
            for split in ("train", "test")
        ),
        prepare=prepare.newsgroups,
        checks={
            "20newsgroups.csv.gz": Columns(
                ("category", "split", "text"),
                "3d5378a7670a5562695359b225482a4f801210043d071cdd09253b5b496148e6",
            )
        },
    ),
    # Bytes, of the copy that figures were made with; the files of that commit have its sizes.
    "we8there": Origin(
        page="https://github.com/bnpy/bnpy/tree/master/datasets/we8there",
        remotes=tuple(
            Remote(f"{_BNPY}{name}.txt", f"{name}.txt", sha256)
            for name, sha256 in (
                (
                    "x_csc_colnames",
                    "bbb5ffebb4b16b5b6ce91e8e97ba7683e57c1f745869fb9deecb6486f6ab5475",
                ),
                ("x_csc_data", "1be3179508e449568931a97fdd43541759975b187895440bb05f70358d124f2a"),
                (
                    "x_csc_indices",
                    "e0e2acbe21e11dc2c9b4b84a5640175d9354f85296bc68a8fec7c372349c3007",
                ),
                (
                    "x_csc_indptr",
                    "3efb3ac27f326a2f15ac78ba0cb79597ba42002a0b91002644e673cf8ad8a397",
                ),
                ("x_csc_shape", "d5f04c45f040f129040388895057e8a2683ada40259bc9a20c180e4ea1cfe9df"),
                ("y_dense", "0a82402ce68b2d70a2c376c377d42b23ddaa78bb59b007d28f9a6ffcd1a71f8d"),
            )
        ),
        prepare=prepare.we8there,
    ),
}
