"""One item of a paper: what is printed there, what we compute, and whether they agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from metricdp.errors import ArgumentError
from metricdp.exact.results import short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "TITLES",
    "Found",
    "Item",
    "PaperClaim",
    "Size",
    "claim",
    "in_words",
    "items_of",
    "lookup",
    "plain",
    "register",
    "rounds_to",
]

TITLES = {
    1: "Chatzikokolakis, Andrés, Bordenabe, Palamidessi 2013, Broadening the Scope of Differential Privacy Using "
    "Metrics",
    2: "Holohan, Leith, Mason 2014, Differential Privacy in Metric Spaces",
    3: "ElSalamouny, Chatzikokolakis, Palamidessi, A differentially private mechanism of optimal utility for a region "
    "of priors",
    4: "Kamalaruban, Perrier, Asghar, Kaafar 2020, Not All Attributes are Created Equal",
    5: "Fernandes, McIver, Palamidessi, Ding 2023, Universal Optimality and Robust Utility Bounds",
}
"""The five papers, by number."""

_Any = TypeVar("_Any")
_REGISTRY: dict[int, dict[str, Item]] = {number: {} for number in TITLES}


@dataclass(frozen=True)
class PaperClaim:
    """One thing that a paper says, beside what we find.

    Attributes:
        what: it is about.
        printed: as the paper has it; empty where it prints nothing to compare with, as where a figure is lost.
        ours: the same by us.
        agrees: whether both agree; None where nothing is printed.
        ways: where they do not agree, or where one way alone would not convince: independent computations by name, and
            what each gives.
        values: the numbers behind the words, as plain values.
    """

    what: str
    printed: str
    ours: str
    agrees: bool | None
    ways: tuple[tuple[str, str], ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.agrees is False and len(self.ways) < 2:
            raise ArgumentError(f"{self.what}: to say that a paper errs takes two independent computations")

    def to_json(self) -> dict[str, Any]:
        """The claim as plain values for JSON."""
        return {
            "what": self.what,
            "printed": self.printed or None,
            "ours": self.ours,
            "agrees": self.agrees,
            "ways": dict(self.ways),
            "values": plain(self.values),
        }


@dataclass(frozen=True)
class Found:
    """What an item found.

    Attributes:
        claims: one by one.
        figures: functions that draw the item's pictures, by name; called only where pictures are wanted.
        size: what was made smaller than in the paper; empty where nothing was.
        note: what else there is to say.
    """

    claims: tuple[PaperClaim, ...]
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)
    size: str = ""
    note: str = ""


@dataclass(frozen=True)
class Size:
    """How much of an item to run: all of it, or as much as says whether it still works.

    Attributes:
        quick: whether it is the latter.
        progress: told in words how far it has come.
    """

    quick: bool = False
    progress: Callable[[str], object] | None = None

    def pick(self, full: _Any, quick: _Any) -> _Any:
        """The one or the other."""
        return quick if self.quick else full

    def reduced(self, words: str) -> str:
        """What was made smaller, for `Found.size`."""
        return words if self.quick else ""

    def tell(self, words: str) -> None:
        """Say how far it has come."""
        if self.progress is not None:
            self.progress(words)


@dataclass(frozen=True)
class Item:
    """An item of a paper that can be run.

    Attributes:
        paper: its number.
        name: short, as on the command line.
        title: what it is.
        source: the theorem, section or figure that says it.
        find: runs it.
    """

    paper: int
    name: str
    title: str
    source: str
    find: Callable[[Size], Found]


def register(paper: int, name: str, title: str, source: str) -> Callable[[Callable[[Size], Found]], Item]:
    """Declares the function below it to be an item."""

    def declared(find: Callable[[Size], Found]) -> Item:
        if name in _REGISTRY[paper]:
            raise ArgumentError(f"paper {paper} has two items {name!r}")
        _REGISTRY[paper][name] = item = Item(paper, name, title, source, find)
        return item

    return declared


def items_of(paper: int) -> tuple[Item, ...]:
    """All items of a paper, in its order.

    >>> items_of(5)[0].name
    'fig1'
    """
    if paper not in list(TITLES):
        raise ArgumentError(f"there are the papers 1 to {max(TITLES)}, not {paper}")
    _load()
    return tuple(_REGISTRY[paper].values())


def lookup(paper: int, name: str) -> Item:
    """One item.

    Raises:
        ArgumentError: there is none of that name; names those that there are.
    """
    for item in items_of(paper):
        if item.name == name:
            return item
    raise ArgumentError(f"paper {paper} has no item {name!r}; it has: {', '.join(i.name for i in items_of(paper))}")


def _load() -> None:
    from metricdp.papers import declared

    declared.load()


def claim(
    what: str,
    printed: Any,
    ours: Any,
    agrees: bool | None = None,
    ways: Mapping[str, Any] | None = None,
    **values: Any,
) -> PaperClaim:
    """A claim from numbers or words; where ``agrees`` is not given, printed numbers are compared with ours.

    They are compared to the digits that are printed; words are not compared.

    >>> claim("capacity", "1.33", Fraction(4, 3)).agrees
    True
    """
    text = "" if printed is None else in_words(printed)
    if agrees is None and isinstance(printed, str):
        agrees = rounds_to(ours, printed) if _is_number(printed) else None
    elif agrees is None and printed is not None:
        agrees = printed == ours
    shown = tuple((name, in_words(value)) for name, value in (ways or {}).items())
    kept = values or ({"value": ours} if isinstance(ours, (int, float, Fraction)) else {})
    return PaperClaim(what, text, in_words(ours), agrees, shown, kept)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def rounds_to(value: Any, printed: str) -> bool:
    """Whether a number is the printed one, to the digits that are printed.

    >>> rounds_to(Fraction(8, 3), "2.67"), rounds_to(0.479, "0.47")
    (True, False)
    """
    digits = len(printed.partition(".")[2])
    return abs(float(value) - float(printed)) <= 0.5000001 * 10.0**-digits


def in_words(value: Any) -> str:
    """A number, a truth or several of them for a line of text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(in_words, value))
    return short(value if isinstance(value, Fraction) else float(value), 10)


def plain(value: Any) -> Any:
    """Plain values for JSON: fractions as text, infinite numbers as words."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(part) for part in value]
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else str(value)
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    number = float(value)
    return number if math.isfinite(number) else str(number)
