"""The linear queries that a question needs: counts and sums, and of squares and products where moments are asked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from metricdp.errors import ArgumentError
from metricdp.policies.askable import Askable
from metricdp.policies.cells.listed import Cells
from metricdp.policies.cells.ordered import DateCells
from metricdp.policies.sql.cell_functions import CellFunction
from metricdp.policies.sql.statements import Aggregate, Select
from metricdp.queries.select.amounts import Amount, CellWeights
from metricdp.queries.select.division import Division
from metricdp.queries.select.moments import Moment, Role
from metricdp.queries.select.totals import bounds_of, check_numbers, holds_numbers

__all__ = ["AskedAmounts"]


@dataclass(frozen=True, eq=False)
class AskedAmounts:
    """What a question adds up.

    Attributes:
        select: the question.
        policy: what it is answered under.
        division: its groups.
    """

    select: Select
    policy: Askable
    division: Division

    @cached_property
    def all(self) -> tuple[Amount, ...]:
        """Those that are needed, each once."""
        needed: dict[Amount, None] = {}
        for group in range(len(self.division.labels)):
            for aggregate in self.select.aggregates:
                needed |= dict.fromkeys(self.of(aggregate, group))
        return tuple(needed)

    def of(self, aggregate: Aggregate, group: int) -> tuple[Amount, ...]:
        """Those that an answer is made of: of an average, the sum and the count; the count is the last."""
        only = None if aggregate.only is None else repr(aggregate.only)
        if aggregate.kind in ("sum", "moment"):
            self._refuse_days(aggregate)
        if aggregate.kind == "count":
            return (Amount("count", self._counted(aggregate.column), group, only=only),)
        weights = None if aggregate.through is None else self._weights(aggregate.through)
        if aggregate.kind == "sum":
            return (Amount("sum", aggregate.column, group, only=only, weights=weights),)
        if aggregate.kind == "average":
            number = Amount("count", self._counted(aggregate.column), group, only=only)
            return Amount("sum", aggregate.column, group, self._middle(aggregate), only, weights=weights), number
        if aggregate.kind == "moment":
            moment = self.moment(aggregate)
            return tuple(self._of_moment(aggregate, moment, role, group, only) for role in moment.roles)
        return ()

    @cached_property
    def _known_weights(self) -> dict[CellFunction, CellWeights]:
        return {}

    def _weights(self, through: CellFunction) -> CellWeights:
        """The numbers of a function, for each cell as it divides the records."""
        if through not in self._known_weights:
            (column,) = (one for one in self.division.columns if one.name == through.column)
            values = tuple(Fraction(value or 0) for value in through.values(column))
            self._known_weights[through] = CellWeights(through.column, values)
        return self._known_weights[through]

    def bounds(self, aggregate: Aggregate) -> tuple[Fraction, Fraction]:
        """The least and the greatest that one record can add to a sum."""
        own = None if aggregate.column is None else bounds_of(self.policy.column(aggregate.column))
        if aggregate.through is None:
            assert own is not None
            return Fraction(own[0]), Fraction(own[1])
        ends = [Fraction(value) for value in aggregate.through.found if value is not None]
        if own is None:
            return min(ends), max(ends)
        products = [Fraction(one) * two for one in own for two in (min(ends), max(ends))]
        return min(products), max(products)

    def _middle(self, aggregate: Aggregate) -> Fraction:
        """What an average is counted from."""
        if aggregate.through is None:
            assert aggregate.column is not None
            return self._centre(aggregate.column)
        asked = any(one.kind == "sum" and one.through == aggregate.through for one in self.select.aggregates)
        return Fraction(0) if asked or aggregate.column is not None else sum(self.bounds(aggregate)) / Fraction(2)

    def _refuse_days(self, aggregate: Aggregate) -> None:
        for name in (aggregate.column, aggregate.second):
            if name is not None and isinstance(self.policy.column(name), DateCells):
                raise ArgumentError(
                    f"column {name!r} holds days, which are not added up or multiplied: write avg({name}), "
                    f"median({name}), or count(*) .. group by {name}"
                )

    # Moments

    def moment(self, aggregate: Aggregate) -> Moment:
        """What is computed from the sums."""
        names = _columns(aggregate)
        return Moment(
            aggregate.function,
            tuple(bounds_of(self._numbers(name)) for name in names),
            tuple(self._centre(name) for name in names),
        )

    def _of_moment(self, aggregate: Aggregate, moment: Moment, role: Role, group: int, only: str | None) -> Amount:
        names = _columns(aggregate)
        absent = [name for name in names if self._counted(name) is not None]
        if role == "count":
            first, second = (*absent, None, None)[:2]
            return Amount("count", first, group, only=only, beside=second)
        places = ["xy".index(letter) for letter in role]
        beside = next((name for name in absent if name not in [names[place] for place in places]), None)
        if len(places) == 1:
            (place,) = places
            return Amount("sum", names[place], group, moment.centres[place], only, beside=beside)
        one, two = sorted(places, key=names.__getitem__)  # the same product, whichever column is named first
        shift = moment.half(one) ** 2 / 2 if one == two else Fraction(0)  # who comes or goes changes less
        middles = moment.middle(one), moment.middle(two)
        return Amount("product", names[one], group, middles[0], only, names[two], middles[1], shift, beside)

    def _numbers(self, name: str) -> Cells:
        column = self.policy.column(name)
        check_numbers(column)
        return column

    # What is public

    @property
    def public_counts(self) -> dict[Amount, Fraction]:
        """The number of all records, where it is public."""
        public = self._every_record and not self.select.groups
        return {Amount("count", None, 0): Fraction(self.policy.most)} if public else {}

    def public_total(self, aggregate: Aggregate) -> int | None:
        """What the answers of all groups add up to, where it is the number of all records and that is public."""
        counts_all = self.of(aggregate, 0) == (Amount("count", None, 0),)
        return self.policy.most if self._every_record and counts_all else None

    @property
    def _every_record(self) -> bool:
        """Whether the question is about all records, and their number is public."""
        return self.policy.absent is None and self.select.where is None

    # Columns

    def _centre(self, column: str) -> Fraction:
        """What an average is counted from: the middle of the bounds, unless the sum itself is asked for too."""
        asked = any(other.kind == "sum" and other.column == column for other in self.select.aggregates)
        low, high = bounds_of(self._numbers(column))
        return Fraction(0) if asked else (Fraction(low) + Fraction(high)) / 2

    def _counted(self, column: str | None) -> str | None:
        """The column of which only known values are counted; None where none can be missing."""
        if column is None or self.policy.column(column).missing is None:
            return None
        if self.policy.column(column).mixes_missing:
            raise ArgumentError(
                f"column {column!r}: missing values share a cell with others, and nobody can tell which are there; "
                "give them a cell of their own (missing = ..), or write count(*)"
            )
        return column

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Those whose values, or whether they are missing, the linear queries depend on."""
        names: dict[str, None] = {}
        for amount in self.all:
            for name in amount.known:
                if name in names:
                    continue
                column = self.policy.column(name)
                if amount.kind == "count" and not holds_numbers(column):
                    continue  # it divides the records, and its cells are told apart anyway
                if amount.kind != "count":
                    check_numbers(column)
                names[name] = None
        return tuple(names)


def _columns(aggregate: Aggregate) -> tuple[str, ...]:
    """The columns of a moment."""
    assert aggregate.column is not None
    return (aggregate.column,) if aggregate.second is None else (aggregate.column, aggregate.second)
