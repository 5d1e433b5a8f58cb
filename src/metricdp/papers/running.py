"""Runs items, and keeps what they found together with the time they took."""

from __future__ import annotations

import datetime
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import metricdp
from metricdp.errors import ArgumentError, NotPrivateWarning
from metricdp.exact.results import Result
from metricdp.papers.item import TITLES, Found, Item, PaperClaim, Size, items_of, lookup

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Outcome", "PaperReport", "report_of", "run", "run_all"]


@dataclass(frozen=True, repr=False)
class Outcome(Result):
    """What one item found.

    Attributes:
        item: which.
        found: its claims and pictures.
        seconds: of processor time that it took.

    >>> run(5, "fig1").agrees
    True
    """

    item: Item
    found: Found
    seconds: float

    @property
    def claims(self) -> tuple[PaperClaim, ...]:
        """What was compared."""
        return self.found.claims

    @property
    def agrees(self) -> bool | None:
        """Whether all that is printed agrees with us; None where nothing is printed."""
        told = [claim.agrees for claim in self.claims if claim.agrees is not None]
        return all(told) if told else None

    def figures(self) -> dict[str, Figure]:
        """The pictures, drawn now.

        Raises:
            MissingExtraError: matplotlib is not installed.
        """
        return {name: draw() for name, draw in self.found.figures.items()}

    def value(self, what: str) -> Any:
        """The number behind one claim, by what it is about."""
        for one in self.claims:
            if one.what == what:
                return one.values["value"]
        raise ArgumentError(f"{self.item.name} says nothing of {what!r}; it has: {[one.what for one in self.claims]}")

    def to_json(self, pictures: bool = False) -> dict[str, Any]:
        """The outcome as plain values for JSON; with the data of its pictures, if wanted."""
        held = {
            "paper": self.item.paper,
            "item": self.item.name,
            "title": self.item.title,
            "source": self.item.source,
            "agrees": self.agrees,
            "claims": [one.to_json() for one in self.claims],
            "size": self.found.size or "as in the paper",
            "note": self.found.note,
            "seconds": round(self.seconds, 2),
        }
        if pictures:
            from metricdp.plots import data_of, words_of

            drawn = self.figures()
            held["figures"] = [
                {"name": name, "words": words_of(figure), "panels": data_of(figure)} for name, figure in drawn.items()
            ]
        return held

    def __str__(self) -> str:
        head = f"{self.item.paper} {self.item.name}: {self.item.title} ({self.item.source})"
        lines = [head]
        for one in self.claims:
            said = {True: "agrees", False: "DIFFERS", None: "not printed"}[one.agrees]
            printed = f"printed {one.printed}; " if one.printed else ""
            lines.append(f"  {one.what}: {printed}ours {one.ours}; {said}")
            lines += [f"      {name}: {value}" for name, value in one.ways]
        if self.found.note:
            lines.append(f"  {self.found.note}")
        lines.append(f"  {self.found.size or 'size of the paper'}; {self.seconds:.1f} s of processor time")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Outcome({self.item.paper}, {self.item.name!r}, agrees={self.agrees}, {self.seconds:.1f} s)"


@dataclass(frozen=True, repr=False)
class PaperReport(Result):
    """What many items found.

    Attributes:
        outcomes: one for each.
        quick: whether sizes were reduced.
        day: on which they ran.
        version: of metricdp.
    """

    outcomes: tuple[Outcome, ...]
    quick: bool
    day: datetime.date
    version: str

    @property
    def seconds(self) -> float:
        """Of processor time, in all."""
        return math.fsum(outcome.seconds for outcome in self.outcomes)

    @property
    def counts(self) -> Mapping[str, int]:
        """How many claims agree, how many do not, and for how many nothing is printed."""
        told = [one.agrees for outcome in self.outcomes for one in outcome.claims]
        return {"agree": told.count(True), "differ": told.count(False), "not printed": told.count(None)}

    def to_json(self, pictures: bool = False) -> dict[str, Any]:
        """The report as plain values for JSON; with the data of all pictures, if wanted."""
        return {
            "version": self.version,
            "day": self.day.isoformat(),
            "quick": self.quick,
            "seconds": round(self.seconds, 1),
            "claims": dict(self.counts),
            "items": [outcome.to_json(pictures) for outcome in self.outcomes],
        }

    def __str__(self) -> str:
        counts = self.counts
        size = "reduced sizes" if self.quick else "the papers' sizes"
        total = (
            f"{len(self.outcomes)} items, {sum(counts.values())} claims: {counts['agree']} agree, {counts['differ']} "
            f"differ, for {counts['not printed']} nothing is printed; {size}; {self.seconds:.0f} s of processor time"
        )
        return "\n\n".join([*map(str, self.outcomes), total])

    def __repr__(self) -> str:
        return f"PaperReport({len(self.outcomes)} items, {dict(self.counts)}, {self.seconds:.1f} s)"


def run(paper: int, item: str, *, quick: bool = False, progress: Callable[[str], object] | None = None) -> Outcome:
    """Re-run one item of a paper: an experiment, a table, a figure, a theorem on examples.

    Args:
        paper: 1 to 5.
        item: its name, such as "fig6a"; ``[i.name for i in papers.items_of(3)]`` lists them.
        quick: with reduced sizes, by the same code.
        progress: told in words how far it has come.

    Raises:
        ArgumentError: there is no such paper or item.

    >>> print(run(5, "fig1").claims[1].ours)
    7/18, 2/9, 7/18
    """
    return _run(lookup(paper, item), Size(quick, progress))


def run_all(
    papers: Sequence[int] | None = None,
    *,
    quick: bool = False,
    progress: Callable[[str], object] | None = None,
    ended: Callable[[Outcome], object] | None = None,
) -> PaperReport:
    """Re-run all items of some papers.

    Args:
        papers: their numbers; all five where not given.
        quick: with reduced sizes, by the same code.
        progress: told in words how far it has come.
        ended: given each outcome as soon as it is there.

    >>> run_all([]).outcomes  # of no paper; run_all(quick=True) takes a minute or two
    ()
    """
    outcomes = []
    for paper in TITLES if papers is None else papers:
        for item in items_of(paper):
            outcome = _run(item, Size(quick, progress))
            outcomes.append(outcome)
            if ended is not None:
                ended(outcome)
    return report_of(outcomes, quick)


def report_of(outcomes: Sequence[Outcome], quick: bool) -> PaperReport:
    """A report of these outcomes, of today and of this version."""
    return PaperReport(tuple(outcomes), quick, datetime.date.today(), metricdp.__version__)


def _run(item: Item, size: Size) -> Outcome:
    size.tell(f"paper {item.paper}, {item.name}: {item.title}")
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotPrivateWarning)  # data and noise of demonstrations, from seeds
        found = item.find(size)
    return Outcome(item, found, time.process_time() - began)
