"""What a gallery shows: a mechanism, what it claims, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Box, Calls, Rows
from metricdp.audit.boxes.followed import Followed
from metricdp.audit.evidence import Evidence
from metricdp.metrics import Guarantee, Metric

__all__ = ["Exhibit", "Register"]


@dataclass(frozen=True)
class Exhibit:
    """A mechanism on show.

    Attributes:
        name: what it is called.
        fault: what is wrong with it; empty where nothing is.
        seen: a paper that describes it, or where faults of this kind come from.
        claim: what it says of itself.
        pairs: secrets to compare.
        release: the mechanism: a function of many secrets, or of one where ``single``.
        single: whether ``release`` takes one secret.
        events: events that the audit is to look at besides its own.
        samples: releases that suffice to see the fault.
        remembers: whether the fault is in what a call leaves behind: then two calls are looked at as one.
    """

    name: str
    fault: str
    seen: str
    claim: Guarantee
    pairs: tuple[tuple[Any, Any], ...]
    release: Callable[[Any], Any]
    single: bool = False
    events: tuple[Any, ...] = ()
    samples: int = 40_000
    remembers: bool = False

    def box(self) -> Box:
        """The mechanism as the audit calls it."""
        return Followed(self._box()) if self.remembers else self._box()

    def _box(self) -> Box:
        if self.single:
            return Calls(self.release, name=self.name, limit=0.25)
        return Rows(self.release, name=self.name, guarantee=self.claim, block=1 << 15)

    def audit(self, samples: int | None = None, **options: Any) -> Evidence:
        """Audit it against its claim."""
        from metricdp.audit.audit import audit

        wanted = self.samples if samples is None else samples
        return audit(self.box(), self.pairs, self.claim, samples=wanted, events=self.events, **options)


class Register:
    """Collects exhibits: a decorator for mechanisms.

    Attributes:
        grid: the width that floats are rounded to before they are shown, so that the fault is the one that is named and
            not that of floats; None to show them as they are.
    """

    def __init__(self, grid: float | None = None) -> None:
        self.exhibits: list[Exhibit] = []
        self.grid = grid

    def __call__(
        self,
        name: str,
        claim: Metric | Guarantee,
        *pairs: tuple[Any, Any],
        fault: str = "",
        seen: str = "",
        single: bool = False,
        events: tuple[Any, ...] = (),
        samples: int | None = None,
        grid: float | None = None,
        remembers: bool = False,
    ) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
        """Put a mechanism on show."""
        promise = claim if isinstance(claim, Guarantee) else Guarantee(claim)

        def add(release: Callable[[Any], Any]) -> Callable[[Any], Any]:
            shown = release if single or not self.grid else _Rounded(release, grid or self.grid)
            wanted = samples or (6_000 if single else 40_000)
            self.exhibits.append(Exhibit(name, fault, seen, promise, pairs, shown, single, events, wanted, remembers))
            return release

        return add


@dataclass(frozen=True)
class _Rounded:
    """A mechanism whose floats are rounded to a grid."""

    release: Callable[[Any], Any]
    grid: float

    def __call__(self, rows: Any) -> Any:
        released = self.release(rows)
        if released.dtype.kind != "f":
            return released
        return np.rint(released / self.grid) * self.grid
