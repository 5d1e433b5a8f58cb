"""Columns released where they stand: every value in its own row, charged before it is handed out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from metricdp.errors import ArgumentError, MissingExtraError, PolicyError
from metricdp.ledger import Ledger, What
from metricdp.ledger.charging import as_ledger, refuse_seeds, table_charge, which_account
from metricdp.metrics import Guarantee
from metricdp.policies.policy import Policy
from metricdp.sources.opening import open_table
from metricdp.tables.sanitizer import Sanitizer, declared_by
from metricdp.visible import visible_name

__all__ = ["InPlace", "PolicyLike", "required"]

PolicyLike = Policy | str | Path | Mapping[str, Any]


@dataclass(frozen=True)
class InPlace:
    """What a policy does to columns, row by row, with no row moved.

    A sanitized table whose order is secret is shuffled. Here rows stay where they are, so that values can stand beside
    others: whoever sees them sees the order of the rows too.

    Attributes:
        policy: what is done to each column.
        ledger: what is charged before anything is handed out; None where nothing is.
        account: of the ledger.
        who: releases, for the record.
    """

    policy: Policy
    ledger: Ledger | None = None
    account: str | None = None
    who: str = ""

    @classmethod
    def of(
        cls, policy: PolicyLike, ledger: Ledger | str | Path | None = None, account: str | None = None, who: str = ""
    ) -> InPlace:
        """Check the policy, and find the account.

        Raises:
            PolicyError: it requires a ledger and there is none; or it declares a person, or new keys.
            ArgumentError: there is an account and no ledger, or no such account.
        """
        rules = Policy.of(policy)
        if rules.person is not None:
            raise PolicyError(
                [f"line {rules.person.line}, person: who has how many rows is counted by sanitize alone; use that"]
            )
        return cls.by_key(rules, ledger, account, who)

    @classmethod
    def by_key(
        cls, policy: PolicyLike, ledger: Ledger | str | Path | None = None, account: str | None = None, who: str = ""
    ) -> InPlace:
        """The same, where whoever calls counts the values of each person."""
        rules = Policy.of(policy)
        rules.refuse_without_ledger(ledger is not None)
        if rules.rekeyed:
            raise PolicyError([f"column {name!r}: new keys are given by sanitize alone" for name in rules.rekeyed])
        alone = replace(rules, person=None)
        if ledger is None:
            if account is not None:
                raise ArgumentError("an account is one of a ledger: give the ledger too")
            return cls(alone, who=who)
        book = as_ledger(ledger)
        return cls(alone, book, which_account(account, book), who)

    def only(self, name: str) -> InPlace:
        """The same for one entry of the policy alone.

        Raises:
            ArgumentError: the policy has no such entry, or does not release it with noise.
        """
        noisy = {column.name: column for column in self.policy.columns if column.release == "noise"}
        if name not in noisy:
            names = ", ".join(map(visible_name, noisy)) or "none"
            raise ArgumentError(f"the policy releases no column {visible_name(name)!r} with noise; it does: {names}")
        return replace(self, policy=replace(self.policy, columns=(noisy[name],)))

    @property
    def price(self) -> Guarantee:
        """What one release of all rows costs: the policy's promise for a row, added up over all."""
        return table_charge(self.policy)

    def frame(self, frame: Any, what: str) -> Any:
        """A frame's columns released, as a frame of the same kind.

        Args:
            frame: of pandas, Polars or Arrow.
            what: is released, for the record.
        """
        with open_table(frame, declared_by(self.policy)) as opened:
            plan = Sanitizer.of(self.policy, opened.schema, opened.untyped)
            released = self.charged(plan, list(opened.batches(plan.needed)), self.price, what)
            return opened.like(released)

    def plan(self, frame: Any) -> Sanitizer:
        """What would be done to a frame; not a value of it is read.

        Raises:
            PolicyError: with every mismatch.
        """
        with open_table(frame, declared_by(self.policy)) as opened:
            return Sanitizer.of(self.policy, opened.schema, opened.untyped)

    def table(self, table: pa.Table, price: Guarantee, what: str) -> pa.Table:
        """An Arrow table's columns released, for a price of its own."""
        plan = Sanitizer.of(self.policy, table.schema)
        return self.charged(plan, table.to_batches(), price, what)

    def charged(self, plan: Sanitizer, batches: list[pa.RecordBatch], price: Guarantee, what: str) -> pa.Table:
        """Release batches: a refusal comes first and costs nothing, then the noise, then the charge."""
        if self.ledger is not None and self.account is not None:
            refuse_seeds()
            problem = self.ledger.refusal(self.account, price)
            if problem is not None:
                raise problem
        made, row = [], 0
        for batch in batches:
            made.append(plan.apply(batch, row))
            row += batch.num_rows
        released = pa.Table.from_batches(made, plan.schema_out)
        if self.ledger is not None and self.account is not None and row:
            self.ledger.charge(self.account, price, What(what, mechanism=self._mechanisms, who=self.who))
        return released

    @property
    def _mechanisms(self) -> str:
        return ", ".join(dict.fromkeys(one.mechanism.name for one in self.policy.columns if one.mechanism is not None))


def required(module: str, library: str, extra: str) -> Any:
    """An optional library, imported.

    Raises:
        MissingExtraError: it is not installed; says how to install it.

    >>> required("json", "json", "tables").__name__
    'json'
    >>> required("no_such_module", "nothing", "tables")
    Traceback (most recent call last):
    metricdp.errors.MissingExtraError: nothing is not installed; run: pip install 'metricdp[tables]'
    """
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(library, extra) from None
