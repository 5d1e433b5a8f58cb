"""Every error that metricdp raises on purpose.

::

    MetricDPError
    +-- InputError (ValueError)            a secret is not of the form the mechanism takes
    |   +-- NotFiniteError                 NaN or infinity
    |   +-- OutOfDomainError               latitude 91, beyond the bounds, beyond what the resolution holds
    |   |   +-- UnknownCategoryError       a value that is not in the declared list
    |   |   +-- OffGridError               a number between two points of the declared grid
    |   +-- ShapeError                     empty, or of the wrong dimension
    |   +-- KindError (TypeError)          text where a number belongs, a bool, a complex number
    |   +-- ColumnError                    any of these, in a column of a table
    +-- PolicyError (ValueError)           a policy's mistakes, all of them, with their lines
    +-- OutputError (OSError)              an output that exists already, or cannot be written whole
    +-- LevelError (ValueError)            an epsilon, delta, resolution or confidence that cannot be
    +-- NotAMetricError (ValueError)       an axiom is broken; ``violation`` says which and where
    +-- UnsupportedMetricError (TypeError) no mechanism of this kind exists for that metric
    +-- ImpossibleError (ValueError)       no mechanism at all can keep that promise
    +-- MissingExtraError (ImportError)    an optional library is not installed; says how to install it
    NotPrivateWarning (UserWarning)        noise came from a seeded source
    SlowPathWarning (UserWarning)          this machine's functions are less accurate than assumed

An ``InputError`` names the row (counted from 0) and the rule that was broken. It never carries the value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

__all__ = [
    "ColumnError",
    "ImpossibleError",
    "InputError",
    "KindError",
    "LevelError",
    "MetricDPError",
    "MissingExtraError",
    "NotAMetricError",
    "NotFiniteError",
    "NotPrivateWarning",
    "OffGridError",
    "OutOfDomainError",
    "OutputError",
    "PolicyError",
    "ShapeError",
    "SlowPathWarning",
    "UnknownCategoryError",
    "UnsupportedMetricError",
]


class MetricDPError(Exception):
    """The root of the tree."""


class InputError(MetricDPError, ValueError):
    """A secret is not of the form the mechanism takes.

    Attributes:
        rule: what was broken, and what to do.
        row: the first offending row, counted from 0; None when it concerns the input as a whole.
    """

    def __init__(self, rule: str, row: int | None = None) -> None:
        self.rule = rule
        self.row = row
        super().__init__(rule if row is None else f"row {row}: {rule}")

    def shifted(self, rows: int) -> Self:
        """The same error, for rows counted from ``rows`` earlier."""
        return self if self.row is None else type(self)(self.rule, self.row + rows)


class NotFiniteError(InputError):
    """NaN or infinity where a number belongs."""


class OutOfDomainError(InputError):
    """A value outside the declared domain."""


class UnknownCategoryError(OutOfDomainError):
    """A value that is not in the declared list."""


class OffGridError(OutOfDomainError):
    """A number between two points of the declared grid."""


class ShapeError(InputError):
    """Empty, or of the wrong dimension."""


class KindError(InputError, TypeError):
    """A value of a kind the mechanism cannot take."""


class ColumnError(InputError):
    """A secret in a column of a table is not of the form that its policy declares.

    Attributes:
        column: what the policy calls it.
    """

    def __init__(self, column: str, error: InputError) -> None:
        self.column = column
        where = f"column {column!r}" if error.row is None else f"column {column!r}, row {error.row}"
        super().__init__(f"{where}: {error.rule}")
        self.rule, self.row = error.rule, error.row


class PolicyError(MetricDPError, ValueError):
    """A policy that cannot be followed.

    Attributes:
        problems: every mistake that was found, each with its line or column.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class OutputError(MetricDPError, OSError):
    """An output that exists already, or cannot be written whole."""


class LevelError(MetricDPError, ValueError):
    """An epsilon, delta, resolution or confidence that cannot be."""


class NotAMetricError(MetricDPError, ValueError):
    """A metric's axiom is broken.

    Attributes:
        violation: the broken axiom with its points (see ``Metric.violation``); a universe's points are public.
    """

    def __init__(self, message: str, violation: object = None) -> None:
        self.violation = violation
        super().__init__(message)


class UnsupportedMetricError(MetricDPError, TypeError):
    """No mechanism of this kind exists for that metric."""


class ImpossibleError(MetricDPError, ValueError):
    """No mechanism at all can keep that promise."""


class MissingExtraError(MetricDPError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed; run: pip install 'metricdp[{extra}]'")


class NotPrivateWarning(UserWarning):
    """Noise came from a seeded source: anybody who knows the seed can take it away again."""


class SlowPathWarning(UserWarning):
    """This machine's numpy is less accurate than assumed: every draw takes the slow, exact path."""
