"""Paper 5, Sections II and IV.A-B: Fig. 1, Lemmas 1 and 2, Definition 6, Theorems 4 and 5, Corollary 9, Fig. 8."""

import itertools
from fractions import Fraction

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.adversaries import (
    Loss,
    Prior,
    as_loss,
    capacity,
    distance,
    hyper,
    is_monotone,
    is_strictly_monotone,
    is_trivial,
    leakage,
    lifted,
    posterior,
    remap,
    uncertainty,
    vulnerability,
)
from metricdp.channels import Channel, restrict, verify
from metricdp.metrics import Space, absolute, discrete, hamming

C = Channel.from_matrix(
    ["x0", "x1", "x2"], ["y0", "y1", "y2"], [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
)


def test_figure_1():
    found = hyper("uniform", C)
    columns = [["4/7", "2/7", "1/7"], ["1/4", "1/2", "1/4"], ["1/7", "2/7", "4/7"]]
    assert [inner.fractions for inner in found.inners] == [[Fraction(value) for value in column] for column in columns]
    assert found.outers == (Fraction(7, 18), Fraction(2, 9), Fraction(7, 18))
    assert found.prior == Prior.uniform(C.inputs)  # Lemma 1
    assert str(found).splitlines()[1].split() == ["x0", "4/7", "1/4", "1/7"]
    assert str(found).splitlines()[-1].split() == ["probability", "7/18", "2/9", "7/18"]


def test_lemma_2_on_figure_1():
    """The channel is ln 2 * d-private, and the ratios within each posterior are those of the channel's column."""
    space = Space(C.inputs, mdp.ln(2) * mdp.metrics.matrix(C.inputs, [[0, 1, 2], [1, 0, 1], [2, 1, 0]]))
    assert verify(C, space).scale == 1
    for inner in hyper("uniform", C).inners:
        for (i, p), (j, q) in itertools.product(enumerate(inner.fractions), repeat=2):
            assert p <= 2 ** abs(i - j) * q


@pytest.mark.parametrize("loss", ["bin", "nib", [[0, 3, 1], [2, 0, Fraction(1, 2)]]])
@pytest.mark.parametrize("prior", ["uniform", ["1/2", "1/3", "1/6"]])
def test_remark_1_and_lemma_a1(prior, loss):
    """Eq. 1, the least over all remaps, is Eq. 5, the posterior uncertainty."""
    costs = as_loss(loss, C.inputs)
    shares = [Fraction(1, 3)] * 3 if prior == "uniform" else [Fraction(share) for share in prior]

    def expected(actions):
        return sum(
            shares[x] * C.probability(C.inputs[x], z) * costs.entries[w][x]
            for x in range(3)
            for z, w in zip(C.outputs, actions, strict=True)
        )

    least = min(map(expected, itertools.product(range(len(costs.actions)), repeat=3)))
    assert least == uncertainty(prior, C, loss, exact=True)
    chosen = [costs.actions.index(action) for action in remap(prior, C, loss).actions]
    assert expected(chosen) == least


def test_theorems_4_and_5_on_figure_1():
    bin_loss, nib = uncertainty("uniform", C, "bin", exact=True), uncertainty("uniform", C, "nib", exact=True)
    assert vulnerability("uniform", C, "nib", exact=True) == 1 - bin_loss  # as Theorem 4 says
    assert capacity(C).multiplicative == 3 * vulnerability("uniform", C, "nib", exact=True) == Fraction(5, 3)
    assert capacity(C).additive == 1 - 3 * nib == Fraction(1, 2)
    assert leakage("uniform", C, exact=True) == Fraction(5, 3)


# Definition 6 and the losses of Section IV.B


def test_bin_nib_and_average_are_in_the_classes_that_the_paper_says():
    line, letters = Space.line(4), Space(range(4), discrete())
    bin_loss, nib, average = as_loss("bin", range(4)), as_loss("nib", range(4)), distance(line)
    assert is_monotone(line, bin_loss)
    assert not is_strictly_monotone(line, bin_loss)
    assert is_strictly_monotone(letters, bin_loss)
    assert is_strictly_monotone(line, average)
    assert not is_monotone(letters, average)
    assert not is_monotone(line, nib)
    assert not is_monotone(letters, nib)
    assert not any(is_trivial(loss) for loss in (bin_loss, nib, average))


def test_nib_is_monotone_in_the_hamming_metric():
    """Section IV.B: "nib is not monotone in any metric". It is in d_H, by the map to the complement.

    Definition 6 allows any injection. On bit strings of length n the complement of w is the one string at distance n
    from w, so nib(w, x) = m(d_H(x, complement of w)) with m(n) = 1 and m = 0 below n.
    """
    for n in (1, 2, 3):
        cube = Space.bits(n)
        nib = as_loss("nib", cube.points)
        for w, x in itertools.product(cube.points, repeat=2):
            complement = tuple(1 - bit for bit in w)
            assert nib.value(w, x) == int(cube.metric.exactly(x, complement) == n)
        assert is_monotone(cube, nib)
    assert is_strictly_monotone(Space.line(2), as_loss("nib", range(2)))  # bin, with its actions renamed


def test_trivial_losses_need_not_be_monotone():
    """Section IV.A: "trivial losses are strictly monotone". A constant is not, nor is f(x) = x on a line of three."""
    line = Space.line(3)
    constant = Loss.from_matrix(range(3), range(3), [[1, 1, 1]] * 3)
    assert is_trivial(constant)
    assert is_monotone(line, constant)
    assert not is_strictly_monotone(line, constant)
    rising = Loss.from_matrix(range(3), range(3), [[0, 1, 2]] * 3)
    assert is_trivial(rising)
    assert not is_monotone(line, rising)


# Corollary 9: two secrets

T = Channel.from_matrix([0, 1], [0, 1], [["2/3", "1/3"], ["1/3", "2/3"]])
NUMBERS = st.fractions(-2, 2, max_denominator=20)


@settings(max_examples=40)
@given(
    st.lists(st.integers(0, 9), min_size=6, max_size=6),
    st.integers(0, 10),
    st.lists(st.lists(NUMBERS, min_size=2, max_size=2), min_size=1, max_size=4),
)
def test_corollary_9(weights, share, loss):
    """On two secrets at distance ln 2 the mechanism T is best for every private channel, loss and prior.

    Every ln 2-private channel M is T followed by T^-1 M, whose entries are not negative; here M is drawn as a mixture
    of columns (2, 1), (1, 2) and (1, 1), then weighed so that both rows sum to one.
    """
    columns = [((2, 1), (1, 2), (1, 1))[i % 3] for i in range(6)]
    amounts = [weight + 1 for weight in weights]
    top, bottom = (sum(a * column[row] for a, column in zip(amounts, columns, strict=True)) for row in (0, 1))
    # Weigh the columns (2, 1) and (1, 2) anew until both rows sum to the same.
    extra = abs(top - bottom)
    columns.append((1, 2) if top > bottom else (2, 1))
    amounts.append(extra)
    total = sum(a * column[0] for a, column in zip(amounts, columns, strict=True))
    assert total == sum(a * column[1] for a, column in zip(amounts, columns, strict=True))
    rows = [[Fraction(a * column[row], total) for a, column in zip(amounts, columns, strict=True)] for row in (0, 1)]
    M = Channel.from_matrix([0, 1], range(7), rows)
    assert verify(M, Space.line(2, mdp.ln(2) * absolute())).holds
    inverse = [[2, -1], [-1, 2]]
    after = [[sum(inverse[i][k] * rows[k][z] for k in (0, 1)) for z in range(7)] for i in (0, 1)]
    assert min(min(row) for row in after) >= 0
    P = Channel.from_matrix([0, 1], range(7), after)
    assert T @ P == M
    prior = [Fraction(share, 10), 1 - Fraction(share, 10)]
    assert uncertainty(prior, T, loss, exact=True) <= uncertainty(prior, M, loss, exact=True)


def test_corollary_9_is_tight():
    assert verify(T, Space.line(2, mdp.ln(2) * absolute())).scale == 1


# Figure 8: a kernel mechanism on the Hamming cube

CUBE = Space.bits(3, mdp.ln(2) * hamming())
PATH = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]
GEOMETRIC = [
    ["2/3", "1/6", "1/12", "1/12"],
    ["1/3", "1/3", "1/6", "1/6"],
    ["1/6", "1/6", "1/3", "1/3"],
    ["1/12", "1/12", "1/6", "2/3"],
]


def _figure_8():
    """K rebuilt from the hyper. The print has ten rows where there are eight secrets; its first four are the path.

    Of a column with the denominator 27, the path takes 8 + 4 + 2 + 1 = 15, and of one with 21, 2 + 4 + 2 + 1 = 9; the
    other four secrets share 12. Of the rows printed below, only (4/27, 4/21, 2/21, 2/27) and (2/27, 2/21, 4/21, 4/27)
    give rows of K that sum to one, and two of each give 12 in every column. Privacy leaves one place for each: the
    first for the strings with a single one, the second for those with two. So K depends on the number of ones alone,
    and is the geometric mechanism applied to it.
    """
    return Channel.from_matrix(CUBE.points, ["y1", "y2", "y3", "y4"], [GEOMETRIC[sum(x)] for x in CUBE.points])


def test_figure_8_is_the_print_where_that_can_be_read():
    found = hyper("uniform", _figure_8())
    assert found.outers == (Fraction(9, 32), Fraction(7, 32), Fraction(7, 32), Fraction(9, 32))
    printed = {
        (0, 0, 0): ["8/27", "2/21", "1/21", "1/27"],
        (1, 0, 0): ["4/27", "4/21", "2/21", "2/27"],
        (1, 1, 0): ["2/27", "2/21", "4/21", "4/27"],
        (1, 1, 1): ["1/27", "1/21", "2/21", "8/27"],
    }
    for x, row in printed.items():
        assert [inner.probability(x) for inner in found.inners] == [Fraction(value) for value in row]
    others = [[str(inner.probability(x)) for inner in found.inners] for x in CUBE.points if x not in printed]
    assert sorted(others) == [["2/27", "2/21", "4/21", "4/27"]] * 2 + [["4/27", "4/21", "2/21", "2/27"]] * 2
    assert found.prior == Prior.uniform(CUBE.points)


def test_no_other_choice_of_the_printed_rows_gives_figure_8():
    """Each row of the hyper that is printed below the path, times 8 outer: which of them are rows of a channel?"""
    outers = [Fraction(9, 32), Fraction(7, 32), Fraction(7, 32), Fraction(9, 32)]
    rows = [["2/27", "2/21", "4/21", "2/27"], ["2/27", "2/21", "4/21", "4/27"], ["4/27", "4/21", "2/21", "2/27"]]
    sums = [sum(8 * outer * Fraction(value) for outer, value in zip(outers, row, strict=True)) for row in rows]
    assert [total == 1 for total in sums] == [False, True, True]
    others = [x for x in CUBE.points if x not in PATH]
    private = []
    for light in itertools.combinations(
        others, 2
    ):  # those with the row of (1, 0, 0); the others have that of (1, 1, 0)
        table = [GEOMETRIC[sum(x)] if x in PATH else GEOMETRIC[1 if x in light else 2] for x in CUBE.points]
        if verify(Channel.from_matrix(CUBE.points, range(4), table), CUBE).holds:
            private.append(light)
    assert private == [((0, 0, 1), (0, 1, 0))]


def test_figure_8_is_exactly_private_and_the_geometric_mechanism_on_the_path():
    K = _figure_8()
    verdict = verify(K, CUBE)
    assert verdict.holds
    assert verdict.scale == verdict.scale_below == 1
    on_the_path = restrict(K, PATH)
    assert on_the_path.weights.tolist() == Channel.from_matrix(PATH, K.outputs, GEOMETRIC).weights.tolist()
    truncated = [[Fraction(2 if z in (0, 3) else 1, 3) / 2 ** abs(x - z) for z in range(4)] for x in range(4)]
    assert truncated == [[Fraction(value) for value in row] for row in GEOMETRIC]


def test_figure_8_is_a_kernel():
    """Definition 5: its posteriors are linearly independent, and vertices, for the tight pairs join all secrets."""
    K = _figure_8()
    inners = hyper("uniform", K).inners
    assert flint.fmpz_mat([list(inner.weights) for inner in inners]).rank() == 4
    for inner in inners:
        joined, waiting = {CUBE.points[0]}, [CUBE.points[0]]
        while waiting:
            x = waiting.pop()
            for y in CUBE.points:
                ratio = inner.probability(x) / inner.probability(y)
                if y not in joined and ratio in (
                    2 ** CUBE.metric.unit.exactly(x, y),
                    1 / 2 ** CUBE.metric.unit.exactly(x, y),
                ):
                    joined.add(y)
                    waiting.append(y)
        assert joined == set(CUBE.points)


@pytest.mark.parametrize("other", ["response", "silent", "parity"])
def test_figure_8_is_better_than_others_for_the_lifted_loss(other):
    """Theorem 6(5): K is optimal for bin on the path, lifted; three other private channels cost no less."""
    loss = lifted(as_loss("bin", PATH), CUBE.points)
    if other == "response":
        share = [[Fraction(2, 3) if a == b else Fraction(1, 3) for b in (0, 1)] for a in (0, 1)]
        table = [[share[x[0]][z[0]] * share[x[1]][z[1]] * share[x[2]][z[2]] for z in CUBE.points] for x in CUBE.points]
        M = Channel.from_matrix(CUBE.points, CUBE.points, table)
    elif other == "parity":
        M = Channel.from_matrix(
            CUBE.points, "eo", [["2/3", "1/3"] if sum(x) % 2 == 0 else ["1/3", "2/3"] for x in CUBE.points]
        )
    else:
        M = Channel.from_matrix(CUBE.points, "z", [[1]] * 8)
    assert verify(M, CUBE).holds
    for prior in (Prior.uniform(CUBE.points), Prior(CUBE.points, (5, 1, 1, 1, 3, 1, 2, 4), 18)):
        assert uncertainty(prior, _figure_8(), loss, exact=True) <= uncertainty(prior, M, loss, exact=True)
    assert uncertainty("uniform", _figure_8(), loss, exact=True) < uncertainty("uniform", M, loss, exact=True)


def test_posteriors_of_figure_8_name_the_path():
    K = _figure_8()
    assert posterior("uniform", K, "y1").probability((0, 0, 0)) == Fraction(8, 27)
