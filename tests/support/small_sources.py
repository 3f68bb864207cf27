"""Tiny files in the format of each public data set of experiments/data.py."""

import csv
import gzip

import numpy as np
from data import DRUGS
from scipy import sparse

FILLER = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")


def write_csv(path, header, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def sentence(i):
    """Two words of six, each in a third of the documents, and the document's number."""
    return f'{FILLER[i % 6]} {FILLER[(i + 1) % 6]}, "number" é\nno{i}'


def small_pang_lee(root):
    ratings = (0.0, 0.04, 0.1, 0.44, 0.55, 0.65, 0.75, 1.0)
    rows = [("X", i, ratings[i % 8], i % 3, i % 4, sentence(i), "train", "") for i in range(160)]
    header = ["critic", "id", "rating", "label3", "label4", "text", "pcslda_split", "split_margin"]
    write_csv(root / "pang_lee" / "pang_lee.csv.gz", header, rows)


def small_yelp(root):
    header = ["business_id", "date", "review_id", "stars", "text"]
    rows = [("b", "2011", i, 1 + i % 5, sentence(i)) for i in range(160)]
    write_csv(root / "yelp" / "yelp.csv.gz", header, rows)


def small_imdb(root):
    rows = [
        ("test" if i < 60 else "train", i, 1 + i % 4, i % 2, sentence(i) + "<br /><br />end")
        for i in range(160)
    ]
    write_csv(root / "imdb" / "imdb50k.csv.gz", ["split", "id", "rating", "label", "text"], rows)


def small_poliblog(root):
    sides = ("Conservative", "Liberal", "Liberal", "Liberal")
    rows = [
        (sides[i % 4], i, "at", "...", " ".join(sorted(sentence(i).split()))) for i in range(80)
    ]
    header = ["rating", "day", "blog", "excerpt", "bag"]
    write_csv(root / "poliblog" / "poliblog5k.csv.gz", header, rows)


def small_newsgroups(root):
    names = ("sci.space", "alt.atheism", "rec.autos")
    rows = [(names[i % 3], sentence(i), "train" if i < 100 else "test") for i in range(140)]
    write_csv(root / "newsgroups" / "20newsgroups.csv.gz", ["category", "text", "split"], rows)


WE8THERE = np.array([[0, 2, 0], [1, 0, 0], [0, 0, 3], [1, 1, 0]] * 4)


def small_we8there(root):
    raw = root / "we8there" / "raw"
    columns = sparse.csc_array(WE8THERE)
    for name in ("data", "indices", "indptr", "shape"):
        write_lines(raw / f"x_csc_{name}.txt.gz", getattr(columns, name))
    write_lines(raw / "x_csc_colnames.txt.gz", ["veri good", "go back", "dine room"])
    write_lines(
        raw / "y_dense_colnames.txt.gz", ["Food", "Service", "Value", "Atmosphere", "Overall"]
    )
    ratings = [f"{1 + i % 5} 5 4 3 {i % 2 + 1}" for i in range(16)]
    write_lines(raw / "y_dense.txt.gz", ratings)


def small_eicu(root):
    """Stay i belongs to patient i // 2; codes say what should become of them."""
    folder = root / "eicu_demo"
    stays = range(120)
    status = ["Expired" if i % 10 == 0 else "Alive" for i in stays]
    status[7] = "NA"
    rows = [(i, s, f"pid-{i // 2:03d}") for i, s in zip(stays, status, strict=True)]
    header = ["patientunitstayid", "hospitaldischargestatus", "uniquepid"]
    write_csv(folder / "patient.csv.gz", header, rows)
    coded = [i for i in stays if i != 9]  # stay 9 has no code at all
    write_csv(
        folder / "diagnosis.csv.gz",
        ["diagnosisid", "patientunitstayid", "diagnosisoffset", "diagnosisstring"],
        [(0, i, -5, "a|b c, d") for i in coded]
        + [(0, i, 1440, "a|b c, d") for i in coded]
        + [(0, i, 1441, "late") for i in coded]
        + [(0, i, "NA", "untimed") for i in coded]
        + [(0, i, 10, "rare") for i in range(5)],
    )
    write_csv(
        folder / "treatment.csv.gz",
        ["patientunitstayid", "treatmentoffset", "treatmentstring"],
        [(i, 3, "ventilation") for i in coded[::2]],
    )
    write_csv(
        folder / "pasthistory.csv.gz",
        ["patientunitstayid", "pasthistoryoffset", "pasthistoryenteredoffset", "pasthistorypath"],
        [(i, 3, 9, "notes/CHF") for i in coded] + [(i, 3, 2000, "notes/late") for i in coded],
    )
    write_csv(
        folder / "admissiondx.csv.gz",
        ["patientunitstayid", "admitdxenteredoffset", "admitdxpath"],
        [(i, 0, "admission diagnosis|Sepsis") for i in coded],
    )
    drug = ["ASPIRIN 81 MG", "Aspirin", "NA", "ASPIRIN 81 MG"]
    write_csv(
        folder / "medication.csv.gz",
        ["patientunitstayid", "drugorderoffset", "drugstartoffset", "drugname", "drughiclseqno"],
        [(i, 1, 2, drug[i % 4], 1820) for i in coded]
        + [(i, 1, 2, "SALINE 0.9%", "NA") for i in coded]
        + [(i, 1, 2, "NA", 77) for i in coded]
        + [(i, 1, 2, "NA", "NA") for i in coded]
        + [(i, 2000, 2, "late order", 5) for i in coded]
        + [(i, 1, 2000, "late start", 6) for i in coded],
    )


ID_NAMES = """admission_type_id,description
1,Emergency
6,NULL
,
discharge_disposition_id,description
1,Discharged to home
11,Expired
19,"Expired at home. Medicaid only, hospice."
,
admission_source_id,description
1, Physician Referral
9, Not Available
"""


def small_diabetes(root):
    folder = root / "diabetes130"
    known = {
        "race": "?",
        "gender": "Unknown/Invalid",
        "age": "[70-80)",
        "weight": "[75-100)",
        "payer_code": "MC",
        "medical_specialty": "Cardiology",
        "max_glu_serum": "None",
        "A1Cresult": ">8",
        "change": "Ch",
        "diabetesMed": "Yes",
        "diag_1": "250.83",
        "diag_2": "250",
        "diag_3": "8.45",
        "number_inpatient": "3",
        "admission_type_id": "6",
        "discharge_disposition_id": "1",
        "admission_source_id": "1",
        "insulin": "Up",
        "metformin": "Steady",
    }
    others = [drug for drug in DRUGS if drug not in known]
    header = [*known, *others, "patient_nbr", "readmitted"]
    rows = []
    for i in range(90):
        row = known | dict.fromkeys(others, "No")
        row["patient_nbr"] = i // 3
        row["readmitted"] = ("NO", ">30", "<30")[i % 3]
        if i % 9 == 0:
            row["discharge_disposition_id"] = ("11", "13", "14", "19", "20", "21")[i // 9 % 6]
            row["diag_1"] = "V57.1"
        rows.append([row[column] for column in header])
    write_csv(folder / "diabetic_data.csv.gz", header, rows)
    (folder / "IDs_mapping.csv").write_text(ID_NAMES, encoding="utf-8")


SMALL = {
    "pang_lee": small_pang_lee,
    "yelp": small_yelp,
    "imdb": small_imdb,
    "eicu": small_eicu,
    "diabetes": small_diabetes,
    "poliblog": small_poliblog,
    "newsgroups": small_newsgroups,
    "we8there": small_we8there,
}


def write_small(root):
    """All of them, below one folder."""
    for write in SMALL.values():
        write(root)
    return root
