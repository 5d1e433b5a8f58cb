"""Cells of categories and booleans: declared, in order, with one for what lies outside and one for what is missing."""

import pytest

from metricdp.errors import PolicyError
from metricdp.policies import BooleanCells, CategoryCells


def test_cells_of_each_kind():
    assert BooleanCells("b", missing="unknown").points == (False, True, None)
    assert CategoryCells("c", [3, 1], other="rest").points == (3, 1, "rest")


def test_other_may_be_a_declared_category():
    column = CategoryCells("sex", ["F", "M", "other"], other="other", missing="other")
    assert column.labels == ("F", "M", "other")
    assert column.other_code == column.missing_code == 2


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: CategoryCells("c", []), "values"),
        (lambda: CategoryCells("c", "FM"), "values"),
        (lambda: CategoryCells("c", ["F", 1]), "all text or all integers"),
        (lambda: CategoryCells("c", [True, False]), "all text or all integers"),
        (lambda: CategoryCells("c", ["F", "F"]), "listed twice"),
        (lambda: CategoryCells("c", ["F"], other=""), "name of a cell"),
        (lambda: CategoryCells("c", ["a\0"]), "NUL"),
        (lambda: CategoryCells("c", ["a", "b"], at={"a": (0, 0)}), "a place for each"),
        (lambda: CategoryCells("c", ["a", "b"], at={"a": (0, 0), "b": (0, 0)}), "one place"),
        (lambda: BooleanCells("b", other="x"), "no values outside"),
    ],
)
def test_declarations_that_cannot_be_followed(make, rule):
    with pytest.raises(PolicyError, match=rule):
        make()
