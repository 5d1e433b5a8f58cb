"""What `release` returns for what it is given, and that no number passes through a float on its way in."""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import metricdp as mdp
from metricdp.exact import seeded

m = mdp.metrics
LINE = mdp.laplace(m.absolute().within(5))
WHOLE = mdp.laplace(m.absolute().within(5), resolution=1)
CENTS = mdp.laplace(m.absolute().within(5), resolution="0.01")
DAYS = mdp.laplace(m.dates().within(5))
HOURS = mdp.laplace(m.dates().within(5), resolution=Fraction(1, 24))
STEPS = mdp.geometric(mdp.ln(2) * m.absolute())
PLANE = mdp.laplace(m.euclidean(), dim=2)
LETTERS = mdp.randomized_response("abcd", 1)
SETS = mdp.set_response("abcd", 1)


# One secret, a list, an array, a Series


@pytest.mark.parametrize(
    ("mechanism", "secret", "kind"),
    [
        (LINE, 3.5, float),
        (LINE, 3, float),
        (WHOLE, 3, int),
        (WHOLE, 3.5, int),
        (WHOLE, Decimal("3.5"), int),
        (STEPS, 3, int),
        (STEPS, 3.0, int),
        (CENTS, Decimal("3.50"), float),
        (CENTS, Fraction(1, 3), float),
        (CENTS, np.float64(3.5), float),
        (CENTS, np.float32(3.5), float),
        (WHOLE, np.int8(3), int),
        (WHOLE, np.array(3), int),
        (WHOLE, 10**17, int),
        (DAYS, dt.date(2024, 2, 29), dt.date),
        (DAYS, dt.datetime(2024, 2, 29, 12), dt.date),
        (HOURS, dt.datetime(2024, 2, 29, 12), dt.datetime),
        (HOURS, dt.date(2024, 2, 29), dt.datetime),
        (DAYS, np.datetime64("2024-02-29"), dt.date),
        (PLANE, [1.0, 2.0], list),
        (PLANE, (1.0, 2.0), list),
        (PLANE, np.array([1.0, 2.0]), np.ndarray),
        (LETTERS, "a", str),
        (SETS, {"a"}, set),
        (SETS, frozenset("a"), frozenset),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_one_secret(mechanism, secret, kind):
    for _ in range(20):
        assert type(mechanism.release(secret)) is kind


@pytest.mark.parametrize(
    ("mechanism", "secrets", "kind"),
    [
        (LINE, [3.5, 4.5], float),
        (LINE, (3.5, 4.5), float),
        (LINE, [3, 4.5], float),
        (WHOLE, [3, 4], int),
        (WHOLE, [3, 10**18], int),
        (CENTS, [Decimal("3.50"), 2, 1.5, Fraction(1, 3)], float),
        (WHOLE, [Decimal("3.50"), 2, 1.5, Fraction(1, 3)], int),
        (WHOLE, [3, 2**60], int),
        (mdp.laplace(m.absolute(), resolution=2**10), [3, 2**64], int),
        (WHOLE, [np.int64(3), np.int64(4)], int),
        (WHOLE, [np.int64(3), 4], int),
        (LINE, [np.int64(3), 4.5], float),
        (LINE, [np.float32(3), 4], float),
        (DAYS, [dt.date(2024, 2, 29), dt.date(1900, 1, 1)], dt.date),
        (DAYS, [dt.datetime(2024, 2, 29, 12), dt.date(1900, 1, 1)], dt.date),
        (HOURS, [dt.datetime(2024, 2, 29, 12), dt.date(1900, 1, 1)], dt.datetime),
        (PLANE, [[1.0, 2.0], [3.0, 4.0]], list),
        (PLANE, [(1.0, 2), (3.0, 4.0)], list),
        (PLANE, [np.array([1.0, 2.0])], list),
        (LETTERS, ["a", "b"], str),
        (SETS, [{"a"}, set()], set),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_lists(mechanism, secrets, kind):
    for _ in range(20):
        released = mechanism.release(secrets)
        assert type(released) is list
        assert len(released) == len(secrets)
        assert {type(value) for value in released} == {kind}


def test_pandas_moments():
    """A list declares nothing: a Timestamp in it is a moment like any other."""
    assert {type(moment) for moment in HOURS.release([pd.Timestamp("2024-02-29T12:00"), dt.date(1, 1, 1)])} == {
        dt.datetime
    }


@pytest.mark.parametrize(
    ("mechanism", "array", "dtype"),
    [
        (LINE, np.array([1.0, 2.0]), np.float64),
        (LINE, np.array([1.0, 2.0], dtype=np.float32), np.float32),
        (LINE, np.array([1.0, 2.0], dtype=np.float16), np.float16),
        (LINE, np.array([1, 2]), np.float64),
        (WHOLE, np.array([1, 2]), np.int64),
        (WHOLE, np.array([1, 2], dtype=np.uint8), np.int64),
        (WHOLE, np.array([1, 2], dtype=np.uint64), np.int64),
        (WHOLE, np.array([1.0, 2.0]), np.float64),
        (STEPS, np.array([1, 2], dtype=np.int16), np.int64),
        (CENTS, np.array([Decimal(1), Decimal(2)]), object),
        (CENTS, np.array([Fraction(1, 3), Fraction(2)]), object),
        (DAYS, np.array(["2024-02-29", "1900-01-01"], dtype="M8[D]"), "M8[D]"),
        (DAYS, np.array(["2024-02-29", "1900-01-01"], dtype="M8[s]"), "M8[s]"),
        (DAYS, np.array(["2024-02-29", "1970-01-01"], dtype="M8[ms]"), "M8[ms]"),
        (DAYS, np.array(["2024-02-29", "1970-01-01"], dtype="M8[us]"), "M8[us]"),
        (DAYS, np.array(["2024-02-29", "1970-01-01"], dtype="M8[ns]"), "M8[ns]"),
        (PLANE, np.zeros((3, 2)), np.float64),
        (PLANE, np.zeros((3, 2), dtype=np.float32), np.float32),
        (PLANE, np.zeros((3, 2), dtype=np.int32), np.float64),
        (LETTERS, np.array(["a", "b"], dtype=object), object),
        (mdp.randomized_response([1, 2, 3], 1), np.array([1, 2]), np.int64),
        (mdp.randomized_response([True, False], 1), np.array([True]), np.bool_),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_arrays(mechanism, array, dtype):
    kept = array.copy()
    released = mechanism.release(array)
    assert type(released) is np.ndarray
    assert released.shape == array.shape
    assert released.dtype == np.dtype(dtype)
    assert (array == kept).all()


def test_strided_and_reversed_arrays():
    """Views that are not contiguous give what a copy of them gives."""
    wide = np.arange(40.0).reshape(10, 4)
    for view in (wide[:, 1], wide[::-2, 3], wide[:, ::2], wide.T[:2].T, np.asfortranarray(wide[:, :2])):
        mechanism = LINE if view.ndim == 1 else PLANE
        with seeded(3):
            one = mechanism.release(view)
        with seeded(3):
            two = mechanism.release(view.copy())
        assert (np.asarray(one) == np.asarray(two)).all()


@pytest.mark.parametrize("dtype", [">f4", ">f8", ">i2", ">i8", ">u8", ">M8[D]", ">M8[s]"])
def test_other_byte_orders(dtype):
    array = np.array([1, 2, 3]).astype(dtype)
    mechanism = mdp.laplace(m.dates().within(5)) if array.dtype.kind == "M" else WHOLE
    with seeded(4):
        one = mechanism.release(array)
    with seeded(4):
        two = mechanism.release(array.astype(array.dtype.newbyteorder("=")))
    assert np.asarray(one).tolist() == np.asarray(two).tolist()


@pytest.mark.parametrize(
    ("mechanism", "values", "dtype"),
    [
        (LINE, [1.5, 2.5], "float64"),
        (WHOLE, [1, 2], "int64"),
        (CENTS, [Decimal("1.5"), Decimal(2)], "object"),
        (LETTERS, ["a", "b"], "object"),
        (DAYS, pd.to_datetime(["2024-02-29", "1999-12-31"]), "datetime64[ns]"),
    ],
    ids=["floats", "integers", "decimals", "letters", "dates"],
)
def test_series(mechanism, values, dtype):
    series = pd.Series(values, index=["x", "y"], name="a column")
    released = mechanism.release(series)
    assert type(released) is pd.Series
    assert released.index.tolist() == ["x", "y"]
    assert released.name == "a column"
    assert str(released.dtype) == dtype
    assert released.attrs == {}


def test_frames():
    frame = pd.DataFrame({"east": [1.0, 2.0], "north": [3.0, 4.0]}, index=["x", "y"])
    released = PLANE.release(frame)
    assert type(released) is pd.DataFrame
    assert released.columns.tolist() == ["east", "north"]
    assert released.index.tolist() == ["x", "y"]
    records = mdp.independent(LINE, LETTERS).release(pd.DataFrame({"n": [1.0, 2.0], "c": ["a", "b"]}, index=[5, 6]))
    assert records.columns.tolist() == ["n", "c"]
    assert records.index.tolist() == [5, 6]
    assert set(records["c"]) <= set("abcd")


def test_records_and_compositions():
    both = mdp.independent(LINE, LETTERS)
    assert [type(value) for value in both.release((1.0, "a"))] == [float, str]
    assert [type(row) for row in both.release([(1.0, "a"), (2.0, "b")])] == [tuple, tuple]
    one, two = mdp.compose(LINE, STEPS).release(np.array([1, 2]))
    assert (one.dtype, two.dtype) == (np.float64, np.int64)
    assert isinstance(mdp.postprocess(LINE, round).release(3.7), int)


def test_functions():
    samples = mdp.function_samples(m.supremum().within(1), times=[0, 1, 2])
    assert samples.release(math.sin).shape == (3,)
    assert samples.release(np.zeros((5, 3))).shape == (5, 3)
    assert len(samples.release([0.0, 1.0, 2.0])) == 3
    expansion = mdp.function_expansion(m.square_integrable(), length=1, terms=3)
    function = expansion.release([1.0, 2.0, 3.0])
    assert function([0.0, 0.5]).shape == (2,)
    assert len(expansion.release(np.zeros((4, 3)))) == 4


def test_seeded_functions_say_so():
    expansion = mdp.function_expansion(m.square_integrable(), length=1, terms=3)
    samples = mdp.function_samples(m.supremum().within(1), times=[0, 1, 2])
    with seeded(3):
        function, sampled = expansion.release([1.0, 2.0, 3.0]), samples.release(math.sin)
    for made in (function.coefficients, function([0.0, 0.5]), sampled):
        assert str(made).startswith("not private")
    assert not str(expansion.release([1.0, 2.0, 3.0])([0.0, 0.5])).startswith("not")


# Labels come from the declared list, whatever the array's type


@pytest.mark.parametrize(
    ("values", "array"),
    [
        ([1, 2.5], np.array([1, 1])),
        ([1, "x"], np.array([1, 1])),
        ([1, 300], np.array([1, 1], dtype=np.int8)),
        ([True, 2], np.array([True, True])),
        ([1, None], np.array([1.0, 1.0])),
        (["a", "a longer one"], np.array(["a", "a"])),
    ],
    ids=str,
)
def test_what_is_released_was_declared(values, array):
    mechanism = mdp.randomized_response(values, "0.1")
    seen = {value for _ in range(100) for value in mechanism.release(array).tolist()}
    assert seen == set(values)


# Nothing rounds on the way in


def merged(mechanism, one, two, count=20_000, form=list):
    """Whether two secrets that one float stands for are released alike from the same bits, row by row."""
    results = []
    for secret in (one, two):
        with seeded(9):
            results.append(np.asarray(mechanism.release(form([secret] * count))).tolist())
    return results[0] == results[1]


def as_objects(rows):
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


FORMS = {"list": list, "array": np.array, "objects": as_objects, "series": pd.Series}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_integers_beyond_2_to_53(form):
    big = 2**53
    assert float(big) == float(big + 1)
    for mechanism in (WHOLE, STEPS, mdp.laplace(m.absolute().within(5), resolution=7)):
        assert not merged(mechanism, big, big + 1, form=form)
    with seeded(9):
        one = np.array(WHOLE.release(form([big] * 1000)), dtype=object)
    with seeded(9):
        two = np.array(WHOLE.release(form([big + 1] * 1000)), dtype=object)
    assert set((two - one).tolist()) == {1}, "the same noise around another integer"


def test_integers_on_a_fine_grid():
    """Where integers give floats, their last digit still decides."""
    mechanism = mdp.laplace(Fraction(1, 2**20) * m.absolute(), resolution=Fraction(2**11 + 1, 2))
    assert not merged(mechanism, 2**53, 2**53 + 1, form=np.array, count=400_000)


def test_nanoseconds():
    moment = np.datetime64("2024-02-29T12:34:56.123456789", "ns")
    later = moment + np.timedelta64(1, "ns")
    assert float(moment.astype(np.int64)) == float(later.astype(np.int64))
    for resolution in (Fraction(2, 86_400 * 10**9), Fraction(3, 86_400 * 10**9)):
        mechanism = mdp.laplace(m.dates().within(Fraction(1, 10**12)), resolution=resolution)
        assert not merged(mechanism, moment, later, form=np.array)
        assert not merged(mechanism, moment, later, form=lambda rows: pd.Series(np.array(rows)))


def test_microseconds():
    moment = dt.datetime(2024, 2, 29, 12, 34, 56, 123456)
    later = moment + dt.timedelta(microseconds=1)
    mechanism = mdp.laplace(m.dates().within(Fraction(1, 10**9)), resolution=Fraction(1, 86_400 * 10**6))
    assert not merged(mechanism, moment, later)


@pytest.mark.parametrize("form", [list, as_objects, pd.Series], ids=["list", "objects", "series"])
@pytest.mark.parametrize("kind", [Decimal, Fraction])
def test_decimals_and_fractions(kind, form):
    one, two = kind("0.1"), kind("0.1") + kind("1e-18")
    assert float(one) == float(two)
    mechanism = mdp.laplace(10**16 * m.absolute(), resolution=Fraction(1, 2 * 10**16))
    assert not merged(mechanism, one, two, form=form)


def test_tenths():
    """0.1 as a float is not a tenth, and as a Decimal is."""
    mechanism = mdp.laplace(10**16 * m.absolute(), resolution=Fraction(1, 2 * 10**16))
    assert not merged(mechanism, 0.1, Decimal("0.1"))


@pytest.mark.parametrize("number", [int, np.int64])
@pytest.mark.parametrize("beside", [0.5, np.float64(0.5)], ids=["float", "float64"])
def test_numbers_beside_floats(number, beside):
    """A list that mixes integers with floats, of numpy or not, rounds none of them."""
    results = []
    for secret in (2**53, 2**53 + 1):
        with seeded(9):
            results.append(mdp.laplace(m.absolute(), resolution=3).release([number(secret), beside] * 5000))
    assert results[0] != results[1]


def test_unsigned_beside_signed():
    results = []
    for secret in (2**53, 2**53 + 1):
        with seeded(9):
            results.append(mdp.laplace(m.absolute(), resolution=3).release([np.uint64(secret), np.int64(1)] * 5000))
    assert results[0] != results[1]


@pytest.mark.parametrize("form", ["list", "frame"])
def test_coordinates_beside_floats(form):
    """Points whose columns are of different types: each column keeps its own."""
    results = []
    mechanism = mdp.laplace(m.manhattan(), dim=2, resolution=3)
    for secret in (2**53, 2**53 + 1):
        rows = [[secret, 0.5]] * 5000
        with seeded(9):
            released = mechanism.release(rows if form == "list" else pd.DataFrame(rows, columns=["n", "x"]))
        results.append(released if form == "list" else released.to_numpy().tolist())
    assert results[0] != results[1]


@pytest.mark.parametrize("what", ["coefficients", "samples", "function"])
def test_coefficients_and_samples_beside_floats(what):
    expansion = mdp.function_expansion(m.square_integrable(), length=1, terms=2, resolution=3)
    samples = mdp.function_samples(m.supremum(), times=[0, 1], resolution=3)
    release = {
        "coefficients": lambda secret: [f.coefficients.tolist() for f in expansion.release([[secret, 0.5]] * 5000)],
        "samples": lambda secret: samples.release([[secret, 0.5]] * 5000),
        "function": lambda secret: [samples.release(lambda t: secret).tolist() for _ in range(3000)],
    }[what]
    results = []
    for secret in (2**53, 2**53 + 1):
        with seeded(9):
            results.append(release(secret))
    assert results[0] != results[1]


def test_results_of_exact_numbers_are_the_grids_own():
    """The float next to a cent, whatever number the secret was."""
    secrets = [Decimal("12345678901.11"), Fraction(1, 3), 7, 0.1]
    for value in mdp.laplace(m.absolute(), resolution="0.01").release(secrets * 250):
        assert value == float(f"{value:.2f}")


# A null among numbers: neither the type nor the form of a release tells


def kinds(released):
    return {"null" if value is None or value != value else type(value).__name__ for value in released}


def spelled(released):
    """How null is written: None or NaN."""
    return {repr(value) for value in released if value is None or value != value}


@pytest.mark.parametrize("number", [50.0, 50, Decimal(50), Fraction(50)], ids=lambda number: type(number).__name__)
@pytest.mark.parametrize("resolution", [None, 1])
def test_no_type_tells_which_secret_was_null(number, resolution):
    mechanism = mdp.laplace(Fraction(1, 50) * m.nullable(m.absolute(), 60), bounds=(0, 100), resolution=resolution)
    together = mechanism.release([None] * 500 + [number] * 500)
    assert kinds(together[:500]) == kinds(together[500:])
    assert spelled(together[:500]) == spelled(together[500:]) == {"None"}
    array = np.array([None] * 500 + [number] * 500, dtype=object)
    assert kinds(mechanism.release(array)[:500]) == kinds(mechanism.release(array)[500:])


@pytest.mark.parametrize("resolution", [None, 1])
def test_no_form_tells_whether_there_was_a_null(resolution):
    """A secret alone, or a list without a null, is released as a null would be."""
    mechanism = mdp.laplace(Fraction(1, 50) * m.nullable(m.absolute(), 60), bounds=(0, 100), resolution=resolution)
    absent, present = ([mechanism.release(secret) for _ in range(400)] for secret in (None, 50.0))
    assert spelled(absent) == spelled(present)
    assert kinds(absent) == kinds(present)
    absent, present = (mechanism.release([secret] * 400) for secret in (None, 50.0))
    assert spelled(absent) == spelled(present)
    assert kinds(absent) == kinds(present)


@pytest.mark.parametrize("number", [50.0, Decimal(50)], ids=["float", "Decimal"])
def test_no_block_tells_that_all_of_it_was_null(number):
    """Rows are drawn some thousands at a time; a stretch of nulls must not change the type of its results."""
    mechanism = mdp.laplace(Fraction(1, 50) * m.nullable(m.absolute(), 60), bounds=(0, 100))
    rows = as_objects([number] * 16_384 + [None] * 16_384)
    released = mechanism.release(rows)
    assert kinds(released[:16_384]) == kinds(released[16_384:])
    assert spelled(released[:16_384]) == spelled(released[16_384:])


def test_arrays_and_series_with_nulls():
    mechanism = mdp.laplace(Fraction(1, 50) * m.nullable(m.absolute(), 60), bounds=(0, 100))
    assert mechanism.release(np.array([np.nan, 50.0] * 500)).dtype == np.float64
    released = mechanism.release(pd.Series([np.nan, 50.0] * 500))
    assert released.dtype == np.float64
    assert released.isna().any()
    released = mechanism.release(pd.Series([None, 50] * 500, dtype=object))
    assert released.isna().any()


def test_dates_with_nulls():
    """A date that may be missing: None in a list, NaT in an array, and a date wherever a number of days is drawn."""
    day = dt.date(2024, 2, 1)
    around = (19_723, 19_783)  # days since 1970: the first of January and of March 2024
    mechanism = mdp.laplace(Fraction(1, 20) * m.nullable(m.dates(), 40), bounds=around)
    released = mechanism.release([None] * 500 + [day] * 500)
    assert kinds(released[:500]) == kinds(released[500:]) == {"null", "date"}
    assert kinds(mechanism.release([None] * 500)) == {"null", "date"}
    released = mechanism.release(np.array([day, None] * 500, dtype="M8[D]"))
    assert released.dtype == np.dtype("M8[D]")
    assert np.isnat(released).any()


@pytest.mark.skipif(not hasattr(pl, "Float16"), reason="this Polars has no floats of 16 bits")
def test_floats_of_16_bits_of_polars_keep_their_type():
    secrets = pl.Series("x", [1.0, 2.0], dtype=pl.Float16)
    for mechanism in (
        mdp.laplace(m.absolute(), resolution=1),
        mdp.laplace(m.nullable(m.absolute(), 20), bounds=(0, 10)),
    ):
        assert mechanism.release(secrets).dtype == pl.Float16
