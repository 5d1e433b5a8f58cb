"""What a sanitized file carries besides its rows: a claim, as text, put there by whoever released it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pa_parquet

from metricdp.errors import ArgumentError, DelimiterError, FileError
from metricdp.sources.dialect import Dialect
from metricdp.sources.file_kinds import kind_of_file
from metricdp.sources.opening import count_rows, open_table
from metricdp.sources.table import Declared

__all__ = ["CLAIM_FILE", "CarriedClaim", "claim_in_schema", "read_carried"]

CLAIM_FILE = "_metricdp.json"
"""Beside the parts of a released folder; Spark and pyarrow pass over names that begin with an underscore."""

_CLAIM, _VERSION = b"metricdp.report", b"metricdp.version"


@dataclass(frozen=True)
class CarriedClaim:
    """The columns and rows of a file, and the claim in it. Anybody can write anything there.

    Attributes:
        schema: of the file, or of the first part of a folder.
        rows: how many there are.
        claim: the claim as JSON text; None where there is none.
        version: of metricdp, as the file says.
        others: what other parts of a folder claim, where that is something else; None for those without a claim.
    """

    schema: pa.Schema
    rows: int
    claim: bytes | None
    version: bytes | None
    others: tuple[bytes | None, ...] = ()

    @property
    def differ(self) -> bool:
        """Whether the parts of a folder claim different things."""
        return bool(self.others)


def read_carried(path: Path) -> CarriedClaim:
    """What a Parquet or Arrow file, a folder of Parquet parts, or a CSV file carries; the last carries no claim.

    Raises:
        FileError: the file cannot be read as what it is called.
        ArgumentError: it is called something else.
    """
    parts = list(_parts(path))
    first = parts[0]
    claim = _beside(path) if first.claim is None else first.claim
    others = dict.fromkeys(part.claim for part in parts if part.claim != first.claim)
    return CarriedClaim(first.schema, sum(part.rows for part in parts), claim, first.version, tuple(others))


def claim_in_schema(schema: pa.Schema) -> bytes | None:
    """The claim in the metadata of a table in memory; None where there is none."""
    found: bytes | None = (schema.metadata or {}).get(_CLAIM)
    return found


def _carried(schema: pa.Schema, rows: int) -> CarriedClaim:
    return CarriedClaim(schema, rows, claim_in_schema(schema), (schema.metadata or {}).get(_VERSION))


def _parts(path: Path) -> Iterator[CarriedClaim]:
    suffix = path.suffix.lower()
    try:
        if path.is_dir():
            files = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")))
            if not files:
                raise FileError(f"{path.name} holds no Parquet parts")
            for file in files:
                yield _of_parquet(file)
        elif suffix in (".parquet", ".pq"):
            yield _of_parquet(path)
        elif suffix in (".arrow", ".ipc", ".feather"):
            yield _of_arrow(path)
        elif kind_of_file(path) in (".csv", ".tsv", ".csv.gz", ".tsv.gz"):
            yield _of_csv(path)
        else:
            raise ArgumentError(f"{path.name} is no .parquet, .arrow or .csv file, and no folder of Parquet parts")
    except pa.ArrowException:
        raise FileError(f"{path.name} cannot be read: it is damaged, or something else") from None


def _beside(path: Path) -> bytes | None:
    """The report that lies beside the parts of a folder, which some engines cannot put into them."""
    file = path / CLAIM_FILE
    return file.read_bytes() if path.is_dir() and file.is_file() else None


def _of_parquet(path: Path) -> CarriedClaim:
    with pa_parquet.ParquetFile(path) as file:
        return _carried(file.schema_arrow, file.metadata.num_rows)


def _of_csv(path: Path, delimiter: str | None = None) -> CarriedClaim:
    declared = Declared(dialect=Dialect(delimiter))
    try:
        with open_table(path, declared) as table:
            return _carried(table.schema, count_rows(path, declared))
    except DelimiterError as error:  # the first line tells which it is
        return _of_csv(path, error.delimiter)


def _of_arrow(path: Path) -> CarriedClaim:
    with pa.memory_map(str(path)) as memory, pa.ipc.open_file(memory) as file:
        return _carried(file.schema, sum(file.get_batch(number).num_rows for number in range(file.num_record_batches)))
