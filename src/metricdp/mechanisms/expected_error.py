"""What to expect of a release: how far from its secret it lies, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from metricdp.exact.results import Result

__all__ = ["ExpectedError"]


@dataclass(frozen=True)
class ExpectedError(Result):
    """What to expect of a release.

    Attributes:
        median: the distance from the secret within which half of all releases lie, rounded up; None where the secrets
            have no distances that would say anything, as among categories that are all alike.
        radius_95: the same for 95%.
        unit: what these two are counted in.
        words: the same for people, a sentence or two.
        truth: the probability that the very secret is released, rounded down; None where there is a continuum.
        null_stays: the probability that a missing value is released as missing, where that is secret.
        null_appears: the greatest probability that a present value is released as missing, where that is secret.
    """

    median: float | None
    radius_95: float | None
    unit: str
    words: tuple[str, ...]
    truth: float | None = None
    null_stays: float | None = None
    null_appears: float | None = None

    def __str__(self) -> str:
        return "; ".join(self.words)

    def to_json(self) -> dict[str, Any]:
        """The error as plain values for JSON."""
        return {field.name: getattr(self, field.name) for field in fields(self)} | {"words": list(self.words)}
