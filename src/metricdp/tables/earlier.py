"""Earlier releases that lie beside a new one: of the same table, they add up."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from metricdp.policies.policy import Policy
from metricdp.tables.report import Report

__all__ = ["earlier_releases"]

_MOST = 200


def earlier_releases(folder: Path, policy: Policy) -> list[Path]:
    """The Parquet and Arrow files of a folder that say of themselves that they were released under this policy.

    A file does not name its source, so that nobody can know whether it is of the same table. At most 200 files are
    looked at, and of each only its schema.
    """
    wanted = Report.of(policy).policy_sha256
    files = islice(sorted(path for path in folder.glob("*") if path.suffix in (".parquet", ".arrow")), _MOST)
    return [path for path in files if _policy_of(path) == wanted]


def _policy_of(path: Path) -> str | None:
    """Which policy a file says it was released under, with noise that was private; None where it says nothing."""
    with suppress(OSError, pa.ArrowException, ValueError, TypeError, AttributeError):
        schema = pq.read_schema(path) if path.suffix == ".parquet" else _arrow_schema(path)
        claim = json.loads((schema.metadata or {}).get(b"metricdp.report", b"{}"))
        return str(claim["policy_sha256"]) if claim.get("private") else None
    return None


def _arrow_schema(path: Path) -> pa.Schema:
    with pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
        return reader.schema
