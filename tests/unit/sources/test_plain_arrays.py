"""Arrays in plain types: the same rows, valid, whatever they are nested in, sliced or missing."""

import pyarrow as pa
import pytest

from metricdp.sources.plain_arrays import plain_array, plain_type

LONG = "a word that does not fit into a view"
MASK = pa.array([False, True, False])
LEAVES = {
    "integers": pa.array([1, None, 3], pa.int8()),
    "nulls": pa.nulls(3),
    "text view": pa.array(["a", None, LONG], pa.string_view()),
    "bytes view": pa.array([b"a", None, LONG.encode()], pa.binary_view()),
    "words": pa.array(["a", None, "b"]).dictionary_encode(),
    "words of views": pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), pa.array(["q", LONG], pa.string_view())),
    "words and null": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["q", None, "z"])),
    "words of lists": pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), pa.array([["q"], ["z", "w"]])),
    "runs": pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int16()), pa.array([LONG, None], pa.string_view())),
    "extension": pa.ExtensionArray.from_storage(pa.json_(), pa.array(["1", None, "{}"])),
}


def wrapped(leaf):
    """The three values in everything that holds others; with the second missing, and with places out of order."""
    small, large = pa.int32(), pa.int64()
    keys = pa.array(["k", "l", "m"], pa.string_view())
    return {
        "alone": leaf,
        "struct": pa.StructArray.from_arrays([leaf], ["r"], mask=MASK),
        "list": pa.ListArray.from_arrays(pa.array([0, 2, 2, 3], small), leaf, mask=MASK),
        "large list": pa.LargeListArray.from_arrays(pa.array([0, 1, 2, 3], large), leaf),
        "fixed list": pa.FixedSizeListArray.from_arrays(leaf, 1, mask=MASK),
        "list view": pa.ListViewArray.from_arrays(
            pa.array([2, 0, 0], small), pa.array([1, 2, 2], small), leaf, mask=MASK
        ),
        "large list view": pa.LargeListViewArray.from_arrays(
            pa.array([2, 0, 1], large), pa.array([1, 0, 2], large), leaf
        ),
        "map": pa.MapArray.from_arrays(pa.array([0, 1, 2, 3], small), keys, leaf, mask=MASK),
    }


@pytest.mark.parametrize("name", LEAVES)
def test_rows_are_the_same_and_valid_in_every_nesting(name):
    """A cast of a list view has one offset too few, so that its reader reads beyond the end of a buffer."""
    for outer in wrapped(LEAVES[name]).values():
        for array in wrapped(outer).values():
            for part in (array, array.slice(1), array.slice(2, 1), array.slice(3)):
                plain = plain_array(part)
                plain.validate(full=True)
                assert plain.type == plain_type(array.type)
                assert plain.to_pylist() == part.to_pylist()


def test_nothing_is_left_of_what_no_row_shows():
    secret = "TOPSECRET"
    inner = pa.array([secret, "a", secret], pa.string_view())
    held = pa.ListViewArray.from_arrays(pa.array([1, 0, 2], pa.int32()), pa.array([1, 1, 1], pa.int32()), inner)
    masked = pa.ListViewArray.from_arrays(held.offsets, held.sizes, inner, mask=pa.array([False, True, True]))
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], pa.int32()), pa.array(["a", secret])).slice(0, 1)
    for array in (held.slice(0, 1), masked, runs, pa.StructArray.from_arrays([masked], ["r"])):
        plain, waiting = plain_array(array), []
        waiting += plain.buffers()
        assert not any(buffer is not None and secret.encode() in bytes(buffer) for buffer in waiting)
