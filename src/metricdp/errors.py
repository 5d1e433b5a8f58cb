"""Every error that metricdp raises on purpose.

::

    MetricDPError
    +-- DataError (ValueError)             about secrets: never carries a value; names the row and the rule
    |   +-- NotFiniteError                 NaN or infinity
    |   +-- OutOfDomainError               latitude 91, beyond the bounds, beyond what the resolution holds
    |   |   +-- UnknownCategoryError       a value that is not in the declared list
    |   |   +-- OffGridError               a number between two points of the declared grid
    |   +-- ShapeError                     empty, or of the wrong dimension
    |   +-- KindError (TypeError)          text where a number belongs, a bool, a complex number
    |   +-- ColumnError                    any of these, in a column of a table
    +-- ArgumentError (ValueError)         about public arguments: may show them
    |   +-- LevelError                     an epsilon, delta, factor or other level that cannot be used
    |   +-- NotAMetricError                an axiom is broken; ``violation`` says which and where
    |   +-- UnsupportedMetricError (TypeError) no mechanism of this kind exists for that metric
    |   +-- ImpossibleError                no mechanism at all can keep that promise
    |   +-- TooLargeError                  a size beyond reach; ``estimate`` says what it would take
    +-- BudgetError (ValueError)           a charge that an account cannot be proved to bear; ``left`` says what it has
    +-- PolicyError (ValueError)           a policy's mistakes, all of them, with their lines
    +-- FileError (OSError)                a file that exists already, is missing, or cannot be read or written whole
    |   +-- DelimiterError                 a CSV file whose fields stand between other signs; ``delimiter`` says which
    +-- ConformanceError (AssertionError)  something of your own breaks a law of `metricdp.testing`
    +-- ServiceError                       what a service answered in place of a result; ``status`` is HTTP's
    +-- MissingExtraError (ImportError)    an optional library is not installed; says how to install it
    NotPrivateWarning (UserWarning)        noise came from a seeded source
    SlowPathWarning (UserWarning)          this machine's functions are less accurate than assumed

A ``DataError`` names the row (counted from 0) and the rule that was broken. It never carries the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

__all__ = [
    "ArgumentError",
    "BudgetError",
    "ColumnError",
    "ConformanceError",
    "DataError",
    "DelimiterError",
    "FileError",
    "ImpossibleError",
    "KindError",
    "LevelError",
    "MetricDPError",
    "MissingExtraError",
    "NotAMetricError",
    "NotFiniteError",
    "NotPrivateWarning",
    "OffGridError",
    "OutOfDomainError",
    "PolicyError",
    "ServiceError",
    "ShapeError",
    "SlowPathWarning",
    "TooLargeError",
    "UnknownCategoryError",
    "UnsupportedMetricError",
]


class MetricDPError(Exception):
    """The root of the tree. Each can be copied and pickled, so that an error of a worker process arrives as it was."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[MetricDPError], arguments: tuple[Any, ...], attributes: Mapping[str, Any]) -> MetricDPError:
    """An error with its message and attributes; its class may build the message of something else."""
    error = kind.__new__(kind, *arguments)
    super(MetricDPError, error).__init__(*arguments)
    error.__dict__.update(attributes)
    return error


class DataError(MetricDPError, ValueError):
    """A secret is not of the form the mechanism takes; the message never carries its value.

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


class NotFiniteError(DataError):
    """NaN or infinity where a number belongs."""


class OutOfDomainError(DataError):
    """A value outside the declared domain."""


class UnknownCategoryError(OutOfDomainError):
    """A value that is not in the declared list."""


class OffGridError(OutOfDomainError):
    """A number between two points of the declared grid."""


class ShapeError(DataError):
    """Empty, or of the wrong dimension."""


class KindError(DataError, TypeError):
    """A value of a kind the mechanism cannot take."""


class ColumnError(DataError):
    """A secret in a column of a table is not of the form that its policy declares.

    Attributes:
        column: what the policy calls it.
    """

    def __init__(self, column: str, error: DataError) -> None:
        self.column = column
        where = f"column {column!r}" if error.row is None else f"column {column!r}, row {error.row}"
        super().__init__(f"{where}: {error.rule}")
        self.rule, self.row = error.rule, error.row

    def shifted(self, rows: int) -> Self:
        """The same error, for rows counted from ``rows`` earlier."""
        return self if self.row is None else type(self)(self.column, DataError(self.rule, self.row + rows))


class PolicyError(MetricDPError, ValueError):
    """A policy that cannot be followed.

    Attributes:
        problems: every mistake that was found, each with its line or column.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class FileError(MetricDPError, OSError):
    """A file that exists already, is missing, or cannot be read or written whole."""


class DelimiterError(FileError):
    """A CSV file whose header shows that its fields stand between other signs than was declared.

    Attributes:
        delimiter: the sign that stands in the header.
    """

    def __init__(self, message: str, delimiter: str) -> None:
        self.delimiter = delimiter
        super().__init__(message)


class ArgumentError(MetricDPError, ValueError):
    """A public argument of a function or command that cannot be used; the message may show it."""


class LevelError(ArgumentError):
    """An epsilon, delta, factor or other level that cannot be used."""


class TooLargeError(ArgumentError):
    """A size beyond reach.

    Attributes:
        estimate: what it would take, in words, such as "about 3 hours" or "12 GB"; empty where nobody knows.
    """

    def __init__(self, message: str, estimate: str = "") -> None:
        self.estimate = estimate
        super().__init__(message)


class NotAMetricError(ArgumentError):
    """A metric's axiom is broken.

    Attributes:
        violation: the broken axiom with its points (see ``Metric.violation``); a universe's points are public.
    """

    def __init__(self, message: str, violation: object = None) -> None:
        self.violation = violation
        super().__init__(message)


class UnsupportedMetricError(ArgumentError, TypeError):
    """No mechanism of this kind exists for that metric."""


class ImpossibleError(ArgumentError):
    """No mechanism at all can keep that promise."""


class ConformanceError(MetricDPError, AssertionError):
    """A metric, mechanism, channel or column type breaks a law that all of them keep; see `metricdp.testing`.

    Attributes:
        law: the name of the law.
        subject: what broke it, in words.
        problem: how, in words.
    """

    def __init__(self, law: str, subject: str, problem: str) -> None:
        self.law, self.subject, self.problem = law, subject, problem
        super().__init__(f"{subject} breaks the law {law!r}: {problem}")


class BudgetError(MetricDPError, ValueError):
    """A charge that is not proved to stay within an account's cap; nothing was charged and nothing may be released.

    Attributes:
        account: that refused: the one that was charged, or one above it.
        reason: what could not be proved, and what would help.
        left: what the account has left, in words.
    """

    def __init__(self, account: str, reason: str, left: str) -> None:
        self.account, self.reason, self.left = account, reason, left
        super().__init__(f"account {account!r}: {reason}. Left: {left}")


class ServiceError(MetricDPError):
    """What a service answered in place of a result.

    Attributes:
        status: HTTP's; 0 where it did not answer at all.
        kind: the class of the error, such as "BudgetError".
        message: what it says.
    """

    def __init__(self, status: int, kind: str, message: str) -> None:
        self.status, self.kind, self.message = status, kind, message
        super().__init__(f"{kind} ({status}): {message}" if status else message)


class MissingExtraError(MetricDPError, ImportError):
    """An optional library is not installed."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed; run: pip install 'metricdp[{extra}]'")


class NotPrivateWarning(UserWarning):
    """Noise came from a seeded source: anybody who knows the seed can take it away again."""


class SlowPathWarning(UserWarning):
    """This machine's numpy is less accurate than assumed: every draw takes the slow, exact path."""
