"""Samples that somebody else has drawn, as a box."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Batch, Box
from metricdp.errors import ArgumentError, FileError
from metricdp.exact.arrays import Booleans

__all__ = ["Samples", "read_release", "read_samples"]


class Samples(Box):
    """Releases that were drawn before: those of one secret, and those of the other."""

    def __init__(self, first: Any, second: Any, name: str = "samples") -> None:
        self.name = name
        self._given = (list(first), list(second))
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
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        if file.suffix == ".csv":
            return [_cells(row) for row in csv.reader(lines)]
    except (OSError, ValueError, csv.Error) as error:
        raise FileError(f"{file} cannot be read: {error}") from None
    return [read_release(line) for line in lines]


def read_release(line: str) -> Any:
    """A line as JSON, or as the text it is; lists become tuples.

    >>> read_release("[1, 2.5]"), read_release("north")
    ((1, 2.5), 'north')
    """
    try:
        value = json.loads(line)
    except ValueError:
        return line.strip()
    return tuple(value) if isinstance(value, list) else value


def _cells(row: list[str]) -> Any:
    cells = tuple(read_release(cell) for cell in row)
    return cells[0] if len(cells) == 1 else cells
