"""What a service offers: one TOML file."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

from metricdp.errors import ArgumentError, FileError, MetricDPError
from metricdp.mechanisms.mechanism import Mechanism
from metricdp.mechanisms.registry import named_mechanism
from metricdp.metrics import Guarantee
from metricdp.metrics.reading import metric_in_words
from metricdp.policies.policy import Policy

__all__ = ["OfferedMechanism", "OfferedTable", "Settings"]

_FORMAT = 1


@dataclass(frozen=True)
class OfferedMechanism:
    """A mechanism that ``POST /release`` knows by name.

    Attributes:
        name: of the mechanism.
        mechanism: that releases.
        cap: how much may be told about one subject, all releases together.
    """

    name: str
    mechanism: Mechanism
    cap: Guarantee


@dataclass(frozen=True)
class OfferedTable:
    """A table that ``POST /ask`` knows by name.

    Attributes:
        name: of the table.
        source: its file, or the address of a table in a database.
        policy: what may be asked of it.
    """

    name: str
    source: str
    policy: Policy


@dataclass(frozen=True)
class Settings:
    """What a service offers, and its limits.

    Attributes:
        ledger: the address of the ledger that everything is charged to.
        tokens: the file of those who may ask.
        mechanisms: by name.
        tables: by name.
        quantum: seconds; a release leaves at the next multiple of it after its request came.
        requests_per_second: how many requests a token may make, on average.
        largest_request: bytes.
        slowest_request: seconds in which the whole of a request has to arrive.
        most_secrets: in one release.
        largest_upload: bytes of a table that is sanitized.
        slowest_upload: seconds in which the whole of it has to arrive.
        most_jobs: tables that may be under way, or wait to be fetched, at a time.
        most_jobs_of_one: the same of one token.
        results_kept: seconds that a sanitized table waits to be fetched.

    >>> settings = Settings.parse('''
    ... format = 1
    ... ledger = "spent.db"
    ... tokens = "tokens.json"
    ... [mechanisms.place]
    ... metric = "ln 2/200 great_circle"
    ... releases = 10
    ... ''')
    >>> print(settings.mechanisms["place"].cap)
    ln 2/20·great-circle(m)-private
    """

    ledger: str
    tokens: Path
    mechanisms: Mapping[str, OfferedMechanism] = field(default_factory=dict)
    tables: Mapping[str, OfferedTable] = field(default_factory=dict)
    quantum: float = 0.02
    requests_per_second: float = 100.0
    largest_request: int = 1_000_000
    slowest_request: float = 10.0
    most_secrets: int = 10_000
    largest_upload: int = 1_000_000_000
    slowest_upload: float = 600.0
    most_jobs: int = 4
    most_jobs_of_one: int = 2
    results_kept: float = 3600.0

    @classmethod
    def load(cls, path: str | Path) -> Settings:
        """From a file; the paths in it are taken from where it stands.

        Raises:
            FileError: it cannot be read.
            ArgumentError: it has a mistake.
        """
        file = Path(path)
        try:
            text = file.read_text(encoding="utf-8")
        except OSError as error:
            raise FileError(f"{file.name} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise FileError(f"{file.name} is no UTF-8 text") from None
        return cls.parse(text, file.absolute().parent)

    @classmethod
    def parse(cls, text: str, folder: Path | None = None) -> Settings:
        """From the text of such a file."""
        try:
            tree = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ArgumentError(f"the settings are no TOML: {error}") from None
        known = {one.name for one in fields(cls)} | {"format"}
        unknown = sorted(set(tree) - known)
        if unknown:
            raise ArgumentError(f"there is no setting {unknown[0]!r}; there are: {', '.join(sorted(known))}")
        if tree.pop("format", None) != _FORMAT:
            raise ArgumentError(f"the settings say format = {_FORMAT} at their top")
        missing = [name for name in ("ledger", "tokens") if not isinstance(tree.get(name), str)]
        if missing:
            raise ArgumentError(f"the settings name {missing[0]} = a path")
        base = folder or Path()
        address = tree.pop("ledger")
        ledger = address if "://" in address else str(base / address)
        mechanisms = {name: _mechanism(name, one, base) for name, one in _tables(tree, "mechanisms").items()}
        tables = {name: _table(name, one, base) for name, one in _tables(tree, "tables").items()}
        if not mechanisms and not tables:
            raise ArgumentError("the settings offer nothing: add [mechanisms.NAME] or [tables.NAME]")
        tokens = base / tree.pop("tokens")
        whole = {one.name for one in fields(cls) if one.type == "int"}
        for name, value in tree.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise ArgumentError(f"{name} is a positive number, not {value!r}")
            if name in whole and not isinstance(value, int):
                raise ArgumentError(f"{name} is a whole number, not {value!r}")
        return cls(ledger, tokens, mechanisms, tables, **tree)


def _tables(tree: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
    found = tree.pop(name, {})
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise ArgumentError(f"{name} are given one by one: [{name}.NAME]")
    return found


def _mechanism(name: str, tree: dict[str, Any], folder: Path) -> OfferedMechanism:
    where = f"[mechanisms.{name}]"
    given = dict(tree)
    releases = given.pop("releases", None)
    if isinstance(releases, bool) or not isinstance(releases, int | float) or not 0 < releases < math.inf:
        raise ArgumentError(f"{where}: releases = how many values of one subject may be released in all")
    try:
        if "policy" in given:
            made = _of_column(given.pop("policy"), given.pop("column", None), folder)
        else:
            made = _of_metric(given)
    except MetricDPError as error:
        raise ArgumentError(f"{where}: {error}") from None
    if given:
        raise ArgumentError(f"{where}: there is no key {next(iter(given))!r} here")
    once = made.guarantee
    times = Fraction(releases)
    return OfferedMechanism(name, made, Guarantee(once.metric * times, min(once.delta * times, Fraction(1))))


def _of_column(policy: Any, column: Any, folder: Path) -> Mechanism:
    rules = Policy.load(folder / str(policy))
    found = {one.name: one.mechanism for one in rules.columns}
    if column not in found:
        raise ArgumentError(f"column = one of {', '.join(found)}")
    made = found[column]
    if made is None:
        raise ArgumentError(f"the policy does not release {column!r} with noise, so there is no mechanism for it")
    return made


def _of_metric(given: dict[str, Any]) -> Mechanism:
    words = given.pop("metric", None)
    if not isinstance(words, str):
        raise ArgumentError('metric = "ln 2/200 great_circle", or policy = a file and column = a name')
    kind = str(given.pop("mechanism", "laplace"))
    options = {name: given.pop(name) for name in ("dim", "resolution", "step") if name in given}
    metric = metric_in_words(words)
    if kind not in ("laplace", "geometric"):
        raise ArgumentError("mechanism = laplace or geometric; others are made by a policy's column")
    return named_mechanism(kind, metric, **options)


def _table(name: str, tree: dict[str, Any], folder: Path) -> OfferedTable:
    where = f"[tables.{name}]"
    if set(tree) != {"source", "policy"} or not all(isinstance(value, str) for value in tree.values()):
        raise ArgumentError(f"{where}: source = a file or address, and policy = a file, and nothing else")
    source = tree["source"] if "://" in tree["source"] else str(folder / tree["source"])
    try:
        return OfferedTable(name, source, Policy.load(folder / tree["policy"]))
    except MetricDPError as error:
        raise ArgumentError(f"{where}: {error}") from None
