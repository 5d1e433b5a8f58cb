"""Days: what is released depends on the day alone, and so do the cells of questions."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from metricdp.errors import PolicyError
from metricdp.exact import seeded
from metricdp.policies import Policy
from metricdp.policies.cells.ordered import DateCells
from metricdp.tables.sanitizer import Sanitizer
from tests.unit.policies.types.released import column, release

ENTRY = 'type = "date"\nwithin = "5 days"\nmissing = "refuse"'


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("day", [dt.date(2024, 2, 29), dt.date(1969, 12, 31), dt.date(1700, 1, 1)])
def test_of_a_moment_the_day_counts_alone(unit, day):
    """Two moments of a day must not be told apart at all: with one seed they give one release."""
    clocks = [dt.time(0), dt.time(23, 59, 59), dt.time(12, 30)]
    moments = [pa.array([dt.datetime.combine(day, clock)] * 50, pa.timestamp(unit)) for clock in clocks]
    released = []
    for array in moments:
        with seeded(7):
            released.append(release(ENTRY, array))
    assert released[0] == released[1] == released[2]
    with seeded(7):
        days = release(ENTRY, pa.array([day] * 50, pa.date32()))
    assert released[0].cast(pa.date32()) == days
    assert len(set(days.to_pylist())) > 5


def test_dates_of_both_widths():
    for arrow in (pa.date32(), pa.date64()):
        released = release(ENTRY, pa.array([dt.date(2024, 1, 31)] * 400, arrow))
        assert released.type == arrow
        days = np.asarray(released.cast(pa.date32()).view(pa.int32()))
        assert abs(np.median(days) - (dt.date(2024, 1, 31) - dt.date(1970, 1, 1)).days) < 4


def test_moments_of_a_time_zone_have_no_day_of_their_own():
    policy = Policy.parse(f"format = 2\n[columns.x]\n{ENTRY}")
    with pytest.raises(PolicyError, match="timestamps without a time zone"):
        Sanitizer.of(policy, pa.schema([("x", pa.timestamp("us", "Europe/Paris"))]))


def test_bounds_and_cells():
    born = column('type = "date"\nwithin = "1 week"\nbounds = [2000-01-01, 2001-12-31]\ncount_by = "year"')
    assert born.outside_words.startswith("bounds 2000-01-01 to 2001-12-31")
    assert born.cells == DateCells("x", ("2000-01-01", "2001-12-31"), by="year", missing="missing")
    assert born.metric(dt.date(2000, 1, 1), None) == pytest.approx(730 * np.log(2) / 7)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('resolution = "1 hour"', 'declare type = "time"'),
        ("bounds = [2000-01-01T00:00:00, 2001-01-01]", "a day is written 2024-01-31"),
        ('bounds = ["2000-01-01", "2001-01-01"]', "without quotes"),
        ("delta = 0.1", "'delta' is not known here"),
        ('count_by = "week"', "by is 'day', 'month' or 'year'"),
    ],
)
def test_mistakes(entry, words):
    bounds = "" if "bounds" in entry else "bounds = [2000-01-01, 2001-12-31]\n"
    with pytest.raises(PolicyError, match=words):
        column(f'type = "date"\nwithin = "5 days"\n{bounds}{entry}')
