"""Entries, read in order and in pieces, so that a long history needs no memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from metricdp.ledger.entries import LedgerEntry, as_written
from metricdp.ledger.stores.store import Run, Store

__all__ = ["COLUMNS", "read_entries", "read_rows"]

COLUMNS = "sequence, account, kind, at, key, request, charge, body, head"
_CHUNK = 10_000


def read_rows(
    run: Run, account: int | None = None, after: int = 0, most: int | None = None
) -> Iterator[tuple[Any, ...]]:
    """Rows of entries as they are stored."""
    where = "" if account is None else "account = :account and "
    left = most
    while left is None or left > 0:
        size = _CHUNK if left is None else min(_CHUNK, left)
        values = {"after": after, "size": size} | ({} if account is None else {"account": account})
        rows = run(
            f"select {COLUMNS} from ledger_entries where {where}sequence > :after order by sequence limit :size", values
        )
        yield from rows
        if len(rows) < size:
            return
        after = rows[-1][0]
        left = None if left is None else left - len(rows)


def read_entries(
    store: Store, names: Callable[[Run], Mapping[int, str]], account: int | None, after: int, most: int | None
) -> Iterator[LedgerEntry]:
    """The entries of an account, or of all."""
    with store.reading() as run:
        known = names(run)
        for sequence, number, kind, at, key, request, charge, body, head in read_rows(run, account, after, most):
            name = known.get(number, "")
            with as_written(f"entry {sequence}"):
                told = dict(json.loads(body).items())
            yield LedgerEntry(sequence, name, kind, at, key, request, charge, told, head)
