"""Durations and times of day: seconds in the steps of a clock, in every unit that Arrow has."""

import datetime as dt
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from metricdp.errors import ColumnError, PolicyError
from metricdp.exact.level import ln
from metricdp.metrics import absolute
from metricdp.policies import Policy
from metricdp.tables import sanitize
from metricdp.tables.sanitizer import Sanitizer
from tests.unit.policies.types.released import column, release

ROWS = 400
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


@pytest.mark.parametrize("unit", list(PER_SECOND))
def test_durations_keep_their_unit(unit):
    hour = pa.array([3600 * PER_SECOND[unit]] * ROWS, pa.int64()).view(pa.duration(unit))
    released = release('type = "duration"\nwithin = "10 min"\nresolution = "1 s"', hour)
    assert released.type == pa.duration(unit)
    seconds = np.asarray(released.view(pa.int64())) / PER_SECOND[unit]
    assert (seconds == np.round(seconds)).all(), "on the grid of the resolution"
    assert 3600 - 400 < np.median(seconds) < 3600 + 400
    assert np.unique(seconds).size > ROWS / 4


@pytest.mark.parametrize("arrow", [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")], ids=str)
def test_times_of_day_stay_within_the_day(arrow):
    ends = [dt.time(0, 0, 1), dt.time(23, 59, 59)] * ROWS
    released = release(
        'type = "time_of_day"\nwithin = "3 hours"\nresolution = "1 s"\nmissing = "refuse"', pa.array(ends, arrow)
    )
    assert released.type == arrow
    assert released.null_count == 0
    ticks = np.asarray(released.view(pa.int32() if arrow.bit_width == 32 else pa.int64()))
    assert ticks.min() == 0
    day = 86400 * PER_SECOND[arrow.unit]
    assert day - 2 * PER_SECOND[arrow.unit] <= ticks.max() < day


def test_levels_and_steps():
    stay = column('type = "duration"\nwithin = "10 min"')
    assert stay.metric == ln(2) / 600 * absolute()
    assert stay.mechanism.resolution == Fraction(1, 1000)
    assert column('type = "duration"\nwithin = "30 days"').mechanism.resolution == 3600
    assert column('type = "duration"\nepsilon = 1\nper = "1 hour"').level_words == "epsilon 1 for 1 hour"
    assert column('type = "duration"\nwithin = "1 h"\nbounds = ["0 h", "8 hours"]').outside_words.startswith(
        "bounds 0 to 8 hours"
    )
    came = column('type = "time_of_day"\nwithin = "30 min"\nbounds = [06:00:00, 20:30:00]')
    assert came.bounds == (6 * 3600, 20 * 3600 + 1800)
    assert came.missing == "secret"
    assert came.outside_words.startswith("bounds 06:00:00 to 20:30:00")


def test_secret_missing_times():
    times = pa.array([dt.time(12), None] * ROWS, pa.time64("us"))
    released = release('type = "time_of_day"\nwithin = "12 hours"', times)
    assert 0 < released.null_count < 2 * ROWS


@pytest.mark.parametrize(
    ("entry", "arrow", "words"),
    [
        (
            'type = "duration"\nwithin = "1 ms"',
            pa.duration("s"),
            "wants a column of durations that hold multiples of 1e-06 s",
        ),
        (
            'type = "duration"\nwithin = "1 h"',
            pa.int64(),
            "durations, and the table has whole numbers",
        ),
        ('type = "time_of_day"\nwithin = "1 h"', pa.timestamp("s"), "wants a column of times of day"),
    ],
)
def test_types_are_checked_before_any_row(entry, arrow, words):
    policy = Policy.parse(f"format = 2\n[columns.x]\n{entry}")
    with pytest.raises(PolicyError, match=words):
        Sanitizer.of(policy, pa.schema([("x", arrow)]))


def test_what_lies_beyond_the_bounds():
    late = pa.array([dt.time(23)], pa.time32("s"))
    entry = 'type = "time_of_day"\nwithin = "1 h"\nbounds = [06:00:00, 20:00:00]\nmissing = "refuse"'
    with pytest.raises(ColumnError, match="outside the declared bounds"):
        release(entry, late)
    assert release(f'{entry}\noutside = "clamp"', late).to_pylist()[0] <= dt.time(20)


def test_times_of_a_csv_file(tmp_path):
    source, out = tmp_path / "t.csv", tmp_path / "o.parquet"
    source.write_text("x\n08:30\n08:30:15.5\n 23:59:59 \n")
    policy = {"format": 2, "columns": {"x": {"type": "time_of_day", "within": "1 min", "missing": "refuse"}}}
    sanitize(source, policy, out)
    import pyarrow.parquet as pq

    assert pq.read_schema(out).field("x").type == pa.time64("us")
    source.write_text("x\n24:00\n")
    with pytest.raises(ColumnError, match="a time of day such as 08:30:00") as caught:
        sanitize(source, policy, out, overwrite=True)
    assert "24" not in str(caught.value)


def test_durations_are_not_read_from_text(tmp_path):
    source = tmp_path / "t.csv"
    source.write_text("x\n1\n")
    with pytest.raises(PolicyError, match="a column without a type of its own has none"):
        sanitize(source, {"format": 2, "columns": {"x": {"type": "duration", "within": "1 h"}}}, tmp_path / "o.parquet")


def test_they_are_not_asked_about():
    policy = Policy.parse('format = 2\nrecords = 3\ncolumns.x = {type = "time_of_day", within = "1 h"}')
    with pytest.raises(PolicyError, match="questions about columns of type 'time_of_day' are not answered"):
        policy.askable.column("x")
