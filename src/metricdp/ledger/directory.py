"""What never changes once it is written, and is therefore remembered: accounts and metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from metricdp.errors import ArgumentError, FileError
from metricdp.ledger.accounts import Account
from metricdp.ledger.entries import as_written
from metricdp.visible import visible_name

if TYPE_CHECKING:
    from metricdp.ledger.stores.store import Run
    from metricdp.metrics import Metric

__all__ = ["BELOW", "Directory", "some_of"]

LONGEST_NAME = 200
"""Characters of an account's name, and of a request key."""

_MOST_NAMES = 20

_SELECT = (  # an account's first entry is the one that opened it, and an index finds it
    "select a.body, (select min(e.sequence) from ledger_entries e where e.account = a.number) from ledger_accounts a"
)

BELOW = (
    "with recursive below(number) as (select cast(:account as integer) union "
    "select a.number from ledger_accounts a join below b on a.parent = b.number) select number from below"
)
"""The numbers of an account and of all whose charges go to it as well."""


class Directory:
    """Accounts and metrics, each read when it is asked for: a ledger may have a hundred thousand of them."""

    def __init__(self) -> None:
        self.accounts: dict[str, Account] = {}
        self.units: dict[str, Metric] = {}
        self.stored: set[str] = set()

    def unit(self, run: Run) -> Callable[[str], Metric]:
        """A function that finds the metric of a digest."""
        from metricdp.metrics import Metric

        def find(name: str) -> Metric:
            if name not in self.units:
                found = run("select written from ledger_metrics where digest = :digest", {"digest": name})
                with as_written(f"the metric {name[:8]}"):
                    self.units[name] = Metric.from_toml(found[0][0])
                self.stored.add(name)
            return self.units[name]

        return find

    def every_account(self, run: Run) -> tuple[Account, ...]:
        """All accounts, in the order in which they were opened."""
        return tuple(self._read(run, body, opened) for body, opened in run(f"{_SELECT} order by a.number", {}))

    def find(self, run: Run, name: str) -> Account | None:
        """The account of a name, if there is one."""
        if not isinstance(name, str):
            raise ArgumentError(f"the name of an account is text, not {type(name).__name__}")
        if name not in self.accounts and can_be_stored(name):
            for body, opened in run(f"{_SELECT} where a.name = :name", {"name": name}):
                self._read(run, body, opened)
        return self.accounts.get(name)

    def account(self, run: Run, name: str) -> Account:
        """The account of a name."""
        found = self.find(run, name)
        if found is None:
            names = [one for (one,) in run("select name from ledger_accounts order by name", {})]
            raise ArgumentError(f"there is no account {name!r}; there are: {some_of(names)}")
        return found

    def numbered(self, run: Run, number: int) -> Account:
        """The account of a number."""
        found = run("select name from ledger_accounts where number = :number", {"number": number})
        with as_written(f"account {number}"):
            name = found[0][0]
        return self.account(run, name)

    def line(self, run: Run, name: str) -> list[Account]:
        """An account, its parent, and so on."""
        line = {name: self.account(run, name)}
        above = line[name].parent
        while above is not None:
            if above in line:
                raise FileError(
                    f"the ledger is damaged: account {above!r} is above itself. Nothing was charged; `metricdp ledger "
                    "check` says more"
                )
            line[above] = self.account(run, above)
            above = line[above].parent
        return list(line.values())

    def _read(self, run: Run, body: str, opened: int) -> Account:
        with as_written("an account"):
            account = Account.from_body(body, opened, self.unit(run))
        return self.accounts.setdefault(account.name, account)


def can_be_stored(text: str) -> bool:
    """Whether every database can hold it: no half of a surrogate pair, and no character 0."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def is_name(name: object) -> bool:
    """Whether it is a text of some length that every database can hold."""
    return isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and can_be_stored(name)


def some_of(names: Iterable[str]) -> str:
    """Names for an error: the first of them, however many there are."""
    every = sorted(names)
    more = f" and {len(every) - _MOST_NAMES:,} more" if len(every) > _MOST_NAMES else ""
    return (", ".join(map(visible_name, every[:_MOST_NAMES])) or "none") + more
