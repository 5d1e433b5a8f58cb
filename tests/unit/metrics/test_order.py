from fractions import Fraction

import pytest

from metricdp.exact.balls import ball, precision
from metricdp.exact.level import ln
from metricdp.metrics import (
    absolute,
    add_remove,
    attributes,
    blowfish,
    capped,
    chebyshev,
    discrete,
    euclidean,
    hamming,
    manhattan,
    matrix,
    maximum,
    nullable,
    records,
    smooth,
    unprotected,
)
from metricdp.metrics.order import factor_between, nowhere_above

D, E = absolute(), discrete()

BELOW = [
    (E, smooth(D, 5)),
    (ln(2) * E, ln(2) * blowfish(D, 5)),
    (D, D),
    (D, 2 * D),
    (D / 2, ln(2) * D),
    (chebyshev(), euclidean()),
    (chebyshev(), manhattan()),
    (2 * euclidean(), 2 * manhattan()),
    (hamming(), add_remove()),
    (add_remove(), 2 * hamming()),
    (D, D + E),
    (E / 2, D + E),
    (D + E, 2 * D + E),
    (E + D, 2 * D + 3 * E),
    (D, maximum(D, E)),
    (2 * D, 2 * maximum(D, E)),
    (maximum(D, E), 2 * maximum(D, E)),
    (maximum(D, E), D + E),
    (capped(D, 5), D),
    (3 * capped(D, 5), 4 * D),
    (D / 5, smooth(D, 5)),
    (D / 10, blowfish(D, 5, 0.5)),
    (attributes({"a": D, "b": 1}), attributes({"a": D, "b": 2})),
]
NOT_KNOWN_TO_BE = [
    (E * Fraction(101, 100), smooth(D, 5)),
    (E, smooth(matrix("ab", [[0, 0], [0, 0]], check=False), 5)),
    (2 * D, D),
    (ln(2) * D, D / 2),
    (euclidean(), chebyshev()),
    (add_remove(), hamming()),
    (add_remove(), 1.99 * hamming()),
    (D + E, D),
    (D + E, D + absolute()),
    (chebyshev() + euclidean(), manhattan() + E),
    (maximum(D, E), D),
    (D, capped(D, 5)),
    (D, E),
    (smooth(D, 5), D / 5),
    (attributes({"a": D, "b": 1}), attributes({"b": 1, "a": D})),
    (ln(2) * maximum(ln(2) * D, E), D),
]


@pytest.mark.parametrize(("d", "e"), BELOW, ids=str)
def test_below(d, e):
    assert nowhere_above(d, e)


@pytest.mark.parametrize(("d", "e"), NOT_KNOWN_TO_BE, ids=str)
def test_not_known_to_be_below(d, e):
    assert not nowhere_above(d, e)


NUMBERS = [0, 1, 2, Fraction(7, 2), 11]
PLANE = [(0, 0), (1, 0), (3, 4), (-2, 5)]
TABLES = [(0, 0), (0, 1), (1, 1), (2, 0)]
FACTORS = [
    (3 * absolute(), ln(2) * absolute(), NUMBERS),
    (ln(2) * absolute(), ln(3) * absolute(), NUMBERS),
    (capped(absolute(), 4), 2 * discrete(), NUMBERS),
    (capped(absolute(), 4), 2 * capped(absolute(), 3), NUMBERS),
    (smooth(absolute(), 2), smooth(absolute(), 5), NUMBERS),
    (smooth(absolute(), 5, 3), smooth(absolute(), 2), NUMBERS),
    (blowfish(absolute(), 2), blowfish(absolute(), 5), NUMBERS),
    (blowfish(absolute(), 5), blowfish(absolute(), 2), NUMBERS),
    (absolute(), blowfish(absolute(), 2), NUMBERS),
    (maximum(discrete(), capped(absolute(), 3)), discrete(), NUMBERS),
    (absolute() + capped(absolute(), 2), absolute(), NUMBERS),
    (nullable(capped(absolute(), 6), 3), nullable(2 * absolute(), 1), [*NUMBERS, None]),
    (euclidean(), 2 * manhattan(), PLANE),
    (chebyshev() + euclidean(), manhattan(), PLANE),
    (hamming(), 0.5 * add_remove(), TABLES),
    (records(2 * discrete()), hamming(), TABLES),
    (records(capped(absolute(), 2), p=2), hamming(), TABLES),
    (attributes({"a": capped(absolute(), 2)}), attributes({"a": discrete()}), [(0,), (1,), (5,)]),
    (absolute(), unprotected(), NUMBERS),
]


@pytest.mark.parametrize(("d", "e", "points"), FACTORS)
def test_the_factor_holds_everywhere(d, e, points):
    factor = factor_between(d, e)
    assert factor is not None
    for x in points:
        for y in points:
            if x != y:
                with precision(300):
                    room = e.ball(x, y) * ball(factor) - d.ball(x, y) if factor else ball(0)
                    assert not room < 0, (x, y)


def test_the_factor_is_attained_where_it_can_be():
    assert factor_between(capped(absolute(), 4), 2 * discrete()) == 2
    assert factor_between(ln(4) * hamming(), ln(2) * hamming()) == 2
    assert factor_between(add_remove(), hamming()) == 2
    assert factor_between(absolute(), unprotected()) == 0
    assert factor_between(blowfish(absolute(), 2), blowfish(absolute(), 5)) == 3


def test_no_factor_is_guessed():
    for d, e in [
        (manhattan(), euclidean()),
        (absolute(), discrete()),
        (unprotected(), discrete()),
        (discrete(), absolute()),
    ]:
        assert factor_between(d, e) is None
    assert factor_between(attributes({"a": 1, "b": 1}), attributes({"a": 1})) is None
    assert factor_between(records(discrete(), p=1), records(discrete(), p=2)) is None
