"""Samples that somebody else has drawn, as a box."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, Self

import numpy as np

from metricdp.audit.boxes.box import Batch, Box
from metricdp.audit.boxes.releases import releases_in
from metricdp.errors import ArgumentError, FileError
from metricdp.exact.arrays import Booleans

__all__ = ["Samples", "WrittenNumber", "lines_of", "read_release", "read_samples"]

_EXACT = 2**53  # integers up to it are floats


class Samples(Box):
    """Releases that were drawn before: those of one secret, and those of the other."""

    def __init__(self, first: Any, second: Any, name: str = "samples") -> None:
        self.name = name
        self._given = (list(releases_in(first)), list(releases_in(second)))
        if not all(self._given):
            raise ArgumentError("there are no samples of one of the secrets")
        self._used = [0, 0]
        self._first: Any = None
        self._drawn = False
        self.block = 1 << 14
        self.note = "The samples were drawn beforehand: that each is independent of those before it is taken on trust."

    @property
    def size(self) -> int:
        """How many there are of both."""
        return len(self._given[0]) + len(self._given[1])

    def draw(self, pair: tuple[Any, Any], labels: Booleans) -> Batch:
        """The next ones of each, in the order of the labels, until one of the two has run out.

        The pair of the first call says which secret the first samples are of; a later call may have it swapped.
        """
        if not self._drawn:
            self._first, self._drawn = pair[0], True
        swapped = pair[0] is not self._first
        releases: list[Any] = []
        for label in labels.tolist():
            side = int(label == swapped)  # 0: the first samples
            if self._used[side] == len(self._given[side]):
                return Batch(releases, exhausted=True)
            releases.append(self._given[side][self._used[side]])
            self._used[side] += 1
        return Batch(releases)


def read_samples(path: str | Path) -> list[Any]:
    """The releases in a file: .npy, or text with one release a line, as JSON, as a line of CSV, or as it stands.

    Raises:
        FileError: if there is no such file, or it cannot be read.
    """
    file = Path(path)
    if not file.is_file():
        raise FileError(f"there is no file {file}")
    try:
        if file.suffix == ".npy":
            table = np.load(file, allow_pickle=False)
            if table.ndim == 0:
                raise ValueError("it holds one value, and samples are an array with a row for each release")
            return table.tolist() if table.dtype.names is not None else list(table)
        with file.open(encoding="utf-8-sig", newline="") as text:
            if file.suffix == ".csv":
                return [_cells(row) for row in csv.reader(text, strict=True) if row]
            return [read_release(line) for line in lines_of(text.read())]
    except (OSError, ValueError, csv.Error) as error:
        raise FileError(f"{file} cannot be read: {error}") from None


def lines_of(text: str) -> list[str]:
    r"""The lines of a text, which end with a line feed and nothing else: other signs belong to a release.

    >>> lines_of("a\x0bb\r\n\nc")
    ['a\x0bb', '', 'c']
    """
    lines = text.split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


class WrittenNumber(float):
    """A number that was written in another way than Python writes it, such as 2.50: how it was written may tell much.

    Attributes:
        text: what was written.

    >>> number = read_release("2.50")
    >>> number == 2.5, number.text
    (True, '2.50')
    """

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """The number that a text is."""
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __repr__(self) -> str:
        return f"WrittenNumber({self.text!r})"


def read_release(line: str) -> Any:
    """A line as JSON, or as the text it is; lists become tuples.

    >>> read_release("[1, 2.5]"), read_release("north"), read_release("2.50")
    ((1, 2.5), 'north', WrittenNumber('2.50'))
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    if isinstance(value, float) or (type(value) is int and abs(value) <= _EXACT):
        return value if json.dumps(value) == line else WrittenNumber(line)
    return tuple(value) if isinstance(value, list) else value


def _cells(row: list[str]) -> Any:
    cells = tuple(read_release(cell) for cell in row)
    return cells[0] if len(cells) == 1 else cells
