"""Entries of a ledger, each chained to the one before, and the receipts that prove one of them."""

from __future__ import annotations

import getpass
import hashlib
import json
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from metricdp.errors import ArgumentError, FileError, MetricDPError

__all__ = ["CREATED", "LedgerEntry", "Receipt", "What", "as_receipt", "as_written", "canonical", "digest", "head_after"]

CREATED, OPENED, CHARGED, ANSWERED = "created", "opened", "charged", "answered"
"""The kinds of entries."""

UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""What reading raises where something is not as a ledger writes it."""


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_PLAIN = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def canonical(value: Any) -> str:
    """A plain value as JSON, always the same text for the same value."""
    try:
        text = _CANONICAL.encode(value)
        text.encode()  # half a surrogate pair is no text that could be stored
    except (TypeError, ValueError, RecursionError):
        raise ArgumentError(
            "what a ledger keeps is made of text, numbers, lists and dicts with text for keys"
        ) from None
    return text


@contextmanager
def as_written(what: str) -> Iterator[None]:
    """Say that a ledger is damaged where something in it is not as a ledger writes it.

    Raises:
        FileError: what is read in the block cannot be.
    """
    try:
        yield
    except (MetricDPError, *UNREADABLE):
        raise FileError(
            f"the ledger is damaged: {what} is not as it was written. Nothing was charged; `metricdp ledger check` "
            "says more"
        ) from None


def digest(text: str | bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def head_after(previous: str, fields_: tuple[Any, ...]) -> str:
    """The head of the chain after one more entry: the digest of the head before it and of everything in the entry."""
    return digest(previous + _PLAIN.encode(fields_))


_WORDS = ("description", "mechanism", "purpose", "who", "versions")


@dataclass(frozen=True)
class What:
    """What a charge is for, as registries of deployments ask.

    Attributes:
        description: the question, or the table that was sanitized.
        mechanism: what draws the noise.
        purpose: what the answer is wanted for.
        who: whoever asks.
        versions: of the software; this one's own is always recorded.
    """

    description: str
    mechanism: str = ""
    purpose: str = ""
    who: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, what: str | What) -> What:
        """A text is the description."""
        if isinstance(what, str):
            return cls(what)
        if not isinstance(what, What):
            raise ArgumentError(f"say what a charge is for as text or as What, not {type(what).__name__}")
        return what

    def __post_init__(self) -> None:
        words = all(isinstance(getattr(self, name), str) for name in _WORDS[:-1])
        if not self.description or not words or not isinstance(self.versions, Mapping):
            raise ArgumentError("a charge says in words what it is for")

    def to_json(self) -> dict[str, Any]:
        """Plain values, without what is empty."""
        return {name: getattr(self, name) for name in _WORDS if getattr(self, name)}


@dataclass(frozen=True)
class LedgerEntry:
    """One line of a ledger.

    Attributes:
        sequence: its number; entries are in this order, whatever the clock says.
        account: the name of the account; empty for the first entry, which is the ledger's own.
        kind: "created", "opened", "charged" or "answered".
        at: when it was written, by the clock of the machine that wrote it, in UTC.
        key: the request key of a charge, if it has one.
        request: the digest that the key is bound to.
        charge: for an answer, the number of its charge.
        body: the rest, as plain values.
        head: the head of the chain after this entry.
    """

    sequence: int
    account: str
    kind: str
    at: str
    key: str | None
    request: str | None
    charge: int | None
    body: Mapping[str, Any]
    head: str

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Receipt:
    """Proof that a ledger held an entry: keep it outside of the ledger.

    Attributes:
        ledger: which ledger wrote it.
        sequence: the number of the entry.
        head: the head of the chain after it.
        account: whose entry it is.
        repeated: whether it was written for an earlier request with the same key, so that this one cost nothing.
    """

    ledger: str
    sequence: int
    head: str
    account: str = ""
    repeated: bool = field(default=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """Plain values, of which `from_json` makes it again."""
        return {"ledger": self.ledger, "sequence": self.sequence, "head": self.head, "account": self.account}

    @classmethod
    def from_json(cls, tree: Mapping[str, Any]) -> Receipt:
        """What `to_json` wrote."""
        try:
            return cls(str(tree["ledger"]), int(tree["sequence"]), str(tree["head"]), str(tree.get("account", "")))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ArgumentError("this is no receipt of a ledger") from None


def as_receipt(value: object) -> Receipt:
    """The value, refused where it is no receipt."""
    if not isinstance(value, Receipt):
        kind = type(value).__name__
        raise ArgumentError(f"a receipt is needed here, as charge gives it or Receipt.from_json reads it, not {kind}")
    return value


@lru_cache(1024)
def told(what: str) -> str:
    """What a charge is for, told in a few words, as its entry holds it."""
    return told_by(What.of(what))


def told_by(words: What) -> str:
    """What a charge is for, as its entry holds it."""
    return canonical({"who": _user()} | words.to_json() | {"versions": own_versions() | dict(words.versions)})


@lru_cache(1)
def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "unknown"


@lru_cache(1)
def own_versions() -> dict[str, str]:
    """The versions of what runs here."""
    import metricdp

    return {"metricdp": metricdp.__version__, "python": platform.python_version()}
