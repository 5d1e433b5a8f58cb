"""One or more small cases of every column type: few secrets, at the bounds, beyond them, between, and missing."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow as pa

from metricdp.policies import Policy

__all__ = ["CASES", "Case"]

UNITS = ("s", "ms", "us", "ns")


@dataclass(frozen=True)
class Case:
    """An entry of a policy, and secrets for it.

    Attributes:
        kind: the column type.
        entry: what else is written in the policy.
        secrets: what stands in the table, and what the mechanism is given for it; of a type without noise, the former.
        arrow: the Arrow types that the column may have.
        made: a row of an Arrow array, from what stands in the table.
        shown: the mechanism's output, from a released value; None where the outputs are too many to be listed.
    """

    kind: str
    entry: str
    secrets: Sequence[tuple[Any, Any]]
    arrow: Sequence[pa.DataType]
    made: Callable[[Sequence[Any], pa.DataType], pa.Array] = pa.array
    shown: Callable[[Any], Any] | None = None

    @property
    def policy(self) -> Policy:
        """A policy with this one column, ``x``; or two columns, ``x`` and ``y``."""
        return self.policy_for("x")

    def policy_for(self, name: str, rest: str = "") -> Policy:
        """The same for a column of another name."""
        columns = f'columns = ["{name}", "{name[:-1]}y"]\n' if self.kind == "place" else ""
        text = f'[columns."{name}"]\ntype = "{self.kind}"\n{columns}{self.entry}\n{rest}'
        return Policy.parse(f'format = 2\n{text}\n[rows]\norder = "public"')

    def __str__(self) -> str:
        return f"{self.kind}: {' '.join(self.entry.split())}"


def same(*values: Any) -> list[tuple[Any, Any]]:
    """Secrets that the mechanism is given as they are."""
    return [(value, value) for value in values]


def counted(values: Sequence[Any], arrow: pa.DataType) -> pa.Array:
    """Seconds, in a type of durations or times of day."""
    plain = pa.int32() if arrow.bit_width == 32 else pa.int64()
    ticks = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[arrow.unit]
    return pa.array([None if value is None else value * ticks for value in values], plain).view(arrow)


def decimals(values: Sequence[Any], arrow: pa.DataType) -> pa.Array:
    """Numbers, in a type of floats or decimals."""
    if pa.types.is_decimal(arrow):
        return pa.array([None if value is None else Decimal(str(value)) for value in values], arrow)
    return pa.array(values, pa.float64()).cast(arrow)


def days(values: Sequence[Any], arrow: pa.DataType) -> pa.Array:
    """Days, in a type of dates or timestamps."""
    return pa.array(values, pa.date32()).cast(arrow)


def seconds(value: Any) -> Any:
    """A released duration or time of day, in seconds."""
    if value is None:
        return None
    if isinstance(value, dt.time):
        return value.hour * 3600 + value.minute * 60 + value.second
    return int(value.total_seconds())


def day(value: Any) -> Any:
    """The day of a released moment."""
    return None if value is None else dt.date(value.year, value.month, value.day)


def number(value: Any) -> Any:
    """A released number."""
    return None if value is None else Fraction(value)


FLOATS = [pa.float16(), pa.float32(), pa.float64(), pa.decimal128(5, 1)]
WHOLE = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint64()]
DAYS = [pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ns")]
TIMES = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
DURATIONS = [pa.duration(unit) for unit in UNITS]
TEXT = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
LISTS = [pa.list_(pa.string()), pa.large_list(pa.string())]
JAN = [dt.date(2020, 1, place) for place in range(1, 12)]

CLAMP = 'outside = "clamp"\n'
REFUSE = CLAMP + 'missing = "refuse"\n'
NUMBERS = "bounds = [0, 4]\nresolution = 1\n" + CLAMP
WEEK = 'bounds = [2020-01-02, 2020-01-05]\nresolution = "1 day"\n' + CLAMP
CLOCK = 'bounds = [00:00:01, 00:00:04]\nresolution = "1 s"\n' + CLAMP
SPAN = 'bounds = ["1 s", "4 s"]\nresolution = "1 s"\n' + CLAMP

on_numbers = ([(0.0, 0), (2.5, Fraction(5, 2)), (4.0, 4), (9.0, 4), (-9.0, 0)], FLOATS, decimals, number)
on_integers = (
    [(3, 0), (4, 1), (7, 4), (9, 4), (0, 0)],
    WHOLE,
    pa.array,
    lambda value: value if value is None else value - 3,
)
on_days = ([(JAN[1], JAN[1]), (JAN[2], JAN[2]), (JAN[4], JAN[4]), (JAN[9], JAN[4])], DAYS, days, day)
on_times = ([(1, 1), (2, 2), (4, 4), (9, 4), (0, 1)], TIMES, counted, seconds)
on_spans = ([(1, 1), (2, 2), (4, 4), (9, 4), (-9, 1)], DURATIONS, counted, seconds)
NULL = [(None, None)]

LINES = [
    ("number", NUMBERS, on_numbers),
    ("integer", "bounds = [3, 7]\n" + CLAMP, on_integers),
    ("date", WEEK, on_days),
    ("time", WEEK, on_days),
    ("duration", SPAN, on_spans),
    ("time_of_day", CLOCK, on_times),
]


def on_a_line() -> list[Case]:
    """For every type of values on a line the same levels and rules for missing values."""
    made = []
    for kind, entry, (secrets, arrow, array, shown) in LINES:
        for level in ("epsilon = 0.5\n", "factor = 2\nwithin = 2\n", 'metric = "0.5 discrete"\n'):
            made.append(Case(kind, entry + level, [*secrets, *NULL], arrow, array, shown))
            made.append(Case(kind, entry + level + 'missing = "refuse"\n', secrets, arrow, array, shown))
        for distance in (Fraction(3), Fraction(5), Fraction(40)):
            text = entry + f"epsilon = 0.5\nmissing_distance = {distance}\n"
            made.append(Case(kind, text, [*secrets, *NULL], arrow, array, shown))
        for share in ("0.6", "1", "3"):
            text = entry + f'metric = "0.5 discrete"\nmissing_distance = {share}\n'
            made.append(Case(kind, text, [*secrets, *NULL], arrow, array, shown))
        if kind in ("number", "duration", "time_of_day"):
            text = entry + 'metric = "0.5 discrete"\ndelta = 0.1\nmissing = "refuse"\n'
            made.append(Case(kind, text, secrets, arrow, array, shown))
    step = "bounds = [3, 7]\nstep = 2\nepsilon = 0.5\n"
    shifted = on_integers[3]
    made.append(Case("integer", step + CLAMP, [(3, 0), (5, 2), (7, 4), (9, 4), (None, None)], WHOLE, pa.array, shifted))
    made.append(Case("integer", step + REFUSE, [(3, 0), (5, 2), (7, 4), (9, 4)], WHOLE, pa.array, shifted))
    return made


def in_a_list() -> list[Case]:
    """Categories and booleans."""
    words = same("a", "b", "c")
    tree = 'parents = {a = "r", b = "s", c = "s", s = "r"}\nepsilon = 0.5\n'
    listed = 'values = ["a", "b", "c"]\n'
    near = 'at = {a = [0, 0], b = [0, 0.001], c = [0, 0.003]}\nwithin = "100 m"\n'
    plain = [
        listed + "epsilon = 0.5\n",
        tree,
        listed + 'metric = "0.5 discrete"\n',
        listed + "factor = 2\ndelta = 0.1\n",
    ]
    plain += [tree + "missing_distance = 1\n", tree + "missing_distance = 9\n"]
    plain += [listed + "epsilon = 0.5\nmissing_distance = 0.3\n", listed + "epsilon = 0.5\nmissing_distance = 3\n"]
    made = [Case("category", entry, [*words, *NULL], TEXT, shown=lambda value: value) for entry in plain]
    places = dict(zip("abc", [(0, 0), (0, 0.001), (0, 0.003)], strict=True)) | {None: None}
    for distance in ("", 'missing_distance = "100 m"\n'):
        at = [(value, place) for value, place in places.items()]
        made.append(Case("category", near + distance, at, TEXT, shown=places.__getitem__))
    made.append(
        Case("category", "values = [1, 2]\nepsilon = 0.5", same(1, 2, None), [pa.int8(), pa.int64()], shown=lambda v: v)
    )
    for entry in ("epsilon = 0.5", "factor = 2\ndelta = 0.1", "epsilon = 1\nmissing_distance = 0.3"):
        made.append(Case("boolean", entry, same(True, False, None), [pa.bool_()], shown=lambda value: value))
    made.append(Case("boolean", 'epsilon = 1\nmissing = "refuse"', same(True, False), [pa.bool_()], shown=lambda v: v))
    return made


def others() -> list[Case]:
    """Sets, and what has no list of outputs."""
    sets = [([], frozenset()), (["a"], frozenset("a")), (["b", "a"], frozenset("ab"))]
    floats = [pa.float32(), pa.float64()]
    series = [pa.list_(pa.float32()), pa.large_list(pa.float64()), pa.list_(pa.float64(), 2)]
    return [
        Case("set", 'values = ["a", "b"]\nepsilon = 0.5', sets, LISTS, shown=frozenset),
        Case("place", 'within = "200 m"', same(0.0, 5e-324, 45.0), floats),
        Case("series", "length = 2\nwithin = 5", same([0.0, -0.0], [1.0, 2.0]), series),
        Case("keep", "", same("a", None), TEXT),
        Case("drop", "", same("a", None), TEXT),
        Case("rekey", "", same("a", None), [*TEXT, pa.string_view()]),
    ]


CASES: list[Case] = [*on_a_line(), *in_a_list(), *others()]
