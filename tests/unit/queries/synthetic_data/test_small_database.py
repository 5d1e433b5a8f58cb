"""The small database mechanism: its range, its scores, its promise."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.errors import ArgumentError, ImpossibleError
from metricdp.metrics import Guarantee, absolute, discrete, records
from metricdp.queries.synthetic_data.choose import ExponentialChoice
from metricdp.queries.synthetic_data.small_database import MOST_DATABASES, small_database, small_database_size
from metricdp.queries.synthetic_data.synthetic import measured_error
from metricdp.queries.workloads.workload import Workload


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[ExponentialChoice, list[Fraction]]]:
    kept: list[tuple[ExponentialChoice, list[Fraction]]] = []
    draw = ExponentialChoice.release_place

    def record(self: ExponentialChoice, scores: Any, unit: Fraction = Fraction(1)) -> int:
        values = scores.tolist() if isinstance(scores, np.ndarray) else scores
        kept.append((self, [value * unit for value in values]))
        return draw(self, scores, unit)

    monkeypatch.setattr(ExponentialChoice, "release_place", record)
    return kept


def multisets(cells: int, size: int) -> list[tuple[int, ...]]:
    return list(itertools.combinations_with_replacement(range(cells), size))


@pytest.mark.parametrize("entries", ["whole", "halves", "tenths"])
def test_scores_compare_answers_at_one_scale_in_rationals(drawn: Any, entries: str) -> None:
    rng = np.random.default_rng(2)
    queries = rng.integers(0, 3, (4, 5)) * {"whole": 1.0, "halves": 0.5, "tenths": 0.1}[entries]
    workload = Workload(queries, mdp.Space.line(5, absolute()))
    counts = [3, 1, 0, 4, 2]
    small_database(workload, counts, size=3)
    exact = [[Fraction(value) for value in row] for row in queries.tolist()]
    truth = [sum(value * count for value, count in zip(row, counts, strict=True)) for row in exact]
    expected = []
    for small in multisets(5, 3):
        answers = [Fraction(10, 3) * sum(row[cell] for cell in small) for row in exact]
        expected.append(-max(abs(true - answer) for true, answer in zip(truth, answers, strict=True)))
    assert drawn[0][1] == expected
    assert len(drawn[0][0].candidates) == math.comb(7, 3)


def test_its_channel_keeps_the_metric_and_nothing_stronger(drawn: Any) -> None:
    d = mdp.ln(4) * discrete()
    workload = Workload(np.eye(2), mdp.Space("ab", d))
    inputs = list(itertools.product("ab", repeat=6))
    for database in inputs:
        made = small_database(workload, [database.count("a"), database.count("b")], size=1)
        assert made.guarantee == Guarantee(records(d))
    rows = []
    for choice, scores in drawn:
        assert choice.spread == 2
        assert choice.level == d.level
        weights = [Fraction(2) ** int(score) for score in scores]  # ln 4 / 2 is ln 2
        assert all(score.denominator == 1 for score in scores)
        rows.append([weight / sum(weights) for weight in weights])
    made_channel = Channel.from_matrix(inputs, multisets(2, 1), rows)
    verdict = verify(made_channel, mdp.Space(inputs, records(d)))
    assert verdict.holds
    assert verdict.scale > 0.9
    assert not verify(made_channel, mdp.Space(inputs, records(d * Fraction(9, 10)))).holds


def test_its_channel_for_a_metric_that_is_not_uniform(drawn: Any) -> None:
    d = mdp.ln(4) * absolute()
    workload = Workload([[1, 0, 0], [0, 1, 2]], mdp.Space.line(3, d))
    inputs = list(itertools.product(range(3), repeat=3))
    for database in inputs:
        small_database(workload, [database.count(cell) for cell in range(3)], size=3)
    rows = []
    for choice, scores in drawn:
        assert choice.spread == 2
        weights = [Fraction(2) ** int(score) for score in scores]
        rows.append([weight / sum(weights) for weight in weights])
    assert verify(Channel.from_matrix(inputs, multisets(3, 3), rows), mdp.Space(inputs, records(d))).holds


def test_the_result_is_scaled_to_all_records() -> None:
    workload = Workload(np.tril(np.ones((4, 4))), mdp.Space.line(4, 50 * absolute()))
    counts = np.array([400, 0, 200, 200])
    heard: list[Any] = []
    made = small_database(workload, counts, size=4, progress=heard.append)
    assert made.counts.tolist() == counts.tolist()
    assert made.total == 800
    assert heard[-1].done == heard[-1].total
    assert measured_error(made, counts).worst == 0
    assert "one of 35" in repr(made)
    empty = small_database(workload, [0, 0, 0, 0], size=2)
    assert empty.total == 0


def test_bound_by_its_formula_and_without_the_data() -> None:
    workload = Workload(np.tril(np.ones((4, 4))) * 2, mdp.Space.line(4, 3 * absolute()))
    one, two = (small_database(workload, counts, size=4) for counts in ([800, 0, 0, 0], [200, 200, 200, 200]))
    expected = 800 * 2 * math.sqrt(math.log(8) / 8) + 2 * (2 / 3) * (math.log(35) + math.log(20))
    assert one.bound() == two.bound() == pytest.approx(expected)


def test_accuracy_gives_the_size() -> None:
    for queries, accuracy in [(1, 0.5), (10, 0.3), (1000, 0.1)]:
        size = small_database_size(queries, accuracy)
        assert 2 * queries * math.exp(-2 * size * accuracy**2) <= 1
        assert 2 * queries * math.exp(-2 * (size - 1) * accuracy**2) > 1
        assert queries < 3 or size <= math.log(queries) / accuracy**2 + 1  # no more than the paper's
    workload = Workload(np.eye(3), mdp.Space("abc", discrete()))
    assert small_database(workload, [5, 5, 5], accuracy=0.4).size == 6


def test_more_databases_than_can_be_looked_at_are_refused_with_their_number() -> None:
    workload = Workload(np.eye(60), mdp.Space(range(60), discrete()))
    with pytest.raises(ImpossibleError, match=f"there are {math.comb(64, 5)} databases of 5 records over 60 cells"):
        small_database(workload, [1] * 60, size=5)
    with pytest.raises(ImpossibleError, match=r"about 10\^\d+ databases"):
        small_database(workload, [1] * 60, size=40)


def test_a_blind_sample_costs_accuracy_and_no_privacy(drawn: Any) -> None:
    workload = Workload(np.eye(60), mdp.Space(range(60), 3 * discrete()))
    made = small_database(workload, [100] * 60, size=40, sample=500)
    assert len(drawn[0][0].candidates) == 500
    assert made.guarantee == Guarantee(records(3 * discrete()))
    assert made.total == 6000
    assert not made.whole
    with pytest.raises(ImpossibleError, match="sample"):
        made.bound()
    with pytest.raises(ImpossibleError, match=str(MOST_DATABASES)):
        small_database(workload, [100] * 60, size=40, sample=10**6)


def test_what_it_refuses() -> None:
    workload = Workload(np.eye(2), mdp.Space("ab", discrete()))
    for wrong in ({}, {"size": 2, "accuracy": 0.5}, {"size": 0}, {"accuracy": 1}, {"size": 2, "sample": 0}):
        with pytest.raises(ArgumentError):
            small_database(workload, [1, 1], **wrong)  # type: ignore[arg-type]
