"""The report: what a release promises, what to expect of it, and what it does not promise."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from metricdp.errors import KindError
from metricdp.tables.report_columns import ColumnReport, entries_of, report_column
from metricdp.tables.report_limits import limits_of
from metricdp.tables.report_views import View

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.tables.policy import Policy

__all__ = ["Person", "Report"]

FORMAT = 1


@dataclass(frozen=True)
class Person:
    """What is promised for all rows of one person together.

    Attributes:
        column: says which rows are one person's; None where it was dropped and is not to be named.
        rows: the greatest number of rows a person may have.
        excess: whether a table in which somebody has more is refused, or cut by a blind draw.
        release: whether the column is dropped, or given new keys at random.
        formula: the guarantee, as mathematics.
    """

    column: str | None
    rows: int
    excess: Literal["refuse", "cut"]
    release: Literal["drop", "rekey"]
    formula: str


@dataclass(frozen=True, repr=False)
class Report:
    """What was promised and how, from the policy and public facts alone, never from a private value.

    Attributes:
        private: False where noise came from a seed.
        formula: the guarantee of a row, as mathematics.
        delta: of the guarantee, a number or a fraction as text.
        person: what is promised for one person; None where the policy has no unit.
        columns: the protected ones.
        kept: columns that are released as they are.
        dropped: columns that are left out; None where they are not to be named.
        rows: how many there are; None where that is not known.
        order: whether the order of rows is public; where it is secret, they were shuffled.
        limits: what is not promised, each with a title, and last what costs nothing more.
        versions: of what drew the noise.
        policy_sha256: which policy it was.

    References:
        Paper 2, Theorems 4 and 5. Paper 1, Theorem 4 and footnote 5. Paper 4, Section 5.

    >>> from metricdp.tables.policy import Policy
    >>> policy = Policy.parse('''
    ... format = 1
    ... columns.age = {type = "integer", within = "5 years"}
    ... ''')
    >>> report = Report.of(policy, rows=100)
    >>> report.formula, report.columns[0].level
    ('(ln 2/5·|x − y| (age))-private', 'odds within a factor 2 at 5 years')
    """

    private: bool
    formula: str
    delta: int | float | str
    person: Person | None
    columns: tuple[ColumnReport, ...]
    kept: tuple[str, ...]
    dropped: tuple[str, ...] | None
    rows: int | None
    order: Literal["secret", "public"]
    limits: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    policy_sha256: str
    _policy: Policy | None = field(default=None, repr=False, compare=False)
    _schema: pa.Schema | None = field(default=None, repr=False, compare=False)

    @classmethod
    def of(
        cls, policy: Policy, rows: int | None = None, schema: pa.Schema | None = None, private: bool = True
    ) -> Report:
        """The report of a policy, for a table of so many rows and this schema where these are known.

        Raises:
            PolicyError: no column is released privately, so there is nothing to promise.
        """
        guarantee, entries = policy.guarantee.to_json(), entries_of(policy)
        unit = policy.unit
        most = None if unit is None else unit.rows
        protected = [item for item in policy.treatments if item.mechanism is not None]
        return cls(
            private=private,
            formula=guarantee["formula"],
            delta=guarantee["delta"],
            person=None
            if unit is None
            else Person(unit.column, unit.rows, unit.excess, unit.release, str(policy.person_guarantee)),
            columns=tuple(report_column(item, entries[item.name], schema, most) for item in protected),
            kept=tuple(column for item in policy.treatments if item.kind == "keep" for column in item.columns),
            dropped=tuple(column for item in policy.treatments if item.kind == "drop" for column in item.columns),
            rows=rows,
            order=policy.order,
            limits=limits_of(policy),
            versions=_versions(),
            policy_sha256=hashlib.sha256(policy.text.encode()).hexdigest(),
            _policy=policy,
            _schema=schema,
        )

    def text(self) -> str:
        """The report as plain text, 80 columns wide."""
        from metricdp.tables.report_text import text

        return text(self)

    def summary(self) -> str:
        """The report in a few lines: a row for each column."""
        from metricdp.tables.report_text import summary

        return summary(self)

    def html(self) -> str:
        """The report as one page that needs nothing else, with a picture of each column's noise.

        Without matplotlib there are no pictures, and the page says how to get them.
        """
        from metricdp.tables.report_html import page

        return page(self)

    def to_json(self) -> dict[str, Any]:
        """The report as plain values for JSON, with a format version; an infinite factor is ``"inf"``."""
        tree = asdict(replace(self, _policy=None, _schema=None))
        del tree["_policy"], tree["_schema"]
        note = {} if self.private else {"warning": NOT_PRIVATE}
        plain: dict[str, Any] = json.loads(json.dumps(_finite({"format": FORMAT, **note, **tree}), allow_nan=False))
        plain["versions"] = dict(self.versions)
        plain["limits"] = [{"title": title, "words": words} for title, words in self.limits]
        return plain

    def claim(self) -> dict[str, Any]:
        """What a sanitized file carries of the report: all of it, but no name of a column that was dropped."""
        person = self.person
        if person is not None and person.release == "drop":
            person = replace(person, column=None)
        return replace(self, dropped=None, person=person).to_json()

    @classmethod
    def from_json(cls, tree: Any) -> Report:
        """Read what `to_json` wrote.

        Raises:
            KindError: it is no report, or one of another format.
        """
        if not isinstance(tree, dict) or tree.get("format") != FORMAT:
            raise KindError(f"no report of format {FORMAT}, the version this program reads")
        try:
            read = {each.name: tree[each.name] for each in fields(cls) if not each.name.startswith("_")}
            read["columns"] = tuple(_column(column) for column in read["columns"])
            read["person"] = read["person"] and Person(**read["person"])
            read["limits"] = tuple((limit["title"], limit["words"]) for limit in read["limits"])
            read["versions"] = tuple((str(name), str(version)) for name, version in read["versions"].items())
            read["kept"] = tuple(read["kept"])
            read["dropped"] = None if read["dropped"] is None else tuple(read["dropped"])
            report = cls(**read)
            report.text()  # whatever has the wrong kind shows here
        except (AttributeError, TypeError, ValueError, ArithmeticError, LookupError):
            raise KindError("a report that is damaged") from None
        return report

    def __repr__(self) -> str:
        return f"<Report: {self.formula}{'' if self.private else ', NOT PRIVATE'}>"

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.html()


NOT_PRIVATE = "NOT PRIVATE: the noise comes from a seed, and whoever knows the seed takes it away again."


def _versions() -> tuple[tuple[str, str], ...]:
    import flint
    import numpy as np

    import metricdp
    from metricdp.tables.policy import FORMAT as POLICY_FORMAT

    return (
        ("metricdp", metricdp.__version__),
        ("numpy", np.__version__),
        ("python-flint", flint.__version__),
        ("policy format", str(POLICY_FORMAT)),
    )


def _finite(tree: Any) -> Any:
    """The same with text for infinity, which JSON does not have."""
    if isinstance(tree, dict):
        return {key: _finite(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [_finite(value) for value in tree]
    return "inf" if isinstance(tree, float) and math.isinf(tree) else tree


def _column(tree: dict[str, Any]) -> ColumnReport:
    views = tuple(
        View(
            view["secrets"],
            float(view["epsilon"]),
            float(view["factor"]),
            None if view["person_factor"] is None else float(view["person_factor"]),
        )
        for view in tree["views"]
    )
    lists = {name: tuple(tree[name]) for name in ("columns", "error", "attention")}
    return ColumnReport(**{**tree, **lists, "views": views})
