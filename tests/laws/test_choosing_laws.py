"""Laws of the mechanisms over histograms, for any scores and any metric on the records."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.exact.balls import ball, precision
from metricdp.metrics import Metric, absolute, discrete, euclidean, matrix, records
from metricdp.queries.synthetic_data.choose import ExponentialChoice
from metricdp.queries.synthetic_data.steepness import sensitivities, spread
from metricdp.queries.workloads.consistent import consistent
from metricdp.queries.workloads.linear_queries import exact_answers

CELLS = 3
entries = st.one_of(st.integers(-5, 5).map(float), st.floats(-5, 5, allow_subnormal=False))
rows = st.lists(st.lists(entries, min_size=CELLS, max_size=CELLS), min_size=1, max_size=4)


@st.composite
def metrics(draw: st.DrawFn) -> tuple[list[object], Metric]:
    level = draw(st.sampled_from([mdp.ln(2), mdp.ln("3/2") / 3, Fraction(1, 7), 2.0]))
    kind = draw(st.sampled_from(["discrete", "line", "plane", "closure"]))
    if kind == "discrete":
        return list("abc"), level * discrete()
    points = draw(st.lists(st.integers(0, 20), min_size=CELLS, max_size=CELLS, unique=True))
    if kind == "line":
        return list(points), level * absolute()
    if kind == "plane":
        return [(point, point % 3) for point in points], level * euclidean()
    far = [[0, points[0] + 1, points[1] + 1], [points[0] + 1, 0, points[2] + 1], [points[1] + 1, points[2] + 1, 0]]
    return list("abc"), level * matrix("abc", far, check=False).closure("abc")


@settings(max_examples=40, deadline=None)
@given(metrics(), rows)
def test_a_choice_by_linear_scores_is_private(universe: tuple[list[object], Metric], scores: list[list[float]]) -> None:
    """``ln P(x)(r) - ln P(x')(r) <= d(x, x')`` for all databases of two records and all candidates, in balls."""
    points, d = universe
    queries, space = np.array(scores), mdp.Space(points, d)
    apart = spread(queries, space)
    assert apart <= 2 * max(sensitivities(queries, space))
    choice = ExponentialChoice(range(len(queries)), records(d), apart)
    histograms = list(itertools.combinations_with_replacement(range(CELLS), 2))
    with precision(200):
        logs = []
        for cells in histograms:
            own = exact_answers(queries, np.bincount(cells, minlength=CELLS))
            logs.append([p.log() if p > 0 else None for p in choice.probabilities(own)])
        for one, two in itertools.permutations(range(len(histograms)), 2):
            # Of the two ways to match two records with two others, the nearer.
            (a, b), (x, y) = histograms[one], histograms[two]
            allowed = (space.ball(a, x) + space.ball(b, y)).min(space.ball(a, y) + space.ball(b, x))
            for mine, theirs in zip(logs[one], logs[two], strict=True):
                if mine is None or theirs is None:
                    assert mine is None
                    assert theirs is None
                else:
                    assert mine - theirs <= allowed + ball(Fraction(1, 1 << 100))


@settings(max_examples=30, deadline=None)
@given(rows, st.lists(st.integers(0, 10**12), min_size=CELLS, max_size=CELLS))
def test_exact_answers_add_up(scores: list[list[float]], counts: list[int]) -> None:
    queries = np.array(scores)
    whole = exact_answers(queries, np.array(counts))
    parts = [exact_answers(queries, np.where(np.arange(CELLS) == cell, counts, 0)) for cell in range(CELLS)]
    assert whole == [sum(values) for values in zip(*parts, strict=True)]
    assert parts[0] == [Fraction(row[0]) * counts[0] for row in scores]


@settings(max_examples=30, deadline=None)
@given(rows, st.lists(st.floats(-50, 50), min_size=4, max_size=4), st.integers(0, 40))
def test_consistent_answers_are_those_of_a_histogram(scores: list[list[float]], noisy: list[float], total: int) -> None:
    queries = np.array(scores)
    promise = mdp.metrics.Guarantee(records(discrete()))
    space = mdp.Space(range(CELLS), discrete())

    class Plain:
        def __init__(self) -> None:
            self.matrix, self.space = queries, space

    made = consistent(Plain(), noisy[: len(queries)], [1.0] * len(queries), total, guarantee=promise)
    assert made.counts.min() >= 0
    assert abs(made.counts.sum() - total) < 1e-6
    assert np.isfinite(made.gap)
    corners = [((queries[:, cell] * total - noisy[: len(queries)]) ** 2).sum() for cell in range(CELLS)]
    assert made.distance <= min(corners) + 1e-6 * (1 + min(corners))
