import math
from fractions import Fraction

import numpy as np
import pytest

from metricdp.errors import ArgumentError, KindError, LevelError, NotFiniteError, ShapeError, UnknownCategoryError
from metricdp.exact.level import ln
from metricdp.metrics import (
    absolute,
    add_remove,
    attributes,
    discrete,
    great_circle,
    hamming,
    individuals,
    manhattan,
    records,
    unprotected,
    value_budgets,
)


def test_hamming_counts_positions():
    table = hamming().pairwise([("a", 1, None), ("a", 2, None), ("b", 2, 3)])
    assert table.tolist() == [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    assert hamming()(np.array([0, 1]), [0, 0]) == 1


@pytest.mark.parametrize("metric", [hamming(), add_remove(), records(discrete())])
def test_bad_records(metric):
    with pytest.raises(ShapeError) as error:
        metric.pairwise([(1, 2), (1, 2, 3)])
    assert error.value.row == 1
    for bad, kind in [
        ([5], KindError),
        (["ab"], KindError),
        ([()], ShapeError),
        ([], ShapeError),
        ([(math.nan,)], NotFiniteError),
    ]:
        with pytest.raises(kind):
            metric.pairwise(bad)
    with pytest.raises(ShapeError):
        metric.exactly((1, 2), (1,))


def test_add_remove_by_case():
    d = add_remove()
    assert [d((x,), (y,)) for x, y in [(None, None), (1, 1), (1, None), (None, 1), (1, 2)]] == [0, 0, 1, 1, 2]
    assert d((1, None, 3), (2, 4, 3)) == 3


def test_norms_over_records():
    x, y = (0, 0), (3, 4)
    assert [records(absolute(), p)(x, y) for p in (1, 2, math.inf)] == [7, 5, 4]
    assert records(absolute(), 2).exactly(x, y) == 5
    assert records(2 * absolute(), "inf").exactly(x, y) == 8
    assert records(unprotected(), 2).exactly(("a",), ("b",)) == math.inf
    for bad in (3, 0, -1, math.nan):
        with pytest.raises(ArgumentError):
            records(absolute(), bad)
    with pytest.raises(ArgumentError):
        records(3)


def test_records_of_numbers_are_vectors():
    points = [(0.5, 1), (2, 3), (-1, 7)]
    assert np.array_equal(records(absolute()).pairwise(points), manhattan().pairwise(points))


def test_attributes():
    d = attributes({"age": absolute() / 10, "place": great_circle().within(200), "job": "1/3", "shoe": math.inf})
    x = {"age": 30, "place": (48.0, 2.0), "job": "cook", "shoe": 42}
    assert d.names == ("age", "place", "job", "shoe")
    assert d.exactly(x, {**x, "age": 35, "job": "baker"}) == Fraction(1, 2) + Fraction(1, 3)
    assert d(tuple(x.values()), x) == 0
    assert d(x, {**x, "shoe": 43}) == math.inf
    assert attributes({"job": 0.5}) == attributes({"job": 0.5 * discrete()})
    assert attributes({"job": ln(2)})(("a",), ("b",)) == float(ln(2))


def test_words():
    d = attributes({"age": absolute() / 10 + discrete(), "job": 0.5})
    assert str(2 * d) == "2·((0.1·|x − y| + [x ≠ y]) (age) + 0.5·[x ≠ y] (job))"
    assert [str(records(absolute(), p)) for p in (1, 2, math.inf)] == ["ℓ₁(|x − y|)", "ℓ₂(|x − y|)", "ℓ∞(|x − y|)"]


def test_bad_attributes():
    d = attributes({"age": absolute(), "job": 0.5})
    for bad in ({"age": 3}, {"age": 3, "job": "a", "extra": 1}, (3,), (3, "a", 1)):
        with pytest.raises(ShapeError) as error:
            d.pairwise([bad])
        assert error.value.row == 0
    with pytest.raises(KindError) as wrong:
        d.pairwise([(3, "a"), ("secret", "a")])
    assert wrong.value.row == 1
    assert "secret" not in str(wrong.value)
    with pytest.raises(ArgumentError):
        attributes({})
    for bad in (0, -1, math.nan, None):
        with pytest.raises(LevelError):
            attributes({"a": bad})


def test_value_budgets_are_individuals_for_each_attribute():
    budgets = {"native": {"yes": 0.25, "no": 1}, "age": {True: 1, False: 2}}
    d = value_budgets(budgets)
    assert d == attributes({name: individuals(values) for name, values in budgets.items()})
    assert d.exactly(("yes", True), ("no", False)) == Fraction(17, 4)
    assert value_budgets(budgets, form="minimum").exactly(("yes", True), ("no", False)) == Fraction(5, 4)
    with pytest.raises(UnknownCategoryError) as error:
        d.pairwise([("yes", True), ("maybe", True)])
    assert error.value.row == 1
