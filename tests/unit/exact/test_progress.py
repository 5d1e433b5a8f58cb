"""Progress and time limits: one record, one callback, one clock."""

import math

import pytest

from metricdp.errors import ArgumentError, TooLargeError
from metricdp.exact.progress import Stopwatch, Update, duration


def test_an_update_prints_as_one_line():
    assert str(Update(done=3, unit="rounds", best=2.0, bound=1.5, seconds=1.25)) == (
        "3 rounds, best 2, bound 1.5 (gap 25%), 1.2 s"
    )
    assert str(Update(done=1000, total=5000, unit="rows")) == "1,000 of 5,000 rows, 0.0 s"
    assert str(Update(done=1, best=math.inf, bound=0.0)) == "1 steps, bound 0, 0.0 s"


def test_the_gap_of_an_update():
    assert Update(done=1, best=4.0, bound=3.0).gap == 0.25
    assert Update(done=1, best=0.0, bound=0.0).gap == 0
    assert Update(done=1, best=0.0, bound=-1.0).gap == math.inf
    assert Update(done=1, best=4.0).gap is None


@pytest.mark.parametrize("limit", [0, -1, math.nan, "5", True])
def test_a_limit_is_a_positive_number(limit):
    with pytest.raises(ArgumentError, match="time_limit must be a positive number of seconds"):
        Stopwatch(limit)


def test_a_watch_tells_and_stops(monkeypatch):
    told = []
    watch = Stopwatch(10, told.append)
    assert not watch.over
    watch.tell(2, 4, unit="rounds", best=1.0)
    assert (told[0].done, told[0].total, told[0].unit, told[0].best) == (2, 4, "rounds", 1.0)
    watch.check("to be done")
    watch.started -= 20
    assert watch.over
    assert watch.left == 0
    with pytest.raises(TooLargeError, match=r"time_limit=10 seconds were not enough to be done; 2 of 4 rounds") as late:
        watch.check("to be done", 2, 4, "rounds")
    assert late.value.estimate == "about 40 seconds"
    assert Stopwatch().left == math.inf


def test_durations_in_words():
    assert [duration(seconds) for seconds in (0.1, 89, 91, 6000, 3e5)] == [
        "1 seconds",
        "89 seconds",
        "2 minutes",
        "2 hours",
        "3 days",
    ]
