"""A ledger's history as CSV or JSON, with the fields that registries of deployments ask for."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError
from metricdp.ledger.accounts import Account
from metricdp.ledger.entries import LedgerEntry, canonical, digest
from metricdp.sources.whole_files import appearing

__all__ = ["FIELDS", "export_rows", "write_export"]

FIELDS = (
    "sequence",
    "kind",
    "when",
    "account",
    "dataset",
    "receiver",
    "unit_of_privacy",
    "guarantee",
    "metric",
    "metric_digest",
    "level",
    "delta",
    "mechanism",
    "description",
    "purpose",
    "who",
    "versions",
    "request_key",
    "answers_entry",
    "answer_digest",
    "clock",
    "head",
)
"""The columns of an export."""


def export_rows(entries: Iterable[LedgerEntry], accounts: Mapping[str, Account]) -> Iterator[dict[str, Any]]:
    """One flat row for each entry. An answer itself stays in the ledger: a registry gets its digest."""
    for entry in entries:
        body, account = entry.body, accounts.get(entry.account)
        what = body.get("what", {})
        promise = body.get("guarantee") or body.get("cap") or {}
        row = {
            "sequence": entry.sequence,
            "kind": entry.kind,
            "when": entry.at,
            "account": entry.account,
            "dataset": account.dataset if account else "",
            "receiver": account.receiver if account else "",
            "unit_of_privacy": account.privacy_unit if account else "",
            "guarantee": promise.get("formula", ""),
            "metric": promise.get("metric", ""),
            "metric_digest": promise.get("unit", ""),
            "level": promise.get("level", ""),
            "delta": promise.get("delta", ""),
            "mechanism": what.get("mechanism", ""),
            "description": what.get("description", ""),
            "purpose": what.get("purpose", ""),
            "who": what.get("who", ""),
            "versions": what.get("versions", body.get("versions", {})),
            "request_key": entry.key or "",
            "answers_entry": entry.charge or "",
            "answer_digest": digest(canonical(body["answer"])) if entry.kind == "answered" else "",
            "clock": body.get("clock", ""),
            "head": entry.head,
        }
        yield row


def write_export(path: Path, rows: Iterable[Mapping[str, Any]], *, overwrite: bool = False) -> None:
    """Write rows to a .csv or .json file, whole or not at all."""
    if path.suffix.lower() not in (".csv", ".json"):
        raise ArgumentError(f"{path.name} ends in neither .csv nor .json")
    with appearing(path, overwrite) as temporary:
        if path.suffix.lower() == ".csv":
            _write_csv(temporary, rows)
        else:
            _write_json(temporary, rows)


def _write_csv(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        for row in rows:
            versions = "; ".join(f"{name} {version}" for name, version in row["versions"].items())
            writer.writerow({**row, "versions": versions})


def _write_json(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        before = "[\n"
        for row in rows:
            file.write(before + json.dumps(row, ensure_ascii=False))
            before = ",\n"
        file.write("\n]\n" if before != "[\n" else "[]\n")
