"""A sanitized table that is charged to a ledger: checked, charged, made, put on record, and only then handed out."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from metricdp.errors import ArgumentError
from metricdp.ledger.charging import as_ledger, refuse_seeds, table_charge, which_account
from metricdp.ledger.entries import Receipt, What, digest
from metricdp.ledger.ledger import Ledger
from metricdp.metrics import Guarantee
from metricdp.policies.policy import Policy
from metricdp.sources.digests import digest as file_digest
from metricdp.sources.file_kinds import STANDARD
from metricdp.sources.table import OpenTable
from metricdp.sources.whole_files import appearing
from metricdp.tables.engines.local import LocalRun
from metricdp.tables.release import Release
from metricdp.tables.sanitizer import Sanitizer

__all__ = ["Debit", "charged", "charged_on_spark"]

Progress = Callable[[int, int | None], object]


@dataclass(frozen=True)
class Debit:
    """A charge that is about to be made.

    Attributes:
        ledger: where.
        account: its name.
        guarantee: what it costs.
        what: it is for.
        policy: the digest of the policy's text, which the key is bound to.
        key: of the request, if it has one.
    """

    ledger: Ledger
    account: str
    guarantee: Guarantee
    what: What
    policy: str
    key: str | None

    @classmethod
    def of(
        cls, ledger: Any, account: str | None, policy: Policy, source: str | None, key: str | None, by: str | None
    ) -> Debit:
        """The charge for a sanitized table; an unknown account is refused before anything is read."""
        refuse_seeds()
        found = as_ledger(ledger)
        mechanisms = dict.fromkeys(
            type(column.mechanism).__name__ for column in policy.columns if column.mechanism is not None
        )
        what = What(
            f"sanitized table of {source or 'a table in memory'}",
            mechanism=", ".join(mechanisms),
            who=by or "",
            versions={"policy": digest(policy.text)},
        )
        return cls(found, which_account(account, found), table_charge(policy), what, digest(policy.text), key)

    def charge(self) -> Receipt:
        """Charge; refused where the key has its result already, which is a file that was handed out."""
        request = {"sanitize": self.policy, "of": self.what.description}
        receipt = self.ledger.charge(self.account, self.guarantee, self.what, key=self.key, request=request)
        if receipt.repeated and self.ledger.answer_of(receipt) is not None:
            raise self.has_its_result()
        return receipt

    def put_on_record(self, receipt: Receipt, sha256: str | None, private: bool) -> None:
        """Store the digest of the result; it may leave when this returns."""
        if self.ledger.answer(receipt, {"sha256": sha256, "private": private}).repeated:
            raise self.has_its_result()  # another run under the same key was first: of two for one charge, one leaves

    def has_its_result(self) -> ArgumentError:
        """What a second table for one charge is refused with."""
        return ArgumentError(
            f"the request {self.key!r} has its result already, and a table is made once: use it, or a new key"
        )


def charged(
    opened: OpenTable,
    plan: Sanitizer,
    target: Path | None,
    debit: Debit,
    *,
    by: str | None,
    overwrite: bool,
    progress: Progress | None,
) -> Release[Any]:
    """Check the whole table, charge, make the result, put its digest on record, and hand it out."""
    if target is None:
        return _made(opened, plan, None, debit, by, progress, lambda release: _digest_of_table(release.table))
    if str(target) == STANDARD:
        raise ArgumentError(
            "what is charged goes to a file, which appears when it is on record; not to standard output"
        )
    with appearing(target, overwrite) as temporary:
        release = _made(opened, plan, temporary, debit, by, progress, lambda _: file_digest(temporary))
    return Release(release.report, None, target)


def _made(
    opened: OpenTable,
    plan: Sanitizer,
    target: Path | None,
    debit: Debit,
    by: str | None,
    progress: Progress | None,
    digested: Callable[[Release[Any]], str | None],
) -> Release[Any]:
    with LocalRun(opened, plan, target, by, twice=True) as run:
        run.check(progress)
        receipt = debit.charge()
        release = run.release(True, progress)
    debit.put_on_record(receipt, digested(release), release.report.private)
    return release


def charged_on_spark(
    opened: OpenTable, plan: Sanitizer, target: Path | None, debit: Debit, *, overwrite: bool
) -> Release[Any]:
    """The same on Spark: checked by its workers, charged and put on record by this process."""
    from metricdp.tables.engines.spark import sanitize_with_spark

    receipts: list[Receipt] = []

    def put_on_record(private: bool, folder: Path | None) -> None:
        debit.put_on_record(receipts[0], None if folder is None else _digest_of_folder(folder), private)

    return sanitize_with_spark(
        opened,
        plan,
        target,
        overwrite=overwrite,
        check_first=True,
        charge=lambda: receipts.append(debit.charge()),
        put_on_record=put_on_record,
    )


def _digest_of_folder(folder: Path) -> str:
    """Of the names of its files and the digests of each, in the order of their names."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return digest("".join(f"{path.relative_to(folder).as_posix()} {file_digest(path)}\n" for path in files))


def _digest_of_table(table: Any) -> str | None:
    """Of an Arrow table, the digest of its columns; a frame of another kind has no form of its own to digest."""
    if not isinstance(table, pa.Table):
        return None
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return hashlib.sha256(sink.getvalue()).hexdigest()
