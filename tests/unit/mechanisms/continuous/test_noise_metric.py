"""Noise for a metric that lies below the one that was asked for."""

import itertools
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.exact.balls import ball, precision
from metricdp.mechanisms.continuous._noise_metric import noise_metric
from tests.tight_guarantees import BITS, TINY, spent

m = mdp.metrics


@pytest.mark.parametrize(
    ("metric", "secrets"),
    [
        (m.smooth(m.absolute(), 10, 1), [0, 5, 10, 15, 40]),
        (m.blowfish(m.absolute(), 10, 1), [0, 5, 10, 15, 40]),
        (m.maximum(2 * m.absolute(), m.discrete()), [0, 1, 2, Fraction(1, 4)]),
        (m.absolute() + m.discrete(), [0, 1, 2, Fraction(1, 4)]),
    ],
    ids=str,
)
def test_noise_for_a_smaller_metric(metric, secrets):
    """Thresholds, sums and maxima are served by a metric nowhere above: it holds, and here is what is not used."""
    served = noise_metric(metric)
    with precision(BITS):
        outputs = range(-50, 100)
        tables = {x: {z: (-served.ball(x, z)).exp() for z in outputs} for x in secrets}
        share, pair, _ = spent(tables, metric.ball)
        unused = min(
            float((served.ball(x, y) / metric.ball(x, y)).mid()) for x, y in itertools.combinations(secrets, 2)
        )
        print(f"{metric}: at most {float(share.mid()):.3f} used (at {pair}), at least {unused:.3f}")
        assert share < 1 + ball(TINY)
        assert unused < 1, "no slack anywhere: the metric asked for is the one served"
