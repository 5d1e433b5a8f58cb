"""Laws of verify and certify, over spaces and matrices of every kind."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.channels import Channel, certify, of, verify
from metricdp.channels.pairs import Pairs
from metricdp.channels.rounding import round_inside
from metricdp.exact import decide_all_by_balls
from metricdp.exact.balls import ball, precision
from metricdp.metrics import Guarantee

m = mdp.metrics
F = Fraction
LENGTHS = st.sampled_from([F(0), F(1, 10**12), F(1, 10**9), F(1, 10**4), F(1, 2), F(1), F(1), F(3), F(200), math.inf])
LEVELS = st.sampled_from([1, F(1, 3), mdp.ln(2), mdp.ln("11/10"), 10])


@st.composite
def spaces(draw, least=2, most=6):
    """Points with shortest paths between them (zero, tiny, tied, huge, infinite), or in the plane, or on a line."""
    count = draw(st.integers(least, most))
    kind = draw(st.sampled_from(["paths", "paths", "plane", "line"]))
    level = draw(LEVELS)
    if kind == "line":
        places = draw(st.lists(st.fractions(-5, 5, max_denominator=10**6), min_size=count, max_size=count, unique=True))
        return mdp.Space(places, level * m.absolute())
    if kind == "plane":
        digits = draw(st.sampled_from([0, 3, 15]))
        number = st.floats(-3, 3).map(lambda value: round(value, digits) + 0.0)
        places = draw(st.lists(st.tuples(number, number), min_size=count, max_size=count, unique=True))
        return mdp.Space(places, level * m.euclidean())
    apart = [[F(0) if i == j else math.inf for j in range(count)] for i in range(count)]
    for i, j in itertools.combinations(range(count), 2):
        apart[i][j] = apart[j][i] = draw(LENGTHS)
    for k, i, j in itertools.product(range(count), repeat=3):
        apart[i][j] = min(apart[i][j], apart[i][k] + apart[k][j])
    return mdp.Space(range(count), level * m.matrix(range(count), apart))


ENTRIES = st.one_of(
    st.sampled_from([0.0, 0.0, -1e-9, -0.3, 1e-300, 5e-324, 1e-17, 0.5, 0.5, 1.0, 40.0]),
    st.floats(0, 1),
    st.floats(-1, 2),
)


@st.composite
def matrices(draw, rows):
    """Floats with negatives, zeros and bad sums; sometimes divided by their sums."""
    columns = draw(st.integers(1, 5))
    matrix = np.array(
        draw(st.lists(st.lists(ENTRIES, min_size=columns, max_size=columns), min_size=rows, max_size=rows))
    )
    assume((matrix > 0).any(axis=1).all())
    if draw(st.booleans()):
        matrix = np.maximum(matrix, 0)
        matrix /= matrix.sum(axis=1, keepdims=True)
    return matrix


@st.composite
def channels(draw, inputs, most=5, zeros=True):
    """Exact channels: small weights, so that ties are common."""
    columns = draw(st.integers(1, most))
    weights = st.lists(st.integers(0 if zeros else 1, 8), min_size=columns, max_size=columns)
    rows = [draw(weights.filter(any)) for _ in inputs]
    return Channel.from_matrix(inputs, range(columns), [[F(value, sum(row)) for value in row] for row in rows])


def true_variation(channel, wanted):
    return max(
        sum(abs(F(weight, channel.total) - F(value)) for weight, value in zip(row, wants, strict=True)) / 2
        for row, wants in zip(channel.weights.tolist(), wanted.tolist(), strict=True)
    )


@given(st.data())
@settings(max_examples=100)
def test_certify_returns_what_verify_accepts_and_is_idempotent(data):
    space = data.draw(spaces())
    matrix = data.draw(matrices(len(space)))
    kept = matrix.copy()
    made = certify(matrix, space)
    assert (matrix == kept).all()
    assert verify(made, space).holds
    assert made.guarantee == Guarantee(space.metric)
    assert made.inputs == space.points
    assert made.moved >= true_variation(made, matrix)
    again = certify(made, space)
    assert again == made
    assert again.moved == 0


@given(st.data())
def test_what_is_private_already_is_not_moved(data):
    space = data.draw(spaces())
    channel = data.draw(channels(space.points))
    made = certify(channel, space)
    assert verify(made, space).holds
    assert (made == channel) == verify(channel, space).holds
    assert (made.moved == 0) == verify(channel, space).holds


@given(st.data())
def test_a_larger_metric_is_kept_more_easily(data):
    space = data.draw(spaces())
    channel = data.draw(channels(space.points))
    verdict = verify(channel, space)
    factor = data.draw(st.sampled_from([F(3, 2), F(1001, 1000), F(10)]))
    larger = verify(channel, mdp.Space(space.points, factor * space.metric))
    assert larger.holds or not verdict.holds
    assert larger.scale_below <= verdict.scale
    if math.isfinite(verdict.scale):
        assert larger.scale == pytest.approx(verdict.scale / float(factor), rel=1e-12)
    added = verify(channel, mdp.Space(space.points, space.metric + m.discrete()))
    assert added.scale_below <= verdict.scale
    assert added.holds or not verdict.holds


@given(st.data())
def test_the_scale_is_where_it_begins_to_hold(data):
    space = data.draw(spaces())
    channel = data.draw(channels(space.points))
    verdict = verify(channel, space)
    assert verdict.scale_below <= verdict.scale
    assert verdict.holds == (verdict.scale <= 1)
    if not 0 < verdict.scale < math.inf:
        return
    assert verify(channel, mdp.Space(space.points, F(verdict.scale) * space.metric)).holds
    below = F(verdict.scale_below) * (1 - F(1, 10**15))
    assert not verify(channel, mdp.Space(space.points, below * space.metric)).holds


@given(st.data())
def test_the_witness_alone_has_the_same_scale(data):
    space = data.draw(spaces())
    channel = data.draw(channels(space.points))
    verdict = verify(channel, space)
    assume(verdict.witness is not None)
    x, other, z = verdict.witness
    column = [(channel.probability(y, z), 1 - channel.probability(y, z)) for y in (x, other)]
    alone = verify(Channel.from_matrix([x, other], [z, "else"], column), space)
    assert alone.scale >= verdict.scale_below
    assert alone.scale_below <= verdict.scale


@given(st.data(), st.sampled_from([0, F(1, 20), F(1, 3)]))
def test_post_processing_never_raises_the_scale(data, delta):
    space = data.draw(spaces())
    channel = data.draw(channels(space.points))
    after = data.draw(channels(channel.outputs))
    before, processed = verify(channel, space, delta), verify(channel @ after, space, delta)
    assert processed.scale_below <= before.scale
    assert processed.holds or not before.holds


@given(st.data(), st.sampled_from([0, F(1, 20)]))
def test_fewer_inputs_never_raise_the_scale(data, delta):
    space = data.draw(spaces(least=3))
    channel = data.draw(channels(space.points))
    some = data.draw(st.lists(st.sampled_from(space.points), min_size=1, unique=True))
    part = Channel(tuple(some), channel.outputs, channel.weights[[channel.row(x) for x in some]], channel.total)
    before, less = verify(channel, space, delta), verify(part, space, delta)
    assert less.scale_below <= before.scale
    assert less.holds or not before.holds


@given(st.data(), st.sampled_from([0, F(1, 20)]))
def test_order_and_the_rest_of_the_space_do_not_matter(data, delta):
    space = data.draw(spaces())
    channel = data.draw(channels(space.points))
    points = data.draw(st.permutations(space.points))
    inputs = data.draw(st.permutations(space.points))
    outputs = data.draw(st.permutations(channel.outputs))
    weights = channel.weights[[channel.row(x) for x in inputs]][:, [channel.column(z) for z in outputs]]
    moved = Channel(tuple(inputs), tuple(outputs), weights, channel.total)
    one, two = verify(channel, space, delta), verify(moved, mdp.Space(points, space.metric), delta)
    assert one.holds == two.holds
    assert one.scale_below <= two.scale
    assert two.scale_below <= one.scale


@given(st.data(), st.sampled_from([F(1, 50), F(1, 10), F(1, 2)]))
def test_more_delta_never_raises_the_scale(data, delta):
    space = data.draw(spaces())
    channel = data.draw(channels(space.points))
    scales = [verify(channel, space, share) for share in (0, delta / 2, delta)]
    for less, more in itertools.pairwise(scales):
        assert more.scale_below <= less.scale
        assert more.holds or not less.holds


@given(st.data())
def test_both_together_cost_the_sum(data):
    """Two releases of one secret are private for the sum of their own metrics, and no less where both are tight."""
    space = data.draw(spaces(most=4))
    one = data.draw(channels(space.points, most=3, zeros=False))
    two = data.draw(channels(space.points, most=3, zeros=False))
    both = Channel.from_matrix(
        space.points,
        list(itertools.product(one.outputs, two.outputs)),
        [
            [one.probability(x, y) * two.probability(x, z) for y in one.outputs for z in two.outputs]
            for x in space.points
        ],
    )
    metric = one.guarantee.metric + two.guarantee.metric
    assert verify(both, mdp.Space(space.points, metric)).holds


@given(st.data())
def test_a_channel_keeps_its_own_metric_exactly(data):
    space = data.draw(spaces())
    channel = data.draw(channels(space.points))
    verdict = verify(channel, mdp.Space(space.points, channel.guarantee.metric))
    assert verdict.holds
    assert verdict.scale == verdict.scale_below
    assert verdict.scale in (0, 1)


@given(
    st.sampled_from(["geometric", "response", "delta", "sets", "composed", "independent"]),
    st.fractions(F(1, 1000), 20, max_denominator=1000),
    st.integers(2, 4),
)
def test_the_channel_of_every_discrete_mechanism_is_private_and_tight(kind, level, size):
    made = {
        "geometric": lambda: mdp.truncated_geometric(level * m.absolute(), steps=size),
        "response": lambda: mdp.randomized_response(range(size), level),
        "delta": lambda: mdp.randomized_response(range(size), level, F(1, 7)),
        "sets": lambda: mdp.set_response(range(size), level),
        "composed": lambda: mdp.compose(
            mdp.truncated_geometric(level * m.absolute(), steps=size), mdp.truncated_geometric(m.absolute(), steps=size)
        ),
        "independent": lambda: mdp.independent(
            mdp.truncated_geometric(level * m.absolute(), steps=size), mdp.randomized_response("ab", level)
        ),
    }[kind]()
    subsets = [frozenset(some) for count in range(size + 1) for some in itertools.combinations(range(size), count)]
    records = list(itertools.product(range(size + 1), "ab"))
    inputs = {"sets": subsets, "independent": records, "geometric": range(size + 1), "composed": range(size + 1)}
    channel = of(made, inputs.get(kind, range(size)))
    guarantee = made.guarantee
    assert channel.guarantee == guarantee
    assert verify(channel, mdp.Space(channel.inputs, guarantee.metric), guarantee.delta).holds
    smaller = mdp.Space(channel.inputs, F(9, 10) * guarantee.metric)
    assert not verify(channel, smaller, guarantee.delta).holds


@given(st.data(), st.integers(-40, 3))
def test_rounding_inside_keeps_every_promise(data, size):
    """Real probabilities, tight for an irrational metric, become integers that are private too."""
    count = data.draw(st.integers(2, 5))
    level = F(2) ** size * F(data.draw(st.integers(1, 9)), 7)
    space = mdp.Space.line(count, level * m.absolute())

    def fixed(bits):
        with precision(bits + 64):
            a = (-ball(level)).exp()
            shares = [
                [a ** abs(x - z) / (1 + a) * (1 if z in (0, count - 1) else 1 - a) for z in range(count)]
                for x in range(count)
            ]
            rows = [[int((share * ball(1 << bits)).upper().ceil().unique_fmpz()) for share in row] for row in shares]
        return np.array(rows, dtype=object)

    least = -float(level) * count / math.log(2) + min(0, size) - 6
    weights, total = round_inside(fixed, least, Pairs.of(space.points, space))
    channel = Channel(space.points, tuple(range(count)), weights, total)
    assert verify(channel, space).holds
    assert not verify(channel, mdp.Space.line(count, F(9, 10) * level * m.absolute())).holds


@given(st.data())
def test_the_quick_way_to_release_is_the_exact_one(data):
    channel = data.draw(channels(range(data.draw(st.integers(1, 4)))))
    rows = np.array(data.draw(st.lists(st.integers(0, len(channel.inputs) - 1), min_size=1, max_size=200)))
    seed = data.draw(st.integers(0, 2**32))
    with mdp.seeded(seed):
        quick = channel.release(rows)
    with mdp.seeded(seed), decide_all_by_balls():
        exact = channel.release(rows)
    assert quick.tolist() == exact.tolist()
    assert all(channel.probability(x, z) > 0 for x, z in zip(rows.tolist(), quick.tolist(), strict=True))
