"""Guarantees from the mechanisms' own probabilities, exactly: they hold, and where they are tight nothing less would.

For every pair of secrets and every output, ln P(z | x) - ln P(z | x') is enclosed in balls and compared with d(x, x').
A guarantee is tight where the greatest of these is d itself: then 0.9 d is refused. Where it is not, the slack, the
share of d that no output uses, is printed and asserted.
"""

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb

import metricdp as mdp
from metricdp.exact.balls import ball, precision
from metricdp.mechanisms.continuous._noise_metric import noise_metric
from metricdp.mechanisms.geometric import Geometric

m = mdp.metrics
BITS = 192
TINY = Fraction(1, 2**120)  # what balls of 192 bits cannot tell from 0 here, with room to spare


def spent(tables, distance):
    """The greatest ln P(z | x) / P(z | x') over d(x, x'), over all pairs and outputs: (share, pair, output).

    ``tables[x][z]`` is P(z | x) as a ball, ``distance(x, x')`` a ball. A probability of 0 must be 0 for both.
    """
    greatest = None
    for x, y in itertools.permutations(tables, 2):
        apart = distance(x, y)
        if not apart.is_finite():
            continue
        assert tables[x].keys() == tables[y].keys()
        for z in tables[x]:
            one, two = tables[x][z], tables[y][z]
            if one.is_zero() and two.is_zero():
                continue
            assert one > 0, "an output that one secret gives and the other cannot"
            assert two > 0, "an output that one secret gives and the other cannot"
            share = (one.log() - two.log()) / apart
            if greatest is None or share.mid() > greatest[0].mid():
                greatest = share, (x, y), z
    return greatest


def check_sums(tables):
    for table in tables.values():
        assert abs(sum(table.values(), start=arb(0)) - 1) < ball(TINY)


def assert_tight(tables, distance):
    """The guarantee holds, and one 10% stronger would not."""
    share, pair, output = spent(tables, distance)
    assert share < 1 + ball(TINY), f"broken at {pair} by {output}"
    assert share > 1 - ball(TINY), f"not tight: only {share} of it is used"
    assert share > ball(Fraction(9, 10)), "a guarantee 10% stronger would pass"


def metric_of(mechanism):
    return mechanism.guarantee.metric.ball


# Tight ones


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), 1, mdp.ln(3), 5])
@pytest.mark.parametrize("count", [2, 3, 7])
def test_randomized_response(count, epsilon):
    mechanism = mdp.randomized_response(range(count), epsilon)
    with precision(BITS):
        truth = mechanism.truth()
        lie = (1 - truth) / (count - 1)
        tables = {x: {z: truth if z == x else lie for z in range(count)} for x in range(count)}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 4)])
@pytest.mark.parametrize("count", [2, 4])
def test_randomized_response_with_delta(count, delta):
    """P(Z | x) - e^eps P(Z | x') is delta exactly for the worst Z, and more for 0.9 eps or for 0.9 delta."""
    mechanism = mdp.randomized_response(range(count), 1, delta)
    with precision(BITS):
        truth = mechanism.truth()
        lie = (1 - truth) / (count - 1)

        def beyond(epsilon):
            """The hockey-stick divergence between any two secrets, by brute force over all sets of outputs."""
            one = [truth if z == 0 else lie for z in range(count)]
            two = [truth if z == 1 else lie for z in range(count)]
            sets = itertools.chain.from_iterable(itertools.combinations(range(count), r) for r in range(count + 1))
            factor = ball(epsilon).exp()
            return max((sum((one[z] - factor * two[z] for z in chosen), start=arb(0)) for chosen in sets), key=float)

        assert abs(beyond(Fraction(1)) - ball(delta)) < ball(TINY)
        assert beyond(Fraction(9, 10)) > ball(delta)
        assert beyond(Fraction(1)) > ball(delta * Fraction(9, 10))


@pytest.mark.parametrize("level", [Fraction(3, 2), mdp.ln(3)])
def test_set_response(level):
    mechanism = mdp.set_response("abc", level)
    subsets = [frozenset(chosen) for r in range(4) for chosen in itertools.combinations("abc", r)]
    with precision(BITS):
        flip = mechanism.flip()
        tables = {x: {z: flip ** len(x ^ z) * (1 - flip) ** (3 - len(x ^ z)) for z in subsets} for x in subsets}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


def geometric_table(mechanism, x, ends):
    """P(z | x) from P(|noise| >= j) = 2 a^j / (1 + a), with the tails put to the ends, where there are ends."""
    a = (-mechanism.metric.level.ball() * ball(mechanism.step)).exp()

    def beyond(j):  # P(noise >= j)
        return a**j / (1 + a) if j > 0 else 1 - a ** (1 - j) / (1 + a)

    low, high = ends
    table = {z: beyond(z - x) - beyond(z - x + 1) for z in range(low, high + 1)}
    table[low], table[high] = 1 - beyond(low - x + 1), beyond(high - x)
    return table


@pytest.mark.parametrize("level", [Fraction(1, 10), mdp.ln(2)])
@pytest.mark.parametrize("step", [1, Fraction(1, 4)])
def test_truncated_geometric(level, step):
    mechanism = mdp.truncated_geometric(level * m.absolute(), k=6, step=step)
    assert isinstance(mechanism, Geometric)
    with precision(BITS):
        tables = {x: geometric_table(mechanism, x, (0, 6)) for x in range(7)}
        check_sums(tables)
        assert_tight(tables, lambda x, y: mechanism.metric.ball(x * step, y * step))


@pytest.mark.parametrize("level", [Fraction(1, 3), mdp.ln(2)])
def test_geometric(level):
    """On all integers; cells beyond -12 .. 12 have the ratios of the ends, which hold their tails."""
    mechanism = mdp.geometric(level * m.absolute())
    with precision(BITS):
        tables = {x: geometric_table(mechanism, x, (-12, 12)) for x in range(-3, 4)}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


def test_geometric_noise_is_what_the_formula_says():
    """The sampler's own threshold, floor(scale * E + shift + 1/2) >= j, has probability 2 a^j / (1 + a)."""
    mechanism = mdp.geometric(mdp.ln(3) / 2 * m.absolute(), step=Fraction(1, 3))
    with precision(BITS):
        a = mechanism._decay()
        for j in range(1, 30):
            # scale * E + shift >= j - 1/2
            chance = (-(ball(Fraction(2 * j - 1, 2)) - mechanism._shift()) / mechanism._scale()).exp()
            assert abs(chance - 2 * a**j / (1 + a)) < ball(TINY)


@pytest.mark.parametrize("step", [1, Fraction(1, 2)])
def test_snapping_costs_a_step_and_no_more(step):
    """Two secrets a hair apart may be snapped a step apart: the guarantee with snap is reached in the limit."""
    mechanism = mdp.geometric(mdp.ln(2) * m.absolute(), step=step, snap=True)
    hair = Fraction(1, 2**100)
    near, far = step / Fraction(2) - hair, step / Fraction(2)  # snapped to 0 and to one step
    with precision(BITS):
        cells = {near: 0, far: 1}
        tables = {x: geometric_table(mechanism, cell, (-9, 9)) for x, cell in cells.items()}
        share, _, _ = spent(tables, metric_of(mechanism))
        assert share < 1
        assert share > ball(Fraction(9, 10))
        without, _, _ = spent(tables, mechanism.metric.ball)
        assert without > 1, "without the cost of snapping the guarantee would be false"


# Densities: the ratio of densities at z, everywhere


@pytest.mark.parametrize("metric", [m.absolute().within(5), "0.25" * m.absolute()], ids=str)
def test_laplace_density(metric):
    """e |x' - z| - e |x - z| <= e |x - x'|, with equality beyond the two."""
    mechanism = mdp.laplace(metric)
    secrets = [Fraction(n, 7) for n in range(-3, 4)]
    outputs = [Fraction(n, 5) for n in range(-10, 11)]
    with precision(BITS):
        rate = mechanism.rate()
        tables = {x: {z: rate / 2 * (-rate * ball(abs(x - z))).exp() for z in outputs} for x in secrets}
        assert_tight(tables, metric_of(mechanism))


@pytest.mark.parametrize("resolution", [1, Fraction(1, 3)])
@pytest.mark.parametrize("bounds", [None, (0, 4)])
def test_laplace_rounded_to_a_grid(resolution, bounds):
    """The cells' own probabilities, tails at the ends: rounding spends nothing, and nothing is left over there."""
    mechanism = mdp.laplace(mdp.ln(2) * m.absolute(), resolution=resolution, bounds=bounds)
    first, last = (0, int(4 / resolution)) if bounds else (-30, 30)
    secrets = [Fraction(n, 7) for n in range(29)]
    with precision(BITS):
        rate = mechanism.rate()

        def below(t):
            return (rate * ball(t)).exp() / 2 if t < 0 else 1 - (-rate * ball(t)).exp() / 2

        def table(x):
            edges = [below((cell + Fraction(1, 2)) * resolution - x) for cell in range(first, last)]
            edges = [arb(0), *edges, arb(1)]
            return {cell: high - low for cell, (low, high) in enumerate(itertools.pairwise(edges))}

        tables = {x: table(x) for x in secrets}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


@pytest.mark.parametrize("unit", [m.manhattan(), m.euclidean(), m.chebyshev()], ids=str)
def test_laplace_density_in_the_plane(unit):
    """Density proportional to exp(-d(x, z)) for the metric itself: the triangle inequality, an equality beyond."""
    mechanism = mdp.laplace(mdp.ln(2) * unit, dim=2)
    secrets = [(0, 0), (1, 0), (0, 2), (-1, -1)]
    outputs = [(a, b) for a in range(-4, 5) for b in range(-4, 5)]
    with precision(BITS):
        tables = {x: {z: (-mechanism.metric.ball(x, z)).exp() for z in outputs} for x in secrets}
        assert_tight(tables, metric_of(mechanism))


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3)])
@pytest.mark.parametrize("delta", [Fraction(1, 1000), Fraction(1, 10)])
def test_approximate_laplace(epsilon, delta):
    """The hockey-stick divergence of the two ends, summed over fine cells, is delta; 10% less of either is refused."""
    mechanism = mdp.approximate_laplace(0, 1, epsilon, delta)
    with precision(96):
        rate = mechanism.rate()

        def below(t):
            return (rate * ball(t)).exp() / 2 if t < 0 else 1 - (-rate * ball(t)).exp() / 2

        def beyond(allowed, cells=400):
            """Of the secrets 0 and 1: the sum of (P(Z | 0) - exp(allowed) P(Z | 1))+ over cells and clamped ends."""
            edges = [Fraction(cell, cells) for cell in range(1, cells)]
            total = arb(0)
            for low, high in itertools.pairwise([None, *edges, None]):
                one = (below(high) if high is not None else arb(1)) - (below(low) if low is not None else arb(0))
                two = (below(high - 1) if high is not None else arb(1)) - (
                    below(low - 1) if low is not None else arb(0)
                )
                excess = one - ball(allowed).exp() * two
                total += excess if excess > 0 else arb(0)
            return total

        assert beyond(epsilon) <= ball(delta) + ball(TINY * 2**40)
        assert beyond(epsilon) > ball(delta * Fraction(9, 10))
        assert beyond(epsilon * Fraction(9, 10)) > ball(delta)


@pytest.mark.parametrize("null_distance", [51, 60, 100, 400])
def test_nullable(null_distance):
    """p and q, and the numbers' own cells: tight between null and the numbers, and between the numbers."""
    mechanism = mdp.laplace(Fraction(1, 20) * m.nullable(m.absolute(), null_distance), bounds=(0, 100))
    cells = 20
    with precision(BITS):
        p, q = mechanism.false_null(), mechanism.true_null()
        assert 0 < p < q < 1
        rate = mechanism.numbers.rate()

        def below(t):
            return (rate * ball(t)).exp() / 2 if t < 0 else 1 - (-rate * ball(t)).exp() / 2

        def table(x):
            stays, at = (1 - q, 50) if x is None else (1 - p, x)
            edges = [arb(0), *(below(Fraction(100 * n, cells) - at) for n in range(cells + 1)), arb(1)]
            numbers = {n: stays * (high - low) for n, (low, high) in enumerate(itertools.pairwise(edges))}
            return numbers | {None: 1 - stays}

        tables = {x: table(x) for x in (None, Fraction(0), Fraction(30), Fraction(50), Fraction(100))}
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))
        # Both ways between null and a number: releasing null, and releasing a number at the far end.
        far = mechanism.metric.ball(None, 0)
        assert abs(q.log() - p.log() - far) < ball(TINY)
        at_the_end = tables[Fraction(0)][0].log() - tables[None][0].log()
        assert abs(at_the_end - far) < ball(TINY)


def test_product_adds_up():
    """Two attributes that both differ use the whole sum of their metrics."""
    one, two = mdp.randomized_response("ab", 1), mdp.randomized_response("xyz", mdp.ln(3))
    mechanism = mdp.independent(one, two)
    with precision(BITS):
        chances = [(part.truth(), (1 - part.truth()) / (len(part.values) - 1)) for part in (one, two)]
        records = list(itertools.product("ab", "xyz"))

        def chance(x, z):
            return math.prod((told[a != b] for told, a, b in zip(chances, x, z, strict=True)), start=arb(1))

        tables = {x: {z: chance(x, z) for z in records} for x in records}
        check_sums(tables)
        metric = mechanism.guarantee.metric
        assert_tight(tables, lambda x, y: metric.ball(dict(enumerated(x)), dict(enumerated(y))))


def enumerated(record):
    return ((str(number), value) for number, value in enumerate(record))


def test_composition_adds_up():
    one, two = mdp.randomized_response("ab", 1), mdp.randomized_response("ab", 2)
    mechanism = mdp.compose(one, two)
    with precision(BITS):
        tables = {
            x: {
                (z, w): (one.truth() if z == x else 1 - one.truth()) * (two.truth() if w == x else 1 - two.truth())
                for z in "ab"
                for w in "ab"
            }
            for x in "ab"
        }
        check_sums(tables)
        assert_tight(tables, metric_of(mechanism))


def test_a_null_as_near_as_it_can_be_is_refused():
    """At half the width of the bounds p and q would be 0, and nearer d would be no metric."""
    for null_distance in (50, 49, 1):
        with pytest.raises(mdp.errors.NotAMetricError, match="half the width"):
            mdp.laplace(Fraction(1, 20) * m.nullable(m.absolute(), null_distance), bounds=(0, 100))


# Not tight


SPACES = {
    "line of 6": (mdp.Space.line(6, 0.5 * m.absolute()), Fraction(7, 8)),
    "grid of 9": (mdp.Space.grid(3, 3, mdp.ln(2) * m.euclidean()), Fraction(3, 4)),
    "bits": (mdp.Space.bits(3, m.hamming()), Fraction(999, 1000)),
    "discrete": (mdp.Space("abcd", 2 * m.discrete()), Fraction(999, 1000)),
    "uneven": (mdp.Space([0, 1, 2, 50, 51], Fraction(1, 3) * m.absolute()), Fraction(1, 2)),
}


@pytest.mark.parametrize("name", SPACES)
def test_exponential(name):
    """It keeps the metric with slack; where all points look alike almost none is left."""
    space, least = SPACES[name]
    mechanism = mdp.exponential(space)
    with precision(BITS):
        tables = {}
        for place, x in enumerate(space.points):
            edges = [arb(0), *mechanism._cumulative(place)(), arb(1)]
            tables[x] = dict(zip(space.points, (b - a for a, b in itertools.pairwise(edges)), strict=True))
        check_sums(tables)
        share, pair, output = spent(tables, metric_of(mechanism))
        print(
            f"{name}: {float(share.mid()):.4f} of the metric is used (at {pair} by {output}); share {mechanism.share}"
        )
        assert share <= 1
        assert share >= ball(least), "more slack than it had"
        assert share < 1, "tight: say so in the docstring, and move it to the tests above"


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


def test_refusing_is_possible():
    """The check itself is not blind: response with a truth too likely, and geometric noise for a larger metric."""
    with precision(BITS):
        truth = ball(Fraction(3, 4))
        tables = {x: {z: truth if x == z else 1 - truth for z in "ab"} for x in "ab"}
        exact = mdp.ln(3) * m.discrete()
        assert_tight(tables, exact.ball)
        with pytest.raises(AssertionError, match="broken"):
            assert_tight(tables, (mdp.ln(3) * Fraction(9, 10) * m.discrete()).ball)
        with pytest.raises(AssertionError, match="not tight"):
            assert_tight(tables, (mdp.ln(3) * Fraction(11, 10) * m.discrete()).ball)
        with pytest.raises(AssertionError, match="cannot"):
            spent({"a": {0: arb(1), 1: arb(0)}, "b": {0: arb(0), 1: arb(1)}}, exact.ball)
