"""Universal optimality: decided right, checked by other means, refused where it is too large."""

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import metricdp as mdp
from metricdp.adversaries import Loss, Prior, as_loss, uncertainty
from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.channels import Channel, of, verify
from metricdp.design import universal_example, universal_mechanism, universally_optimal
from metricdp.design.answer_space import answer_space
from metricdp.design.universal._expected_loss import ExpectedLoss
from metricdp.design.universal._private_columns import PrivacyType, PrivateColumns
from metricdp.errors import ArgumentError, ImpossibleError, TooLargeError, UnsupportedMetricError
from metricdp.exact.progress import Stopwatch
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming
from metricdp.programs.double_description import extreme_rays

LINE = Space.line(3, mdp.ln(2) * absolute())
PAIRS = list(itertools.permutations(range(6), 2))
GEOMETRIC = of(mdp.truncated_geometric(LINE.metric, steps=2), range(3))


def least_by_floats(space, prior, loss):
    """The plain program over all private channels whose outputs are actions, by another solver."""
    costs = loss.matrix * prior.floats  # actions by secrets
    actions, size = costs.shape
    falls = np.exp(-space.distances)
    rows = []
    for w in range(actions):
        for i, j in itertools.permutations(range(size), 2):
            row = np.zeros((actions, size))
            row[w, i], row[w, j] = falls[i, j], -1
            rows.append(row.ravel())
    sums = np.array([np.tile(np.eye(size)[x], actions) for x in range(size)])
    found = linprog(costs.ravel(), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=sums, b_eq=np.ones(size))
    return found.fun


spaces = st.sampled_from(
    [
        LINE,
        Space(range(3), mdp.ln(3) * discrete()),
        Space.grid(2, 2, 0.6 * euclidean()),
        Space("abcd", mdp.ln(2) * mdp.metrics.matrix("abcd", [[0, 1, 2, 3], [1, 0, 2, 3], [2, 2, 0, 3], [3, 3, 3, 0]])),
        Space.bits(2, mdp.ln("3/2") * hamming()),
    ]
)
numbers = st.integers(-3, 6)


@st.composite
def problems(draw):
    space = draw(spaces)
    table = draw(st.lists(st.lists(numbers, min_size=len(space), max_size=len(space)), min_size=1, max_size=4))
    return space, Loss.from_matrix(range(len(table)), space.points, table)


@st.composite
def private(draw, space):
    """A channel in the type: some best mechanism, followed by some noise."""
    held = PrivacyType.of(space)
    weights = draw(st.lists(st.integers(0, 5), min_size=len(space), max_size=len(space)).filter(any))
    prior = Prior.proportional(space.points, weights)
    channel = held.channel(held.least_loss([prior], as_loss("bin", space.points))[1], space.points)
    rows = draw(st.lists(st.tuples(*[st.integers(1, 4)] * 3), min_size=channel.shape[1], max_size=channel.shape[1]))
    after = Channel.from_matrix(channel.outputs, range(3), [[Fraction(v, sum(row)) for v in row] for row in rows])
    return draw(st.sampled_from([channel, channel @ after]))


@pytest.mark.long
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_excess_is_the_largest_over_all_priors(data):
    space, loss = data.draw(problems())
    channel = data.draw(private(space))
    result = universally_optimal(channel, space, loss)
    assert result.holds is (result.excess.upper <= result.tolerance)
    for certificate in result.certificates:
        assert uncertainty(certificate.prior, channel, loss, exact=True) == certificate.loss
        assert least_by_floats(space, certificate.prior, loss) == pytest.approx(float(certificate.bound), abs=1e-7)
    weights = data.draw(st.lists(st.integers(0, 9), min_size=len(space), max_size=len(space)).filter(any))
    prior = Prior.proportional(space.points, weights)
    excess = uncertainty(prior, channel, loss) - least_by_floats(space, prior, loss)
    assert excess <= float(result.excess.upper) + 1e-7
    if result.refuted:
        assert verify(result.better, space)
        assert uncertainty(result.witness, channel, loss, exact=True) == result.loss
        assert uncertainty(result.witness, result.better, loss, exact=True) == result.better_loss
        assert result.loss - result.better_loss == result.excess.lower > 0


@given(problems())
@settings(max_examples=25, deadline=None)
def test_search_finds_one_or_proves_there_is_none(problem):
    space, loss = problem
    found = universal_mechanism(space, loss)
    if found:
        assert universally_optimal(found.channel, space, loss).holds
    else:
        each = sum(least_by_floats(space, prior, loss) for prior in found.witness)
        held = PrivacyType.of(space)
        together = held.least_loss(found.witness, loss)[0].value
        assert float(together - found.shortfall) == pytest.approx(each, abs=1e-6)
        assert found.shortfall > 0


def test_certificates_are_proofs():
    """y is a dual: it stays below p · l(w, ·) on every extreme column, listed here in closed form."""
    columns = [(4, 2, 1), (1, 2, 4), (1, 2, 1), (2, 1, 2)]
    result = universally_optimal(GEOMETRIC, LINE, "distance")
    loss = as_loss("distance", LINE.points, LINE)
    for held in result.certificates:
        assert held.bound == held.loss
        for row, column in itertools.product(loss.entries, columns):
            weights = zip(held.prior.fractions, row, held.multipliers, column, strict=True)
            assert sum((p * cost - y) * v for p, cost, y, v in weights) >= 0


def test_cells_cover_the_priors():
    """U is the interpolation of its values at extreme priors: no prior is cheaper than the cells say."""
    cost = ExpectedLoss.of(GEOMETRIC, as_loss("bin", LINE.points), LINE.points)
    extremes = cost.extreme_priors()
    corners = np.array([prior.floats for prior in extremes]).T
    values = np.array([float(cost.at(prior)) for prior in extremes])
    for weights in itertools.product(range(4), repeat=3):
        if any(weights):
            prior = Prior.proportional(LINE.points, weights)
            rows = np.vstack([corners, np.ones(len(values))])
            best = linprog(-values, A_eq=rows, b_eq=[*prior.floats, 1])  # the concave hull of the extreme values
            assert -best.fun == pytest.approx(float(cost.at(prior)), abs=1e-9)


@given(st.lists(st.lists(st.integers(-3, 3), min_size=4, max_size=4), max_size=6))
@settings(max_examples=60, deadline=None)
def test_rays_against_all_bases(inequalities):
    found = set(extreme_rays(4, inequalities, most=1000))
    table = np.array([*np.eye(4, dtype=int).tolist(), *inequalities])
    wanted = set()
    for chosen in itertools.combinations(range(len(table)), 3):
        minors = [round(np.linalg.det(np.delete(table[list(chosen)], k, axis=1))) * (-1) ** k for k in range(4)]
        for ray in (np.array(minors), -np.array(minors)):
            if ray.any() and (table @ ray >= 0).all():
                wanted.add(tuple((ray // np.gcd.reduce(ray)).tolist()))
    assert found == wanted


@pytest.mark.parametrize(
    "space",
    [
        Space.line(6, mdp.ln(2) * absolute()),
        Space(range(5), mdp.ln("3/2") * discrete()),
        Space.bits(3, mdp.ln(3) * hamming()),
        Space("abcd", mdp.ln(2) * mdp.metrics.matrix("abcd", [[0, 0, 1, 3], [0, 0, 1, 3], [1, 1, 0, 2], [3, 3, 2, 0]])),
        Space("abc", mdp.ln(2) * mdp.metrics.matrix("abc", [[0, 1, "inf"], [1, 0, "inf"], ["inf", "inf", 0]])),
    ],
    ids=repr,
)
def test_extreme_columns_are_the_vertices(space):
    """The vertices of the stream, and the extreme rays of the cone by double description, are the same."""
    held = PrivacyType.of(space)
    assert held.exact
    places = [held.relaxed.classes.index(place) for place in range(held.relaxed.size)]
    falls = {
        (i, j): Fraction(exact)
        for i, x in enumerate(places)
        for j, z in enumerate(places)
        if i != j and (exact := constraints_matrix(space).exactly(x, z))
    }
    assert PrivateColumns(held.relaxed.classes, falls).rays == held.relaxed.rays


def test_more_than_nine_points():
    """Ten points of a line have 512 extreme columns; few outputs have few extreme priors."""
    space = Space.line(10, mdp.ln(2) * absolute())
    halves = Channel.from_matrix(range(10), "ab", [["2/3", "1/3"]] * 5 + [["1/3", "2/3"]] * 5)
    told = []
    result = universally_optimal(
        halves,
        space,
        [[0] * 5 + [1] * 5, [1] * 5 + [0] * 5],
        progress=told.append,
    )
    assert result.refuted  # the ends can be told apart better than the middle
    assert [update.done for update in told] == list(range(1, len(result.certificates) + 1))
    assert {update.total for update in told} == {len(result.certificates)}
    assert verify(result.better, space)


def test_known_refutation():
    response = of(mdp.randomized_response(range(3), mdp.ln(2)), range(3))
    result = universally_optimal(response, LINE, "bin")
    assert not result
    assert result.refuted
    assert result.witness.fractions == [Fraction(1, 2), 0, Fraction(1, 2)]
    assert (result.loss, result.better_loss) == (Fraction(3, 8), Fraction(1, 4))
    assert "NOT universally optimal for 'bin'" in str(result)


def test_inputs_in_another_order():
    turned = Channel.from_matrix([2, 0, 1], "abc", [["1/6", "1/6", "2/3"], ["2/3", "1/6", "1/6"], ["1/3"] * 3])
    assert universally_optimal(turned, LINE, "distance")


def test_outputs_that_say_the_same_count_once():
    doubled = GEOMETRIC @ Channel.from_matrix(range(3), range(4), [[1, 0, 0, 0], [0, "1/2", "1/2", 0], [0, 0, 0, 1]])
    one, two = (universally_optimal(channel, LINE, "bin") for channel in (GEOMETRIC, doubled))
    assert one.holds
    assert two.holds
    assert len(one.certificates) == len(two.certificates)


def test_points_at_distance_zero_and_infinity():
    metric = mdp.metrics.matrix("abcd", [[0, 0, 1, "inf"], [0, 0, 1, "inf"], [1, 1, 0, "inf"], ["inf"] * 3 + [0]])
    space = Space("abcd", mdp.ln(2) * metric)
    rows = [["2/3", "1/3", 0]] * 2 + [["1/3", "2/3", 0], [0, 0, 1]]
    channel = Channel.from_matrix("abcd", "yzu", rows)
    for loss in ("bin", "nib", [[0, 1, 2, 3], [3, 2, 1, 0]]):
        assert universally_optimal(channel, space, loss)
    hidden = Channel.from_matrix("abcd", "yz", [["2/3", "1/3"]] * 2 + [["1/3", "2/3"]] * 2)
    assert universally_optimal(hidden, space, "bin").refuted
    example = universal_example(space)
    assert set(example.pair) == {"a", "c"}
    assert universally_optimal(example.channel, space, example.loss)


def test_irrational_levels_leave_a_tolerance():
    space = Space.line(3, 0.5 * absolute())
    channel = of(mdp.truncated_geometric(space.metric, steps=2), range(3))
    result = universally_optimal(channel, space, "distance")
    assert result.holds
    assert 0 < result.excess.upper < 1e-17
    assert "up to" in str(result)
    strict = universally_optimal(channel, space, "distance", tolerance=0)
    assert not strict.holds
    trivial = universally_optimal(channel, space, [[1, 2, 3]] * 2, tolerance=0)
    assert trivial.holds
    assert trivial.excess.upper == 0
    worse = of(mdp.truncated_geometric(0.4 * absolute(), steps=2), range(3))
    assert universally_optimal(worse, space, "distance").refuted


@pytest.mark.long
def test_refusals():
    with pytest.raises(ArgumentError, match="only a private channel"):
        universally_optimal(Channel.from_matrix(range(3), range(3), np.eye(3)), LINE, "bin")
    with pytest.raises(ArgumentError, match="2 inputs, the space 3 points"):
        universally_optimal(mdp.channels.restrict(GEOMETRIC, [0, 1]), LINE, "bin")
    with pytest.raises(TooLargeError, match="more than 20000 extreme ones: any 16 points have up to 155117520"):
        universal_mechanism(Space.line(16, LINE.metric), "bin")
    with pytest.raises(TooLargeError, match="more than 20000 extreme ones: any 15 points"):
        universal_mechanism(Space(range(15), 1 * discrete()), "bin")
    with pytest.raises(TooLargeError, match="more than 50 rays after 26 of 30 inequalities, and about 90 to expect"):
        extreme_rays(6, [[3 * (k == j) - 2 * (k == i) for k in range(6)] for i, j in PAIRS], most=50)
    with pytest.raises(TooLargeError, match=r"more than 10 extreme priors after . of 6 inequalities, and about"):
        ExpectedLoss.of(GEOMETRIC, as_loss("bin", range(3)), range(3)).extreme_priors(10)
    with pytest.raises(ArgumentError, match="takes a"):
        universally_optimal(np.eye(3), LINE, "bin")
    with pytest.raises(ArgumentError, match="takes a"):
        universal_example("abc")
    with pytest.raises(ImpossibleError, match="finite, positive distance"):
        universal_example(Space("ab", mdp.metrics.unprotected()))
    with pytest.raises(UnsupportedMetricError):
        answer_space(sum, Space.grid(2, 2, euclidean()))
    with pytest.raises(ArgumentError, match="takes a"):
        answer_space(sum, [(0, 1)])


def test_answers_of_a_query():
    databases = Space.bits(3, mdp.ln(2) * hamming())
    parity = answer_space(lambda x: sum(x) % 2, databases)
    assert parity.points == (0, 1)
    assert parity.metric.unit.exactly(0, 1) == 1
    mixed = answer_space(lambda x: "all" if sum(x) == 3 else sum(x), databases)
    assert mixed.points == (0, 1, 2, "all")
    assert mixed.metric.unit.exactly(0, "all") == 3
    apart = answer_space(str, Space("ab", mdp.metrics.unprotected()))
    assert apart.metric("a", "b") == np.inf


def test_a_time_limit_is_an_error_or_a_refutation():
    space = Space.line(6, mdp.ln(2) * absolute())
    channel = mdp.channels.of(mdp.truncated_geometric(mdp.ln(2) * absolute(), steps=5), range(6))
    updates = []
    assert universally_optimal(channel, space, "distance", progress=updates.append)
    assert updates[-1].done == updates[-1].total
    assert updates[-1].unit == "extreme priors"
    with pytest.raises(TooLargeError, match=r"time_limit=0\.05 seconds were not enough"):
        universally_optimal(channel, space, "bin", time_limit=0.05)
    with pytest.raises(TooLargeError, match="were not enough"):
        universal_mechanism(space, "bin", time_limit=0.05)


def test_a_refutation_that_came_in_time_is_an_answer(monkeypatch):
    space = Space.line(3, mdp.ln(2) * absolute())
    guess = mdp.channels.of(mdp.randomized_response(range(3), mdp.ln(2)), range(3))
    whole = universally_optimal(guess, space, "bin")
    ends = []

    def over(watch):
        return bool(ends)

    def stop(update):
        if update.unit == "extreme priors" and update.done > len(whole.certificates) // 2:
            ends.append(update)

    monkeypatch.setattr(Stopwatch, "over", property(over))
    early = universally_optimal(guess, space, "bin", progress=stop)
    assert not early.holds
    assert early.refuted
    assert not early.finished
    assert len(early.certificates) < len(whole.certificates)


def test_answers_are_shown_and_written():
    space = Space.line(3, mdp.ln(2) * absolute())
    guess = mdp.channels.of(mdp.randomized_response(range(3), mdp.ln(2)), range(3))
    refuted = universally_optimal(guess, space, "bin")
    document = json.loads(json.dumps(refuted.to_json(), allow_nan=False))
    assert document["witness"] == [0.5, 0, 0.5]
    assert document["excess"]["exact"] == 0.125
    assert "costs less" in refuted.reason
    found = universal_mechanism(space, "bin")
    assert (found.holds, found.reason) == (True, "")
    assert json.dumps(found.to_json(), allow_nan=False)
    example = universal_example(space)
    assert json.dumps(example.to_json(), allow_nan=False)
    for shown in (refuted, found, example):
        assert "Fraction" not in repr(shown)
        assert len(repr(shown)) < 200
