"""The report: what a release promises, what to expect of it, and what it does not promise."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Literal

from metricdp.errors import KindError
from metricdp.tables.report.columns import ColumnReport, report_column
from metricdp.tables.report.limits import limits_of
from metricdp.tables.report.origin import Origin
from metricdp.tables.report.views import OddsView
from metricdp.tables.report.whole import Whole, whole_of

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from metricdp.metrics.guarantee import Guarantee
    from metricdp.policies.policy import Policy

__all__ = ["PersonReport", "Report"]

FORMAT = 2


@dataclass(frozen=True)
class PersonReport:
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
        policy_text: the policy itself; None in what a file carries, for it can name columns that were dropped. The part
            about the other columns is there, as ``released_policy``, so that whoever has the file can correct for the
            noise.
        origin: when the release was made, by whom and of what; None where nothing was released.

    References:
        Paper 2, Theorems 4 and 5. Paper 1, Theorem 4 and footnote 5. Paper 4, Section 5.

    >>> from metricdp.policies import Policy
    >>> policy = Policy.parse('''
    ... format = 2
    ... columns.age = {type = "integer", within = "5 years"}
    ... ''')
    >>> report = Report.of(policy, rows=100)
    >>> report.formula, report.columns[0].level
    ('(ln 2/5·|x − y| (age))-private', 'odds within a factor 2 at 5 years')
    """

    private: bool
    formula: str
    delta: int | float | str
    person: PersonReport | None
    columns: tuple[ColumnReport, ...]
    kept: tuple[str, ...]
    dropped: tuple[str, ...] | None
    rows: int | None
    order: Literal["secret", "public"]
    limits: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]
    policy_sha256: str
    policy_text: str | None = None
    origin: Origin | None = None
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
        guarantee, unit = policy.guarantee.to_json(), policy.person
        columns = _columns(policy, schema)
        return cls(
            private=private,
            formula=guarantee["formula"],
            delta=guarantee["delta"],
            person=None
            if unit is None
            else PersonReport(unit.column, unit.rows, unit.excess, unit.release, str(policy.person_guarantee)),
            columns=columns,
            kept=(*policy.kept, *policy.rekeyed),
            dropped=policy.dropped,
            rows=rows,
            order=policy.order,
            limits=limits_of(policy, columns),
            versions=_versions(),
            policy_sha256=hashlib.sha256(policy.text.encode()).hexdigest(),
            policy_text=policy.text,
            _policy=policy,
            _schema=schema,
        )

    def with_origin(
        self,
        by: str | None = None,
        source: str | None = None,
        source_file: Path | None = None,
        output: str | None = None,
        output_file: Path | None = None,
    ) -> Report:
        """The same report with the origin of a release that has just ended; its time stays, if it has one already.

        Args:
            by: who released the table.
            source: what it was called.
            source_file: the file, to put its digest into the report; None to leave that out.
            output: what the released file is called.
            output_file: the file, for its digest.
        """
        origin = Origin.now(by, source, source_file, output, output_file)
        return replace(self, origin=origin if self.origin is None else replace(origin, when=self.origin.when))

    @property
    def whole_row(self) -> Whole:
        """By how much the odds between two rows can move, over all columns together."""
        return whole_of(self.columns)

    @property
    def whole_person(self) -> Whole | None:
        """The same between two persons; None where the policy has no unit."""
        return None if self.person is None else whole_of(self.columns, self.person.rows)

    @property
    def guarantee(self) -> Guarantee | None:
        """What is promised of a row; None in a report that was read from a file, which has its `formula`."""
        return None if self._policy is None else self._policy.guarantee

    def guarantee_json(self) -> dict[str, Any]:
        """The guarantee of a row and of a person as plain values for JSON."""
        row = {"delta": self.delta, "formula": self.formula}
        whole = row if self.guarantee is None else self.guarantee.to_json()
        return {**whole, "person": None if self.person is None else self.person.formula}

    def text(self) -> str:
        """The report as plain text, 80 columns wide."""
        from metricdp.tables.report.text import text

        return text(self)

    def summary(self) -> str:
        """The report in a few lines: a row for each column."""
        from metricdp.tables.report.text import summary

        return summary(self)

    def html(self) -> str:
        """The report as one page that needs nothing else, with a picture of each column's noise."""
        from metricdp.tables.report.html import page

        return page(self)

    def to_json(self) -> dict[str, Any]:
        """The report as plain values for JSON, with a format version; an infinite factor is ``"inf"``."""
        from metricdp.tables.report.plain import first_paragraph

        tree = asdict(replace(self, _policy=None, _schema=None))
        del tree["_policy"], tree["_schema"]
        note = {} if self.private else {"warning": NOT_PRIVATE}
        whole = {
            "in_plain_words": first_paragraph(self),
            "whole_row": asdict(self.whole_row),
            "whole_person": None if self.whole_person is None else asdict(self.whole_person),
        }
        entire = {"format": FORMAT, **note, **whole, **tree}
        plain: dict[str, Any] = json.loads(json.dumps(_finite(entire), allow_nan=False))
        plain["versions"] = dict(self.versions)
        plain["limits"] = [{"title": title, "words": words} for title, words in self.limits]
        return plain

    def claim(self) -> dict[str, Any]:
        """What a sanitized file carries of the report: all of it, but no name of a source or of a dropped column."""
        person = self.person
        if person is not None and person.release == "drop":
            person = replace(person, column=None)
        origin = self.origin and replace(self.origin, source=None, source_sha256=None)
        carried = {} if self._policy is None else {"released_policy": self._policy.released_text}
        return replace(self, dropped=None, person=person, policy_text=None, origin=origin).to_json() | carried

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
            read["person"] = read["person"] and PersonReport(**read["person"])
            read["origin"] = read["origin"] and Origin(**read["origin"])
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


@functools.lru_cache(maxsize=4)
def _columns(policy: Policy, schema: pa.Schema | None) -> tuple[ColumnReport, ...]:
    """What there is to say of each protected column; a release asks for it before and after its rows are counted."""
    rows = None if policy.person is None else policy.person.rows
    return tuple(report_column(column, schema, rows) for column in policy.columns if column.release == "noise")


def _versions() -> tuple[tuple[str, str], ...]:
    import flint
    import numpy as np

    import metricdp
    from metricdp.policies._reader import FORMAT as POLICY_FORMAT

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
        OddsView(
            view["secrets"],
            float(view["epsilon"]),
            float(view["factor"]),
            None if view["person_factor"] is None else float(view["person_factor"]),
        )
        for view in tree["views"]
    )
    factors = {name: None if tree[name] is None else float(tree[name]) for name in ("named_factor", "widest_factor")}
    lists = {name: tuple(tree[name]) for name in ("columns", "error", "attention")}
    return ColumnReport(**{**tree, **lists, **factors, "views": views})
