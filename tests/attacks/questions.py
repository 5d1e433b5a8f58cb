"""What the audit of questions is made of: random policies, what their tables can hold, and random SQL.

Everything here is said again from the words of a policy, and not from the package: which values a column can hold, and
how far apart the policy says that two of them are.
"""

from __future__ import annotations

import datetime as dt
import itertools
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

DAY = dt.date(2024, 1, 1)
WORDS = ("a", "b", "c", "d")


@dataclass(frozen=True)
class Declared:
    """A column of a random policy.

    Attributes:
        name: in the policy and in the table.
        entry: what stands under [columns], as TOML.
        kind: the Arrow type of the table's column.
        values: what the table can hold there, and may well be refused for.
        other: the name that a list of distances knows values outside by.
        asked: values for conditions, as SQL.
        numbers: whether it can be summed; "days" where only averages and percentiles can be asked.
    """

    name: str
    entry: str
    kind: Any
    values: tuple[Any, ...]
    other: str | None
    asked: tuple[str, ...]
    numbers: bool | str

    def arrow(self, values: list[Any]) -> pa.Array:
        """The column with these values."""
        return pa.array(values, self.kind, from_pandas=False)


def quoted(names: Any) -> str:
    """A list of TOML."""
    return "[" + ", ".join(f'"{name}"' if isinstance(name, str) else str(name) for name in names) + "]"


def entry_of(kind: str, level: str, **keys: Any) -> str:
    """A column as TOML: missing values are refused, or secret in a cell of that name."""
    written = {key: value for key, value in keys.items() if value is not None}
    parts, cells = [f'type = "{kind}"', level], []
    parts.append('missing = "secret"' if "missing" in written else 'missing = "refuse"')
    for key, value in written.items():
        part = f"{key} = {value}" if key in ("values", "bounds", "edges", "resolution") else f'{key} = "{value}"'
        (cells if key in ("edges", "other", "missing") else parts).append(part)
    if cells:
        parts.append(f"count_by = {{{', '.join(cells)}}}")
    return "{" + ", ".join(parts) + "}"


LEVELS = st.sampled_from(["0.5", "1", "2", "0.25", "1/3", "ln 2", "ln 2/2", "ln 3/2"])
EPSILONS = st.sampled_from(["0.5", "1", "2", "0.125"])


@st.composite
def metric_of_words(draw: Any, missing: bool, values: tuple[str, ...]) -> str:
    """A level on words: an ε, one with a distance from missing values, or a list that may know more words."""
    ways = ["epsilon", "epsilon", "table"] + ([] if missing else ["matrix", "matrix"])
    way = draw(st.sampled_from(ways))
    if way == "epsilon":
        return f"epsilon = {draw(EPSILONS)}"
    if way == "table":
        away = draw(st.sampled_from(["0.5", "1", "3"]))
        return f"epsilon = {draw(EPSILONS)}" + (f", missing_distance = {away}" if missing else "")
    return _matrix(draw, [*values, *draw(st.sampled_from([(), ("z",), ("y", "z")]))])


def _matrix(draw: Any, points: list[Any]) -> str:
    """Distances that have nothing to do with the values."""
    places = [draw(st.integers(0, 6)) for _ in points]
    rows = [[abs(one - two) + (i != j) for j, two in enumerate(places)] for i, one in enumerate(places)]
    return f'metric = {{metric = "matrix", points = {quoted(points)}, distances = {rows}}}'


@st.composite
def metric_of_numbers(draw: Any, missing: bool, unit: str = "absolute", held: Any = ()) -> str:
    """A level on numbers or days; perhaps a list of those that the table holds."""
    ways = ["epsilon", "table"] if missing else ["epsilon", "words", "words", "words", "smooth"]
    way = draw(st.sampled_from(ways + ["matrix"] * bool(held and not missing)))
    if way == "matrix":
        return _matrix(draw, list(held))
    if way == "epsilon":
        return f'metric = "{draw(EPSILONS)} discrete"'
    if way == "words":
        return f'metric = "{draw(LEVELS)} {unit}"'
    if way == "smooth":
        kind = draw(st.sampled_from(["smooth", "blowfish"]))
        return f'metric = {{metric = "{kind}", threshold = 2, base = {{metric = "{unit}"}}}}'
    distance = draw(
        st.one_of(EPSILONS.map(lambda level: f"{level} discrete"), LEVELS.map(lambda level: f"{level} {unit}"))
    )
    return f'metric = "{distance}", missing_distance = {draw(st.sampled_from(["0.5", "1", "3", "40"]))}'


def names_for(draw: Any, own: str, declared: tuple[str, ...]) -> str | None:
    """No cell, one of its own, one that is shared with everything outside, or one of those declared."""
    return draw(st.sampled_from([None, None, own, own, "both", *declared[:2], declared[-1]]))


@st.composite
def words(draw: Any, name: str) -> Declared:
    """A list of words."""
    values = WORDS[: draw(st.integers(1, 3))]
    other, missing = names_for(draw, "rest", values), names_for(draw, "none", values)
    known = values if other is None or other in values else (*values, other)
    metric = draw(metric_of_words(missing is not None, known))
    held = (*values, "A", f"{values[0]} ", "y", "z", None)
    return Declared(
        name,
        entry_of("category", metric, values=quoted(values), other=other, missing=missing),
        pa.string(),
        held,
        other,
        tuple(f"'{value}'" for value in values),
        False,
    )


def stored(draw: Any, whole: list[int]) -> tuple[Any, tuple[Any, ...]]:
    """Integers as a table has them: sometimes as floats or decimals, with something in between."""
    kind = draw(st.sampled_from([pa.int64(), pa.int64(), pa.int16(), pa.float64(), pa.float32(), pa.decimal128(12, 2)]))
    if pa.types.is_integer(kind):
        return kind, (*whole, None)
    if pa.types.is_decimal(kind):
        return kind, (*map(Decimal, whole), Decimal(whole[1]) + Decimal("0.5"), None)
    return kind, (*map(float, whole), -0.0, whole[0] + 0.5, whole[1] + 0.5, float("nan"), None)


@st.composite
def listed(draw: Any, name: str) -> Declared:
    """A list of integers."""
    values = tuple(sorted(draw(st.sets(st.sampled_from([0, 1, 2, 3, 4, 7, 10]), min_size=2, max_size=4))))
    labels = tuple(map(str, values))
    other, missing = names_for(draw, "rest", labels[::-1]), names_for(draw, "none", labels)
    held = sorted({*values, *(value + 1 for value in values), values[0] - 1})
    kind, raw = stored(draw, held)
    return Declared(
        name,
        entry_of(
            "category",
            draw(metric_of_numbers(missing is not None)),
            values=quoted(values),
            other=other,
            missing=missing,
        ),
        kind,
        raw,
        other,
        labels,
        True,
    )


@st.composite
def integers(draw: Any, name: str) -> Declared:
    """Integers between bounds."""
    low = draw(st.integers(-3, 1))
    high = low + draw(st.integers(1, 5))
    edges = draw(st.one_of(st.none(), st.sets(st.integers(low + 1, high), min_size=1, max_size=3).map(sorted)))
    other, missing = (
        draw(st.sampled_from([None, None, "rest", "both"])),
        draw(st.sampled_from([None, None, "none", "both"])),
    )
    outside = draw(st.sampled_from([None, "clamp"])) if other is None else None
    kind, raw = stored(draw, list(range(low - 2, high + 3)))
    wide = draw(st.integers(0, 2))
    named = [*range(low - wide, high + wide + 1), *([other] if other is not None else [])]
    level = draw(metric_of_numbers(missing is not None, held=named))
    return Declared(
        name,
        entry_of("integer", level, bounds=[low, high], edges=edges, other=other, missing=missing, outside=outside),
        kind,
        raw,
        other,
        tuple(str(value) for value in (edges or range(low, high + 1))),
        True,
    )


@st.composite
def numbers(draw: Any, name: str) -> Declared:
    """Numbers between bounds."""
    edges = draw(st.sampled_from([None, [0.5], [0.25, 1.5]]))
    other, missing = draw(st.sampled_from([None, "rest", "both"])), draw(st.sampled_from([None, "none", "both"]))
    outside = draw(st.sampled_from([None, "clamp"])) if other is None else None
    kind = draw(st.sampled_from([pa.decimal128(12, 2), pa.float64(), pa.int64()]))
    held: tuple[Any, ...] = tuple(map(Decimal, ("0", "0.25", "0.24", "0.5", "1.5", "2", "-0.01", "2.01", "9")))
    if not pa.types.is_decimal(kind):
        held = tuple(map(float, held)) if pa.types.is_floating(kind) else (-1, 0, 1, 2, 3)
    held = (*held, float("nan"), float("inf")) if pa.types.is_floating(kind) else held
    level = draw(metric_of_numbers(missing is not None))
    step = draw(st.sampled_from([None, 0.25, 0.5, 0.01]))
    if pa.types.is_floating(kind):
        held = (*held, 0.1 + 0.2, 0.3, 0.5 + 2e-8, 0.5 - 2e-9, 1.1 * 1.1, 2.0000000001)
    entry = {"bounds": [0, 2], "edges": edges, "other": other, "missing": missing, "outside": outside}
    return Declared(
        name,
        entry_of("number", level, **entry, resolution=step),
        kind,
        (*held, None),
        other,
        tuple(map(str, edges or (0, 2))),
        True,
    )


@st.composite
def days(draw: Any, name: str) -> Declared:
    """Days between bounds."""
    span = draw(st.integers(1, 4))
    last = DAY + dt.timedelta(days=span)
    edges = draw(st.sampled_from([None, [DAY + dt.timedelta(days=1)]]))
    other, missing = draw(st.sampled_from([None, "rest", "both"])), draw(st.sampled_from([None, "none", "both"]))
    outside = draw(st.sampled_from([None, "clamp"])) if other is None else None
    held: list[Any] = [DAY + dt.timedelta(days=n) for n in range(-2, span + 3)]
    kind = draw(st.sampled_from([pa.date32(), pa.timestamp("us"), pa.timestamp("s")]))
    if pa.types.is_timestamp(kind):
        held = [dt.datetime.combine(day, dt.time(23 * (n % 2), 59 * (n % 2))) for n, day in enumerate(held)]
    bounds = f"[{DAY.isoformat()}, {last.isoformat()}]"
    written = edges and f"[{edges[0].isoformat()}]"
    level = draw(metric_of_numbers(missing is not None, "dates"))
    return Declared(
        name,
        entry_of("date", level, bounds=bounds, edges=written, other=other, missing=missing, outside=outside),
        kind,
        (*held, None),
        other,
        (f"date '{(DAY + dt.timedelta(days=1)).isoformat()}'",),
        "days",
    )


@st.composite
def truths(draw: Any, name: str) -> Declared:
    """True, false and perhaps missing."""
    missing = draw(st.sampled_from([None, "none", "false"]))
    level = f"epsilon = {draw(EPSILONS)}"
    if missing is not None and draw(st.booleans()):
        level += f", missing_distance = {draw(st.sampled_from(['0.5', '3']))}"
    entry = entry_of("boolean", level, missing=missing)
    return Declared(name, entry, pa.bool_(), (True, False, None), None, ("true", "false"), False)


COLUMN = st.sampled_from([words, words, listed, listed, integers, integers, integers, numbers, days, truths])


@st.composite
def policies(draw: Any) -> tuple[str, tuple[Declared, ...]]:
    """The text of a policy, and its columns."""
    size = draw(
        st.sampled_from(["records = 2", "records = 2", "capacity = 2\nabsent = 0.5", "capacity = 2\nabsent = 3"])
    )
    made = tuple(draw(draw(COLUMN)(name)) for name in ("x", "y")[: draw(st.integers(1, 2))])
    lines = ["format = 2", size, "[columns]", *(f"{column.name} = {column.entry}" for column in made)]
    return "\n".join(lines) + "\n", made


@st.composite
def conditions(draw: Any, columns: tuple[Declared, ...]) -> str:
    """A condition of SQL."""
    column = draw(st.sampled_from(columns))
    values = st.sampled_from(column.asked)
    signs = ("=", "<>", "<", "<=", ">", ">=") if column.numbers else ("=", "<>")
    one = f"{column.name} {draw(st.sampled_from(signs))} {draw(values)}"
    forms = [one, one, f"not {one}", f"{column.name} is null", f"{column.name} is not null"]
    forms += [f"{column.name} in ({draw(values)}, {draw(values)})", f"{one} or {column.name} is null"]
    if column.numbers:
        forms.append(f"{column.name} between {column.asked[0]} and {column.asked[-1]}")
    return str(draw(st.sampled_from(forms)))


@st.composite
def statements(draw: Any, columns: tuple[Declared, ...]) -> str:
    """A question in SQL."""
    able = ["count(*)"] * 3 + [f"count({column.name})" for column in columns]
    for column in columns:
        if column.numbers is True:
            able += [f"{what}({column.name})" for what in ("sum", "sum", "avg", "avg")]
        if column.numbers == "days":
            able += [f"avg({column.name})"] * 2
        if column.numbers:
            able += [f"{what}({column.name})" for what in ("median", "min", "max")]
            able.append(f"percentile({column.name}, 0.3)")
    asked = draw(st.lists(st.sampled_from(able), min_size=1, max_size=3, unique=True))
    groups = draw(st.sampled_from([(), (columns[0].name,), tuple(column.name for column in columns)]))
    where = f" where {draw(conditions(columns))}" if draw(st.integers(0, 2)) == 0 else ""
    return f"select {', '.join(asked)} from t{where}{' group by ' + ', '.join(groups) if groups else ''}"


@st.composite
def quartered(draw: Any) -> tuple[str, tuple[Declared, ...], str]:
    """A policy with a column of few integers, its columns, and a question for several of its percentiles."""
    size = draw(st.sampled_from(["records = 2", "capacity = 2\nabsent = 0.5", "capacity = 2\nabsent = 3"]))
    level, high = draw(metric_of_numbers(False)), draw(st.integers(1, 4))
    line = Declared(
        "x",
        entry_of("integer", level, bounds=[0, high]),
        pa.int64(),
        (*range(high + 1),),
        None,
        tuple(map(str, range(high + 1))),
        True,
    )
    columns = (line, draw(truths("y"))) if draw(st.booleans()) else (line,)
    shares = draw(st.lists(st.sampled_from(["0.1", "0.25", "0.5", "0.6", "0.9"]), min_size=2, max_size=3, unique=True))
    asked = ", ".join(f"percentile(x, {share})" for share in shares)
    rest = draw(st.sampled_from(["", " group by y", " where y"])) if len(columns) > 1 else ""
    lines = ["format = 2", size, "[columns]", *(f"{column.name} = {column.entry}" for column in columns)]
    return "\n".join(lines) + "\n", columns, f"select {asked} from t{rest}"


@st.composite
def joined(draw: Any, columns: tuple[Declared, ...]) -> tuple[dict[str, Any], str]:
    """A public table for the values of the first column, and a question that joins it; or one of a function of it."""
    first, other = columns[0], columns[-1]
    there = [value for value in first.values if value is not None and value == value]  # NaN is no key
    keys = draw(st.lists(st.sampled_from(there), min_size=1, unique=True))
    if any(isinstance(key, dt.datetime) for key in keys):
        keys = list(dict.fromkeys(key.date() for key in keys))
    numbers = st.sampled_from([None, 0, 1, -2, 2.5, 10])
    public = {
        "k": keys,
        "g": [draw(st.sampled_from(["one", "two", None])) for _ in keys],
        "n": pa.array([draw(numbers) for _ in keys], pa.float64()),
    }
    asked = ["count(*)", "count(*)", "count(r.n)", "sum(r.n)", "avg(r.n)", "count(*) filter (where r.g = 'one')"]
    asked += [f"sum(t.{other.name} * r.n)", f"sum(t.{other.name} * 2)"] if other.numbers is True else []
    asked += [f"median(t.{other.name})"] if other.numbers else []
    chosen = draw(st.lists(st.sampled_from(asked), min_size=1, max_size=2, unique=True))
    where = draw(st.sampled_from(["", "", " where r.n > 0", " where r.g = 'two' or r.n is null", " where r.n * 2 < 3"]))
    group = draw(st.sampled_from(["", " group by r.g", " group by r.n", " group by coalesce(r.g, 'none')"]))
    join = draw(st.sampled_from(["join", "left join"]))
    return {"r": public}, f"select {', '.join(chosen)} from t {join} r on t.{first.name} = r.k{where}{group}"


def measured(column: Declared, value: Any, names: set[Any] | None) -> Any:
    """The value as the policy's metric measures it: a day, a word, and by its cell's name where a list lacks it."""
    if names is not None and value is not None and value not in names:
        return column.other
    return value.date() if isinstance(value, dt.datetime) else value


def records(columns: tuple[Declared, ...], kept: list[list[int]]) -> list[tuple[int, ...]]:
    """Every record that these values make."""
    return list(itertools.product(*kept)) if columns else []
