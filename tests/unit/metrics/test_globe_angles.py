"""Angles on the globe: within their bound of the enclosure, and what rests on them."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.metrics import attributes, great_circle, sphere
from metricdp.metrics.globe_angles import ANGLE_ERROR, angles, unit_vectors
from metricdp.queries.workloads._distances import UniversePairs
from metricdp.queries.workloads.allocate import allocate
from metricdp.queries.workloads.workload import Workload

LATITUDES = st.one_of(st.floats(-90, 90), st.sampled_from([90, -90, 0, 5e-324, Fraction(1, 3)]))
LONGITUDES = st.one_of(st.floats(-1e30, 1e30), st.floats(-180, 180), st.fractions(-360, 360))
FAR = 10**22
"""A longitude that floats hold, and whose neighbours they do not."""


@settings(max_examples=60)
@given(st.lists(st.tuples(LATITUDES, LONGITUDES), min_size=2, max_size=5), st.floats(0, 1e-6), st.data())
def test_no_angle_is_farther_off_than_the_bound(places, near, data):
    latitude, longitude = data.draw(st.sampled_from(places))
    places = [*places, (max(min(latitude + near, 90), -90), longitude), (-latitude, longitude + 180)]
    found, metric = angles(unit_vectors(places), unit_vectors(places)), great_circle(1)
    for i, j in itertools.combinations(range(len(places)), 2):
        exact = metric.enclose(places[i], places[j], bits=100)
        assert (
            exact.lower - Fraction(ANGLE_ERROR) <= Fraction(float(found[i, j])) <= exact.upper + Fraction(ANGLE_ERROR)
        )


def test_floats_of_the_metric_that_are_far_off_are_not_believed():
    """In floats the first two places are 37 km apart, truly 371 m: the noise followed from the others alone."""
    places = [(0, FAR + Fraction(1, 3)), (0, Fraction(FAR % 360) + Fraction(33, 100)), (Fraction(1, 100), FAR % 360)]
    metric = great_circle() * Fraction(1, 1000)
    for points, space in [
        (places, mdp.Space(places, metric)),
        ([(place,) for place in places], mdp.Space([(place,) for place in places], attributes({"at": metric}))),
    ]:
        allocation = allocate(Workload([[2, 1, 0]], space))
        for i, j in itertools.combinations(range(3), 2):
            spent = abs(i - j) / Fraction(allocation.scales[0])
            assert spent <= space.metric.enclose(points[i], points[j]).upper, (i, j)
        view = UniversePairs(space, (0, 1, 2)).distances
        assert view[0, 1] == pytest.approx(0.3706, abs=1e-4)


def test_where_numpy_is_not_trusted_balls_decide(monkeypatch):
    monkeypatch.setattr(sphere, "trusted", lambda: False)
    assert not np.isfinite(great_circle()._enclosures([(0, 0)], [(0, 1)]).upper).any()
    space = mdp.Space([(0, 0), (0, 1), (2, 2)], great_circle())
    assert UniversePairs(space, (0, 1, 2)).distances == pytest.approx(space.distances, rel=1e-12)
    assert np.isfinite(allocate(Workload([[0, 1, 2]], space)).scales[0])
