"""The exponential mechanism for scores: its probabilities, its promise, and where the promise is tight."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.errors import ArgumentError, DataError, LevelError
from metricdp.exact.balls import Enclosure, precision
from metricdp.metrics import absolute, discrete, hamming, matrix, records
from metricdp.queries.synthetic_data.choose import ExponentialChoice, choose
from metricdp.queries.synthetic_data.steepness import spread
from metricdp.queries.workloads.workload import Workload

CELLS = "abc"


def databases(cells: Any, size: int) -> list[tuple[Any, ...]]:
    return list(itertools.product(cells, repeat=size))


def histogram(database: tuple[Any, ...], cells: Any) -> list[int]:
    return [database.count(cell) for cell in cells]


def channel(choice: ExponentialChoice, scores: dict[tuple[Any, ...], list[Fraction]], base: int) -> Channel:
    """The channel of a choice whose probabilities are powers of ``base``, checked against the balls it draws by."""
    rows = []
    for values in scores.values():
        powers = [value * _log(choice, base) / choice.spread for value in values]
        assert all(power.denominator == 1 for power in powers)
        weights = [Fraction(base) ** int(power) for power in powers]
        row = [weight / sum(weights) for weight in weights]
        with precision(128):
            for exact, probability in zip(row, choice.probabilities(values), strict=True):
                enclosure = Enclosure.of(probability)
                assert exact in enclosure
                assert enclosure.width < Fraction(1, 1 << 100)
        rows.append(row)
    return Channel.from_matrix(scores, choice.candidates, rows)


def _log(choice: ExponentialChoice, base: int) -> Fraction:
    level = choice.level
    assert level.log_of == base
    return level.coefficient


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[tuple[ExponentialChoice, list[Fraction]]]:
    """What every draw was made from, in order."""
    kept: list[tuple[ExponentialChoice, list[Fraction]]] = []
    draw = ExponentialChoice.release_place

    def record(self: ExponentialChoice, scores: Any, unit: Fraction = Fraction(1)) -> int:
        kept.append((self, [Fraction(value) * unit for value in np.asarray(scores, dtype=object).tolist()]))
        return draw(self, scores, unit)

    monkeypatch.setattr(ExponentialChoice, "release_place", record)
    return kept


def test_the_most_common_value_is_private_and_nothing_stronger_is(drawn: Any) -> None:
    d = mdp.ln(4) * discrete()
    workload = Workload(np.eye(2), mdp.Space("ab", d), names=["a", "b"])
    inputs = databases("ab", 6)
    for database in inputs:
        choose(workload, data=histogram(database, "ab"))
    choice = drawn[0][0]
    assert choice.spread == 2
    assert choice.guarantee == mdp.metrics.Guarantee(records(d))
    made = channel(choice, {database: scores for database, (_, scores) in zip(inputs, drawn, strict=True)}, 2)
    verdict = verify(made, mdp.Space(inputs, records(d)))
    assert verdict.holds
    assert verdict.scale > 0.95
    assert not verify(made, mdp.Space(inputs, records(d * Fraction(9, 10)))).holds


def test_a_metric_of_its_own_for_each_pair_of_values(drawn: Any) -> None:
    d = mdp.ln(4) * matrix(CELLS, [[0, 1, 3], [1, 0, 2], [3, 2, 0]])
    scores = np.array([[0.0, 1, 2], [1, 1, 0], [3, 2, 1]])
    workload = Workload(scores, mdp.Space(CELLS, d), names=["x", "y", "z"])
    inputs = databases(CELLS, 4)
    for database in inputs:
        choose(workload, data=histogram(database, CELLS))
    choice = drawn[0][0]
    assert choice.spread == 2  # from a to b, scores change by 1, 0 and -1, at distance 1
    made = channel(choice, {database: scores for database, (_, scores) in zip(inputs, drawn, strict=True)}, 2)
    assert verify(made, mdp.Space(inputs, records(d))).holds
    assert not verify(made, mdp.Space(inputs, records(d * Fraction(9, 10)))).holds


def test_scores_that_change_the_same_way_need_no_factor_two(drawn: Any) -> None:
    """A record that is absent scores nothing for anybody: all scores rise with it, or stay."""
    d = mdp.ln(2) * matrix(["a", "b", None], [[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    workload = Workload([[1.0, 0, 0], [0, 1.0, 0]], mdp.Space(["a", "b", None], d))
    inputs = databases(["a", "b", None], 5)
    for database in inputs:
        choose(workload, data=histogram(database, ["a", "b", None]))
    choice = drawn[0][0]
    assert choice.spread == 1  # the sensitivity is 1 as well
    made = channel(choice, {database: scores for database, (_, scores) in zip(inputs, drawn, strict=True)}, 2)
    verdict = verify(made, mdp.Space(inputs, records(d)))
    assert verdict.holds
    assert verdict.scale > 0.9
    assert not verify(made, mdp.Space(inputs, records(d * Fraction(9, 10)))).holds


def test_half_the_spread_is_not_private() -> None:
    """The factor two of the papers is needed where one score falls as another rises."""
    d = mdp.ln(4) * discrete()
    choice = ExponentialChoice("ab", records(d), Fraction(1))
    inputs = databases("ab", 3)
    made = channel(choice, {database: [Fraction(c) for c in histogram(database, "ab")] for database in inputs}, 2)
    assert not verify(made, mdp.Space(inputs, records(d))).holds


def test_draws_follow_the_probabilities() -> None:
    choice = ExponentialChoice(("a", "b", "c", "d"), mdp.ln(3) * hamming(), Fraction(1))
    with mdp.exact.seeded(5):
        tally = Counter(choice.release([1, 0, 1, 2]) for _ in range(8000))
    expected = {"a": 3 / 16, "b": 1 / 16, "c": 3 / 16, "d": 9 / 16}
    assert all(abs(tally[name] / 8000 - share) < 0.025 for name, share in expected.items())


def test_integers_and_rationals_draw_alike() -> None:
    choice = ExponentialChoice(range(5), hamming(), Fraction(2))
    whole = np.array([4, -3, 4, 0, 1])
    with mdp.exact.seeded(9):
        by_integers = [choice.release_place(whole, Fraction(1, 3)) for _ in range(50)]
    with mdp.exact.seeded(9):
        by_rationals = [choice.release([Fraction(int(value), 3) for value in whole]) for _ in range(50)]
    assert by_integers == by_rationals


def test_a_number_before_the_records_counts_like_one_before_the_database() -> None:
    half = Fraction(1, 2)
    for metric in (half * hamming(), records(half * discrete()), 2 * records(discrete() / 4)):
        assert ExponentialChoice("ab", metric, Fraction(2)).level == mdp.exact.Level.of(half)
    with pytest.raises(LevelError, match="two logarithms"):
        ExponentialChoice("ab", mdp.ln(2) * records(mdp.ln(2) * discrete()), Fraction(2))


def test_without_spread_the_order_is_public() -> None:
    d = matrix("ab", [[0, np.inf], [np.inf, 0]])
    workload = Workload(np.eye(2), mdp.Space("ab", d))
    assert {choose(workload, data=[2, 3]).candidate for _ in range(20)} == {"q1"}
    choice = ExponentialChoice("ab", d, Fraction(0))
    with precision(64):
        assert [float(p) for p in choice.probabilities([3, 3])] == [0.5, 0.5]
        assert [float(p) for p in choice.probabilities([3, 2])] == [1.0, 0.0]
    assert choice.shortfall(0.1) == 0


def test_scores_far_apart_neither_overflow_nor_stop() -> None:
    choice = ExponentialChoice("ab", hamming(), Fraction(1))
    assert {choice.release([10**6, -(10**6)]) for _ in range(5)} == {"a"}


def test_shortfall_is_a_bound_that_nearly_holds_with_equality() -> None:
    """One best candidate, and many that fall short by just as much as the bound."""
    many, beta = 1000, Fraction(1, 10)
    choice = ExponentialChoice(range(many), 0.5 * hamming(), Fraction(2))
    short = Fraction(choice.shortfall(beta))
    assert abs(float(short) - 4 * math.log(many / 0.1)) < 1e-9
    with precision(128):
        best, *others = choice.probabilities([0] + [-short] * (many - 1))
        fails = float(sum(others, start=best * 0))
    assert 0.09 < fails / (1 - fails) < 0.1
    assert fails <= 0.1


def test_functions_and_lists_of_scores() -> None:
    d = hamming()
    chosen = choose(lambda data, value: data.count(value), "ab", ["a"] * 200, metric=d, sensitivity=1)
    assert chosen.candidate == "a"
    assert chosen.choice.spread == 2
    assert choose([0, 500, 3], metric=d, spread=1).candidate == 1
    told = json.loads(json.dumps(chosen.to_json()))
    assert told["candidate"] == "a"
    assert told["private"] is True
    assert told["guarantee"]["formula"] == "dₕ-private"
    assert repr(chosen) == "Chosen('a' of 2, dₕ-private)"
    with mdp.exact.seeded(1):
        assert "NOT private" in repr(choose([0, 500], metric=d, spread=1))


def test_what_choose_refuses() -> None:
    d = hamming()
    workload = Workload(np.eye(2), mdp.Space("ab", discrete()))
    with pytest.raises(ArgumentError, match="metric"):
        choose([1, 2], sensitivity=1)
    with pytest.raises(ArgumentError, match="one of the two"):
        choose([1, 2], metric=d)
    with pytest.raises(ArgumentError, match="one of the two"):
        choose([1, 2], metric=d, sensitivity=1, spread=1)
    with pytest.raises(ArgumentError, match="not negative"):
        choose([1, 2], metric=d, sensitivity=-1)
    with pytest.raises(ArgumentError, match="candidates"):
        choose(lambda data, r: 0, metric=d, sensitivity=1)
    with pytest.raises(ArgumentError, match="3 candidates have 2 scores"):
        choose([1, 2], "abc", metric=d, sensitivity=1)
    with pytest.raises(ArgumentError):
        choose([], metric=d, sensitivity=1)
    with pytest.raises(DataError, match="row 1") as told:
        choose([987654, math.nan], metric=d, sensitivity=1)
    assert "987654" not in str(told.value)
    with pytest.raises(ArgumentError, match="give neither"):
        choose(workload, data=[1, 2], metric=d)
    with pytest.raises(ArgumentError, match="between 0 and 1"):
        choose([1, 2], metric=d, sensitivity=1).shortfall(0)


def test_spread_of_the_scores_of_databases() -> None:
    """The same function, over databases as points, gives the spread of any score that is not linear."""
    inputs = databases(range(3), 2)
    space = mdp.Space(inputs, records(absolute()))
    highest = np.array([[float(max(x)) for x in inputs], [-float(max(x)) for x in inputs], [0.0 for _ in inputs]])
    assert spread(highest, space) == 2
    assert spread(highest[[0, 2]], space) == 1
