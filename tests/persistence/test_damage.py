"""Files that are not whole, not ours, or not from this time: one line that says so."""

import hashlib
import io
import json
import pickle
import zipfile

import numpy as np
import pytest
from model_files import file_by_hand, fitted

import topicfocus
from topicfocus.persistence import ModelFileError
from topicfocus.persistence.archive import HEADER, VERSION, write_archive


@pytest.fixture(scope="module")
def model():
    return fitted("SLDAClassifier")


@pytest.fixture(scope="module")
def content(model):
    stream = io.BytesIO()
    model.save(stream)
    return stream.getvalue()


def refused(source, match):
    """The error is one line, begins with what was tried, and matches."""
    if isinstance(source, bytes):
        source = io.BytesIO(source)
    with pytest.raises(ModelFileError, match=match) as caught:
        topicfocus.load(source)
    message = str(caught.value)
    assert message.startswith("Cannot load ") and message.endswith(".") and "\n" not in message
    assert len(message) < 400
    return message


def rezip(content, change_header=None, compression=zipfile.ZIP_STORED, members=None):
    """The same model zipped by other hands: sealed rightly, whatever its header says."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts.update(members or {})
    header = json.loads(parts[HEADER])
    if change_header is not None:
        change_header(header)
    parts[HEADER] = json.dumps(header).encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data, zipfile.ZIP_STORED if name == HEADER else compression)
        archive.comment = b"topicfocus sha256 " + b"0" * 64
    whole = stream.getvalue()[:-64]
    return whole + hashlib.sha256(whole).hexdigest().encode()


def test_the_helper_makes_files_that_load(content):
    topicfocus.load(io.BytesIO(rezip(content)))


def test_every_truncation_is_refused(content):
    for length in [0, 1, 20, 44, 45, 100, *np.linspace(200, len(content) - 1, 60).astype(int)]:
        refused(content[:length], "empty|not a model file|truncated")


def test_every_altered_byte_is_refused(content):
    rng = np.random.default_rng(0)
    for place in {0, 30, len(content) - 1, *rng.integers(0, len(content), 300).tolist()}:
        altered = bytearray(content)
        altered[place] ^= 1 << int(rng.integers(8))
        refused(bytes(altered), "not a model file|truncated or was altered|compressed|claim|arrays")


def test_bytes_added_before_or_after_are_refused(content):
    refused(content + b"\0", "altered")
    refused(b"\0" + content, "not a model file")
    refused(content + content, "altered|header")


def test_foreign_files(tmp_path, content):
    refused(b"", "it is empty")
    refused(np.random.default_rng(0).bytes(5000), "not a model file")
    refused(b"%PDF-1.7 and so on" * 100, "not a model file")
    refused(pickle.dumps({"a": 1}), "looks like a pickle, which topicfocus never loads")
    arrays = io.BytesIO()
    np.savez(arrays, a=np.ones(3))
    refused(arrays.getvalue(), "not a model file")
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr(HEADER, json.dumps({"format": "something else"}))
    refused(other.getvalue(), "not a model file")
    assert "no such file" in refused(tmp_path / "missing.model", "missing.model")
    assert "is a folder" in refused(tmp_path, "folder")
    (tmp_path / "empty").touch()
    refused(str(tmp_path / "empty"), "empty")


def test_a_pickle_inside_is_never_opened(content, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    stream = io.BytesIO()
    np.save(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    data = stream.getvalue()
    name = next(n for n in json.loads(header_text(content))["members"] if "topic_word" in n)

    def tell(header):
        told = header["members"][name]
        told.update(bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), dtype="|O", shape=[1])

    refused(rezip(content, tell, members={name: data}), "not what its header says")

    def tell_less(header):
        tell(header)
        header["members"][name]["dtype"] = "<f8"

    refused(rezip(content, tell_less, members={name: data}), "not what its header says")
    assert not (tmp_path / "sprung").exists()


def header_text(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return archive.read(HEADER)


def test_a_newer_format_says_to_upgrade(content):
    def newer(header):
        header["version"] = VERSION + 1
        header["created_by"]["topicfocus"] = "9.1"

    said = f"format {VERSION + 1}.*reads up to format {VERSION}; upgrade topicfocus"
    message = refused(rezip(content, newer), said)
    assert "topicfocus 9.1" in message
    # Also when the newer format seals and packs in other ways.
    refused(rezip(content, newer, zipfile.ZIP_DEFLATED)[:-1] + b"x", "upgrade topicfocus")


@pytest.mark.parametrize("version", [None, 0, -1, "1", 1.0, True, [1]])
def test_a_version_that_is_none(content, version):
    refused(rezip(content, lambda header: header.update(version=version)), "no format version")


def test_compressed_members_are_refused(content):
    refused(rezip(content, compression=zipfile.ZIP_DEFLATED), "is compressed")


def test_a_zip_bomb_is_refused_before_it_unfolds(content):
    bomb = b"\0" * 50_000_000
    file = rezip(content, members={"arrays/bomb.npy": bomb}, compression=zipfile.ZIP_DEFLATED)
    assert len(file) < 200_000
    refused(file, "is compressed")


def test_overlapping_members_are_refused(content):
    """Many names for the same bytes: each fits into the file, all together do not."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(HEADER, header_text(content))
        archive.writestr("arrays/a.npy", b"\0" * 10_000)
        for k in range(5):
            info = zipfile.ZipInfo(f"arrays/a{k}.npy")
            for field in ("header_offset", "CRC", "compress_size", "file_size"):
                setattr(info, field, getattr(archive.getinfo("arrays/a.npy"), field))
            archive.filelist.append(info)
            archive.NameToInfo[info.filename] = info
    refused(stream.getvalue(), "larger than the file|altered")


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "<f4"},
        {"dtype": "|O"},
        {"dtype": "<c16"},
        {"dtype": "f8, f8"},
        {"dtype": None},
        {"shape": [1, 10**12]},
        {"shape": [-1, -3]},
        {"shape": ["3"]},
        {"shape": 3},
        {"bytes": 10**15},
        {"sha256": "0" * 64},
        {"sha256": None},
    ],
    ids=str,
)
def test_arrays_are_compared_with_the_header_first(content, change):
    def alter(header):
        name = next(n for n in header["members"] if "topic_word" in n)
        header["members"][name].update(change)

    refused(rezip(content, alter), "not what its header says|altered")


def test_members_that_the_header_does_not_list(content):
    refused(rezip(content, members={"arrays/more.npy": b"1"}), "does not list")
    refused(rezip(content, lambda h: h["members"].update(more={})), "does not list")
    refused(rezip(content, lambda h: h.pop("members")), "does not list")


def test_nonsense_in_the_model(content):
    for model in (None, 3, [], {}, {"kind": "dict", "keys": [], "values": []}):
        refused(rezip(content, lambda h, m=model: h.update(model=m)), "no model in it")
    refused(
        rezip(content, lambda h: h["model"].update({"class": "os.system"})),
        "holds a 'os.system', which this version of topicfocus does not know",
    )
    refused(rezip(content, lambda h: h["model"].update({"class": ["LDA"]})), "does not know")
    refused(rezip(content, lambda h: h["model"].pop("params")), "altered")
    refused(rezip(content, lambda h: h["model"].update(fitted=3)), "altered")


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "function", "name": "os.system"},
        {"kind": 3},
        {},
        {"kind": "record", "class": "subprocess.Popen", "fields": {}},
        {"kind": "record", "class": "topicfocus.Gaussian", "fields": {"noise_variance": "x"}},
        {"kind": "record", "class": "topicfocus.Gaussian", "fields": {"other": 1.0}},
        {"kind": "record", "class": "topicfocus.Hyperparameters", "fields": {}},
        {"kind": "record", "class": "topicfocus.Hyperparameters", "fields": {"n_topics": 2.5}},
        {
            "kind": "record",
            "class": "topicfocus.Hyperparameters",
            "fields": {"n_topics": 3, "bound": "loose"},
        },
        {"kind": "numpy_type", "name": "object"},
        {"kind": "python_type", "name": "eval"},
        {"kind": "dtype", "name": "O"},
        {"kind": "scalar", "dtype": "int8", "value": 3000},
        {"kind": "float", "value": "1e5"},
        {"kind": "array", "array": "../../etc/passwd"},
        {"kind": "array", "array": None},
        {"kind": "objects", "shape": [3, 3], "values": [1]},
        {"kind": "objects", "shape": [10**12], "values": []},
        {"kind": "dict", "keys": [[1]], "values": [1]},
        {"kind": "dict", "keys": [1, 2], "values": [1]},
        {"kind": "tuple", "values": 3},
        {"kind": "csr_array", "shape": [3, 3], "data": 1, "indices": 2, "indptr": 3},
    ],
    ids=str,
)
def test_nonsense_values(content, value):
    refused(rezip(content, lambda h: h["model"]["fitted"].update(extra_=value)), "Cannot load")


@pytest.mark.parametrize(
    "name", ["predict", "__class__", "__dict__", "a b", "n_topics", "save", ""]
)
def test_attributes_cannot_hide_what_the_class_has(content, name):
    refused(rezip(content, lambda h: h["model"]["fitted"].update({name: 3})), "has no")


def test_bottomless_nesting(content):
    def nest(header, depth):
        value = []
        for _ in range(depth):
            value = [value]
        header["model"]["fitted"]["extra_"] = value

    refused(rezip(content, lambda h: nest(h, 100)), "nested too deeply")
    text = header_text(content).replace(b'"fitted": {', b'"fitted": {"e": ' + b"[" * 10**6, 1)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(HEADER, text)
    refused(file.getvalue(), "altered")


def test_values_outside_what_a_type_can_hold(model):
    """A boolean that is neither true nor false, a character beyond Unicode."""
    for odd in (np.full(3, 7, np.uint8).view(bool), np.full(3, 2**32 - 1, np.uint32).view("<U1")):
        stream = io.BytesIO()
        write_archive(stream, {"model": {}}, {"arrays/odd.npy": odd})
        refused(stream.getvalue(), "not what its header says")


def test_sparse_matrices_are_checked(model):
    def file(indices):
        def change(node, arrays):
            arrays.update(
                d=np.ones(2), i=np.array(indices, np.int32), p=np.array([0, 1, 2], np.int32)
            )
            node["fitted"]["extra_"] = {
                "kind": "csr_array", "shape": [2, 4], "data": "d", "indices": "i", "indptr": "p",
            }  # fmt: skip

        return file_by_hand(model, change)

    assert topicfocus.load(file([0, 3])).extra_.toarray()[1, 3] == 1
    for indices in ([0, 4], [-1, 0], [0, 10**9]):
        refused(file(indices), "Cannot load")


def test_an_array_is_used_once(model):
    """Else a small file asks for gigabytes: the same numbers as lists, again and again."""

    def change(node, arrays):
        arrays["arrays/few.npy"] = np.zeros(1000, np.int8)
        one = {"kind": "numbers", "array": "arrays/few.npy"}
        node["fitted"]["extra_"] = [one] * times

    times = 1
    assert topicfocus.load(file_by_hand(model, change)).extra_ == [[0] * 1000]
    times = 10_000
    refused(file_by_hand(model, change), "'arrays/few.npy' is there twice")
