"""Events: sets of releases, in words, as code, and as something that can be counted.

Theorem 3 of paper 2: a promise holds for all sets of releases if it holds on an algebra that generates them. The
families here generate the sets of their types: all subsets of a finite range; finite unions of intervals of a line
(half-lines alone do not: (.4, .2, .4) and (.5, 0, .5) agree on them); boxes, half-spaces and unions of them;
cylinder sets of sets, records and series (Example 4).
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Batch
from metricdp.audit.events.view import View
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Booleans

__all__ = ["Event", "above", "below", "given_event", "intervals", "labels"]


@dataclass(frozen=True)
class Event:
    """A set of releases.

    Attributes:
        words: the event, such as "the release is at least 1.5".
        code: an expression in z that is true for its members.
    """

    words: str
    code: str
    _test: Callable[[Batch], Booleans] = field(repr=False, compare=False)

    def among(self, batch: Batch) -> Booleans:
        """Which releases of a batch are members."""
        return self._test(batch)

    def __str__(self) -> str:
        return self.words


def above(view: View, threshold: float) -> Event:
    """The numbers that are at least the threshold."""
    return Event(
        f"{view.words} is at least {_number(threshold)}",
        f"{view.code} >= {threshold!r}",
        lambda batch: view.of(batch) >= threshold,
    )


def below(view: View, threshold: float) -> Event:
    """The numbers that are at most the threshold."""
    return Event(
        f"{view.words} is at most {_number(threshold)}",
        f"{view.code} <= {threshold!r}",
        lambda batch: view.of(batch) <= threshold,
    )


def intervals(view: View, parts: Sequence[tuple[float, float]], missing: bool) -> Event:
    """A finite union of intervals [low, high), in order, and perhaps what is no number.

    A single number is the interval from it to the next float.
    """
    words, code = [], []
    for low, high in parts:
        if math.isinf(low) and math.isinf(high):
            words.append("is any number")
            code.append(f"{view.code} == {view.code}")
        elif math.isinf(low):
            words.append(f"is below {_number(high)}")
            code.append(f"{view.code} < {high!r}")
        elif math.isinf(high):
            words.append(f"is at least {_number(low)}")
            code.append(f"{view.code} >= {low!r}")
        elif high == math.nextafter(low, math.inf):
            words.append(f"is {_number(low)}")
            code.append(f"{view.code} == {low!r}")
        else:
            words.append(f"lies in [{_number(low)}, {_number(high)})")
            code.append(f"{low!r} <= {view.code} < {high!r}")
    if missing:
        words.append("is no number")
        code.insert(0, f"m.missing(lambda: {view.code})")
    cuts = np.array([end for part in parts for end in part])

    def test(batch: Batch) -> Booleans:
        column = view.of(batch)
        inside: Booleans = (np.searchsorted(cuts, column, side="right") & 1).astype(bool)
        nothing = np.isnan(column)
        inside[nothing] = missing
        if math.isinf(cuts[-1] if cuts.size else 0.0):
            inside |= (column == math.inf) & (cuts[-1] == math.inf)
        return inside

    return Event(f"{view.words} {_several(words)}", _either(code), test)


def labels(view: View, members: Sequence[Any]) -> Event:
    """The releases whose label is one of some."""
    chosen = list(members)
    known = set(chosen)

    def test(batch: Batch) -> Booleans:
        column = view.of(batch)
        if column.dtype == object:
            return np.fromiter((label in known for label in column), dtype=bool, count=len(column))
        found = np.zeros(len(column), dtype=bool)
        for label in chosen:
            found |= column == label
        return found

    shown = ", ".join(map(repr, chosen[:6])) + (f" and {len(chosen) - 6} more" if len(chosen) > 6 else "")
    words = f"{view.words} is {shown}" if len(chosen) == 1 else f"{view.words} is one of {shown}"
    code = f"{view.code} == {chosen[0]!r}" if len(chosen) == 1 else f"{view.code} in {_set(chosen)}"
    return Event(words, code, test)


def given_event(event: Any) -> Event:
    """An event that a user gave: an `Event`, a function of a release, or an expression in z."""
    if isinstance(event, Event):
        return event
    if isinstance(event, str):
        try:
            tree = ast.parse(event, "<event>", "eval")
            compiled = compile(tree, "<event>", "eval")
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ArgumentError(f"the event {event!r} is no expression in z: {error}") from None
        names = {"np": np, "math": math}
        if unknown := _unknown(tree, {"z", *names, *vars(builtins)}):
            raise ArgumentError(f"the event {event!r} speaks of {unknown}: it may use z, np and math")

        def function(z: Any) -> Any:
            return eval(compiled, names, {"z": z})

        words, code = f"z has {event}", event
    elif not callable(event):
        raise ArgumentError(f"an event is an expression in z or a function of a release, not {type(event).__name__}")
    else:
        function, words = event, getattr(event, "__name__", "an event")
        code = f"{words}(z)"

    def test(batch: Batch) -> Booleans:
        return np.fromiter((_true(function, z) for z in batch.releases), dtype=bool, count=len(batch))

    return Event(words, code, test)


def _unknown(tree: ast.AST, known: set[str]) -> str | None:
    """A name that an expression uses and that nobody gives it; None where there is none."""
    nodes = list(ast.walk(tree))
    own = {node.arg for node in nodes if isinstance(node, ast.arg)}
    own |= {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    used = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return next((name for name in used if name not in known | own), None)


def _true(function: Callable[[Any], Any], release: Any) -> bool:
    try:
        return bool(function(release))
    except Exception:
        return False


def _several(words: Sequence[str]) -> str:
    shown = list(words[:6]) + ([f"{len(words) - 6} more such"] if len(words) > 6 else [])
    return " or ".join(shown)


def _either(code: Sequence[str]) -> str:
    return code[0] if len(code) == 1 else " or ".join(f"({part})" for part in code)


def _set(members: Sequence[Any]) -> str:
    return "{" + ", ".join(map(repr, members)) + "}"


def _number(value: float) -> str:
    return f"{value:.6g}"
