"""The claim a sanitized file carries: read back, and compared with the file itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError, KindError
from metricdp.sources.carried_claims import read_carried
from metricdp.sources.digests import digest
from metricdp.tables.report.report import Report

__all__ = ["Claim", "read_claim"]


@dataclass(frozen=True)
class Claim:
    """What a file says of itself. Anybody can write anything there: a claim, not a proof.

    Attributes:
        report: the report in the file; None where there is none that can be read.
        version: of metricdp, as the file says.
        columns: of the file.
        rows: of the file.
        doubts: where the file and its claim do not fit together.
        compared: what of the file was compared with the claim.
        sha256: of the file; of a folder, that of the names and digests of its files in order.
    """

    report: Report | None
    version: str | None
    columns: tuple[str, ...]
    rows: int | None
    doubts: tuple[str, ...]
    compared: tuple[str, ...] = ()
    sha256: str | None = None


def read_claim(path: str | Path, against: str | Path | None = None) -> Claim:
    """The claim of a Parquet or Arrow file, or of a folder of Parquet parts; of a CSV file only from its report.

    Args:
        path: of the file or folder.
        against: a report of its release as JSON, which is compared with the file in place of the claim it carries.

    Raises:
        FileError: the file cannot be read as what it is called.
        ArgumentError: it is called something else, or ``against`` is no report.
    """
    found = Path(path)
    carried = read_carried(found)
    rows, columns = carried.rows, tuple(carried.schema.names)
    doubts = []
    if carried.differ:
        doubts.append("Its parts claim different things; this is the claim of the first.")
    version = carried.version
    report = _read_report(Path(against)) if against is not None else None
    if report is None and carried.claim is not None:
        try:
            report = Report.from_json(json.loads(carried.claim))
        except (KindError, ValueError) as error:
            doubts.append(f"What it claims cannot be read: {error if isinstance(error, KindError) else 'no JSON'}.")
    sha256, compared = digest(found), ["the names of its columns"]
    if report is not None:
        doubts += _mismatches(report, columns, rows)
        if report.rows is not None:
            compared.append("the number of rows")
        if report.origin is not None and report.origin.output_sha256 is not None:
            compared.append("its SHA-256")
            if sha256 != report.origin.output_sha256:
                doubts.append("The SHA-256 of the file is not that of the report: it is another file, or was changed.")
    seen = None if version is None else version.decode(errors="replace")
    return Claim(report, seen, columns, rows, tuple(doubts), tuple(compared) if report is not None else (), sha256)


def _read_report(path: Path) -> Report:
    """The report in a JSON file, alone or in the envelope of a command."""
    try:
        tree = json.loads(path.read_bytes())
    except (ValueError, OSError):
        raise ArgumentError(f"{path.name} is no report: it is not JSON that can be read") from None
    if isinstance(tree, dict) and "result" in tree and "command" in tree:
        tree = tree["result"]
    try:
        return Report.from_json(tree)
    except KindError as error:
        raise ArgumentError(f"{path.name} is no report: {error}") from None


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
