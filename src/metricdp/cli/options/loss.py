"""A loss as it is written on a command line: ``distance``, ``bin``, or a .csv file."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError, DataError, FileError, MetricDPError

if TYPE_CHECKING:
    from metricdp.adversaries import Loss
    from metricdp.cli.options.points import Points
    from metricdp.metrics import Space

__all__ = ["read_loss"]


def read_loss(text: str, points: Points, space: Space) -> tuple[str | Loss, str]:
    """The loss that was meant, and how to call it: "distance", "bin", or a .csv file laid out as a channel.

    In a file each row is a point (by its name or as the channel has it) and each column an output.
    """
    from metricdp.adversaries import Loss
    from metricdp.channels.cells import read_number
    from metricdp.channels.serialize import read_table
    from metricdp.errors import ColumnError
    from metricdp.sources.channel_files import read_csv

    if text in ("distance", "bin"):
        return text, text
    path = Path(text)
    if path.suffix.lower() != ".csv":
        raise ArgumentError(f"{text!r} is no loss: write distance, bin, or the name of a .csv file")
    if not path.is_file():
        raise FileError(f"there is no file {text}")

    def entry(cell: str, column: Any, row: int) -> Fraction:
        try:
            return read_number(cell, row)
        except DataError as error:
            raise ColumnError(str(column), error) from None

    try:
        table = read_csv(path)
        secrets, outputs, cells = read_table(table, "output", "a loss")
        numbers = [
            [entry(cell, column, row) for column, cell in zip(outputs, line, strict=True)]
            for row, line in enumerate(cells)
        ]
        if _is_plain(table):  # without labels: rows are the points in their order
            if len(secrets) != len(space):
                raise ArgumentError(f"{len(secrets)} rows for {len(space)} points")
            secrets = list(space.points)
            outputs = secrets if len(outputs) == len(space) else outputs
        known = {**dict(zip(points.names, space.points, strict=True)), **{point: point for point in space.points}}
        rows = [known.get(label, label) for label in secrets]
        releases = [known.get(label, label) for label in outputs]
        missing = [name for name, point in zip(points.names, space.points, strict=True) if point not in rows]
        if missing:
            raise ArgumentError(f"there is no row for the point {missing[0]!r}")
        transposed = [list(column) for column in zip(*numbers, strict=True)]
        return Loss.from_matrix(releases, rows, transposed, path.name).over(space.points), path.name
    except UnicodeDecodeError:
        raise FileError(f"{text} is not text in UTF-8") from None
    except MetricDPError as error:
        raise ArgumentError(f"{text}: {error}") from None


def _is_plain(table: list[list[str]]) -> bool:
    corner = next(row[0].strip() for row in table if any(cell.strip() for cell in row))
    return corner != "" and not corner.lower().startswith("input")
