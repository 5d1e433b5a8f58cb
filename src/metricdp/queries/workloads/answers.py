"""Private answers to the queries of a workload, each with its error bar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Floats
from metricdp.metrics import Guarantee, Released

__all__ = ["Answers"]


@dataclass(frozen=True, eq=False, repr=False)
class Answers(Released):
    """What was released: noisy values, never the truth.

    Attributes:
        names: of the queries.
        values: the answers, in the same order.
        error_bars: half the width of an interval around each value that holds the truth with probability
            ``confidence``, each for itself; rounded up. 0 for an answer that needed no noise.
        scales: of the noise.
        confidence: of the error bars.
        guarantee: what all answers together promise to a database; distances add up over its records.
        records: n, which is public here.
        private: False where the noise came from a seeded source; the values are then marked too.
    """

    names: tuple[str, ...]
    values: Floats
    error_bars: Floats
    scales: tuple[float, ...]
    confidence: float
    guarantee: Guarantee
    records: int
    private: bool = True

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[float]:
        return iter(self.values.tolist())

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise ArgumentError(f"there is no query {name!r}")
        return float(self.values[self.names.index(name)])

    def __repr__(self) -> str:
        width = max(len(name) for name in self.names)
        lines = [
            f"  {name:<{width}}  {value:.6g} ± {bar:.3g}"
            for name, value, bar in zip(self.names, self.values, self.error_bars, strict=True)
        ]
        head = f"Answers ({self.confidence:.0%} error bars; {self.promise}, for {self.records:,} records)"
        return "\n".join([head, *lines])

    def to_json(self) -> dict[str, Any]:
        """The answers as plain values for JSON."""
        return {
            "answers": [
                {"query": name, "value": value, "error_bar": bar, "scale": scale}
                for name, value, bar, scale in zip(
                    self.names, self.values.tolist(), self.error_bars.tolist(), self.scales, strict=True
                )
            ],
            "confidence": self.confidence,
            "records": self.records,
            "guarantee": self.guarantee.to_json(),
            "private": self.private,
        }
