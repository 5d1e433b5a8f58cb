"""Standard differential privacy as one line of a policy: one epsilon for a person, whatever the records hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from metricdp.exact.level import Level

__all__ = ["NEIGHBOURS", "Standard"]

NEIGHBOURS = ("add or remove", "replace")
"""What one person can do to a table, as a policy says it."""


@dataclass(frozen=True)
class Standard:
    """``standard = {epsilon = 1, neighbours = "add or remove"}``.

    Two tables are neighbours if one of them has a person more (*add or remove*), or if one person's records hold
    something else (*replace*); then whatever is answered is at most exp(epsilon) times as likely from the one as from
    the other. In the words of a metric on records, with r rows for a person at most: an absent record is epsilon / r
    from every other, and by way of it any two are within twice that; or any two are epsilon / r apart.

    Attributes:
        epsilon: for one person.
        neighbours: what one person can do to a table.
        rows: how many rows a person may have.

    >>> print(Standard(Level.of(1), "add or remove").between, Standard(Level.of(1), "replace", 4).between)
    2 0.25
    """

    epsilon: Level
    neighbours: Literal["add or remove", "replace"]
    rows: int = 1

    @property
    def row(self) -> Level:
        """The epsilon of one row."""
        return self.epsilon / self.rows

    @property
    def absent(self) -> Level | None:
        """How far an absent record is from any other; None where none can be absent."""
        return self.row if self.neighbours == "add or remove" else None

    @property
    def between(self) -> Level:
        """How far any two records are apart, in however many columns they differ."""
        return self.row * 2 if self.neighbours == "add or remove" else self.row
