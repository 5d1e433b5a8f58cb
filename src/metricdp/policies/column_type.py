"""What every type of column has: what it can be, how far apart two values are, its mechanism, and its cells."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from metricdp.errors import DataError, MetricDPError, NotFiniteError, PolicyError, UnsupportedMetricError
from metricdp.metrics import Metric, unprotected
from metricdp.metrics.words import Measure
from metricdp.policies.cells.cell_metrics import check_cells
from metricdp.policies.count_by import CountBy
from metricdp.policies.entry import ColumnEntry, Missing, Release
from metricdp.policies.levels import Written, with_missing
from metricdp.policies.open_questions import OpenQuestion

if TYPE_CHECKING:
    import pyarrow as pa

    from metricdp.mechanisms.mechanism import Mechanism
    from metricdp.policies.cells.listed import Cells
    from metricdp.sources.dialect import Dialect

__all__ = ["ColumnType"]


@dataclass(frozen=True, kw_only=True)
class ColumnType(ABC):
    """A column of a policy, or columns that belong together.

    A subclass is one type. It gives its `type_name`, the `keys` that it uses, and `read`. For sanitized tables it gives
    `wants`, `accepts`, `declared_type`, `_make_mechanism` and `_released`; for questions `_make_cells`. What one use
    needs and the entry does not say is found out when that use asks for it.

    Attributes:
        name: what the policy calls it.
        columns: the columns of the table; ``address.lat`` is the field ``lat`` of the column ``address``.
        line: where in the policy it stands.
        release: whether a sanitized table holds it with noise, as it is, or not at all.
        missing: whether a missing value is a secret like any other, public, or refused.
        written: the level, with the words it was written in; None where none is.
        missing_distance: how far a missing value is from every other, where that is declared or follows.
        count_by: how finely questions count it.
    """

    name: str
    columns: tuple[str, ...]
    line: int = field(compare=False)
    release: Release = "noise"
    missing: Missing = "refuse"
    written: Written | None = None
    missing_distance: Fraction | None = None
    count_by: CountBy = field(default_factory=CountBy)

    type_name: ClassVar[str]
    """What ``type`` is in the policy."""

    keys: ClassVar[tuple[str, ...]] = ()
    """What may be written in an entry, besides ``type``, ``columns`` and ``release``."""

    questions: ClassVar[tuple[OpenQuestion, ...]] = ()
    """What a draft of a policy asks about it."""

    width: ClassVar[int] = 1
    """How many columns it takes."""

    wants: ClassVar[str] = "any type"
    """The types that it accepts, in words."""

    has_text: ClassVar[bool] = True
    """Whether its values can be read from text, as those of a CSV file are."""

    rekeyed: ClassVar[bool] = False
    """Whether its values are replaced by new keys."""

    is_moment: ClassVar[bool] = False
    """Whether its values are days or moments, which a CSV file writes in a format."""

    @classmethod
    @abstractmethod
    def read(cls, entry: ColumnEntry) -> Self:
        """The column that an entry declares.

        Raises:
            Mistake: the entry cannot be followed.
        """

    @property
    def values_of_row(self) -> int:
        """How many values a row has in it, at most; a list that is kept counts as one, since nobody declares it."""
        return len(self.columns)

    @property
    def where(self) -> str:
        """Where it stands, at the beginning of a message."""
        return f"line {self.line}, column {self.name!r}"

    # How far apart two values are

    @cached_property
    def metric(self) -> Metric | None:
        """How far apart two values are, missing ones too unless they are refused; None where nothing says it.

        A column that is released as it is, without a level, is public: its values may be told apart freely.
        """
        if self.written is None:
            return unprotected() if self.release == "keep" else None
        return with_missing(self.written.metric, self.missing, self.missing_distance)

    @property
    def level_wanted(self) -> str:
        """What to write where a level is wanted and none is written."""
        return "either epsilon, or factor, or metric, is wanted"

    @property
    def measure(self) -> Measure:
        """What its distances are counted in."""
        return Measure("") if self.written is None else self.written.measure

    # A sanitized table

    @property
    def mechanism(self) -> Mechanism | None:
        """What a sanitized table releases it by; None where it is kept or dropped.

        Raises:
            PolicyError: no mechanism is known for its metric.
        """
        if self.unserved is not None:
            raise PolicyError([self.unserved])
        served: Mechanism | None = self._served[0]
        return served

    @property
    def unserved(self) -> str | None:
        """Why a sanitized table cannot hold it with noise; None where it can, or need not."""
        if self._served[1] is None:
            return None
        cure = 'say release = "drop" or "keep", or another distance'
        return f"{self.where}: it cannot be released with noise: {self._served[1]}; {cure}"

    @cached_property
    def _served(self) -> tuple[Mechanism | None, str | None]:
        """The mechanism, or why there is none."""
        try:
            return None if self.release != "noise" else self._make_mechanism(), None
        except UnsupportedMetricError as error:
            return None, str(error)

    def mechanism_in(self, arrow: pa.DataType) -> Mechanism | None:
        """The mechanism as it releases into an Arrow type, whose steps may be coarser than its own."""
        return None if self.mechanism is None else self.mechanism.at_resolution(self._step_of(arrow))

    @abstractmethod
    def _make_mechanism(self) -> Mechanism:
        """The mechanism."""

    def _step_of(self, arrow: pa.DataType) -> Fraction:
        """One step of an Arrow type, in the metric's unit; 0 where it has none."""
        return Fraction(0)

    @property
    def is_noise(self) -> bool:
        """Whether releases hardly ever repeat, so that no dictionary makes them smaller."""
        return False

    @property
    def is_fine(self) -> bool:
        """Whether it is noise on a grid so fine that compression hardly makes its releases smaller."""
        return False

    @abstractmethod
    def accepts(self, arrow: pa.DataType) -> bool:
        """Whether a column with noise may have this Arrow type."""

    @abstractmethod
    def declared_type(self, column: str, dialect: Dialect) -> pa.DataType:
        """What a column whose source declares no type is released as."""

    def read_text(self, text: pa.Array, column: str, dialect: Dialect) -> pa.Array:
        """What the text of such a column means, exactly, in a form that `apply` takes.

        Raises:
            DataError: with the row of a text that has no place in the declared type.
        """
        return text

    def apply(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        """The columns released: as many rows, in the types that they are released in."""
        import pyarrow as pa

        if self.release == "drop":
            return []
        if self.release == "keep":
            from metricdp.sources.plain_arrays import plain_array

            return [plain_array(array) for array in arrays]
        if not len(arrays[0]):
            return [pa.nulls(0, arrow) for arrow in types]  # no dictionary of the source comes along
        if self.missing == "secret":
            return self._released(arrays, types)
        absent = _any_null(arrays)
        if absent is None:
            return self._released(arrays, types)
        if self.missing == "refuse":
            rule = 'a value is missing; declare missing = "public" to leave such rows as they are'
            raise NotFiniteError(rule, int(np.argmax(absent)))
        present = pa.array(~absent)
        if absent.all():
            return [pa.nulls(len(arrays[0]), arrow) for arrow in types]
        try:
            released = self._released([array.filter(present) for array in arrays], types)
        except DataError as error:
            row = None if error.row is None else int(np.flatnonzero(~absent)[error.row])
            raise type(error)(error.rule, row) from None
        places = pa.array(np.cumsum(~absent) - 1, mask=absent)
        return [array.take(places) for array in released]

    @abstractmethod
    def _released(self, arrays: Sequence[pa.Array], types: Sequence[pa.DataType]) -> list[pa.Array]:
        """Release rows of which none is missing, unless a missing value is secret."""

    # Questions

    @cached_property
    def cells(self) -> Cells:
        """How questions count it.

        Raises:
            PolicyError: with what the policy lacks for questions.
        """
        if self.metric is None:
            raise PolicyError([f"{self.where}: to be asked about, it needs a level: write within or epsilon"])
        try:
            cells = self._make_cells()
            _check_measured(cells, self.metric)
            check_cells(cells, self.metric)
        except PolicyError as error:
            raise PolicyError([self._told(problem) for problem in error.problems]) from None
        except MetricDPError as error:
            raise PolicyError([self._told(str(error))]) from None
        return cells

    def _make_cells(self) -> Cells:
        """The cells, where questions about this type are answered."""
        raise PolicyError([f"questions about columns of type {self.type_name!r} are not answered"])

    def _told(self, problem: str) -> str:
        return f"{self.where}: {problem.removeprefix(f'column {self.columns[0]!r}: ')}"

    # Words

    def pairs_to_tell(self, mechanism: Mechanism) -> list[tuple[str, Fraction]]:
        """Pairs of secrets for which to say what an adversary can learn: in words, and their distance without level."""
        return list(mechanism.pairs_to_tell(self.measure, self.named_distance))

    @property
    def level_words(self) -> str:
        """The level as the policy says it."""
        return "" if self.written is None else self.written.words

    def __str__(self) -> str:
        if not self.keys:  # its type says what is done with it
            return self.type_name
        done = {"noise": "", "keep": ", released as it is", "drop": ", left out"}[self.release]
        return f"{self.type_name}{f', {self.level_words}' if self.level_words else ''}{done}"

    def to_json(self) -> dict[str, Any]:
        """What the policy says of it, as plain values for JSON."""
        return {
            "name": self.name,
            "columns": list(self.columns),
            "type": self.type_name,
            "release": self.release,
            "missing": self.missing,
            "level": self.level_words,
            "metric": None if self.metric is None else str(self.metric),
        }

    @property
    def missing_words(self) -> str:
        """What is done with a missing value."""
        return {
            "secret": "a missing value is a secret like any other",
            "public": "missing values are public: they stay where they are",
            "refuse": "a table with a missing value here is refused",
        }[self.missing]

    @property
    def outside_words(self) -> str | None:
        """What is done with a value outside its bounds or list; None where there are none."""
        return None

    @property
    def named_distance(self) -> Fraction | None:
        """The distance that the level names, before the level; None where it names none."""
        return None if self.written is None else self.written.distance


def _check_measured(cells: Cells, metric: Metric) -> None:
    """Refuse a metric that does not measure the column's values, and missing ones where there are any."""
    declared: Any = cells.declared
    try:
        metric.pairwise([declared[0]], [declared[-1]])
    except MetricDPError:
        raise PolicyError([f"{metric} does not measure values such as {cells.declared_labels[0]}"]) from None
    if cells.missing is None:
        return
    try:
        metric.pairwise([declared[0]], [None])
    except MetricDPError:
        problem = f"{metric} does not say how far a missing value is from others: write missing_distance = .."
        raise PolicyError([problem]) from None


def _any_null(arrays: Sequence[pa.Array]) -> NDArray[np.bool_] | None:
    """The rows in which any of the columns is null; None where there is no such row."""
    if not any(array.null_count for array in arrays):
        return None
    absent = np.zeros(len(arrays[0]), dtype=bool)
    for array in arrays:
        absent |= np.asarray(array.is_null())
    return absent
