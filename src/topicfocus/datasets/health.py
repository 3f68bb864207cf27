"""Loaders of health records as bags of codes; they stand in for the paper's private ones."""

from __future__ import annotations

import csv
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from topicfocus.datasets.dataset import Dataset, make_dataset
from topicfocus.datasets.preprocessing import code_counts, group_parts
from topicfocus.datasets.sources import find_data, read_columns

PathLike = str | os.PathLike[str]

_FIRST_DAY = 1440  # minutes after admission to the unit

# Prefix of a code, file, column of the code, and the columns with a time. All of them must be
# within the first day: what was entered later was not known then.
_EICU_CODES = (
    ("dx", "diagnosis", "diagnosisstring", ("diagnosisoffset",)),
    ("tx", "treatment", "treatmentstring", ("treatmentoffset",)),
    ("hx", "pasthistory", "pasthistorypath", ("pasthistoryoffset", "pasthistoryenteredoffset")),
    ("ad", "admissiondx", "admitdxpath", ("admitdxenteredoffset",)),
)

# Discharges after which nobody can come back, or is not meant to: death and hospice.
_NO_RETURN = frozenset(("11", "13", "14", "19", "20", "21"))
_DIAGNOSES = ("diag_1", "diag_2", "diag_3")
_DRUGS = (
    "metformin",
    "repaglinide",
    "nateglinide",
    "chlorpropamide",
    "glimepiride",
    "acetohexamide",
    "glipizide",
    "glyburide",
    "tolbutamide",
    "pioglitazone",
    "rosiglitazone",
    "acarbose",
    "miglitol",
    "troglitazone",
    "tolazamide",
    "examide",
    "citoglipton",
    "insulin",
    "glyburide-metformin",
    "glipizide-metformin",
    "glimepiride-pioglitazone",
    "metformin-rosiglitazone",
    "metformin-pioglitazone",
)
# Columns whose value is a code as it is, and numbers that IDs_mapping.csv explains; each with the
# prefix of its codes. "change" (of diabetes drugs) has "Ch" and "No".
_CATEGORIES = {
    "race": "race",
    "gender": "gender",
    "age": "age",
    "payer_code": "payer",
    "medical_specialty": "specialty",
    "max_glu_serum": "glucose",
    "A1Cresult": "a1c",
    "change": "drug_change",
}
_NUMBERED = {
    "admission_type_id": "admission",
    "discharge_disposition_id": "discharge",
    "admission_source_id": "source",
}
_UNKNOWN = frozenset(
    ("", "?", "NA", "NULL", "No", "None", "Not Available", "Not Mapped", "Unknown/Invalid")
)


def load_eicu(split: int = 0, *, path: PathLike | None = None, download: bool = False) -> Dataset:
    """Load intensive-care stays of the eICU demo; the target is death in hospital (1).

    A document is the set of codes of a stay that were known 24 hours after admission to the unit,
    each with its kind: "dx:" diagnosis, "tx:" treatment, "rx:" medication, "hx:" past history,
    "ad:" admission diagnosis. Codes in fewer than 10 training stays are left out. Drugs are grouped
    by their HICL number (ingredients) and named by the most frequent name without digits.

    Stays with an unknown discharge status, and stays without any code, are left out. All stays of
    a patient are in one part; 75 / 12.5 / 12.5 % of patients.

    Parameters
    ----------
    split : int, default=0
        Seed of the random split.
    path, download
        As for `load_pang_lee`.

    Returns
    -------
    Dataset
        ``groups`` has the patient of each stay.

    Raises
    ------
    FileNotFoundError
        If the data are not there; the message says how to get them.

    Examples
    --------
    >>> from topicfocus.datasets import load_eicu
    >>> data = load_eicu(split=0)
    >>> data.task, data.target_names
    ('binary', ('survived', 'died'))
    """
    folder = find_data("eicu", path, download=download)
    codes: defaultdict[str, set[str]] = defaultdict(set)
    for stay, code in _eicu_codes(folder):
        codes[stay].add(code)
    bags, died, patients = [], [], []
    rows = read_columns(
        folder / "patient.csv.gz", "patientunitstayid", "hospitaldischargestatus", "uniquepid"
    )
    for stay, status, patient in rows:
        if status in ("Alive", "Expired") and stay in codes:
            bags.append(codes[stay])
            died.append(status == "Expired")
            patients.append(patient)
    return _from_codes("eicu", bags, died, patients, split, ("survived", "died"))


def load_diabetes(
    split: int = 0,
    *,
    target: Literal["any", "<30"] = "any",
    path: PathLike | None = None,
    download: bool = False,
) -> Dataset:
    """Load hospital encounters of diabetic patients; the target is readmission (1).

    A document is a set of codes, all known at discharge: the diagnoses ("icd9:", at three digits),
    the diabetes drugs and what was done with them ("rx:insulin:Up", also Down and Steady), age,
    gender, race, payer, medical specialty, glucose and A1c results if measured, change of drugs,
    and the kinds of admission, its source, and discharge. Unknown values give no code. Codes in
    fewer than 10 training encounters are left out.

    Numeric columns (days in hospital, numbers of procedures and of earlier visits) are left out, as
    is weight, which is rarely known. So are encounters that end in death or hospice. All encounters
    of a patient are in one part; 75 / 12.5 / 12.5 % of patients.

    Parameters
    ----------
    split : int, default=0
        Seed of the random split.
    target : {"any", "<30"}, default="any"
        Readmitted at any time, or within 30 days.
    path, download
        As for `load_pang_lee`.

    Returns
    -------
    Dataset
        ``groups`` has the patient of each encounter.

    Raises
    ------
    ValueError
        If ``target`` is neither "any" nor "<30".
    FileNotFoundError
        If the data are not there; the message says how to get them.

    Examples
    --------
    >>> from topicfocus.datasets import load_diabetes
    >>> data = load_diabetes(split=0)
    >>> data.task, data.target_names
    ('binary', ('not readmitted', 'readmitted'))
    """
    if target not in ("any", "<30"):
        raise ValueError(f'target must be "any" or "<30", got {target!r}')
    folder = find_data("diabetes", path, download=download)
    names = _read_id_names(folder / "IDs_mapping.csv")
    columns = [*_DIAGNOSES, *_DRUGS, *_CATEGORIES, *_NUMBERED, "patient_nbr", "readmitted"]
    bags, returned, patients = [], [], []
    for row in read_columns(folder / "diabetic_data.csv.gz", *columns):
        encounter = dict(zip(columns, row, strict=True))
        if encounter["discharge_disposition_id"] in _NO_RETURN:
            continue
        bags.append(set(_diabetes_codes(encounter, names)))
        when = encounter["readmitted"]
        returned.append(when == "<30" if target == "<30" else when != "NO")
        patients.append(encounter["patient_nbr"])
    return _from_codes(
        "diabetes", bags, returned, patients, split, ("not readmitted", "readmitted")
    )


def _from_codes(
    name: str,
    bags: Sequence[set[str]],
    target: Sequence[bool],
    patients: Sequence[str],
    split: int,
    target_names: tuple[str, str],
) -> Dataset:
    groups = np.array(patients)
    parts = group_parts(groups, split)
    counts, vocabulary = code_counts(*([bags[i] for i in rows] for rows in parts))
    numbers = np.array(target, dtype=np.float64)
    return make_dataset(
        name,
        counts,
        [numbers[rows] for rows in parts],
        vocabulary,
        task="binary",
        target_names=target_names,
        groups=[groups[rows] for rows in parts],
    )


def _eicu_codes(folder: Path) -> Iterator[tuple[str, str]]:
    """Stay and code of everything known after the first day."""
    for prefix, file, column, times in _EICU_CODES:
        rows = read_columns(folder / f"{file}.csv.gz", "patientunitstayid", column, *times)
        for stay, code, *offsets in rows:
            if code not in _UNKNOWN and _in_first_day(offsets):
                yield stay, f"{prefix}:{code}"
    yield from _eicu_drugs(folder / "medication.csv.gz")


def _eicu_drugs(file: Path) -> Iterator[tuple[str, str]]:
    columns = ("patientunitstayid", "drughiclseqno", "drugname")
    rows = list(read_columns(file, *columns, "drugstartoffset", "drugorderoffset"))
    # The number is unknown for some rows and the name for many; hospitals write names differently.
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, number, name, *_ in rows:
        if name not in _UNKNOWN:
            spellings[number][name.lower()] += 1
    label = {number: _drug_name(names) for number, names in spellings.items()}
    for stay, number, name, *offsets in rows:
        if not _in_first_day(offsets):
            continue
        if number not in _UNKNOWN and number != "0":
            yield stay, f"rx:{label.get(number, f'HICL {number}')}"
        elif name not in _UNKNOWN:
            yield stay, f"rx:{name.lower()}"


def _drug_name(spellings: Counter[str]) -> str:
    """The most frequent name, rather one without a dose; ties by the alphabet."""
    return min(spellings, key=lambda name: (any(map(str.isdigit, name)), -spellings[name], name))


def _in_first_day(offsets: Sequence[str]) -> bool:
    try:
        return all(float(offset) <= _FIRST_DAY for offset in offsets)
    except ValueError:  # "NA": when it was known is not known
        return False


def _diabetes_codes(
    encounter: Mapping[str, str], names: Mapping[tuple[str, str], str]
) -> Iterator[str]:
    for column in _DIAGNOSES:
        if encounter[column] not in _UNKNOWN:
            yield f"icd9:{_icd9_category(encounter[column])}"
    for drug in _DRUGS:
        if encounter[drug] not in _UNKNOWN:
            yield f"rx:{drug}:{encounter[drug]}"
    for column, prefix in _CATEGORIES.items():
        if encounter[column] not in _UNKNOWN:
            yield f"{prefix}:{encounter[column]}"
    for column, prefix in _NUMBERED.items():
        name = names.get((column, encounter[column]), encounter[column])
        if name not in _UNKNOWN:
            yield f"{prefix}:{name}"


def _icd9_category(code: str) -> str:
    """ "250.83" → "250", "8.45" → "008", "V57.1" → "V57", "E878.2" → "E878"."""
    return code.split(".")[0].zfill(3)


def _read_id_names(file: Path) -> dict[tuple[str, str], str]:
    """Names of (column, number) from three tables below each other in one file."""
    names: dict[tuple[str, str], str] = {}
    column = ""
    with file.open(encoding="utf-8", newline="") as lines:
        for key, name in (row[:2] for row in csv.reader(lines) if len(row) > 1):
            if key.endswith("_id"):
                column = key
            elif key:
                names[column, key] = name.strip()
    return names
