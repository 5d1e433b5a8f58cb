"""MWEM: what each of its steps spends, what it learns, and its bound."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.exact.balls import Enclosure, precision
from metricdp.metrics import Guarantee, absolute, discrete, matrix, records
from metricdp.queries.synthetic_data import mwem as module
from metricdp.queries.synthetic_data.choose import ExponentialChoice
from metricdp.queries.synthetic_data.mwem import mwem, mwem_bound
from metricdp.queries.synthetic_data.synthetic import measured_error
from metricdp.queries.workloads.workload import Workload

LINE = mdp.Space.line(16, 0.5 * absolute())
PREFIXES = Workload(np.tril(np.ones((16, 16))), LINE)
COUNTS = np.array([0, 0, 90, 0, 10, 0, 0, 400, 0, 0, 0, 0, 100, 300, 0, 100])


def test_its_steps_sum_to_the_metric_and_to_nothing_more() -> None:
    made = mwem(PREFIXES, COUNTS, 7, choosing="1/3")
    assert len(made.steps) == 14
    assert sum(step.share for step in made.steps) == 1
    total = made.steps[0].guarantee
    for step in made.steps[1:]:
        total = total + step.guarantee
    assert total == made.guarantee == Guarantee(records(LINE.metric))
    assert not made.guarantee <= Guarantee(records(LINE.metric) * Fraction(9, 10))
    assert made.steps[0].guarantee == Guarantee(Fraction(1, 21) * records(LINE.metric))
    assert made.steps[1].guarantee == Guarantee(Fraction(2, 21) * records(LINE.metric))


def test_every_choice_keeps_its_share_of_the_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    """The channel of the first choice over all small databases, with the probabilities that it is drawn by."""
    cells, rounds = "abc", 3
    d = mdp.ln(4) * matrix(cells, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    workload = Workload([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 3]], mdp.Space(cells, d))
    kept: list[tuple[ExponentialChoice, Any]] = []
    draw = ExponentialChoice.release_place
    monkeypatch.setattr(
        ExponentialChoice, "release_place", lambda self, scores: (kept.append((self, scores)), draw(self, scores))[1]
    )
    inputs = list(itertools.product(cells, repeat=3))
    rows = []
    for database in inputs:
        kept.clear()
        mwem(workload, [database.count(cell) for cell in cells], rounds)
        choice, scores = kept[0]
        truth = workload.truth([database.count(cell) for cell in cells])
        even = [1.0, 1.0, 2.0, 3.0]  # of one record in each cell
        assert [abs(float(score)) for score in scores] == pytest.approx(
            [abs(guess - float(true)) for guess, true in zip(even, truth, strict=True)]
        )
        with precision(300):
            row = [Fraction(Enclosure.of(p).lower).limit_denominator(10**80) for p in choice.probabilities(scores)]
        weights = [math.exp(math.log(4) / (2 * rounds) * float(score) / (2 * 3)) for score in scores]
        assert [float(p) for p in row] == pytest.approx([weight / sum(weights) for weight in weights])
        row[0] += 1 - sum(row)
        rows.append(row)
    made = Channel.from_matrix(inputs, workload.names, rows)
    assert verify(made, mdp.Space(inputs, Fraction(1, 2 * rounds) * records(d))).holds


def test_every_measurement_has_the_noise_of_its_own_query(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    laplace = module.laplace

    def record(metric: Any, resolution: Any) -> Any:
        asked.append(metric)
        return laplace(metric, resolution=resolution)

    monkeypatch.setattr(module, "laplace", record)
    workload = Workload([[0, 1, 2], [0, 0, 3]], mdp.Space.line(3, mdp.ln(2) * absolute()))
    made = mwem(workload, [5, 5, 5], 6, choosing="1/4")
    steep = {0: 1, 1: 3}
    for metric, measurement in zip(asked, made.measurements, strict=True):
        assert metric == mdp.ln(2) * Fraction(3, 4 * 6 * steep[measurement.query]) * absolute()
        assert measurement.scale == pytest.approx(8 * steep[measurement.query] / math.log(2))
    assert {measurement.query for measurement in made.measurements} <= {0, 1}


def test_the_plain_algorithm_is_the_papers_with_both_sides_at_one_scale() -> None:
    """The same measurements, through the update as it is printed but for the scale, give the same histogram."""
    queries = np.array([[0.0, 1, 1, 0], [1, 1, 0, 0], [-1, 0, 0, 1], [2, 0, 2, 0]])
    made = mwem(Workload(queries, mdp.Space(range(4), 4 * discrete())), [500, 100, 0, 400], 6, passes=0)
    n, weights, seen = 1000, np.full(4, 250.0), []
    for query, answer, _ in made.measurements:
        seen.append(weights)
        low, high = queries[query].min(), queries[query].max()
        centred = (2 * queries[query] - low - high) / (high - low)
        measured = np.clip((2 * answer - (low + high) * n) / (high - low), -n, n)
        weights = weights * np.exp(centred * (measured - centred @ weights) / (2 * n))
        weights *= n / weights.sum()
    assert made.counts == pytest.approx(np.mean(seen, axis=0))


def test_passes_meet_the_measurements() -> None:
    space = mdp.Space.line(16, 1000 * absolute())  # hardly any noise
    workload = Workload(np.tril(np.ones((16, 16))), space)
    made = mwem(workload, COUNTS, 12, passes=300)
    assert measured_error(made, COUNTS).worst < 0.05 * COUNTS.sum()
    for query, answer, _ in made.measurements:
        assert made.answers[query] == pytest.approx(answer, abs=30)
    plain = mwem(workload, COUNTS, 12, passes=0)
    assert measured_error(plain, COUNTS).worst > 3 * measured_error(made, COUNTS).worst


def test_the_result_is_a_histogram_and_says_what_it_is() -> None:
    heard: list[Any] = []
    made = mwem(PREFIXES, COUNTS, 3, progress=heard.append)
    assert [(update.done, update.total) for update in heard] == [(1, 3), (2, 3), (3, 3)]
    assert made.counts.min() >= 0
    assert made.total == 1000
    assert made.answers == pytest.approx(PREFIXES.matrix @ made.counts)
    assert made.answer("q15") == pytest.approx(1000)
    with pytest.raises(ValueError, match="read-only"):
        made.counts[0] = 1
    told = json.loads(json.dumps(made.to_json()))
    assert told["private"] is True
    assert len(told["steps"]) == 6
    assert len(told["counts"]) == 16
    assert "1000" not in repr(made)
    assert "ℓ₁(0.5·|x − y|)-private" in repr(made)
    with mdp.exact.seeded(4):
        one = mwem(PREFIXES, COUNTS, 3)
    with mdp.exact.seeded(4):
        two = mwem(PREFIXES, COUNTS, 3)
    assert (one.counts == two.counts).all()
    assert not one.private
    assert "NOT private" in repr(one)


def test_the_bound_uses_nothing_but_what_is_public() -> None:
    made = mwem(PREFIXES, COUNTS, 5, passes=0)
    other = mwem(PREFIXES, COUNTS[::-1].copy(), 5, passes=0)
    assert made.bound(0.1) == other.bound(0.1) == mwem_bound(PREFIXES, 1000, 5, beta=0.1)
    rounds, fails = 5, math.log(2 * 5 / 0.1)
    expected = 1000 * math.sqrt(math.log(16) / 5) + rounds * 2 * (4 * (math.log(16) + fails) + 2 * fails)
    assert made.bound(0.1) == pytest.approx(expected)
    assert made.bound(0.01) > made.bound(0.1)


def test_no_records_and_queries_that_cost_nothing() -> None:
    empty = mwem(PREFIXES, np.zeros(16, dtype=int), 2)
    assert empty.total == 0
    assert not empty.answers.any()
    free = mdp.Space("ab", matrix("ab", [[0, np.inf], [np.inf, 0]]))
    made = mwem(Workload(np.eye(2), free), [30, 10], 2, passes=200)
    assert made.counts == pytest.approx([30, 10], abs=0.01)
    constant = mwem(Workload(np.ones((1, 16)), LINE), COUNTS, 2)
    assert constant.answers == pytest.approx([1000])


def test_what_it_refuses() -> None:
    for rounds in (0, -1, 2.5, True):
        with pytest.raises(ArgumentError, match="round"):
            mwem(PREFIXES, COUNTS, rounds)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="passes"):
        mwem(PREFIXES, COUNTS, 2, passes=-1)
    for share in (0, 1, 2):
        with pytest.raises(ArgumentError, match="between 0 and 1"):
            mwem(PREFIXES, COUNTS, 2, choosing=share)
    twins = mdp.Space("ab", matrix("ab", [[0, 0], [0, 0]]))
    with pytest.raises(ImpossibleError, match="distance zero"):
        mwem(Workload(np.eye(2), twins), [3, 4], 2)


def test_whole_marginals_are_measured_in_a_round():
    points = [(i, j) for i in range(3) for j in range(4)]
    space = mdp.Space(points, mdp.metrics.attributes({"a": 1, "b": "1/2"}))
    rows = [[int(p[0] == i) for p in points] for i in range(3)] + [[int(p[1] == j) for p in points] for j in range(4)]
    counts = np.array([100, 0, 0, 50, 0, 400, 30, 0, 7, 7, 7, 199])
    made = mwem(Workload(rows, space), counts, 4, together=[range(3), range(3, 7)])
    assert len(made.steps) == 8
    assert len(made.measurements) in (12, 13, 14, 15, 16)
    # A record leaves one count of a marginal for another: 2 for each unit of the shortest step.
    by_query = {one.query: one.scale for one in made.measurements}
    wanted = {query: (2 if query < 3 else 4) * 8 for query in range(7)}
    assert by_query == pytest.approx({query: wanted[query] for query in by_query})
    assert made.guarantee == mdp.metrics.Guarantee(mdp.metrics.records(space.metric))
    overlapping = mwem(Workload(rows, space), counts, 1, together=[range(7)])
    assert [one.scale for one in overlapping.measurements] == pytest.approx([(3 * 1 + 4 * 2) * 2] * 7)
    for wrong in ([], [[]], [[0, 0]], [[9]], [[0, 1], [0, 1]]):
        with pytest.raises(ArgumentError, match="together"):
            mwem(Workload(rows, space), counts, 2, together=wrong)


def test_rounds_are_chosen_by_the_bound():
    made = mwem(PREFIXES, COUNTS)
    bounds = {rounds: mwem_bound(PREFIXES, made.total, rounds) for rounds in (1, 2, 4, 8, 16, 32, 64)}
    assert made.bound() <= min(bounds.values()) * 1.05
    assert mwem(PREFIXES, np.zeros(16, dtype=int)).rounds == 1
