"""Points as they stand in a CSV or GeoJSON file: a name, coordinates and a weight in each, found by the header."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.options.geojson import ENDINGS, geojson_cells
from metricdp.cli.options.streams import existing_file
from metricdp.errors import ArgumentError, DataError, FileError
from metricdp.visible import visible_name

if TYPE_CHECKING:
    from metricdp.adversaries import Prior
    from metricdp.metrics import Metric, Space

__all__ = [
    "AtOption",
    "MetricOption",
    "NameOption",
    "Points",
    "PointsArgument",
    "read_points",
    "read_space",
]

PointsArgument = Annotated[
    Path,
    typer.Argument(
        metavar="POINTS",
        callback=existing_file,
        help="The points: a .csv file with names, coordinates, weights, or a .geojson file; - for CSV from the "
        "standard input.",
    ),
]
MetricOption = Annotated[
    str,
    typer.Option(
        "--metric",
        "-m",
        metavar="METRIC",
        help="How far apart two points are: a level and a name, as in `'ln 2/200 great_circle'`; a .toml file with a "
        "metric; a .csv file of distances.",
    ),
]
NameOption = Annotated[
    str | None, typer.Option("--name", metavar="COLUMN", help="The column of names, where its own name does not tell.")
]
AtOption = Annotated[
    str | None,
    typer.Option("--at", metavar="COLUMNS", help="The columns of coordinates, as in `--at easting,northing`."),
]

NAMES = ("name", "label", "place", "point", "id", "city", "town", "station", "district")
WEIGHTS = ("weight", "weights", "population", "probability", "prior", "visits", "count")
COORDINATES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (("lat", "latitude"), ("lon", "lng", "long", "longitude")),
    (("x",), ("y",), ("z",)),
    (("x",), ("y",)),
    (("row",), ("column",)),
    (("value",),),
    (("x",),),
)


@dataclass(frozen=True)
class Points:
    """The points of a file.

    Attributes:
        file: what it is called.
        header: the names of its columns.
        rows: its cells, below the header.
        where: for each point where it stands: "line 2", counted from 1 with the header, or "feature 1".
        name: the column of names; None where there is none.
        at: the columns of coordinates; none where points are their names.
    """

    file: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    where: tuple[str, ...]
    name: str | None
    at: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __post_init__(self) -> None:
        for what, labels in (("name", self._written_names), ("point", self.coordinates)):
            seen: dict[Any, int] = {}
            for row, label in enumerate(labels or ()):
                first = seen.setdefault(label, row)
                if first != row:
                    raise ArgumentError(f"{self.where[row]}: the same {what} as in {self.where[first]}")

    @cached_property
    def coordinates(self) -> tuple[Any, ...] | None:
        """Numbers, or tuples of them; None where there are no such columns."""
        if not self.at:
            return None
        columns = [[self._coordinate(row, column) for row in range(len(self))] for column in self.at]
        return tuple(columns[0]) if len(columns) == 1 else tuple(zip(*columns, strict=True))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What to call each point."""
        from metricdp.channels.cells import label_text

        written = self._written_names
        return tuple(map(label_text, self.coordinates or ())) if written is None else written

    @property
    def kinds(self) -> str:
        """Which columns say where the points are."""
        return ", ".join(map(visible_name, self.at or ((self.name,) if self.name else ())))

    @property
    def heading(self) -> str:
        """The file, how many points it has, and by which columns, as a person reads it."""
        return f"{visible_name(self.file)}: {len(self):,} points by {self.kinds}"

    def space(self, metric: Metric) -> Space:
        """The points with the metric: by their coordinates where it takes those, otherwise by their names.

        Raises:
            ArgumentError: a point that the metric does not take; names its line.
        """
        from metricdp.channels.cells import read_label
        from metricdp.metrics import Space

        written = self._written_names
        named = None if written is None else [read_label(name) for name in written]
        candidates = [points for points in (self.coordinates, named) if points is not None]
        wrong: ArgumentError | DataError | None = None
        for points in candidates:
            try:
                return Space(points, metric)
            except (ArgumentError, DataError) as error:
                wrong = wrong or error
        if not isinstance(wrong, DataError):
            raise ArgumentError(f"no points of {metric} ({self.kinds}): {wrong}") from None
        where = "" if wrong.row is None else f"{self.where[wrong.row]}: "
        raise ArgumentError(f"{where}no point of {metric} ({self.kinds}): {wrong.rule}") from None

    def prior(self, text: str | None, points: Sequence[Any]) -> tuple[Prior, str]:
        """The prior over the points of the space, and how to call it.

        It is "uniform", "weights" (the column of weights), or the name of a column. Without one, it is that of the
        weights where the file has them, and otherwise uniform.
        """
        from metricdp.adversaries import Prior

        if text is None and not self._weight_columns:
            text = "uniform"
        if text == "uniform":
            return Prior.uniform(points), "uniform"
        column = self._weight_column() if text is None or text == "weights" else _found(self.header, text, self.file)
        amounts = [self._number(row, column) for row in range(len(self))]
        for row, amount in enumerate(amounts):
            if amount < 0:
                raise ArgumentError(f"{self.where[row]}: a negative weight in column {column!r}")
        if not any(amounts):
            raise ArgumentError(f"all weights in column {column!r} are 0: a prior needs one that is positive")
        return Prior.proportional(points, amounts), f"by {column}"

    def index(self, name: str) -> int:
        """The place of a point by its name."""
        for place, known in enumerate(self.names):
            if known == name:
                return place
        raise ArgumentError(f"there is no point {name!r} in {self.file}; there is {', '.join(self.names[:5])} ...")

    # Cells

    @property
    def _written_names(self) -> tuple[str, ...] | None:
        if self.name is None:
            return None
        column = self.header.index(self.name)
        for row, cells in enumerate(self.rows):
            if not cells[column]:
                raise ArgumentError(f"{self.where[row]}: an empty name")
        return tuple(cells[column] for cells in self.rows)

    @property
    def _weight_columns(self) -> list[str]:
        return [column for column in self.header if column.lower() in WEIGHTS]

    def _weight_column(self) -> str:
        columns = self._weight_columns
        if len(columns) == 1:
            return columns[0]
        several = f"several columns of weights, {' and '.join(map(repr, columns))}" if columns else "no weights"
        raise ArgumentError(
            f"{self.file} has {several}: say which column, as in --prior {(columns or ['population'])[0]}"
        )

    def _coordinate(self, row: int, column: str) -> Any:
        from metricdp.channels.cells import read_label

        read = read_label(self.rows[row][self.header.index(column)])
        if isinstance(read, date):
            return read
        number = self._number(row, column)  # says what is wrong, if anything is
        if isinstance(read, (int, float, Fraction)):
            return read
        return int(number) if number.denominator == 1 else number

    def _number(self, row: int, column: str) -> Fraction:
        from metricdp.channels.cells import read_number

        cell = self.rows[row][self.header.index(column)]
        try:
            return read_number(cell)
        except (ArgumentError, DataError) as error:
            rule = error.rule if isinstance(error, DataError) else str(error)
            raise ArgumentError(f"{self.where[row]}: {rule}, in column {column!r}") from None


def read_points(path: Path, name: str | None = None, at: str | None = None) -> Points:
    """The points in a CSV file, whose first line names the columns, or of a GeoJSON file.

    Args:
        path: of the file.
        name: the column of names, where the header does not tell.
        at: the columns of coordinates, with commas between them; the same.

    Raises:
        ArgumentError: what is wrong, with its line.
    """
    try:
        header, rows, where = geojson_cells(path) if path.suffix.lower() in ENDINGS else _cells(path)
    except UnicodeDecodeError:
        raise FileError(f"{path.name} is not text in UTF-8") from None
    if at is not None:
        columns = tuple(_found(header, column.strip(), path.name) for column in at.split(","))
    else:
        columns = _coordinates(header)
    if name is not None:
        named: str | None = _found(header, name, path.name)
    else:
        spare = {column.lower(): column for column in reversed(header) if column not in columns}
        named = next((spare[known] for known in NAMES if known in spare), None)
    if not columns and named is None:
        raise ArgumentError(
            f"line 1: none of the columns {', '.join(header)} is known: call them lat and lon, x and y, value or name, "
            "or say which they are, as in --at easting,northing"
        )
    return Points(path.name, header, rows, where, named, columns)


def read_space(path: Path, metric: str, name: str | None = None, at: str | None = None) -> tuple[Points, Space]:
    """The points of a file, and their space; what is wrong with them is said in one line, and the command left."""
    from metricdp.cli.console import mistakes
    from metricdp.cli.options.metric import read_metric
    from metricdp.cli.options.streams import taken

    with mistakes(path), taken(path, ".csv") as place:
        points = read_points(place, name, at)
    with mistakes("--metric"):
        distance = read_metric(metric)
    with mistakes(path):
        return points, points.space(distance)


def _cells(path: Path) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The header, the cells below it, and the line in which each row begins."""
    rows: list[tuple[str, ...]] = []
    lines: list[int] = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        delimiter = _delimiter(file.readline())
        file.seek(0)
        reader = csv.reader(file, strict=True, delimiter=delimiter)
        begins = 1
        try:
            for row in reader:
                if any(cell.strip() for cell in row):
                    rows.append(tuple(cell.strip() for cell in row))
                    lines.append(begins)
                begins = reader.line_num + 1
        except csv.Error as error:
            raise ArgumentError(f"line {reader.line_num}: it cannot be read as CSV: {error}") from None
    if not rows:
        raise FileError(f"{path.name} is empty")
    from metricdp.channels.cells import is_number

    header, *below = rows
    if all(is_number(cell) for cell in header):
        raise ArgumentError("line 1: the first line names the columns, as in name,lat,lon,weight")
    for number, column in enumerate(header):
        if not column:
            raise ArgumentError(f"line 1: column {number + 1} has no name")
        if column in header[:number]:
            raise ArgumentError(f"line 1: the column {column!r} stands twice")
    if not below:
        raise ArgumentError(f"{path.name} has a header alone: below it, each line is a point")
    for cells, line in zip(below, lines[1:], strict=True):
        if len(cells) != len(header):
            raise ArgumentError(f"line {line}: {len(cells)} cells, where the header has {len(header)}")
    return header, tuple(below), tuple(f"line {line}" for line in lines[1:])


def _delimiter(header: str) -> str:
    """What stands between the cells: a comma, unless the first line has none and has semicolons or tabs."""
    return next((sign for sign in (",", ";", "\t") if sign in header), ",")


def _coordinates(header: tuple[str, ...]) -> tuple[str, ...]:
    """The columns that say where a point is; none where the header knows of none."""
    plain = {column.lower(): column for column in reversed(header)}
    found: list[tuple[str, ...]] = []
    for group in COORDINATES:
        columns = [next((plain[name] for name in names if name in plain), None) for names in group]
        known = tuple(column for column in columns if column is not None)
        if len(known) == len(group) and not any(set(known) <= set(other) for other in found):
            found.append(known)
    if len(found) > 1:
        several = " and ".join(f"({', '.join(columns)})" for columns in found)
        raise ArgumentError(
            f"line 1: {several} could both be the coordinates: say which, as in --at {','.join(found[0])}"
        )
    return found[0] if found else ()


def _found(header: tuple[str, ...], column: str, file: str) -> str:
    for known in header:
        if known == column:
            return known
    alike = [known for known in header if known.lower() == column.lower()]
    if len(alike) == 1:
        return alike[0]
    raise ArgumentError(f"{file} has no column {column!r}; it has {', '.join(header)}")
