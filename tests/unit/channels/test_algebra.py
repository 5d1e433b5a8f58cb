"""Channels out of channels, against sums of Fractions."""

from fractions import Fraction

import pytest

from metricdp.channels import Channel
from metricdp.channels.algebra import cascade, choice, equivalent, merged, parallel, restrict, sequential
from metricdp.errors import ArgumentError
from metricdp.metrics import Guarantee, attributes, discrete, maximum, unprotected

NOISY = Channel.from_matrix("ab", "ab", [["2/3", "1/3"], ["1/3", "2/3"]])
SKEW = Channel.from_matrix("ab", "uvw", [["1/2", "1/3", "1/6"], ["1/5", "2/5", "2/5"]])
D, E = discrete(), 2 * discrete()


def test_cascade_is_the_matrix_product():
    after = Channel.from_matrix("uvw", [0, 1], [[1, 0], ["1/4", "3/4"], ["1/2", "1/2"]])
    product = SKEW @ after
    for x in "ab":
        for z in (0, 1):
            exact = sum(SKEW.probability(x, y) * after.probability(y, z) for y in "uvw")
            assert product.probability(x, z) == exact
    assert product.inputs == ("a", "b")
    assert product.outputs == (0, 1)


def test_cascade_matches_labels_not_places():
    after = Channel.from_matrix("uvw", "yz", [[1, 0], ["1/4", "3/4"], ["1/2", "1/2"]])
    shuffled = Channel.from_matrix("wuv", "yz", [["1/2", "1/2"], [1, 0], ["1/4", "3/4"]])
    assert cascade(SKEW, after) == cascade(SKEW, shuffled)


def test_cascade_keeps_the_first_promise_only():
    promised = NOISY.promising(Guarantee(D))
    assert (promised @ NOISY).promise == Guarantee(D)
    assert (NOISY @ promised).promise is None


def test_cascade_of_entries_beyond_floats():
    tiny = Fraction(1, 7**500)
    sharp = Channel.from_matrix("ab", "ab", [[1 - tiny, tiny], [tiny, 1 - tiny]])
    assert (sharp @ sharp).probability("a", "b") == 2 * tiny * (1 - tiny)


def test_cascade_names_the_label_that_does_not_fit():
    with pytest.raises(ArgumentError, match="'u' is an output of the first channel, but not an input of the second"):
        SKEW @ NOISY
    more = Channel.from_matrix("abc", "x", [[1]] * 3)
    with pytest.raises(ArgumentError, match="'c' is an input of the second, but not an output of the first channel"):
        NOISY @ more
    with pytest.raises(ArgumentError, match=r"@ takes a Channel, not int: mdp.Channel.from_matrix"):
        cascade(NOISY, 3)


def test_sequential_multiplies_rows():
    both = sequential(NOISY, Channel.from_matrix("ba", "uv", [["1/5", "4/5"], [1, 0]]))
    assert both.outputs == (("a", "u"), ("a", "v"), ("b", "u"), ("b", "v"))
    assert both.probability("a", ("b", "u")) == Fraction(1, 3)
    assert both.probability("b", ("b", "v")) == Fraction(2, 3) * Fraction(4, 5)


def test_sequential_promises_add_up():
    one, two = NOISY.promising(Guarantee(D, "1/10")), SKEW.promising(Guarantee(E, "1/5"))
    assert sequential(one, two).promise == Guarantee(3 * D, "3/10")
    assert sequential(one, SKEW).promise is None
    certain = NOISY.promising(Guarantee(D, "1/2"))
    assert sequential(certain, certain).promise is None  # a delta of one promises nothing


def test_parallel_is_over_pairs():
    both = parallel(NOISY, SKEW)
    assert both.shape == (4, 6)
    for x in "ab":
        for other in "ab":
            for y in "ab":
                for z in "uvw":
                    product = NOISY.probability(x, y) * SKEW.probability(other, z)
                    assert both.probability((x, other), (y, z)) == product


def test_parallel_promise_is_that_of_attributes():
    one, two = NOISY.promising(Guarantee(D, "1/10")), SKEW.promising(Guarantee(E))
    promise = parallel(one, two).promise
    assert promise == Guarantee(attributes({"0": D, "1": E}), "1/10")
    assert promise.metric(("a", "a"), ("b", "b")) == 3
    assert parallel(one, SKEW).promise is None


@pytest.mark.parametrize("p", ["1/4", 0.25, Fraction(1, 4)])
def test_choice_scales_columns(p):
    either = choice(p, NOISY, SKEW)
    assert either.outputs == ((0, "a"), (0, "b"), (1, "u"), (1, "v"), (1, "w"))
    assert either.probability("a", (0, "b")) == Fraction(1, 12)
    assert either.probability("b", (1, "w")) == Fraction(3, 4) * Fraction(2, 5)


def test_choice_of_channels_with_the_same_outputs_keeps_them_apart():
    assert choice("1/2", NOISY, NOISY).shape == (2, 4)
    assert equivalent(choice("1/2", NOISY, NOISY), NOISY)


def test_choice_promises_the_larger_metric_and_the_mean_delta():
    one, two = NOISY.promising(Guarantee(D, "1/10")), SKEW.promising(Guarantee(E, "1/5"))
    assert choice("1/4", one, two).promise == Guarantee(maximum(D, E), "7/40")
    assert choice("1/4", one, one).promise == Guarantee(D, "1/10")
    assert choice(1, one, SKEW).promise == one.promise
    assert choice(0, one, SKEW).promise is None
    assert choice("1/2", one, SKEW).promise is None


def test_choice_delta_is_reached():
    """A leaks a with probability delta and B nothing: the mixture leaks p delta, so no smaller delta would do."""
    leaky = Channel.from_matrix("ab", ["a", "b", "?"], [["1/10", 0, "9/10"], [0, "1/10", "9/10"]])
    silent = Channel.from_matrix("ab", ["?"], [[1], [1]])
    one, two = leaky.promising(Guarantee(D, "1/10")), silent.promising(Guarantee(D))
    mixed = choice("1/4", one, two)
    assert mixed.promise.delta == mixed.probability("a", (0, "a")) == Fraction(1, 40)


@pytest.mark.parametrize(("p", "words"), [(-0.1, r"\[0, 1\]"), (1.5, r"\[0, 1\]"), ("x", "finite"), (None, "number")])
def test_choice_wants_a_probability(p, words):
    with pytest.raises(ArgumentError, match=words):
        choice(p, NOISY, SKEW)


def test_choice_wants_the_same_inputs():
    with pytest.raises(ArgumentError, match="'c' is an input of the second, but not an input of the first"):
        choice("1/2", NOISY, Channel.from_matrix("abc", "x", [[1]] * 3))


def test_restrict_keeps_rows_and_drops_what_never_comes():
    line = Channel.from_matrix(range(3), range(3), [["1/2", "1/2", 0], [0, "1/2", "1/2"], [0, 0, 1]])
    part = restrict(line.promising(Guarantee(unprotected())), [2, 1])
    assert part.inputs == (2, 1)
    assert part.outputs == (1, 2)
    assert part.probability(1, 2) == Fraction(1, 2)
    assert part.promise == Guarantee(unprotected())
    assert restrict(line, [2]).outputs == (2,)


def test_restrict_names_what_is_no_input():
    with pytest.raises(ArgumentError, match="row 1: 'z' is not an input"):
        restrict(NOISY, ["a", "z"])
    with pytest.raises(ArgumentError, match="'a' stands twice"):
        restrict(NOISY, ["a", "a"])
    with pytest.raises(ArgumentError, match="at least one input"):
        restrict(NOISY, [])


def test_merged_adds_proportional_columns():
    split = Channel.from_matrix("ab", "pqrs", [["1/3", "1/3", 0, "1/3"], ["2/9", "1/3", 0, "4/9"]])
    whole = merged(split)
    assert whole.shape == (2, 3)  # the three directions 3:2, 1:1, 3:4
    doubled = Channel.from_matrix("ab", "pqr", [["1/3", "1/6", "1/2"], ["2/3", "1/3", 0]])
    assert merged(doubled) == Channel.from_matrix("ab", [0, 1], [["1/2", "1/2"], [0, 1]])
    assert merged(doubled.promising(Guarantee(unprotected()))).promise == Guarantee(unprotected())


def test_equivalent_forgets_names_and_orders():
    renamed = Channel.from_matrix("ba", "xyz", [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"]])
    assert equivalent(NOISY, renamed)
    assert equivalent(renamed, NOISY)
    assert not equivalent(NOISY, SKEW)
    assert not equivalent(NOISY, Channel.from_matrix("ac", "ab", [["2/3", "1/3"], ["1/3", "2/3"]]))


def test_equivalent_sees_one_part_in_10_to_the_40():
    tiny = Fraction(1, 10**40)
    near = Channel.from_matrix("ab", "ab", [["2/3", "1/3"], [Fraction(1, 3) + tiny, Fraction(2, 3) - tiny]])
    assert near.matrix.tolist() == NOISY.matrix.tolist()
    assert not equivalent(NOISY, near)
