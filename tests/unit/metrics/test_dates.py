from datetime import UTC, date, datetime, timedelta, timezone
from fractions import Fraction

import numpy as np
import pandas
import pytest

from metricdp.errors import ArgumentError, KindError, NotFiniteError, ShapeError
from metricdp.exact.level import ln
from metricdp.metrics import dates

D = dates()


def test_days_between_moments_of_every_kind():
    one = [date(2024, 2, 28), datetime(2024, 2, 28), np.datetime64("2024-02-28"), pandas.Timestamp("2024-02-28")]
    two = [date(2024, 3, 1), datetime(2024, 3, 1), np.datetime64("2024-03-01T00:00:00.000"), np.datetime64("2024-03")]
    assert (D.pairwise(one, two) == 2).all()
    assert all(D.exactly(x, y) == 2 for x in one for y in two)


def test_nanoseconds_are_kept():
    start = np.datetime64("2024-01-01T00:00:00.000000000")
    assert D.exactly(start, start + np.timedelta64(1, "ns")) == Fraction(1, 86400 * 10**9)
    assert D(start, start + np.timedelta64(1, "ns")) == 1 / (86400 * 10**9)
    stamp = pandas.Timestamp("2024-01-01") + pandas.Timedelta(7, "ns")
    assert D.exactly(stamp, start) == Fraction(7, 86400 * 10**9)
    assert D.exactly(np.datetime64(3, "as"), np.datetime64(0, "as")) == Fraction(3, 86400 * 10**18)
    assert D.exactly(np.datetime64(3, "25s"), np.datetime64(0, "25s")) == Fraction(75, 86400)


def test_far_apart():
    assert D(date(1, 1, 1), date(9999, 12, 31)) == 3652058
    assert D.exactly(datetime.min, datetime.max) == 3652059 - Fraction(1, 86400 * 10**6)


def test_time_zones():
    noon = datetime(2024, 6, 1, 12, tzinfo=UTC)
    paris = datetime(2024, 6, 1, 14, tzinfo=timezone(timedelta(hours=2)))
    assert D(noon, paris) == 0
    assert D(pandas.Timestamp("2024-06-01T14:00", tz="Europe/Paris"), noon) == 0
    with pytest.raises(KindError) as error:
        D.pairwise([noon, datetime(2024, 6, 1, 12)])
    assert error.value.row == 1


def test_periods():
    assert dates(7).exactly(date(2024, 1, 1), date(2024, 1, 2)) == Fraction(1, 7)
    assert dates().within(5).level == ln(2) / 5
    assert dates().unit_name == "days"
    with pytest.raises(ArgumentError):
        dates(0)


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ("2024-01-01", KindError),
        (5, KindError),
        (np.datetime64("NaT", "D"), NotFiniteError),
        (pandas.NaT, NotFiniteError),
    ],
)
def test_what_is_no_moment(bad, error):
    with pytest.raises(error) as problem:
        D.pairwise([date(2024, 1, 1), bad])
    assert problem.value.row == 1


def test_no_moments():
    with pytest.raises(ShapeError):
        D.pairwise([])
