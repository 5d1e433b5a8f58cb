"""Verify agrees with brute force: every triple in integers and balls, every set of outputs for a delta.

The reference knows nothing of the package's metrics. A distance is here a formula of its own, as a ball of thousands of
bits, and exp of it as a rational power where it is one; each triple is compared, none is ruled out beforehand.
"""

import itertools
import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import pytest
from flint import arb, fmpq

import metricdp as mdp
from metricdp.channels import Channel, verify
from metricdp.exact.balls import precision

m = mdp.metrics
F = Fraction
SPARE = 600
RADIUS = F("6371008.8")


@dataclass(frozen=True)
class Known:
    """A distance as a ball at any precision, and ``power`` (R, n) where exp of it is known to be R^(1/n)."""

    ball: Callable[[], arb]
    infinite: bool = False
    zero: bool = False
    power: tuple[Fraction, int] | None = None


def real(number):
    return arb(fmpq(number.numerator, number.denominator))


def rational_distance(number):
    if number == math.inf:
        return Known(lambda: arb("inf"), infinite=True)
    return Known(lambda: real(number), zero=number == 0, power=(F(1), 1) if number == 0 else None)


def log_distance(terms):
    """The sum of coefficient * ln(base)."""
    root = math.lcm(*(coefficient.denominator for coefficient, _ in terms))
    power = math.prod((base ** int(coefficient * root) for coefficient, base in terms), start=F(1))
    return Known(
        lambda: sum((real(coefficient) * real(base).log() for coefficient, base in terms), arb(0)),
        zero=all(coefficient == 0 for coefficient, _ in terms),
        power=(power, root),
    )


def root_distance(square, factor=1):
    return Known(
        lambda: real(F(factor)) * real(square).sqrt(), zero=square == 0, power=(F(1), 1) if square == 0 else None
    )


def globe_distance(one, two, factor):
    """By the angle between two vectors in space: nothing like the half-angle formulas."""

    def turn(degrees):
        share = fmpq(F(degrees).numerator, F(degrees).denominator * 180)
        return arb.sin_pi_fmpq(share), arb.cos_pi_fmpq(share)

    def place(point):
        (sine, cosine), (sine_, cosine_) = turn(point[0]), turn(point[1])
        return cosine * cosine_, cosine * sine_, sine

    def length():
        (a, b, c), (d, e, f) = place(one), place(two)
        across = ((b * f - c * e) ** 2 + (c * d - a * f) ** 2 + (a * e - b * d) ** 2).sqrt()
        return real(F(factor) * RADIUS) * arb.atan2(across, a * d + b * e + c * f)

    return Known(length)


def slow_scale(rows, apart, delta=0):
    """All cases (R, d), of scale ln R / d; "infinite" where no scale serves, None where no pair is constrained."""
    cases = []
    for (x, row), (other, row_) in itertools.permutations(enumerate(rows), 2):
        known = apart[x][other]
        if known.infinite:
            continue
        ratio = slow_ratio(row, row_, delta)
        if ratio is None or (known.zero and ratio > 1):
            return "infinite"
        if not known.zero:
            cases.append((max(ratio, F(1)), known))
    return cases or None


def slow_ratio(row, row_, delta):
    """The largest (K(x)(Z) - delta) / K(x')(Z); over single outputs without delta, else over all sets."""
    largest = F(0)
    sets = [(z,) for z in range(len(row))]
    if delta:
        sets = [some for size in range(1, len(row) + 1) for some in itertools.combinations(range(len(row)), size)]
    for some in sets:
        above, below = sum(row[z] for z in some) - delta, sum(row_[z] for z in some)
        if above > 0 and below == 0:
            return None
        if above > 0:
            largest = max(largest, above / below)
    return largest


def bits_for(rows):
    return 2 * max(value.denominator.bit_length() for row in rows for value in row) + SPARE


def at_most(ratio, known, bits):
    """Whether ln(ratio) <= d, exactly."""
    if known.power is not None:
        power, root = known.power
        return ratio**root <= power
    with precision(bits):
        gap = known.ball() - real(ratio).log()
        assert gap > 0 or gap < 0, "the reference itself cannot tell"
        return bool(gap > 0)


def check(rows, points, space, apart, delta=0, inputs=None, outputs=None):
    """Verify says of these rows what the reference finds."""
    inputs = list(points) if inputs is None else inputs
    places = [list(points).index(point) for point in inputs]
    near = [[apart[i][j] for j in places] for i in places]
    outputs = outputs or [f"z{z}" for z in range(len(rows[0]))]
    channel = Channel.from_matrix(inputs, outputs, rows)
    verdict = verify(channel, space, delta)
    cases = slow_scale(rows, near, delta)
    if cases is None:
        assert verdict.holds
        assert verdict.scale == verdict.scale_below == 0
        return verdict
    if cases == "infinite":
        assert not verdict.holds
        assert verdict.scale == verdict.scale_below == math.inf
        x, other, z = (inputs.index(verdict.witness[0]), inputs.index(verdict.witness[1]), verdict.witness[2])
        known, ratio = near[x][other], slow_ratio(rows[x], rows[other], delta)
        assert not known.infinite
        assert ratio is None or (known.zero and ratio > 1)
        if not delta:
            top, bottom = rows[x][outputs.index(z)], rows[other][outputs.index(z)]
            assert top > bottom
            assert bottom == 0 or known.zero
        return verdict
    bits = bits_for(rows)
    assert verdict.holds == all(at_most(ratio, known, bits) for ratio, known in cases)
    with precision(bits):
        scales = [real(ratio).log() / known.ball() for ratio, known in cases]
        for scale in scales:
            assert not arb(verdict.scale) < scale, "above the scale said to be proved"
        assert any(not arb(verdict.scale_below) > scale for scale in scales), "below the scale said to be proved"
        x, other, z = (inputs.index(verdict.witness[0]), inputs.index(verdict.witness[1]), verdict.witness[2])
        ratio = slow_ratio(rows[x], rows[other], delta)
        tightest = real(max(ratio, F(1))).log() / near[x][other].ball()
        assert not any(scale > tightest for scale in scales), "the witness is not the tightest"
        # As close as floats are, and at their ends where they end.
        assert verdict.scale <= float(tightest) * (1 + 1e-13) + 5e-324
        assert verdict.scale_below >= min(float(tightest) * (1 - 1e-13), sys.float_info.max) - 5e-324
    if not delta and ratio > 1:
        z = outputs.index(z)
        assert rows[x][z] == ratio * rows[other][z]
    return verdict


# Channels


def normalized(weights):
    total = math.lcm(*(sum(row) for row in weights))
    return [[F(value * (total // sum(row)), total) for value in row] for row in weights]


def random_rows(rng, inputs, outputs, kind):
    """Rows of fractions: few values (many ties), zeros, or thousands of bits that differ late."""
    if kind == "ties":
        return normalized([[rng.choice((1, 2, 4)) for _ in range(outputs)] for _ in range(inputs)])
    if kind == "zeros":
        column = [rng.random() < 0.3 for _ in range(outputs)]
        column[0] = False
        weights = [[0 if column[z] else rng.randint(1, 9) for z in range(outputs)] for _ in range(inputs)]
        if rng.random() < 0.5:
            weights[rng.randrange(inputs)][rng.randrange(1, outputs)] = 0
        return normalized(weights)
    if kind == "late":
        bits = rng.choice((70, 300, 3000))
        base = [rng.getrandbits(bits) + (1 << bits) for _ in range(outputs)]
        rows = []
        for _ in range(inputs):
            row, move = base.copy(), rng.randint(0, 3)
            row[0], row[-1] = row[0] + move, row[-1] - move
            rows.append(row)
        return normalized(rows)
    if kind == "sizes":
        return normalized([[1 << rng.choice((0, 1, 60, 1100, 2500)) for _ in range(outputs)] for _ in range(inputs)])
    return normalized([[rng.randint(1, 1 << 40) for _ in range(outputs)] for _ in range(inputs)])


KINDS = ("ties", "zeros", "late", "sizes", "plain")


# Spaces: points, the package's space, and the reference's distances


def shortest(rng, count, lengths, missing=0.3):
    """Shortest paths of a random graph, exactly; some infinite, some zero."""
    apart = [[F(0) if i == j else math.inf for j in range(count)] for i in range(count)]
    for i, j in itertools.combinations(range(count), 2):
        if rng.random() >= missing:
            apart[i][j] = apart[j][i] = rng.choice(lengths)
    for k, i, j in itertools.product(range(count), repeat=3):
        apart[i][j] = min(apart[i][j], apart[i][k] + apart[k][j])
    return apart


def listed(rng, count):
    """A matrix of rationals with twins and infinities, tiny and huge."""
    lengths = rng.choice(
        [(F(0), F(1), F(2)), (F(1, 3), F(1, 2)), (F(1, 10**12), F(1), F(200)), (F(1, 10**30), F(10**6)), (F(0), F(5))]
    )
    apart = shortest(rng, count, lengths)
    points = list(range(count))
    return points, mdp.Space(points, m.matrix(points, apart)), [[rational_distance(d) for d in row] for row in apart]


def logarithmic(rng, count):
    lengths = rng.choice([(F(0), F(1), F(2)), (F(1), F(1, 2), F(3, 2)), (F(1, 8), F(1))])
    apart, base = shortest(rng, count, lengths), rng.choice((F(2), F(3, 2), F(4), F(10**9 + 1, 10**9)))
    points = list("abcdefgh"[:count])
    known = [[rational_distance(d) if d in (0, math.inf) else log_distance([(d, base)]) for d in row] for row in apart]
    return points, mdp.Space(points, mdp.ln(base) * m.matrix(points, apart)), known


def on_a_line(rng, count):
    """Unsorted, with points that lie very near to each other."""
    near = [F(0), F(1), F(1, 10**9), F(1) + F(1, 10**40), F(7, 3), F(-4), F(1, 10**320), F(10**20)]
    points = rng.sample(near, count)
    level = rng.choice((F(1), F(1, 10**3), F(10**15)))
    apart = [[rational_distance(level * abs(x - y)) for y in points] for x in points]
    return points, mdp.Space(points, level * m.absolute()), apart


def in_the_plane(rng, count):
    size = rng.choice((3, 10**9))
    points = rng.sample(list(itertools.product(range(0, size * 3, size), repeat=2)), count)
    if rng.random() < 0.3:
        points[0] = (points[0][0] + F(1, 10**25), points[0][1])
    factor = F(1, size)
    apart = [[root_distance((x[0] - y[0]) ** 2 + (x[1] - y[1]) ** 2, factor) for y in points] for x in points]
    return points, mdp.Space(points, factor * m.euclidean()), apart


def two_logarithms(rng, count):
    points = rng.sample(range(9), count)
    apart = [[log_distance([(F(abs(x - y)), F(2)), (F(int(x != y)), F(3))]) for y in points] for x in points]
    return points, mdp.Space(points, mdp.ln(2) * m.absolute() + mdp.ln(3) * m.discrete()), apart


def on_the_globe(rng, count):
    near = [(0.0, 0.0), (0.0, 1e-9), (48.8566, 2.3522), (48.8566, 2.352200001), (-33.9, 151.2), (89.99999, 10.0)]
    near += [(0.0, 179.9999999999), (1e-12, -179.9999999999), (F(1, 3), F(1, 7))]
    points = rng.sample(near, count)
    factor = rng.choice((F(1, 100), F(10**4)))
    apart = [[globe_distance(x, y, factor) if x != y else rational_distance(F(0)) for y in points] for x in points]
    return points, mdp.Space(points, factor * m.great_circle()), apart


SPACES = (listed, logarithmic, on_a_line, in_the_plane, two_logarithms, on_the_globe)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", SPACES, ids=lambda make: make.__name__)
def test_the_smallest_scale_over_all_triples(make, kind):
    rng = random.Random(f"{make.__name__} {kind}")
    for _ in range(12):
        count = rng.randint(2, 6)
        points, space, apart = make(rng, count)
        rows = random_rows(rng, count, rng.randint(2, 5), kind)
        for i, j in itertools.combinations(range(count), 2):
            if apart[i][j].zero and rng.random() < 0.7:  # twins that keep the promise
                rows[j] = rows[i]
        check(rows, points, space, apart)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", SPACES, ids=lambda make: make.__name__)
def test_delta_over_all_sets(make, kind):
    rng = random.Random(f"delta {make.__name__} {kind}")
    for _ in range(8):
        count = rng.randint(2, 5)
        points, space, apart = make(rng, count)
        rows = random_rows(rng, count, rng.randint(2, 5), kind)
        for i, j in itertools.combinations(range(count), 2):
            if apart[i][j].zero and rng.random() < 0.7:
                rows[j] = rows[i]
        check(rows, points, space, apart, delta=rng.choice((F(1, 10), F(1, 100), F(3, 4), F(1, 10**30))))


@pytest.mark.parametrize("make", [listed, on_a_line, in_the_plane], ids=lambda make: make.__name__)
def test_a_metric_one_part_in_2_to_the_300_too_small_is_refused(make):
    """The level is put just above and just below the true smallest scale, which is irrational."""
    rng = random.Random(make.__name__)
    for kind in ("plain", "ties", "late"):
        for _ in range(4):
            points, space, apart = make(rng, 4)
            rows = random_rows(rng, 4, 3, kind)
            cases = slow_scale(rows, apart)
            if cases in (None, "infinite") or all(ratio == 1 for ratio, _ in cases):
                continue
            with precision(8000):
                scales = [real(ratio).log() / known.ball() for ratio, known in cases]
                best = max(scales, key=lambda scale: float(scale.mid()))
                for scale in scales:
                    best = scale if scale > best else best
                man, exponent = best.mid().man_exp()
                middle = F(int(man)) * F(2) ** int(exponent)
            for sign in (1, -1):
                level = middle * (1 + sign * F(1, 1 << 300))
                moved = mdp.Space(points, level * space.metric)
                verdict = verify(Channel.from_matrix(points, range(3), rows), moved)
                assert verdict.holds == (sign > 0)
                assert (verdict.scale <= 1) == (sign > 0)
                assert verdict.scale == pytest.approx(1, abs=1e-15)


def test_inputs_that_are_some_of_the_points_in_another_order():
    rng = random.Random(4)
    for make in SPACES:
        for _ in range(6):
            points, space, apart = make(rng, 6)
            inputs = rng.sample(points, 3)
            check(random_rows(rng, 3, 4, rng.choice(KINDS)), points, space, apart, inputs=inputs)


def test_many_points_on_a_line_out_of_order():
    """Enough pairs for the shortcut by neighbours, with points at distance zero and nearly so among them."""
    rng = random.Random(5)
    for _ in range(6):
        places = [F(rng.randint(0, 30), rng.choice((1, 2, 3))) for _ in range(14)]
        places[3], places[7] = places[2], places[2] + F(1, 10**25)
        apart = [[abs(x - y) for y in places] for x in places]
        names = list(range(14))
        rows = [[F(2) ** -int(abs(x - c)) for c in (0, 10, 20)] for x in places]
        rows = normalized([[int(value * 2**40) for value in row] for row in rows])
        for i, j in itertools.combinations(names, 2):
            if apart[i][j] == 0:
                rows[j] = rows[i]
        rows[7] = rows[2] if rng.random() < 0.5 else rows[7]
        known = [[rational_distance(d) for d in row] for row in apart]
        check(rows, names, mdp.Space(names, m.matrix(names, apart)), known)


def test_many_ties_on_a_grid():
    """Manhattan grids have many pairs that follow from others, at one and the same scale."""
    points = list(itertools.product(range(4), range(4)))
    rng = random.Random(6)
    rng.shuffle(points)
    apart = [[log_distance([(F(abs(x[0] - y[0]) + abs(x[1] - y[1])), F(2))]) for y in points] for x in points]
    rows = [[F(2) ** -(a + b), F(1, 2)] for a, b in points]
    rows = [[*row, 1 - sum(row)] for row in [[value / 4 for value in row] for row in rows]]
    space = mdp.Space(points, mdp.ln(2) * m.manhattan())
    assert check(rows, points, space, apart).holds
    worse = [row.copy() for row in rows]
    worse[5][0] += F(1, 2**3000)
    worse[5][1] -= F(1, 2**3000)
    check(worse, points, space, apart)


def test_the_reference_can_fail():
    """It tells a wrong scale, so that its agreement means something."""
    points, rows = [0, 1], [[F(2, 3), F(1, 3)], [F(1, 3), F(2, 3)]]
    apart = [[log_distance([(F(abs(x - y)), F(2))]) for y in points] for x in points]
    check(rows, points, mdp.Space(points, mdp.ln(2) * m.absolute()), apart)
    with pytest.raises(AssertionError):
        check(rows, points, mdp.Space(points, mdp.ln(3) * m.absolute()), apart)
