"""Cells of integers, numbers and days: intervals between declared bounds, each value in one of them."""

import datetime as dt
from fractions import Fraction

import pytest

from metricdp.errors import PolicyError
from metricdp.policies import DateCells, IntegerCells, NumberCells
from metricdp.queries.universes.universe import Universe


def test_cells_of_each_kind():
    assert IntegerCells("i", (-1, 1)).labels == ("-1", "0", "1")
    assert IntegerCells("i", (0, 10), width=4).labels == ("0..3", "4..7", "8..10")
    assert IntegerCells("i", (0, 8), width=4).labels == ("0..3", "4..7", "8")
    assert IntegerCells("i", (5, 5)).labels == ("5",)
    assert NumberCells("x", (0, 1), width="0.25").labels == ("[0, 0.25)", "[0.25, 0.5)", "[0.5, 0.75)", "[0.75, 1]")
    assert NumberCells("x", (0, 1), width=0.3).starts == (0, Fraction(3, 10), Fraction(6, 10), Fraction(9, 10))
    assert NumberCells("x", (-0.5, 1)).labels == ("[-0.5, 1]",)
    assert DateCells("d", ("2023-12-30", "2024-01-02")).labels == (
        "2023-12-30",
        "2023-12-31",
        "2024-01-01",
        "2024-01-02",
    )
    by_year = DateCells("d", (dt.date(2022, 7, 1), dt.date(2024, 12, 31)), by="year")
    assert by_year.labels == ("2022-07-01..2022-12-31", "2023", "2024")
    assert DateCells("d", ("2024-01-01", "2024-12-31"), edges=["2024-06-15"]).labels[1] == "2024-06-15..2024-12-31"


def test_what_is_outside_and_what_is_missing_may_share_a_cell():
    shared = IntegerCells("age", (0, 1), other="unknown", missing="unknown")
    assert shared.points == (0, 1, None)
    assert shared.other_code == shared.missing_code == 2


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: IntegerCells("i", (1, 0)), "in that order"),
        (lambda: IntegerCells("i", (0.5, 1)), "integers"),
        (lambda: IntegerCells("i", 5), "bounds = "),
        (lambda: IntegerCells("i", (0, 2**64)), "64 bits"),
        (lambda: IntegerCells("i", (0, 10), edges=(0, 5)), "edges lie between"),
        (lambda: IntegerCells("i", (0, 10), edges=(5, 11)), "edges lie between"),
        (lambda: IntegerCells("i", (0, 10), edges=(5, 5)), "edges lie between"),
        (lambda: IntegerCells("i", (0, 10), edges=(5,), width=2), "not both"),
        (lambda: IntegerCells("i", (0, 10), width=0), "positive"),
        (lambda: Universe([IntegerCells("i", (0, 10**9))]), "more than 1,000,000 values"),
        (lambda: IntegerCells("i", (0, 10), outside="clip"), "'refuse' or 'clamp'"),
        (lambda: IntegerCells("i", (0, 10), outside="clamp", other="x"), "not both"),
        (lambda: IntegerCells("i", (0, 10), missing="5"), "names of their own"),
        (lambda: NumberCells("x", (0, 0)), "in that order"),
        (lambda: NumberCells("x", (0, float("nan"))), "finite"),
        (lambda: NumberCells("x", (0, Fraction(1, 3))), "decimals"),
        (lambda: NumberCells("x", (0, 1), width="1e-9"), "more than 1,000,000 cells"),
        (lambda: DateCells("d", ("2024-01-31", "2024-02-30")), "days are dates"),
        (lambda: DateCells("d", (dt.datetime(2024, 1, 1), "2024-01-02")), "days are dates"),
        (lambda: DateCells("d", ("2024-01-01", "2024-01-02"), zone="Nowhere/Else"), "time zone"),
        (lambda: DateCells("d", ("2024-01-01", "2024-01-02"), zone="../../etc"), "time zone"),
        (lambda: DateCells("d", ("0001-01-01", "2024-01-02")), "1700-01-01"),
        (lambda: DateCells("d", ("2024-01-01", "2024-01-02"), by="week"), "by is"),
        (lambda: DateCells("d", ("2024-01-01", "2024-01-03"), by="day", edges=["2024-01-02"]), "not both"),
        (lambda: IntegerCells("", (0, 1)), "a name"),
    ],
)
def test_declarations_that_cannot_be_followed(make, rule):
    with pytest.raises(PolicyError, match=rule):
        make()
