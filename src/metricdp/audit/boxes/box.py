"""Boxes: whatever takes a secret and gives a release, as the audit calls it.

A box that fails is not an error of the audit: a release that raises, hangs or is missing for one secret and not for
another tells them apart. Such a call gives a `Failure`, which is a release like any other.
"""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.releases import releases_in
from metricdp.audit.boxes.time_out import TimedOut, Watch
from metricdp.errors import ArgumentError
from metricdp.exact.arrays import Booleans, Floats
from metricdp.metrics import Guarantee

__all__ = ["Batch", "Box", "Calls", "Failure", "Rows", "one_at_a_time", "rows"]


CALL_LIMIT = 2.0
"""Seconds that one call may take, where a box does not say otherwise."""

_LONGEST_MESSAGE = 200
_KNOWN = 8  # calls that say how long one usually takes


@dataclass(frozen=True, order=True)
class Failure:
    """What came instead of a release, such as "raised ValueError"; equal by its words.

    Attributes:
        words: what happened.
        message: what the error said.
    """

    words: str
    message: str = field(default="", compare=False, repr=False)

    def __str__(self) -> str:
        return self.words


@dataclass
class Batch:
    """Releases in the order of the calls.

    Attributes:
        releases: an array with a row for each release, or a list.
        seconds: how long each call took, where calls were made one by one.
        interrupted: whether somebody pressed Ctrl-C; the calls before that are here.
        exhausted: whether there is nothing more to draw.
    """

    releases: Any
    seconds: Floats | None = None
    interrupted: bool = False
    exhausted: bool = False

    def __len__(self) -> int:
        return len(self.releases)


class Box(ABC):
    """Something that releases secrets.

    Attributes:
        name: what to call it.
        guarantee: what it says of itself; None where it says nothing.
        note: what the reader of the evidence has to know about how it was called.
        importable: code that gives a function of one secret, where there is such code.
        imports: lines that this code needs before it.
        block: releases that are drawn at once at most.
    """

    name: str = "the box"
    guarantee: Guarantee | None = None
    note: str = ""
    importable: str | None = None
    imports: tuple[str, ...] = ()
    block: int = 1 << 17

    @abstractmethod
    def draw(self, pair: tuple[Any, Any], labels: Booleans) -> Batch:
        """Release pair[0] where the label is True and pair[1] where it is not, in that order."""


class Calls(Box):
    """A function of one secret, called once for each release.

    A call that takes longer than ``limit`` seconds, or 200 times as long as usual, hangs.
    """

    def __init__(self, function: Callable[[Any], Any], limit: float = CALL_LIMIT, name: str | None = None) -> None:
        self.function, self.limit = function, limit
        self.name = name or _name(function)
        self.guarantee = _promise(function)
        self.block = 1 << 12
        self._typical: float | None = None

    def draw(self, pair: tuple[Any, Any], labels: Booleans) -> Batch:
        """One call after the other; a call that raises or hangs gives a `Failure`."""
        releases: list[Any] = []
        seconds = np.zeros(labels.size)
        interrupted = False
        function, clock = self.function, time.perf_counter
        quick: list[float] = []
        outer = sys.exception()  # whoever audits may stand in a handler of their own
        try:
            with Watch(self._patience()) as watch:
                for number, label in enumerate(labels.tolist()):
                    start = clock()
                    try:
                        try:
                            watch.begin()
                            release = function(pair[0] if label else pair[1])
                        finally:
                            watch.end()
                    except TimedOut:  # also where it came as the call was over
                        release = Failure("hung")
                    except KeyboardInterrupt:
                        raise
                    except BaseException as error:  # a box that ends the program, or its task, must not end the audit
                        release = Failure(f"raised {type(error).__name__}", _said(error, outer))
                    seconds[number] = clock() - start
                    releases.append(release)
                    if not isinstance(release, Failure):
                        quick.append(seconds[number])
                        if self._typical is None and len(quick) == _KNOWN:  # patience with the first that hang is dear
                            self._typical = float(np.median(quick))
                            watch.change(self._patience())
        except KeyboardInterrupt:  # in a call or between two: what came before it counts
            interrupted = True
        if len(quick) >= _KNOWN:
            self._typical = float(np.median(quick))
        return Batch(releases, seconds[: len(releases)], interrupted)

    def _patience(self) -> float:
        return self.limit if self._typical is None else min(self.limit, max(0.02, 200 * self._typical))


class Rows(Box):
    """A function of many secrets at a time, one row each, such as the ``release`` of a mechanism."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        limit: float = 60.0,
        name: str | None = None,
        guarantee: Guarantee | None = None,
        block: int = 1 << 17,
    ) -> None:
        self.function, self.limit, self.block = function, limit, block
        self.name = name or _name(function)
        self.guarantee = guarantee or _promise(function)
        self._single: Calls | None = None

    def draw(self, pair: tuple[Any, Any], labels: Booleans) -> Batch:
        """One call for all rows; where that raises or hangs, one call for each row from then on."""
        if self._single is not None:
            return self._single.draw(pair, labels)
        table = _table(pair)
        try:
            with Watch(self.limit) as watch:
                watch.begin()
                given = (
                    table.take((~labels).astype(np.intp), axis=0)
                    if isinstance(table, np.ndarray)
                    else [pair[0] if label else pair[1] for label in labels.tolist()]
                )
                releases = self.function(given)
                watch.end()
        except KeyboardInterrupt:
            return Batch([], interrupted=True)
        except BaseException as error:
            what = "hung" if isinstance(error, TimedOut) else f"raised {type(error).__name__}"
            self.note = f"A call with {labels.size} rows {what}, so rows were released one by one."
            self._single = Calls(self._one, name=self.name)
            self.block = self._single.block
        if self._single is not None:
            return self._single.draw(pair, labels[: self.block])
        if isinstance(releases, tuple) and releases:  # perhaps several of each secret
            parts = [np.asarray(part) for part in releases]
            if all(part.ndim and len(part) == labels.size for part in parts):
                releases = list(zip(*(part.tolist() for part in parts), strict=True))
        try:
            releases = releases_in(releases)
        except ArgumentError as error:
            raise ArgumentError(f"{self.name} was given {labels.size} rows: {error}") from None
        if len(releases) != labels.size:
            raise ArgumentError(f"{self.name} was given {labels.size} rows and did not give as many back")
        return Batch(releases)

    def _one(self, secret: Any) -> Any:
        table = _table((secret, secret))
        given = table[:1] if isinstance(table, np.ndarray) else [secret]
        return self.function(given)[0]


def rows(function: Callable[[Any], Any], **options: Any) -> Rows:
    """Say that a function takes many secrets at a time, an array or a list with a row for each, and gives as many back.

    It is called with both secrets in random order, so each row must be released by itself.

    >>> import metricdp as mdp
    >>> noise = mdp.geometric(mdp.metrics.absolute())
    >>> mdp.audit.audit(mdp.audit.rows(noise.release), [(0, 1)], mdp.metrics.absolute(), samples=1000).holds
    True
    """
    return Rows(function, **options)


def one_at_a_time(function: Callable[[Any], Any], limit: float = CALL_LIMIT) -> Calls:
    """Say that a function takes one secret, and how many seconds a call may take.

    >>> import metricdp as mdp
    >>> noise = mdp.geometric(mdp.metrics.absolute())
    >>> box = mdp.audit.one_at_a_time(lambda secret: noise.release(secret))
    >>> mdp.audit.audit(box, [(0, 1)], mdp.metrics.absolute(), samples=200).holds
    True
    """
    return Calls(function, limit)


def _table(pair: tuple[Any, Any]) -> NDArray[Any] | None:
    """Both secrets as the rows of an array, where they are numbers, points, dates or text; None otherwise."""
    first, second = pair
    if isinstance(first, (set, frozenset, dict, type(None))) or isinstance(second, (set, frozenset, dict, type(None))):
        return None
    if isinstance(first, tuple) and not all(isinstance(part, (int, float)) for part in first):
        return None
    if isinstance(first, str) != isinstance(second, str):
        return None
    try:
        table = np.array([first, second])
    except (ValueError, TypeError, OverflowError):
        return None
    return table if table.dtype.kind in "biufMU" and len(table) == 2 else None


def _said(error: BaseException, outer: BaseException | None) -> str:
    """What an error says, what it carries besides, and the errors that it came from: a caller sees them all."""
    try:
        said = str(error)
        if carried := {name: held for name, held in vars(error).items() if not name.startswith("__")}:
            said += f" {carried}"
        before = error.__cause__ or error.__context__
        if before is not None and before is not outer and len(said) < _LONGEST_MESSAGE:
            said += f" after {type(before).__name__}: {_said(before, outer)}"
        return said[:_LONGEST_MESSAGE]
    except Exception:
        return ""


def _promise(function: Any) -> Guarantee | None:
    owner = getattr(function, "__self__", function)
    found = getattr(owner, "guarantee", None)
    return found if isinstance(found, Guarantee) else None


def _name(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__name__
    return str(name).replace(".<locals>", "")


def check_pair(pair: Any) -> tuple[Any, Any]:
    """Two secrets."""
    if isinstance(pair, np.ndarray):
        pair = pair.tolist()
    if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
        raise ArgumentError("a pair is two secrets, such as (0.0, 1.0)")
    return pair[0], pair[1]
