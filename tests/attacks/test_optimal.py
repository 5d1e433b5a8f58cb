"""The optimal mechanism where floats lie or end, against the exact optimum: a simplex in rationals, for a few points.

Whatever `optimal` returns is private by `verify`, its loss is the exact one rounded up, its bound is at most the exact
optimum, and it is finished only where the gap that was asked for is proved; otherwise it says why not.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.channels import verify
from metricdp.design import optimal
from metricdp.exact.balls import float_above
from tests.attacks.effort import attack

m = mdp.metrics
INFINITE = math.inf
GAP = 1e-4
TAXONOMY = m.taxonomy({"a": "p", "b": "p", "c": "q", "d": "q", "p": "x", "q": "x"}, [10**17, 1])


def rational(value):
    exact = Fraction(value)
    return fmpq(exact.numerator, exact.denominator)


def exact_optimum(decays, prior, losses):
    """The least expected loss of a private channel, or with no prior the least largest one, in rationals.

    Unknowns are the entries K(x, z), the largest loss t, and what each constraint has to spare; it begins with the
    channel that always says the first output.
    """
    count, outputs = len(losses), len(losses[0])
    pairs = [
        (i, j)
        for i, j in itertools.permutations(range(count), 2)
        if decays[i][j]
        and not any(decays[i][j] == decays[i][k] * decays[k][j] for k in range(count) if k not in (i, j))
    ]
    worst = prior is None
    width = count * outputs + 1 + len(pairs) * outputs + count * worst
    rows, spare = [], count * outputs + 1
    for x in range(count):
        row = [fmpq(0)] * (width + 1)
        for z in range(outputs):
            row[x * outputs + z] = fmpq(1)
        row[-1] = fmpq(1)
        rows.append(row)
    basis = [x * outputs for x in range(count)]
    for i, j in pairs:
        for z in range(outputs):
            row = [fmpq(0)] * (width + 1)
            row[i * outputs + z], row[j * outputs + z], row[spare] = rational(decays[i][j]), fmpq(-1), fmpq(1)
            rows.append(row)
            basis.append(spare)
            spare += 1
    costs = [fmpq(0)] * (width + 1)
    if worst:
        costs[count * outputs] = fmpq(1)
        for x in range(count):
            row = [fmpq(0)] * (width + 1)
            for z in range(outputs):
                row[x * outputs + z] = rational(losses[x][z])
            row[count * outputs], row[spare] = fmpq(-1), fmpq(1)
            rows.append(row)
            basis.append(spare)
            spare += 1
    else:
        for x, z in itertools.product(range(count), range(outputs)):
            costs[x * outputs + z] = rational(prior[x]) * rational(losses[x][z])
    rows.append(costs)

    def pivot(place, column):
        scale = rows[place][column]
        chosen = rows[place] = [value / scale for value in rows[place]]
        for other, row in enumerate(rows):
            factor = row[column]
            if other != place and factor != 0:
                rows[other] = [a - factor * b if b != 0 else a for a, b in zip(row, chosen, strict=True)]
        basis[place] = column

    for x in range(count):
        pivot(x, x * outputs)
    if worst:
        pivot(len(rows) - 1 - count + max(range(count), key=lambda x: losses[x][0]), count * outputs)
    steps = 0
    while True:
        negative = [column for column in range(width) if rows[-1][column] < 0]
        if not negative:
            value = -rows[-1][-1]
            return Fraction(int(value.p), int(value.q))
        entering = min(negative, key=lambda column: rows[-1][column]) if steps < 300 else negative[0]
        rising = [place for place, row in enumerate(rows[:-1]) if row[entering] > 0]
        leaving = min(rising, key=lambda place: (rows[place][-1] / rows[place][entering], basis[place]))
        assert rows[leaving][-1] >= 0
        pivot(leaving, entering)
        steps += 1


def test_the_exact_optimum_is_that_of_known_mechanisms():
    third, half = Fraction(1, 3), Fraction(1, 2)
    discrete = [[Fraction(1) if i == j else third for j in range(3)] for i in range(3)]
    wrong = [[int(i != j) for j in range(3)] for i in range(3)]
    assert exact_optimum(discrete, [third] * 3, wrong) == 1 - Fraction(3, 5)  # randomised response
    assert exact_optimum(discrete, None, wrong) == 1 - Fraction(3, 5)
    line = [[half ** abs(i - j) for j in range(3)] for i in range(3)]
    away = [[abs(i - j) for j in range(3)] for i in range(3)]
    assert exact_optimum(line, [third] * 3, away) == Fraction(5, 9)
    assert exact_optimum(line, None, away) == Fraction(4, 7)


def exact_loss(channel, prior, losses):
    rows = [
        sum(Fraction(int(weight), channel.total) * Fraction(loss) for weight, loss in zip(row, costs, strict=True))
        for row, costs in zip(channel.weights.tolist(), losses, strict=True)
    ]
    return max(rows) if prior is None else sum(p * loss for p, loss in zip(prior, rows, strict=True))


def sound(channel, space, prior, losses, best=None, gap=GAP):
    """Everything that is said of a channel is true."""
    proved = Fraction(channel.loss) - Fraction(channel.bound) <= Fraction(gap) * abs(Fraction(channel.loss))
    assert channel.finished is proved
    assert (channel.gap <= gap * (1 + 1e-12)) is channel.finished
    assert verify(channel, space).holds
    assert channel.guarantee == mdp.Guarantee(space.metric)
    assert channel.bound <= channel.loss
    if best is not None:
        assert Fraction(channel.bound) <= best <= Fraction(channel.loss)
    assert channel.loss == float_above(exact_loss(channel, prior, losses))
    assert bool(channel.reason) is not channel.finished
    assert "extremely small" not in channel.reason


def unit_losses(space):
    unit = space.metric.unit
    return [[float(unit.exactly(x, z)) for z in space.points] for x in space.points]


@st.composite
def problems(draw):
    """A space with rational decays, at levels from far below to far above one; a prior; losses."""
    count = draw(st.sampled_from([2, 3, 3, 4]))
    table = [[Fraction(0)] * count for _ in range(count)]
    for i, j in itertools.combinations(range(count), 2):
        table[i][j] = table[j][i] = draw(st.sampled_from([1, 1, 2, 3, 40, INFINITE]))
    for k, i, j in itertools.product(range(count), repeat=3):
        table[i][j] = min(table[i][j], table[i][k] + table[k][j])
    power = draw(st.sampled_from([1, 1, 2, 5, 20, 60, 200]))
    base = draw(st.sampled_from([Fraction(2), Fraction(3), Fraction(11, 10), Fraction(10**9 + 1, 10**9)]))
    decays = [[Fraction(0) if d == INFINITE else base ** -int(d * power) for d in row] for row in table]
    space = mdp.Space(range(count), (mdp.ln(base) * power) * m.matrix(range(count), table))
    weights = draw(st.lists(st.sampled_from([0, 1, 1, 3, 10**6, 10**12]), min_size=count, max_size=count).filter(any))
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    entry = st.sampled_from([0.0, 0.0, 1.0, 1.0, 2.0, 0.1, 1e-9, 1e6])
    outputs = draw(st.integers(1, 3))
    losses = draw(st.lists(st.lists(entry, min_size=outputs, max_size=outputs), min_size=count, max_size=count))
    kind = draw(st.sampled_from(["bin", "bin", "given"]))
    if kind == "bin":
        losses = [[float(i != j) for j in range(count)] for i in range(count)]
    return space, decays, prior, losses


@attack(40)
@given(problems())
def test_random_problems_against_the_exact_optimum(problem):
    space, decays, prior, losses = problem
    best = exact_optimum(decays, prior, losses)
    channel = optimal(space, dict(zip(space.points, prior, strict=True)), np.array(losses).T)
    sound(channel, space, prior, losses, best)
    blind = min(sum(p * Fraction(row[z]) for p, row in zip(prior, losses, strict=True)) for z in range(len(losses[0])))
    assert Fraction(channel.loss) <= Fraction(float_above(blind))


@attack(10)
@given(problems())
def test_random_worst_cases_against_the_exact_optimum(problem):
    space, decays, _, losses = problem
    channel = optimal(space, "worst", np.array(losses).T)
    sound(channel, space, None, losses, exact_optimum(decays, None, losses))


@pytest.mark.long
@pytest.mark.parametrize("large", [1e6, 1e15, 1e30, 1e150])
@pytest.mark.parametrize("tiny", [1e-9, 1e-30, 1e-150])
def test_worst_cases_with_losses_of_many_sizes(tiny, large):
    """No solver takes numbers of so many sizes beside each other; what is returned is sound all the same."""
    space = mdp.Space.line(3, 2 * mdp.ln(2) * m.absolute())
    decays = [[Fraction(1, 4 ** abs(i - j)) for j in range(3)] for i in range(3)]
    for losses in (
        [[0.0, 0.0, tiny], [1.0, large, 0.0], [1.0, large, 0.0]],
        [[0.0, large, 1.0], [tiny, 0.0, large], [large, tiny, 0.0]],
        [[-large, tiny, 0.0], [0.0, -tiny, 1.0], [large, 1.0, 0.0]],
    ):
        channel = optimal(space, "worst", losses)
        rows = [list(row) for row in zip(*losses, strict=True)]
        sound(channel, space, None, rows, exact_optimum(decays, None, rows))
        assert channel.loss <= min(max(row) for row in losses)  # no worse than always the same output


# What was seen to be false


@pytest.mark.parametrize("level", [20, 30, 40, 60, 150])
def test_high_levels_are_proved_or_said_not_to_be(level):
    space = mdp.Space.line(4, level * m.absolute())
    channel = optimal(space)
    losses = unit_losses(space)
    sound(channel, space, [Fraction(1, 4)] * 4, losses)
    assert channel.finished  # the tight-constraints mechanism, with its proof
    share = math.exp(-level) / (1 + math.exp(-level))
    assert channel.loss == pytest.approx(share * 6 / 4, rel=1e-3)
    worst = optimal(space, "worst")
    sound(worst, space, None, losses)
    assert worst.bound > 0


@pytest.mark.parametrize("level", [1, 2, 5, 13, 50, 170, 400, 700, 1000])
def test_levels_up_to_a_thousand_against_the_exact_optimum(level):
    space = mdp.Space.line(3, (mdp.ln(3) * level) * m.absolute())
    decays = [[Fraction(1, 3 ** (level * abs(i - j))) for j in range(3)] for i in range(3)]
    losses = unit_losses(space)
    prior = [Fraction(1, 10**9), Fraction(1, 2) - Fraction(1, 10**9), Fraction(1, 2)]
    channel = optimal(space, dict(zip(space.points, prior, strict=True)))
    sound(channel, space, prior, losses, exact_optimum(decays, prior, losses))


@pytest.mark.parametrize("points", ["abcd", "abcdpqx", "apx"])
@pytest.mark.parametrize("loss", ["distance", "bin"])
def test_a_taxonomy_that_cancels_in_floats(points, loss):
    space = mdp.Space(list(points), TAXONOMY)
    channel = optimal(space, "uniform", loss)
    losses = unit_losses(space) if loss == "distance" else [[float(x != z) for z in points] for x in points]
    sound(channel, space, [Fraction(1, len(points))] * len(points), losses)
    assert channel.finished
    if points == "abcd":  # a and b are two apart, and from the others farther than anybody can tell
        wrong = math.exp(-2) / (1 + math.exp(-2))
        assert channel.loss == pytest.approx(wrong * (2 if loss == "distance" else 1), rel=1e-4)


@pytest.mark.parametrize(
    ("points", "level"),
    [
        ([0, Fraction(1, 10**9), 10**6], 1),
        ([0, Fraction(1, 10**9), 1, 10**6], 1),
        ([0, Fraction(1, 10**9), 1, 10**6], Fraction(1, 10**6)),
        ([0, Fraction(1, 10**12), Fraction(1, 10**9), 10**3], 1),
        ([0, 10**200, 2 * 10**200], 1),
        ([0, 1, 2], 10**330),
        ([0, 1, 2], Fraction(1, 10**330)),
        ([Fraction(0), Fraction(1, 3), Fraction(2, 3), Fraction(1)], 7),
        ([Fraction(1, 3), Fraction(1, 3) + Fraction(1, 10**30), 1], 2),
    ],
)
def test_distances_that_are_large_tiny_or_mixed(points, level):
    space = mdp.Space(points, level * m.absolute())
    count = len(points)
    wrong = [[float(x != z) for z in points] for x in points]
    sound(optimal(space, "uniform", "bin"), space, [Fraction(1, count)] * count, wrong)
    sound(optimal(space, "worst", "bin"), space, None, wrong)
    channel = optimal(space)
    assert verify(channel, space).holds
    assert channel.bound <= channel.loss
    assert bool(channel.reason) is not channel.finished


@pytest.mark.parametrize("tiny", [Fraction(1, 10**6), Fraction(1, 10**12), Fraction(1, 10**300), Fraction(0)])
@pytest.mark.parametrize("level", [1, 6])
def test_priors_near_a_point(tiny, level):
    space = mdp.Space.line(4, (mdp.ln(2) * level) * m.absolute())
    prior = [tiny, 1 - 3 * tiny, tiny, tiny]
    decays = [[Fraction(1, 2 ** (level * abs(i - j))) for j in range(4)] for i in range(4)]
    losses = unit_losses(space)
    best = exact_optimum(decays, prior, losses)
    channel = optimal(space, dict(zip(space.points, prior, strict=True)))
    sound(channel, space, prior, losses, best)
    assert channel.finished
    if not tiny:
        assert channel.loss == 0


def test_a_prior_near_a_point_at_a_high_level_is_proved():
    """The loss was right to the last digit, and the bound 5e-4 below it."""
    space = mdp.Space.line(6, mdp.ln(148) * m.absolute())
    weights = [2279035389, 633954919, 2863320820, 919462559, 10**15, 5697705586]
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    decays = [[Fraction(1, 148 ** abs(i - j)) for j in range(6)] for i in range(6)]
    losses = unit_losses(space)
    channel = optimal(space, dict(zip(space.points, prior, strict=True)))
    sound(channel, space, prior, losses, exact_optimum(decays, prior, losses))
    assert channel.finished


def test_points_at_distance_zero_and_infinite_distances_with_tiny_losses():
    apart = [[0, 0, INFINITE, 1], [0, 0, INFINITE, 1], [INFINITE, INFINITE, 0, INFINITE], [1, 1, INFINITE, 0]]
    space = mdp.Space("abcd", (mdp.ln(2) * 90) * m.matrix("abcd", apart))
    decays = [[Fraction(0) if d == INFINITE else Fraction(1, 2**90) ** d for d in row] for row in apart]
    losses = [[0.0, 1.0, 1e-30], [1e-30, 0.0, 1.0], [1.0, 0.0, 1e-9], [1e6, 1.0, 1e-9]]
    prior = [Fraction(1, 4)] * 4
    channel = optimal(space, "uniform", np.array(losses).T, ["x", "y", "z"])
    sound(channel, space, prior, losses, exact_optimum(decays, prior, losses))
    assert (channel.weights[0] == channel.weights[1]).all()


def test_a_time_limit_and_an_interruption_are_the_reason():
    space = mdp.Space.grid(7, 7, mdp.ln(2) * m.euclidean())
    late = optimal(space, gap=1e-9, time_limit=1e-3)
    assert not late.finished
    assert "time limit" in late.reason

    def stop(*_):
        raise KeyboardInterrupt

    stopped = optimal(space, progress=stop)
    assert not stopped.finished
    assert "interrupted" in stopped.reason
