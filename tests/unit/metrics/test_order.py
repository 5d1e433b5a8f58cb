import pytest

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
    maximum,
    smooth,
)
from metricdp.metrics.order import nowhere_above

D, E = absolute(), discrete()

BELOW = [
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
