"""The tables of a ledger, the same in every engine, and how an older one becomes a newer one."""

from __future__ import annotations

__all__ = ["STEPS", "VERSION"]

STEPS: list[tuple[str, ...]] = [
    (
        "create table ledger (id text not null, version integer not null)",
        "create table ledger_metrics (digest text primary key, written text not null)",
        """create table ledger_accounts (
            number integer primary key, name text not null unique, parent integer, body text not null,
            totals text not null
        )""",
        """create table ledger_entries (
            sequence bigint primary key, account integer not null, kind text not null, at text not null, key text,
            request text, charge bigint, body text not null, head text not null
        )""",
        "create index ledger_entries_account on ledger_entries (account, sequence)",
        "create unique index ledger_entries_key on ledger_entries (account, key) where key is not null",
        "create unique index ledger_entries_answer on ledger_entries (charge) where charge is not null",
    ),
    ("create table ledger_secret (value text not null)",),
]
"""For each version, the statements that lead to it from the version before. Add to the end; never change one."""

VERSION = len(STEPS)
"""The version that this program writes."""
