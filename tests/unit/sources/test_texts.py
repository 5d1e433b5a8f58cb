"""What text means: exactly, or refused."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import DataError
from metricdp.sources.dialect import Dialect
from metricdp.sources.texts import DIGITS, FLOAT, days, fractions, integers, moments, numbers


def array(*words):
    return pa.array(words, pa.string())


def exact(text):
    """What numbers mean by either way: Arrow's decimals, or fractions."""
    found = numbers(text, Dialect())
    if pa.types.is_string(found.type):
        return fractions(found)
    return [None if value is None else Fraction(value) for value in found.to_pylist()]


@given(st.decimals(-(10**40), 10**40) | st.decimals(-1, 1, places=45), st.decimals(-10, 10, places=3))
def test_numbers_are_exact_or_refused(wide, plain):
    """In any mixture of widths and forms; more digits than there may be are refused with the row."""
    fits = abs(wide) < 10**DIGITS and (Fraction(wide) * 10**DIGITS).denominator == 1
    text = array(str(plain), None, str(wide))
    if fits or wide == 0:
        assert exact(text) == [plain, None, wide]
    else:
        with pytest.raises(DataError, match="row 2: a"):
            exact(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_of_objects_are_exact(number):
    assert exact(array("1.5", FLOAT + number.hex())) == [Fraction(3, 2), Fraction(number)]


@given(st.integers())
def test_integers_are_exact_or_refused(number):
    if -(2**63) <= number < 2**63:
        assert integers(array("7", str(number))).to_pylist() == [7, number]
    else:
        with pytest.raises(DataError, match="row 1: a whole number of more than 64 bits"):
            integers(array("7", str(number)))


@given(st.dates(), st.sampled_from(["%d.%m.%Y", "%Y/%m/%d", "%m-%d-%Y", "%d %B %Y", "%b %d, %Y", "%Y%m%d"]))
def test_dates_in_any_form(day, written):
    padded = day.strftime(written).replace(day.strftime("%Y"), f"{day.year:04}")
    form = Dialect(date_formats={"": written})
    if day.year >= 1000:
        assert days(array(padded, None), form, "x").to_pylist() == [day, None]
    assert days(array(day.isoformat()), Dialect(), "x").to_pylist() == [day]


@given(st.datetimes(), st.timedeltas(-dt.timedelta(hours=23), dt.timedelta(hours=23)))
def test_moments(moment, offset):
    assert moments(array(moment.isoformat(), None), Dialect(), "x").to_pylist() == [moment, None]
    minutes = dt.timedelta(minutes=offset // dt.timedelta(minutes=1))
    sign, size = ("-", -minutes) if minutes < dt.timedelta(0) else ("+", minutes)
    zone = f"{sign}{size.seconds // 3600:02}:{size.seconds % 3600 // 60:02}"
    if 2 <= moment.year <= 9998:
        zoned = moments(array(moment.isoformat() + zone), Dialect(zoned=frozenset([""])), "x")
        assert zoned.cast(pa.timestamp("us")).to_pylist() == [moment - minutes]


@pytest.mark.parametrize(
    "word",
    ["2024-02-30", "2024-13-01", "2024-00-10", "24-01-01", "2024-01-01T25:00", "yesterday", "", "2024-01-01T10:61"],
)
def test_no_date(word):
    for read in (days, moments):
        with pytest.raises(DataError, match="row 1"):
            read(array("2024-01-01", word), Dialect(), "x")


def test_decimals_of_both_paths_are_the_same():
    """Short numbers take a quick way, and one long number among them the other; values do not change."""
    short, long = exact(array("1.5", "-2.25")), exact(array("1.5", "-2.25", "1" * 30))
    assert short == long[:2] == [Decimal("1.5"), Decimal("-2.25")]


@given(st.integers(-(10**19), 10**19), st.integers(-45, 3))
def test_numbers_of_every_length_and_scale(digits, exponent):
    number = Decimal(digits).scaleb(exponent)
    for word in (f"{number:f}", str(number), f" {number:f}\t"):
        if abs(number) < 10**DIGITS and exponent >= -DIGITS:
            assert exact(array(word, "0.5")) == [number, Fraction(1, 2)]


ISO = ["2024-01-31", "2024-01-31T12:00:00", "2024-01-31 12:00", "2024-01-31T12:00:00.123", "2024-01-31T12"]
ISO += ["2024-01-31T12:00:00Z", "2024-01-31T12:00:00+01:00", "2024-01-31T12:00:00-0130", "2024-01-31T12:00:00+01"]


@given(st.sampled_from(ISO), st.integers(0, 30), st.sampled_from("0123456789-:T Z+."), st.booleans())
def test_both_ways_of_reading_a_moment_agree(word, place, letter, instead):
    """Arrow's quick way and the one that finds the row of a mistake: what one takes, the other takes for the same."""
    place %= len(word)
    changed = (word[:place] + letter + word[place + instead :]).strip()
    for read, dialect in ((days, Dialect()), (moments, Dialect()), (moments, Dialect(zoned=frozenset([""])))):
        found = []
        for text in (changed, f" {changed}"):  # with a space, Arrow does not take it
            try:
                found.append(read(array(text), dialect, "x").cast(pa.int32() if read is days else pa.int64()))
            except DataError:
                found.append(None)
        assert found[0] == found[1]


def test_moments_with_nanoseconds_that_are_none():
    """Arrow writes nine digits where a column counts in nanoseconds; a table made from such could not be read."""
    written = array("2024-01-31 12:00:00.123456000", "2024-01-31 12:00:00.000000000", None)
    found = moments(written, Dialect(), "x").to_pylist()
    assert found == [dt.datetime(2024, 1, 31, 12, 0, 0, 123456), dt.datetime(2024, 1, 31, 12), None]
    with pytest.raises(DataError):
        moments(array("2024-01-31 12:00:00.123456001"), Dialect(), "x")
