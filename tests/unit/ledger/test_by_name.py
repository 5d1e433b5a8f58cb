"""Factors where attributes are matched by name, against all pairs of whole records."""

import itertools
from fractions import Fraction

import pytest

from metricdp.exact.level import ln
from metricdp.ledger.by_name import factor_by_name
from metricdp.metrics import absolute, attributes, capped, discrete, great_circle

WHOLE = attributes({"sex": discrete() / 2, "age": absolute() / 5})
RECORDS = [{"sex": sex, "age": age} for sex in "fm" for age in (0, 3, 40)]
CASES = [
    (attributes({"age": absolute() / 5}), WHOLE),
    (attributes({"age": absolute()}) * 2, WHOLE * 3),
    (attributes({"age": absolute() / 5, "sex": discrete() / 2}), WHOLE),
    (capped(attributes({"age": absolute()}), 7), capped(WHOLE, 2)),
    (capped(attributes({"age": absolute() / 5}), 7), WHOLE),
    (capped(attributes({"sex": 1}), ln(9)), WHOLE),
]


@pytest.mark.parametrize(("d", "e"), CASES, ids=str)
def test_the_factor_holds_for_whole_records(d, e):
    factor = factor_by_name(d, e)
    assert factor is not None
    inner = d.unit.base if hasattr(d.unit, "base") else d.unit
    for x, y in itertools.product(RECORDS, repeat=2):
        seen = [{name: record[name] for name in inner.names} for record in (x, y)]
        assert d(*seen) <= float(factor) * e(x, y) + 1e-9


def test_what_is_not_known():
    assert factor_by_name(attributes({"town": 1}), WHOLE) is None
    assert factor_by_name(attributes({"age": great_circle()}), WHOLE) is None
    assert factor_by_name(WHOLE, attributes({"age": absolute() / 5})) is None
    assert factor_by_name(attributes({"age": absolute() / 5}), WHOLE) == Fraction(1)
