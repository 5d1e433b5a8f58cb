"""Releases that saturate at the ends of a type are corrected as those at bounds are."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.estimates import estimate
from metricdp.tables import sanitize

ROWS = 4000
INTEGER = {"type": "integer", "within": 10, "missing": "refuse"}
CLOCK = {"type": "time_of_day", "within": "20 min", "missing": "refuse"}


def seconds(time):
    return time.hour * 3600 + time.minute * 60 + time.second


@pytest.mark.parametrize(
    ("entry", "arrow", "secret", "truth"),
    [
        (INTEGER, pa.uint8(), 3, 3),
        (INTEGER, pa.uint64(), 0, 0),
        (INTEGER, pa.int8(), 120, 120),
        (INTEGER, pa.int8(), -128, -128),
        (INTEGER | {"bounds": [-1000, 1000]}, pa.uint8(), 3, 3),
        (CLOCK, pa.time32("s"), dt.time(23, 59), 86340),
        (CLOCK, pa.time64("us"), dt.time(23, 0), 82800),
        (CLOCK | {"resolution": "15 min"}, pa.time32("s"), dt.time(23, 59), 86340),
        ({"type": "number", "within": 10, "missing": "refuse"}, pa.decimal128(4, 2), Decimal("95.00"), 95),
    ],
    ids=str,
)
def test_the_average_holds_the_truth(entry, arrow, secret, truth):
    policy = {"format": 2, "columns": {"x": entry}}
    with mdp.seeded(11):
        released = sanitize(pa.table({"x": pa.array([secret] * ROWS, arrow)}), policy).table
    one = estimate(released, "select avg(x)", policy=policy, confidence=0.9999).only
    assert one.interval[0] <= truth <= one.interval[1]


def test_counts_hold_the_truth_too():
    policy = {"format": 2, "columns": {"x": INTEGER}}
    with mdp.seeded(12):
        released = sanitize(pa.table({"x": pa.array([3] * 1000, pa.uint8())}), policy).table
    one = estimate(released, "select count(*) where x >= 60", policy=policy, confidence=0.9999).only
    assert one.interval[0] == 0
    assert one.interval[1] < 500


def test_a_type_whose_ends_are_far_changes_nothing():
    policy = {"format": 2, "columns": {"x": INTEGER}}
    found = [
        estimate(pa.table({"x": pa.array([50, 60, 70], arrow)}), "select avg(x), median(x)", policy=policy).found
        for arrow in (pa.int16(), pa.int64())
    ]
    assert found[0] == found[1]
