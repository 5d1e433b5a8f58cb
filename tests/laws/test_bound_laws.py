"""No private channel beats the bounds: utility never above, error never below."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp.metrics as metrics
from metricdp.adversaries import corner_priors, leakage_bound, prior_bounds, utility_bound
from metricdp.adversaries.constraints_matrix import constraints_matrix
from metricdp.adversaries.error_bounds import error_bound, reached_error
from metricdp.adversaries.regular_priors import regular
from metricdp.channels.channel import Channel
from metricdp.exact.level import ln
from metricdp.metrics import Space


@st.composite
def spaces(draw):
    """Up to five points with integer distances at the level ln 2, so that exp(-d) is rational."""
    n = draw(st.integers(2, 5))
    distance = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i):
            distance[i][j] = distance[j][i] = draw(st.integers(1, 4))
    for k in range(n):
        for i in range(n):
            for j in range(n):
                distance[i][j] = min(distance[i][j], distance[i][k] + distance[k][j])
    return Space(range(n), ln(2) * metrics.matrix(range(n), distance))


@st.composite
def priors(draw, n):
    weights = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


def private(rows, space):
    """Whether the rows keep d, by Definition 1 in Fractions."""
    phi = constraints_matrix(space).exact
    places = range(len(rows))
    return all(phi[i][j] * p <= q for i in places for j in places for p, q in zip(rows[i], rows[j], strict=True))


@st.composite
def private_channels(draw, space):
    """A column for each point, put into the cone by v_i <- max_k v_k exp(-d_ik), and one with what is left.

    With the columns' sums at most 1/2 what is left is within a factor 2, which all distances >= ln 2 allow; often more
    is possible, and the closer to 1 the sums, the better the channel.
    """
    n, phi = len(space), constraints_matrix(space).exact
    columns = []
    for _ in range(n):
        seed = draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
        columns.append([max(seed[k] * phi[i][k] for k in range(n)) for i in range(n)])
    most = max(sum(column[i] for column in columns) for i in range(n)) or Fraction(1)
    keeper = draw(st.integers(0, n - 1))
    for share in (Fraction(1), Fraction(9, 10), Fraction(3, 4), Fraction(1, 2)):
        rows = [[share * column[i] / most for column in columns] for i in range(n)]
        for row in rows:
            row[keeper] += 1 - sum(row)
        if private(rows, space):
            return Channel.from_matrix(range(n), range(n), rows)
    raise AssertionError("a half always fits")


@st.composite
def cases(draw):
    space = draw(spaces())
    return space, draw(private_channels(space)), draw(priors(len(space)))


def guessing(prior, channel):
    """The utility with the identity gain and the best remap."""
    outputs = range(len(channel.outputs))
    return sum(max(share * channel.probability(x, z) for x, share in enumerate(prior)) for z in outputs)


@settings(max_examples=60)
@given(cases())
def test_no_private_channel_has_more_utility(case):
    space, channel, prior = case
    utility = guessing(prior, channel)
    assert utility <= utility_bound(prior, space).exact
    assert utility / max(prior) <= 2 ** Fraction(leakage_bound(prior, space)) * (1 + 1e-12)
    assert utility / max(prior) <= 2 ** Fraction(leakage_bound(None, space)) * (1 + 1e-12)


@settings(max_examples=60)
@given(spaces(), st.data())
def test_regular_is_to_be_a_mixture_of_the_corners(space, data):
    """Either way there is a proof, and mixtures of corners are regular."""
    prior = data.draw(priors(len(space)))
    found = regular(prior, space)
    assert found.holds is not None
    assert found.check()
    corners = [corner.fractions for corner in corner_priors(space)]
    mixture = [sum(w * corner[j] for w, corner in zip(prior, corners, strict=True)) for j in range(len(space))]
    inside = regular(mixture, space)
    assert inside
    assert inside.check()
    bounds = prior_bounds(space)
    assert bounds.violation(mixture) is None
    assert all(bound.lower <= share <= bound.upper for bound, share in zip(bounds.shares, mixture, strict=True))
    if bounds.violation(prior) is not None:
        assert not found


@settings(max_examples=60)
@given(spaces(), st.data())
def test_tight_constraints_reach_the_bound_on_the_whole_region(space, data):
    """Where the uniform prior is regular, x(i, k) = φ(i, k) n y(k) is a channel, and the best for regular priors."""
    uniform, n = regular("uniform", space), len(space)
    if not uniform:
        return
    phi = constraints_matrix(space).exact
    rows = [[phi[i][k] * n * uniform.exact[k] for k in range(n)] for i in range(n)]
    assert private(rows, space)
    weights = data.draw(priors(n))
    corners = [corner.fractions for corner in corner_priors(space)]
    mixture = [sum(w * corner[j] for w, corner in zip(weights, corners, strict=True)) for j in range(n)]
    tight = Channel.from_matrix(range(n), range(n), rows)
    assert guessing(mixture, tight) == utility_bound(mixture, space).exact


@settings(max_examples=60)
@given(cases())
def test_no_private_channel_has_less_error(case):
    space, channel, _ = case
    for error in (None, metrics.discrete()):
        bound, reached = error_bound(space, error), reached_error(channel, space, error)
        assert reached.exact >= bound.best.exact
        assert bound.sharper.exact >= 2 * bound.theorem_6.exact
        assert bound.sharper_7.exact >= bound.theorem_7.exact
