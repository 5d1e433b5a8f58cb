"""Every type of columns keeps the laws that ship, and a broken one does not."""

import datetime as dt
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, ConformanceError
from metricdp.policies.types import TYPES
from metricdp.policies.types.integer import Integer
from metricdp.testing import check_column_type

LAWS = ("registered", "policy", "mechanism", "release", "noise", "missing", "refusals", "report", "questions")
DAYS = [dt.date(2024, 1, 1), dt.date(2024, 2, 29), dt.date(2024, 3, 1)]
MOMENTS = [dt.datetime(2024, 2, 29, 1, 30), dt.datetime(2024, 2, 29, 3)]

EVERY = {
    "number": ({"within": "1000 dollars"}, [1.5, 2000.0, 3.25]),
    "integer": ({"within": "5 years", "bounds": [0, 120]}, [3, 40, 41]),
    "date": ({"within": "5 days"}, DAYS),
    "time": ({"within": "2 hours", "resolution": "1 s"}, pa.array(MOMENTS, pa.timestamp("us"))),
    "duration": ({"within": "5 minutes", "resolution": "1 s"}, pa.array([60, 3600], pa.duration("s"))),
    "time_of_day": ({"within": "1 hour"}, pa.array([3600, 7200], pa.time32("s"))),
    "category": ({"values": ["a", "b"], "epsilon": 1}, ["a", "b", "a"]),
    "boolean": ({"epsilon": 1}, [True, False]),
    "set": ({"values": ["x", "y"], "epsilon": 1}, [["x"], [], ["x", "y"]]),
    "series": ({"length": 3, "within": 2}, pa.array([[1.0, 2.0, 3.0], [0.0, 0.5, 0.25]])),
}


@pytest.mark.parametrize("name", EVERY)
def test_every_type_keeps_every_law(name):
    entry, values = EVERY[name]
    checked = check_column_type(TYPES[name], entry, values)
    assert {*checked.laws, *(law for law, _ in checked.left_out)} == set(LAWS)
    assert set(checked.laws) >= set(LAWS) - {"questions"}


def test_every_type_of_one_column_with_noise_is_checked():
    assert set(TYPES) - set(EVERY) == {"place", "keep", "drop", "rekey"}


def test_a_column_that_is_kept_leaves_laws_out():
    checked = check_column_type(Integer, {"release": "keep"}, [1, 2])
    assert dict(checked.left_out).keys() >= {"mechanism", "report"}


@dataclass(frozen=True, kw_only=True)
class Unregistered(Integer):
    type_name = "nobody_knows"


@dataclass(frozen=True, kw_only=True)
class Short(Integer):
    def _released(self, arrays, types):
        return [array[:-1] for array in super()._released(arrays, types)]


@dataclass(frozen=True, kw_only=True)
class Careless(Integer):
    def apply(self, arrays, types):
        return [array.fill_null(0) for array in arrays]


@dataclass(frozen=True, kw_only=True)
class Truth(Integer):
    """It tells the values."""

    def _released(self, arrays, types):
        return [array.cast(arrow) for array, arrow in zip(arrays, types, strict=True)]


@dataclass(frozen=True, kw_only=True)
class Shifted(Integer):
    """One number is all its noise."""

    def _released(self, arrays, types):
        return [pc.add(arrays[0], 3).cast(types[0])]


@dataclass(frozen=True, kw_only=True)
class Weak(Integer):
    """Its mechanism promises less than its level says."""

    def _make_mechanism(self):
        return mdp.geometric(2 * self.metric)


@dataclass(frozen=True, kw_only=True)
class NullTold(Integer):
    """A missing value stays missing, although it is to be a secret."""

    def _released(self, arrays, types):
        (released,) = super()._released([arrays[0].fill_null(1)], types)
        return [pc.if_else(arrays[0].is_null(), pa.scalar(None, types[0]), released)]


@pytest.mark.parametrize(
    ("made", "law"),
    [
        (Unregistered, "registered"),
        (Short, "release"),
        (Careless, "missing"),
        (Truth, "noise"),
        (Shifted, "noise"),
        (Weak, "mechanism"),
    ],
)
def test_a_broken_type_is_caught(made, law, monkeypatch):
    if law != "registered":
        monkeypatch.setitem(TYPES._loaded, TYPES.extension("integer"), made)
    with pytest.raises(ConformanceError) as caught:
        check_column_type(made, {"within": 5}, [1, 2, 3], only=[law])
    assert caught.value.law == law


def test_a_missing_value_is_audited_where_it_is_secret(monkeypatch):
    monkeypatch.setitem(TYPES._loaded, TYPES.extension("integer"), NullTold)
    entry = {"within": 5, "bounds": [0, 10], "missing": "secret"}
    with pytest.raises(ConformanceError, match="'noise'"):
        check_column_type(NullTold, entry, [1, 2], only=["noise"])


def test_what_is_no_column_type():
    with pytest.raises(ArgumentError, match="a subclass of metricdp"):
        check_column_type(int, {}, [1, 2])
    with pytest.raises(ArgumentError, match="at least two values"):
        check_column_type(Integer, {}, [1])
