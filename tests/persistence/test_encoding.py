"""Values come back as they were, with their types, through JSON text."""

import io
import json
import math

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import topicfocus.estimators  # noqa: F401, registers families and hyperparameters
from topicfocus.families import FAMILIES
from topicfocus.inference.state import Hyperparameters
from topicfocus.persistence.archive import read_archive, write_archive
from topicfocus.persistence.decoding import Decoder
from topicfocus.persistence.encoding import Encoder


def round_trip(value):
    encoder = Encoder()
    text = json.dumps(encoder.encode(value, "value"), allow_nan=False)
    return Decoder(encoder.arrays).decode(json.loads(text))


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(plain)
def test_plain_values(value):
    # repr, because NaN is not equal to itself, and -0.0 equals 0.0.
    assert repr(round_trip(value)) == repr(value)


storable = hnp.scalar_dtypes().filter(lambda dtype: dtype.kind in "biufU")


@given(hnp.arrays(storable, hnp.array_shapes(min_dims=0, min_side=0)))
def test_arrays_through_a_file(array):
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with pytest.raises(TypeError, match="Cannot save value"):
            Encoder().encode(array, "value")
        return
    encoder = Encoder()
    node = encoder.encode(array, "value")
    stream = io.BytesIO()
    write_archive(stream, {}, encoder.arrays)
    _, arrays = read_archive(stream)
    loaded = Decoder(arrays).decode(node)
    assert loaded.shape == array.shape
    assert loaded.dtype == array.dtype.newbyteorder("=")
    assert loaded.astype(array.dtype).tobytes() == array.tobytes()
    assert loaded.flags.writeable and loaded.flags.aligned


@pytest.mark.parametrize(
    "value",
    [
        {"b", "a", "c"},
        frozenset({1, 2}),
        np.float32(0.1),
        np.bool_(True),
        np.str_("word"),
        np.uint8(255),
        np.int64,
        np.float32,
        np.bool_,
        float,
        np.dtype("float32"),
        [np.int64(k) for k in range(20)],
        {f"word{k}": np.int32(k) for k in range(20)},
        Hyperparameters(n_topics=3, bound="tight", inclusion_prior=1 / 3),
        [*FAMILIES.values()],
    ],
    # Not str: a set is written in another order by every process, and tests run in several.
    ids=lambda value: type(value).__name__,
)
def test_other_values(value):
    loaded = round_trip(value)
    assert type(loaded) is type(value) and loaded == value
    if isinstance(value, (list, dict)):
        old, new = (v.values() if isinstance(v, dict) else v for v in (value, loaded))
        assert [type(v) for v in old] == [type(v) for v in new]


def test_a_scalar_that_is_not_a_number():
    loaded = round_trip(np.float64("nan"))
    assert type(loaded) is np.float64 and math.isnan(loaded)


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_matrices(kind):
    matrix = kind(np.array([[0, 1.5, 0], [2.5, 0, 0]]))
    loaded = round_trip({"counts": matrix})["counts"]
    assert type(loaded) is kind
    assert loaded.shape == matrix.shape and (loaded != matrix).nnz == 0


def test_object_arrays_of_plain_values():
    array = np.array([["a", None], [1, 2.5]], dtype=object)
    loaded = round_trip(array)
    assert loaded.dtype == object and loaded.tolist() == array.tolist()
