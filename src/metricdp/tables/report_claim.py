"""The claim a sanitized file carries: read back, and held against what the file itself shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from metricdp.errors import InputError, KindError
from metricdp.tables.report import Report
from metricdp.tables.spark import REPORT_FILE

__all__ = ["Claim", "read_claim"]

_REPORT, _VERSION = b"metricdp.report", b"metricdp.version"


@dataclass(frozen=True)
class Claim:
    """What a file says of itself. Anybody can write anything there: a claim, not a proof.

    Attributes:
        report: the report in the file; None where there is none that can be read.
        version: of metricdp, as the file says.
        columns: of the file.
        rows: of the file.
        doubts: where the file and its claim do not fit together.
    """

    report: Report | None
    version: str | None
    columns: tuple[str, ...]
    rows: int | None
    doubts: tuple[str, ...]


@dataclass(frozen=True)
class _Part:
    schema: pa.Schema
    rows: int

    def stored(self, key: bytes) -> bytes | None:
        found: bytes | None = (self.schema.metadata or {}).get(key)
        return found


def read_claim(path: str | Path) -> Claim:
    """The claim of a Parquet or Arrow file, or of a folder of Parquet parts; a CSV file has none.

    Raises:
        InputError: the file cannot be read as what it is called.
        KindError: it is called something else.
    """
    found = Path(path)
    if found.suffix.lower() in (".csv", ".tsv"):
        return Claim(None, None, (), None, ())
    parts = list(_parts(found))
    rows, columns = sum(part.rows for part in parts), tuple(parts[0].schema.names)
    doubts = []
    if len({part.stored(_REPORT) for part in parts}) > 1:
        doubts.append("Its parts claim different things; this is the claim of the first.")
    version = parts[0].stored(_VERSION)
    stored, report = parts[0].stored(_REPORT), None
    stored = _beside(found) if stored is None else stored
    if stored is not None:
        try:
            report = Report.from_json(json.loads(stored))
        except (KindError, ValueError) as error:
            doubts.append(f"What it claims cannot be read: {error if isinstance(error, KindError) else 'no JSON'}.")
    if report is not None:
        doubts += _mismatches(report, columns, rows)
    return Claim(report, None if version is None else version.decode(errors="replace"), columns, rows, tuple(doubts))


def _parts(path: Path) -> Iterator[_Part]:
    suffix = path.suffix.lower()
    try:
        if path.is_dir():
            files = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")))
            if not files:
                raise KindError(f"{path.name} holds no Parquet parts")
            for file in files:
                yield _of_parquet(file)
        elif suffix in (".parquet", ".pq"):
            yield _of_parquet(path)
        elif suffix in (".arrow", ".ipc", ".feather"):
            yield _of_arrow(path)
        else:
            raise KindError(f"{path.name}: a .parquet, .arrow or .csv file, or a folder of Parquet parts, is wanted")
    except pa.ArrowException:
        raise InputError(f"{path.name} cannot be read: it is damaged, or something else") from None


def _beside(path: Path) -> bytes | None:
    """The report that lies beside the parts of a folder, which some engines cannot put into them."""
    file = path / REPORT_FILE
    return file.read_bytes() if path.is_dir() and file.is_file() else None


def _of_parquet(path: Path) -> _Part:
    with pa_parquet.ParquetFile(path) as file:
        return _Part(file.schema_arrow, file.metadata.num_rows)


def _of_arrow(path: Path) -> _Part:
    with pa.memory_map(str(path)) as memory, pa.ipc.open_file(memory) as file:
        return _Part(file.schema, sum(file.get_batch(number).num_rows for number in range(file.num_record_batches)))


def _mismatches(report: Report, columns: tuple[str, ...], rows: int) -> Iterator[str]:
    spoken: dict[str, Any] = dict.fromkeys(column for item in report.columns for column in item.columns)
    spoken |= dict.fromkeys(report.kept)
    if report.person is not None and report.person.release == "rekey" and report.person.column is not None:
        spoken[report.person.column] = None
    for problem, names in (
        ("The claim does not speak of these columns of the file", [name for name in columns if name not in spoken]),
        ("The claim speaks of columns that the file does not have", [name for name in spoken if name not in columns]),
    ):
        if names:
            yield f"{problem}: {', '.join(names)}."
    if report.rows is not None and report.rows != rows:
        yield f"The claim speaks of {report.rows:,} rows, and the file has {rows:,}."
