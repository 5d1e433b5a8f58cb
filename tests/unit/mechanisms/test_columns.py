"""Secrets of the wrong kind are refused with their row, and releases saturate at the ends of their type."""

import datetime as dt
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import (
    DataError,
    KindError,
    NotFiniteError,
    OutOfDomainError,
    ShapeError,
)
from tests.refused_secrets import AWARE, BOUNDED, DAYS, GLOBE, LETTERS, LINE, NULLS, PLANE, SETS, STEPS, refused

m = mdp.metrics


def test_not_a_time():
    refused(DAYS, np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"), NotFiniteError, 1, "not NaT")
    refused(DAYS, np.datetime64("NaT", "s"), NotFiniteError, 0, "not NaT")
    refused(DAYS, pd.Series(pd.to_datetime(["2024-01-01", None])), NotFiniteError, 1, "not NaT")


def test_the_first_bad_row_is_named():
    rows = np.zeros(40_000)
    rows[[20_000, 30_000]] = math.nan
    refused(LINE, rows, NotFiniteError, 20_000, "finite number is wanted")
    rows = np.zeros((10, 2))
    rows[7, 0] = rows[3, 1] = math.nan
    refused(PLANE, rows, NotFiniteError, 3, "finite number is wanted")


@pytest.mark.parametrize("mechanism", [LINE, STEPS, DAYS, LETTERS, SETS, NULLS, PLANE, GLOBE])
def test_empty(mechanism):
    refused(mechanism, [], ShapeError, None, "empty")
    if mechanism is not SETS:
        refused(mechanism, np.array([]), ShapeError, None, "empty")


@pytest.mark.parametrize(
    "bad", [None, "3.5", b"3", True, 1j, object(), [1.0], {1.0}, dt.timedelta(1), np.True_, np.complex64(1)]
)
def test_not_a_number(bad):
    for mechanism in (LINE, BOUNDED, STEPS):
        with pytest.raises(KindError) as caught:
            mechanism.release([0.5, bad])
        assert caught.value.row == 1
        assert isinstance(caught.value, TypeError)
        if not isinstance(bad, list):
            with pytest.raises(KindError):
                mechanism.release(bad)


@pytest.mark.parametrize(
    "array",
    [
        np.array([True]),
        np.array([1j]),
        np.array(["3"]),
        np.array([b"3"]),
        np.array([1], dtype="m8[D]"),
        np.zeros(2, "i4,i4"),
    ],
    ids=lambda array: str(array.dtype),
)
def test_arrays_of_no_numbers(array):
    for mechanism in (LINE, STEPS, BOUNDED, NULLS):
        with pytest.raises(KindError, match="numbers are wanted"):
            mechanism.release(array)
    if array.ndim == 1 and array.dtype.names is None:
        for mechanism in (PLANE, GLOBE):
            with pytest.raises(KindError):
                mechanism.release(np.stack([array, array], axis=1))


def test_no_bool_hides_among_numpy_integers():
    refused(LINE, [np.True_, np.int64(3)], KindError, 0, "number")


@pytest.mark.parametrize(
    "secrets", [AWARE, [AWARE], pd.Series([AWARE, AWARE], dtype=object), pd.Timestamp(AWARE)], ids=repr
)
def test_time_zones(secrets):
    with pytest.raises(KindError, match="time zone"):
        DAYS.release(secrets)


@pytest.mark.parametrize("bad", [None, "2024-01-02", 3.5, AWARE, dt.timedelta(1), True], ids=repr)
def test_not_a_date(bad):
    """The row that is no date is named, not the first that is one."""
    good = dt.datetime(2024, 1, 1) if bad is AWARE else dt.date(2024, 1, 1)
    with pytest.raises(KindError) as caught:
        DAYS.release([good, bad])
    assert caught.value.row == 1


def test_dates_of_the_wrong_kind():
    refused(DAYS, np.array(["2024-01"], dtype="datetime64[M]"), KindError, None, "uneven length")
    for mechanism in (STEPS, GLOBE, PLANE):
        with pytest.raises(DataError):
            mechanism.release(np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]"))


@pytest.mark.parametrize("secret", [dt.date.max, dt.date.min])
def test_the_calendar_saturates(secret):
    """Dates end with the year 9999 and begin with 1: what lies beyond is the last or the first day."""
    released = DAYS.release([secret] * 200)
    assert {type(day) for day in released} == {dt.date}
    assert secret in released


def test_the_clock_saturates():
    mechanism = mdp.laplace(m.dates().within(5), resolution=Fraction(1, 24))
    last = mechanism.release([dt.datetime.max] * 50)
    assert {type(moment) for moment in last} == {dt.datetime}
    assert max(last) == dt.datetime(9999, 12, 31, 23)
    assert min(mechanism.release([dt.datetime.min] * 50)) == dt.datetime.min


def test_nanoseconds_saturate():
    """The type ends in the year 2262; beyond it is its last moment, not NaT and not the year 1677."""
    last = np.datetime64(2**63 - 1, "ns")
    mechanism = mdp.laplace(m.dates().within(5), resolution=1)
    released = mechanism.release(np.full(500, last))
    assert not np.isnat(released).any()
    assert (released > np.datetime64("2261-01-01")).all()


def test_moments_with_a_zone_end_where_pandas_shows_them():
    """Printing one of the year 1 in Tokyo ends the process, whether pandas or Arrow holds it."""
    tokyo = pd.ArrowDtype(pa.timestamp("us", "Asia/Tokyo"))
    first = pd.Series([dt.datetime(1678, 1, 1, tzinfo=dt.UTC)] * 50, dtype=tokyo)
    released = mdp.laplace(m.dates().within(5)).release(first)
    assert released.dtype == tokyo
    assert released.dt.tz_convert("UTC").dt.year.min() == 1678
    for year in (1677, 2262):
        early = pd.Series([dt.datetime(year, 1, 1, tzinfo=dt.UTC)], dtype=tokyo)
        refused(DAYS, early, OutOfDomainError, 0, "1678 to 2261")


@pytest.mark.parametrize("mechanism", [LINE, PLANE, GLOBE, STEPS, LETTERS, SETS], ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("distance", [1e300, math.inf])
def test_every_release_is_somewhere(mechanism, distance):
    assert mechanism.probability_within(distance) > 0.999999
