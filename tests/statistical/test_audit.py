"""The audit's own exam, in short: seldom wrong however it is stopped, and sharp.

It draws the same each time. The long form draws anew: ``python -m tests.statistical.exam 1000`` and
``METRICDP_EXAM=1 pytest tests/statistical/test_audit.py``.
"""

import os
from contextlib import nullcontext

import pytest

import metricdp as mdp
from metricdp.audit import audit, rounds
from tests.draws import repeatable
from tests.statistical.exam import BETA, allowed, rate, without_correction

m = mdp.metrics
LONG = bool(os.environ.get("METRICDP_EXAM"))
RUNS = 1000 if LONG else 16


@pytest.fixture(autouse=True)
def same_draws(request):
    """In the short form."""
    with nullcontext() if LONG else repeatable(request.node.name):
        yield


def test_the_innocent_are_accused_no_more_often_than_promised():
    accused, events = rate(RUNS)
    assert events >= 200
    assert accused <= allowed(RUNS)


def test_the_exam_notices_when_the_correction_is_missing(monkeypatch):
    monkeypatch.setattr(rounds, "spent", without_correction)
    runs = 200 if LONG else 16
    accused, _ = rate(runs)
    assert accused > allowed(runs)
    if LONG:
        assert accused >= 5 * BETA


SHARP = [
    ("laplace", lambda: mdp.laplace(m.absolute()), lambda d: (0.0, d), 0.98),
    ("geometric", lambda: mdp.geometric("0.1" * m.absolute()), lambda d: (0, round(10 * d)), 0.98),
    ("response", lambda: mdp.randomized_response([0, 1], 1), lambda d: (0, 1), 0.98),
    ("plane", lambda: mdp.laplace(m.euclidean(), dim=2), lambda d: ((0.0, 0.0), (d, 0.0)), 0.95),
    ("sphere", lambda: mdp.laplace(m.great_circle() / 1000), lambda d: ((0.0, 0.0), (0.0, d / 111.1949)), 0.95),
]


@pytest.mark.parametrize(("name", "make", "pair", "share"), SHARP, ids=[each[0] for each in SHARP])
def test_the_bound_is_sharp(name, make, pair, share):
    """A tenth of the way short of the truth with few releases; in the long form, as near as is asked for."""
    mechanism = make()
    for distance in (0.1, 1.0, 3.0, 10.0) if LONG else (1.0,):
        secrets = pair(distance)
        d = mechanism.guarantee.metric(*secrets)
        evidence = audit(mechanism, [secrets], samples=20_000_000 if LONG else 60_000, confidence=0.9)
        assert evidence.scale_at_least >= (share if LONG else 0.8), (name, d, evidence)
        assert evidence.scale_at_least < 1.02
