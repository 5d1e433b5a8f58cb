"""Accounts: for a data set and a receiver, with a cap and perhaps a parent."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from metricdp.ledger.caps import Cap
from metricdp.ledger.terms import unit_digest
from metricdp.ledger.totals import guarantee_from, guarantee_to
from metricdp.metrics import Metric

__all__ = ["Account"]

Units = Callable[[str], Metric]
"""Finds the metric that was written under a digest."""


@dataclass(frozen=True)
class Account:
    """What may be told about one data set to one receiver.

    Attributes:
        number: in the ledger.
        name: that charges use.
        cap: the most that all charges together may tell.
        dataset: which data set it is for.
        receiver: whom the answers go to; several receivers who may collude share a parent.
        parent: the name of the account that is charged with this one; None where there is none.
        privacy_unit: what the metric's secrets are: a person, a record, a visit.
        opened: the number of the entry that opened it.
    """

    number: int
    name: str
    cap: Cap
    dataset: str = ""
    receiver: str = ""
    parent: str | None = None
    privacy_unit: str = ""
    opened: int = 0

    def body(self) -> dict[str, Any]:
        """As it is written in the entry that opens the account."""
        return {
            "number": self.number,
            "name": self.name,
            "cap": guarantee_to(self.cap.guarantee, unit_digest(self.cap.guarantee.metric.unit)),
            "composed_delta": str(self.cap.composed_delta),
            "points": None if self.cap.points is None else unit_digest(points_metric(self.cap.points)),
            "dataset": self.dataset,
            "receiver": self.receiver,
            "parent": self.parent,
            "privacy_unit": self.privacy_unit,
        }

    def units(self) -> dict[str, Metric]:
        """The metrics that the entry names by their digests."""
        points = [] if self.cap.points is None else [points_metric(self.cap.points)]
        return {unit_digest(metric): metric for metric in [self.cap.guarantee.metric.unit, *points]}

    @classmethod
    def from_body(cls, text: str, opened: int, units: Units) -> Account:
        """The account that an entry opened."""
        body = json.loads(text)
        points = None if body["points"] is None else tuple(getattr(units(body["points"]), "nodes", ()))
        cap = Cap(guarantee_from(body["cap"], units), Fraction(body["composed_delta"]), points)
        words = {name: body[name] for name in ("number", "name", "dataset", "receiver", "parent", "privacy_unit")}
        return cls(cap=cap, opened=opened, **words)

    def to_json(self) -> dict[str, Any]:
        """Plain values for programs."""
        return self.body() | {"cap": self.cap.guarantee.to_json()}


def points_metric(points: tuple[Any, ...]) -> Metric:
    """A metric that holds nothing but a list of points: a graph without edges. It gives them a written form."""
    from metricdp.metrics import graph_of

    return graph_of(points, ())
