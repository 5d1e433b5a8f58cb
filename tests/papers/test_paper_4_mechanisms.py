"""Paper 4, sections 2 and 3 and appendix A: the exponential mechanism, SmallDB, MWEM; paper 2, Example 3."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.exact.balls import precision
from metricdp.metrics import Guarantee, discrete, hamming, records, symmetric_difference, value_budgets
from metricdp.queries.synthetic_data.choose import ExponentialChoice, choose
from metricdp.queries.synthetic_data.mwem import mwem, mwem_bound
from metricdp.queries.synthetic_data.small_database import small_database, small_database_size
from metricdp.queries.synthetic_data.steepness import sensitivities, spread
from metricdp.queries.synthetic_data.synthetic import measured_error
from metricdp.queries.workloads.workload import Workload


def test_example_1_the_noise_of_native_and_of_male() -> None:
    low, high = Fraction(1, 10), Fraction(1)
    budgets = {
        "gender": {"M": high, "F": high},
        "native": {"Y": low, "N": high},
        "age": {"A": high, "B": high},
    }
    people = list(itertools.product("MF", "YN", "AB"))
    space = mdp.Space(people, value_budgets(budgets, form="minimum"))
    native = [float(person[1] == "N") for person in people]
    male = [float(person[0] == "M") for person in people]
    assert sensitivities(np.array([native, male]), space) == (1 / low, 1 / high)


def test_fact_1_composition_and_groups() -> None:
    d = 0.5 * discrete()
    both = Guarantee(records(d)) + Guarantee(2 * records(d))
    assert both == Guarantee(3 * records(d))
    # Replacing k / 2 records changes k entries by one each; the metric on databases says k / 2 times d, and the paper,
    # more cautiously, k times.
    one, other = ("a", "a", "b", "c"), ("b", "b", "b", "c")
    assert records(d)(one, other) == 2 * 0.5
    assert Guarantee(d).group(2) == Guarantee(2 * d)


def test_theorem_3_with_the_factor_two_of_a_score_that_rises_where_another_falls() -> None:
    assert spread(np.eye(2), mdp.Space("ab", discrete())) == 2 * max(
        sensitivities(np.eye(2), mdp.Space("ab", discrete()))
    )


def test_theorem_4_subtracts_its_slack() -> None:
    """With u' = u + t, the printed bound says that u(x, Z) exceeds max u by 2 t, for large budgets. It cannot."""
    score, slack = [Fraction(0), Fraction(10)], Fraction(5)
    other = [value + slack for value in score]  # within t of the score; the same mechanism, for shifts cancel
    choice = ExponentialChoice("ab", 100 * hamming(), Fraction(2))
    short = choice.shortfall(Fraction(1, 100))
    printed = slack + max(other) - Fraction(short)
    corrected = -slack + max(other) - Fraction(short)
    assert printed > max(score)  # so no outcome at all keeps the printed bound
    with precision(128):
        fails = sum(
            (p for p, value in zip(choice.probabilities(other), score, strict=True) if value <= corrected),
            start=choice.probabilities(other)[0] * 0,
        )
        assert float(fails) <= 0.01
    assert any(value > corrected for value in score)


def test_theorem_9_needs_answers_scaled_to_n() -> None:
    """For every x there is a small y within the bound, if y counts n / m times; taken as it is, y is far off."""
    queries, n = np.array([[1.0, 0, 0], [1, 1, 0], [0, 1, 1]]), 12
    size = small_database_size(len(queries), 0.5)
    assert size <= math.log(len(queries)) / 0.5**2 + 1
    small = [np.bincount(cells, minlength=3) for cells in itertools.combinations_with_replacement(range(3), size)]
    full = [np.bincount(cells, minlength=3) for cells in itertools.combinations_with_replacement(range(3), n)]
    scaled = max(min(np.abs(queries @ (x - y * n / size)).max() for y in small) for x in full)
    as_printed = max(min(np.abs(queries @ (x - y)).max() for y in small) for x in full)
    assert scaled <= 0.5 * n < as_printed


def test_theorem_8_is_the_bound_at_the_papers_scale() -> None:
    """Queries with values in [-1, 1], so that half their range is 1; beta = 2 T / K."""
    queries, cells, rounds, n, c = 64, 10, 4, 500, 1 / 0.5
    matrix = np.random.default_rng(0).choice([-1.0, 1.0], (queries, cells))
    workload = Workload(matrix, mdp.Space(range(cells), 2 * 0.5 * discrete()))  # entries 2 apart: |q_i - q_j| <= c d
    published = 2 * n * math.sqrt(math.log(cells) / rounds) + 10 * rounds * c * math.log(queries)
    assert mwem_bound(workload, n, rounds, beta=Fraction(2 * rounds, queries)) == pytest.approx(published)


def test_theorem_8_at_the_number_of_rounds_that_balances_it() -> None:
    queries, cells, rounds, n = 64, 10, 4, 500
    c = n * math.sqrt(math.log(cells)) / (5 * math.log(queries) * rounds**1.5)
    matrix = np.random.default_rng(0).choice([-1.0, 1.0], (queries, cells))
    workload = Workload(matrix, mdp.Space(range(cells), 2 / c * discrete()))
    published = 20 / 5 ** (2 / 3) * (n**2 * math.log(cells) * math.log(queries) * c) ** (1 / 3)
    assert mwem_bound(workload, n, rounds, beta=Fraction(2 * rounds, queries)) == pytest.approx(published)


@pytest.mark.parametrize("seed", range(3))
def test_theorem_8_holds_for_the_plain_algorithm(seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(100_000, rng.dirichlet(np.full(50, 0.2)))
    workload = Workload((rng.random((80, 50)) < 0.5).astype(float), mdp.Space(range(50), 5 * discrete()))
    with mdp.exact.seeded(seed):
        made = mwem(workload, counts, 20, passes=0)
    measured = measured_error(made, counts).worst
    assert measured <= made.bound(0.01) < 100_000


def test_proposition_1_holds_for_the_small_database() -> None:
    counts = [50_000, 0, 30_000, 20_000]
    workload = Workload(np.tril(np.ones((4, 4))), mdp.Space(range(4), 0.5 * discrete()))
    with mdp.exact.seeded(0):
        made = small_database(workload, counts, size=40)
    assert measured_error(made, counts).worst <= made.bound(0.001)
    # The paper counts databases as N^m; there are far fewer of them.
    choice = made.choice
    assert choice is not None
    assert len(choice.candidates) == math.comb(43, 40) < 4**40


def test_theorem_6_is_not_below_the_bound_at_its_size() -> None:
    n, cells, beta = 1000, 4, 0.05
    workload = Workload(np.tril(np.ones((cells, cells))), mdp.Space(range(cells), discrete()))
    gamma = 16 * math.log(cells) ** 2 + 4 * math.log(1 / beta)
    alpha = (gamma / n) ** (1 / 3)
    made = small_database(workload, [n, 0, 0, 0], accuracy=alpha / 2)
    assert made.size <= math.log(4) / (alpha / 2) ** 2
    assert made.bound(beta) <= (n**2 * gamma) ** (1 / 3)
    assert made.bound(beta) <= alpha / 2 * n + 2 * (made.size * math.log(cells) + math.log(1 / beta))  # Proposition 1


def test_example_3_of_paper_2_the_most_common_hobbies() -> None:
    """The three most common of five hobbies, where a person is a set of them and the metric counts differences."""
    hobbies = ("chess", "football", "music", "reading", "tennis")
    people = [frozenset(some) for size in range(6) for some in itertools.combinations(hobbies, size)]
    best = list(itertools.combinations(hobbies, 3))
    space = mdp.Space(people, mdp.ln(2) * symmetric_difference())
    workload = Workload(
        [[len(set(three) & own) for own in people] for three in best], space, ["+".join(b) for b in best]
    )
    counts = [0] * len(people)
    counts[people.index(frozenset({"chess", "music"}))] = 300
    counts[people.index(frozenset({"music", "tennis", "football"}))] = 200
    counts[people.index(frozenset({"tennis"}))] = 200
    chosen = choose(workload, data=counts)
    # 500 for music, 400 for tennis, 300 for chess, 200 for football, none for reading
    assert chosen.candidate == "chess+music+tennis"
    # One hobby more or less moves all scores the same way: no factor two.
    assert chosen.choice.spread == 1 == max(sensitivities(workload.matrix, space))
    assert chosen.shortfall() < 10


def test_example_3_of_paper_2_as_a_channel() -> None:
    """The commoner of two hobbies, over all databases of four people: private, and not for a metric 10% stronger."""
    hobbies = ("chess", "music")
    people = [frozenset(), frozenset({"chess"}), frozenset({"music"}), frozenset(hobbies)]
    d = mdp.ln(2) * symmetric_difference()
    matrix = np.array([[float(hobby in own) for own in people] for hobby in hobbies])
    step = spread(matrix, mdp.Space(people, d))
    choice = ExponentialChoice(hobbies, records(d), step)
    inputs = list(itertools.product(people, repeat=4))
    rows = []
    for database in inputs:
        scores = [sum(hobby in own for own in database) for hobby in hobbies]
        weights = [Fraction(2) ** score for score in scores]
        rows.append([weight / sum(weights) for weight in weights])
        with precision(64):
            assert [float(p) for p in choice.probabilities(scores)] == pytest.approx([float(p) for p in rows[-1]])
    made = Channel.from_matrix(inputs, hobbies, rows)
    assert verify(made, mdp.Space(inputs, records(d))).holds
    assert not verify(made, mdp.Space(inputs, records(d * Fraction(9, 10)))).holds
