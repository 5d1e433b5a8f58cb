"""Paper 1: Theorems 1 to 4, Definitions 2 and 3, Propositions 2 and 9, Fig. 1."""

import itertools
import math
from fractions import Fraction

import pytest

import metricdp as mdp
from metricdp.adversaries import (
    hiding_bound,
    informed_bound,
    knowing_others,
    knowing_others_within,
    maximally_tight,
    replacing_value,
    substituting_values,
    tight,
)
from metricdp.channels import Channel, verify
from metricdp.metrics import Space, absolute, discrete, hamming, manhattan

VALUES, PEOPLE = (0, 1, 3), 2
DATABASES = list(itertools.product(VALUES, repeat=PEOPLE))
HAMMING = Space(DATABASES, hamming())
MANHATTAN = Space(DATABASES, manhattan())
NORMALISED = Space(DATABASES, manhattan() / 3)


@pytest.mark.parametrize("space", [MANHATTAN, NORMALISED, Space(DATABASES, mdp.ln(2) * manhattan())])
def test_proposition_2(space):
    assert maximally_tight(space, hidings=substituting_values(VALUES, PEOPLE))
    assert maximally_tight(space, neighbourhoods=knowing_others_within(VALUES, PEOPLE))


def test_proposition_9_and_section_3():
    family = knowing_others(VALUES, PEOPLE)
    assert maximally_tight(HAMMING, neighbourhoods=family)
    for space in (MANHATTAN, NORMALISED):
        assert tight(space, family)
        assert not maximally_tight(space, neighbourhoods=family)


def test_the_hiding_functions_of_differential_privacy_are_not_maximally_tight():
    for space in (HAMMING, MANHATTAN):
        found = maximally_tight(space, hidings=replacing_value(VALUES, PEOPLE))
        assert found.missing == ((0, 0), (0, 1))


def _response(space, odds):
    """Each individual answers the truth with odds to 1 against each other value: ln(odds) * Hamming-private."""
    rows = []
    for x in space.points:
        row = []
        for z in space.points:
            share = Fraction(1)
            for one, other in zip(x, z, strict=True):
                share *= Fraction(odds if one == other else 1, odds + len(VALUES) - 1)
            row.append(share)
        rows.append(row)
    return Channel.from_matrix(space.points, space.points, rows)


def test_theorems_1_and_2_with_the_truth_beside_them():
    space = Space(DATABASES, mdp.ln(3) * hamming())
    channel = _response(space, 3)
    assert verify(channel, space).scale == 1
    for members in knowing_others(VALUES, PEOPLE):  # Theorem 2: epsilon, and here it is approached
        found = informed_bound(space, members, channel)
        assert found.holds
        assert found.truth.ratio.upper == 3
        assert float(found) == pytest.approx(math.log(3))
    for hide in replacing_value(VALUES, PEOPLE):  # Theorem 1: twice epsilon, which these do not come near
        found = hiding_bound(space, hide, channel)
        assert found.holds
        assert float(found) == pytest.approx(2 * math.log(3))
        assert found.truth.ratio.upper < 9
        assert found.truth.ratio.lower >= 3


def test_theorem_3_is_approached_by_a_swap():
    space = Space(DATABASES, mdp.ln(3) * hamming())
    swaps = [hide for hide in substituting_values(VALUES, PEOPLE) if all(hide[hide[x]] == x for x in hide)]
    ratios = {hiding_bound(space, hide, _response(space, 3)).truth.ratio.upper for hide in swaps}
    assert ratios == {1, 9}  # nothing hidden, or twice ln 3


def test_a_channel_that_is_not_private_breaks_both_on_maximally_tight_families():
    space = Space(DATABASES, mdp.ln(2) * hamming())
    channel = _response(space, 3)
    assert not verify(channel, space).holds
    assert any(informed_bound(space, members, channel).holds is False for members in knowing_others(VALUES, PEOPLE))
    assert any(hiding_bound(space, hide, channel).holds is False for hide in substituting_values(VALUES, PEOPLE))


def test_without_maximal_tightness_the_converse_fails():
    """Theorem 1 with its own hiding functions: a channel that keeps 2 epsilon there is not epsilon-private."""
    space = Space(DATABASES, mdp.ln("3/2") * hamming())
    channel = _response(space, 2)
    found = [hiding_bound(space, hide, channel) for hide in replacing_value(VALUES, PEOPLE)]
    assert {bound.truth.ratio.upper for bound in found} == {Fraction(21, 10)}  # against (3/2)^2
    assert all(bound.holds for bound in found)
    assert not verify(channel, space).holds


def test_sets_of_outputs_matter_to_theorem_1():
    """The theorem speaks of sets Z: with odds of 3, single outputs move conclusions by ln 3, two outputs by ln 25/6."""
    space = Space(DATABASES, mdp.ln(3) * hamming())
    channel = _response(space, 3)
    hide = replacing_value(VALUES, PEOPLE)[0]
    found = hiding_bound(space, hide, channel, within="1/1000000")
    assert len(found.truth.outputs) == 2
    assert found.truth.ratio.lower == found.truth.ratio.upper == Fraction(25, 6)
    assert found.reached > math.log(4.16)

    def spread(z):
        odds = [channel.probability(x, z) / channel.probability(hide[x], z) for x in space.points]
        return max(odds) / min(odds)

    assert {spread(z) for z in space.points} == {3}


def test_figure_1():
    """The converse of Fact 5 fails. The figure's table is lost: H(y1)(z1) = 3/4 and H(y3)(z1) = 1/4 are in its caption.

    A consistent reconstruction: three secrets in a row, which f takes one by one to three answers at distance 1 from
    one another, and H(y2) halfway.
    """
    secrets = Space(
        ["x1", "x2", "x3"], mdp.ln(2) * mdp.metrics.matrix(["x1", "x2", "x3"], [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    )
    answers = Space(["y1", "y2", "y3"], mdp.ln(2) * discrete())
    f = {"x1": "y1", "x2": "y2", "x3": "y3"}
    H = Channel.from_matrix(answers.points, ["z1", "z2"], [["3/4", "1/4"], ["1/2", "1/2"], ["1/4", "3/4"]])
    composed = Channel.from_matrix(secrets.points, H.outputs, [[H.probability(f[x], z) for z in H.outputs] for x in f])
    for x, other in itertools.product(f, repeat=2):  # f is 1-sensitive
        assert answers.metric.unit.exactly(f[x], f[other]) <= secrets.metric.unit.exactly(x, other)
    assert verify(composed, secrets).holds
    verdict = verify(H, answers)
    assert not verdict.holds
    assert H.probability("y1", "z1") == Fraction(3, 4) > 2 * H.probability("y3", "z1") == Fraction(1, 2)
    assert verdict.scale == pytest.approx(math.log(3) / math.log(2))
    assert set(verdict.witness[:2]) == {"y1", "y3"}
    # Definition 5: y1 and y3 are not 1-expansive, nor does a tight chain join them otherwise, so f is not uniformly so.
    assert answers.metric.unit.exactly("y1", "y3") < secrets.metric.unit.exactly("x1", "x3")
    steps = [("y1", "y2"), ("y2", "y3")]
    assert maximally_tight(answers, neighbourhoods=steps).missing == ("y1", "y3")


def test_the_adversary_of_figure_1_sees_it():
    answers = Space(["y1", "y2", "y3"], mdp.ln(2) * discrete())
    H = Channel.from_matrix(answers.points, ["z1", "z2"], [["3/4", "1/4"], ["1/2", "1/2"], ["1/4", "3/4"]])
    found = informed_bound(answers, ["y1", "y3"], H, within=0.01)
    assert found.holds is False
    assert found.truth.ratio.upper == 3
    assert found.reached > float(found)


def test_neighbours_of_the_line_characterise_the_geometric_mechanism():
    line = Space.line(4, mdp.ln(2) * absolute())
    assert maximally_tight(line, neighbourhoods=[(0, 1), (1, 2), (2, 3)])
