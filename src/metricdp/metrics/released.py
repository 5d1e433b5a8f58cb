"""What everything that leaves has: its guarantee, whether it is private at all, words and plain values."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metricdp.metrics.guarantee import Guarantee

__all__ = ["Released"]


class Released(ABC):
    """The base of answers, tables, histograms and whatever else is made from secrets and given away.

    A class that derives from it has ``guarantee``, what is promised of the secrets (None where nothing of them is in
    it), and ``private``, which is False where the noise came from a seed. Whatever it prints begins with `promise`,
    or has it inside, so that nobody takes a seeded release for a private one.
    """

    if TYPE_CHECKING:  # a field or a property, as the class likes

        @property
        def guarantee(self) -> Guarantee | None:
            """What is promised of the secrets."""

        @property
        def private(self) -> bool:
            """Whether the noise is secret."""

    @property
    def promise(self) -> str:
        """The guarantee as mathematics; or that there is none, because the noise can be computed from a seed."""
        if self.guarantee is None:
            return "nothing secret was told"
        return str(self.guarantee) if self.private else f"NOT private (seeded noise), else {self.guarantee}"

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """It as plain values for JSON, ``guarantee`` and ``private`` among them."""

    def words(self) -> str:
        """It as people read it."""
        return str(self)

    def _repr_html_(self) -> str:
        lines = self.words().splitlines()
        seeded = "" if self.private else "<strong>NOT private (seeded noise)</strong>"
        return f"{seeded}<pre>{html.escape(chr(10).join(lines))}</pre>"
