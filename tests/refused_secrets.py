"""Mechanisms to be given bad secrets, and how each refusal is checked."""

import datetime as dt
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.errors import (
    MetricDPError,
)
from metricdp.testing._secrets import traces

m = mdp.metrics
LINE = mdp.laplace(m.absolute().within(5))


BOUNDED = mdp.laplace(m.absolute().within(5), bounds=(0, 100))


PLANE = mdp.laplace(m.euclidean(), dim=2)


GLOBE = mdp.laplace(m.great_circle().within(200))


DAYS = mdp.laplace(m.dates().within(5))


STEPS = mdp.geometric(mdp.ln(2) * m.absolute(), step="0.25")


LETTERS = mdp.randomized_response("abcd", 1)


SETS = mdp.set_response("abc", 1)


NULLS = mdp.laplace(Fraction(1, 20) * m.nullable(m.absolute(), 100), bounds=(0, 100))


def refused(mechanism, secrets, error, row, match):
    """Refused by exactly this error, which names the row and says what to do."""
    with pytest.raises(error, match=match) as caught:
        mechanism.release(secrets)
    assert caught.type is error
    assert caught.value.row == row
    assert row is None or str(caught.value).startswith(f"row {row}: ")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, MetricDPError)
    assert traces(caught.value) == []


SAMPLES = mdp.function_samples(m.supremum(), [0, 1])


EXPANSION = mdp.function_expansion(m.square_integrable(), 1, 2)


AWARE = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
