"""Random tables under random policies: the same shape and types, values where the policy says, nothing dropped left."""

import datetime as dt
import json
import tempfile
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.policies import Policy
from metricdp.tables import sanitize

MARK = "DROPPEDVALUE"
WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=6)
FLOATS = st.sampled_from([pa.float32(), pa.float64()])
INTEGERS = st.sampled_from(
    [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
)
MOMENTS = st.sampled_from(
    [pa.date32(), pa.date64(), *(pa.timestamp(u, z) for u in ("s", "ms", "us", "ns") for z in (None, "UTC"))]
)
DAYS = st.dates(dt.date(1980, 1, 1), dt.date(2025, 1, 1))
LEVEL = st.sampled_from(["epsilon = 1", 'epsilon = "ln 3"', "epsilon = 0.01", 'epsilon = "1/7"'])


class Column:
    """A column of a random table: its entry in the policy, its array, and what must hold for a released value."""

    def __init__(self, entry, arrays, holds):
        self.entry, self.arrays, self.holds = entry, arrays, holds


def listed(draw, rows, values, missing):
    """Values for every row, with nulls among them where the policy allows any."""
    return draw(st.lists(values | st.none() if missing != "refuse" else values, min_size=rows, max_size=rows))


@st.composite
def numbers(draw, rows):
    missing = draw(st.sampled_from(["secret", "public", "refuse"]))
    low, high = sorted(draw(st.lists(st.integers(-100, 100), min_size=2, max_size=2, unique=True)))
    clamp = draw(st.booleans())
    reach = 50 if clamp else 0
    arrow = draw(st.one_of(FLOATS, st.just(pa.decimal128(9, 3))))
    secrets = listed(
        draw, rows, st.integers((low - reach) * 8, (high + reach) * 8).map(lambda eighths: eighths / 8), missing
    )
    if pa.types.is_decimal(arrow):
        secrets = [None if x is None else Decimal(str(x)) for x in secrets]
    entry = f'type = "number"\n{draw(LEVEL)}\nbounds = [{low}, {high}]\nmissing = "{missing}"\n'
    entry += 'outside = "clamp"\n' if clamp else ""
    return Column(entry, [pa.array(secrets, arrow)], lambda x: low <= x <= high)


@st.composite
def free_numbers(draw, rows):
    missing = draw(st.sampled_from(["public", "refuse"]))
    secrets = listed(draw, rows, st.floats(-1e6, 1e6, width=32), missing)
    entry = f'type = "number"\n{draw(LEVEL)}\nmissing = "{missing}"\n'
    return Column(entry, [pa.array(secrets, draw(FLOATS))], np.isfinite)


@st.composite
def integers(draw, rows):
    missing = draw(st.sampled_from(["secret", "public", "refuse"]))
    step, count, low = draw(st.integers(1, 4)), draw(st.integers(1, 10)), draw(st.integers(0, 50))
    high = low + step * count
    grid = st.integers(0, count).map(lambda k: low + k * step)
    entry = f'type = "integer"\n{draw(LEVEL)}\nstep = {step}\nbounds = [{low}, {high}]\nmissing = "{missing}"\n'
    fits_steps = missing != "secret" or high // step * step >= low
    if not fits_steps:
        entry = entry.replace(f"step = {step}", "step = 1")
    secrets = pa.array(listed(draw, rows, grid, missing), draw(INTEGERS))
    return Column(entry, [secrets], lambda x: low <= x <= high and isinstance(x, int))


@st.composite
def moments(draw, rows):
    missing = draw(st.sampled_from(["secret", "public", "refuse"]))
    low = draw(DAYS)
    high = low + dt.timedelta(draw(st.integers(2, 5000)))  # with one day only, null is too near to be a secret
    secrets = pa.array(listed(draw, rows, st.dates(low, high), missing), pa.date32()).cast(draw(MOMENTS))
    entry = f'type = "time"\nwithin = "5 days"\nbounds = [{low}, {high}]\nmissing = "{missing}"\n'

    def holds(x):
        day = x.date() if isinstance(x, dt.datetime) else x
        return low <= day <= high

    return Column(entry, [secrets], holds)


@st.composite
def categories(draw, rows):
    missing = draw(st.sampled_from(["secret", "public", "refuse"]))
    values = draw(st.lists(WORDS, min_size=2, max_size=5, unique=True))
    inner = draw(st.sampled_from([pa.string(), pa.large_string()]))
    arrow = draw(st.sampled_from([inner, pa.dictionary(pa.int8(), inner)]))
    secrets = pa.array(listed(draw, rows, st.sampled_from(values), missing), inner).cast(arrow)
    entry = (
        f'type = "category"\n{draw(LEVEL)}\nvalues = {json.dumps(values, ensure_ascii=False)}\nmissing = "{missing}"\n'
    )
    return Column(entry, [secrets], lambda x: x in values)


@st.composite
def booleans(draw, rows):
    missing = draw(st.sampled_from(["secret", "public", "refuse"]))
    secrets = pa.array(listed(draw, rows, st.booleans(), missing), pa.bool_())
    return Column(f'type = "boolean"\nfactor = 3\nmissing = "{missing}"\n', [secrets], lambda x: x in (True, False))


@st.composite
def sets(draw, rows):
    missing = draw(st.sampled_from(["public", "refuse"]))
    values = draw(st.lists(st.integers(0, 100), min_size=1, max_size=5, unique=True))
    arrow = draw(st.sampled_from([pa.list_(pa.int8()), pa.large_list(pa.int64())]))
    secrets = pa.array(listed(draw, rows, st.lists(st.sampled_from(values), max_size=4), missing), arrow)
    entry = f'type = "set"\nfactor = 3\nvalues = {values}\nmissing = "{missing}"\n'
    return Column(entry, [secrets], lambda x: set(x) <= set(values) and len(set(x)) == len(x))


@st.composite
def series(draw, rows):
    missing, length = draw(st.sampled_from(["public", "refuse"])), draw(st.integers(1, 4))
    inner = draw(FLOATS)
    arrow = draw(st.sampled_from([pa.list_(inner), pa.large_list(inner), pa.list_(inner, length)]))
    readings = st.lists(st.floats(-1e3, 1e3, width=32), min_size=length, max_size=length)
    secrets = pa.array(listed(draw, rows, readings, missing), arrow)
    entry = f'type = "series"\n{draw(LEVEL)}\nlength = {length}\nmissing = "{missing}"\n'
    return Column(entry, [secrets], lambda x: len(x) == length and np.isfinite(x).all())


@st.composite
def places(draw, rows):
    missing, arrow = draw(st.sampled_from(["public", "refuse"])), draw(FLOATS)
    latitudes = pa.array(listed(draw, rows, st.floats(-90, 90, width=32), missing), arrow)
    longitudes = pa.array(listed(draw, rows, st.floats(-180, 180, width=32), missing), arrow)
    entry = f'type = "place"\nwithin = "200 m"\nmissing = "{missing}"\n'
    return Column(entry, [latitudes, longitudes], lambda x: -181 <= x <= 181)


@st.composite
def kept(draw, rows):
    secrets = pa.array(listed(draw, rows, WORDS | st.none(), "public"), pa.string())
    return Column('type = "keep"\n', [secrets], lambda x: isinstance(x, str))


def dropped(rows):
    return st.just(Column('type = "drop"\n', [pa.array([MARK] * rows, pa.string())], None))


KINDS = [numbers, free_numbers, integers, moments, categories, booleans, sets, series, places, kept, dropped]


@st.composite
def tables(draw):
    """A policy, a table, and for each column what is said of it."""
    rows = draw(st.integers(0, 12))
    columns = [draw(kind(rows)) for kind in draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=6))]
    columns.append(draw(booleans(rows)))
    names = draw(st.lists(WORDS, min_size=2 * len(columns), max_size=2 * len(columns), unique=True))
    text, placed = "format = 2\n", []
    for number, column in enumerate(columns):
        mine = [names.pop() + (MARK if column.holds is None else "") for _ in column.arrays]
        text += f"[columns.entry{number}]\n{column.entry}columns = {json.dumps(mine, ensure_ascii=False)}\n"
        placed += [(name, array, column) for name, array in zip(mine, column.arrays, strict=True)]
    placed = draw(st.permutations(placed))
    order = draw(st.sampled_from(["secret", "public"]))
    text += f'[rows]\norder = "{order}"\n'
    return text, order, placed


@pytest.mark.long
@given(tables())
def test_a_release_has_the_shape_the_types_and_the_values_that_the_policy_says(made):
    text, order, placed = made
    policy = Policy.parse(text)
    whole = pa.table([array for _, array, _ in placed], names=[name for name, _, _ in placed])
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.parquet"
        release = sanitize(whole, policy, out)
        assert [path.name for path in Path(folder).iterdir()] == ["out.parquet"]
        assert MARK.encode() not in out.read_bytes()
        _check(pq.read_table(out), placed, whole.num_rows, order, exact_types=False)
    assert release.report.rows == whole.num_rows
    _check(sanitize(whole, policy).table, placed, whole.num_rows, order, exact_types=True)


def _check(released, placed, rows, order, exact_types):
    left = [(name, array, column) for name, array, column in placed if column.holds is not None]
    assert released.column_names == [name for name, _, _ in left]
    assert released.num_rows == rows
    for name, array, column in left:
        out = released[name].combine_chunks()
        assert not exact_types or out.type == array.type
        values = out.to_pylist()
        assert all(_float_slack(column.holds, x, array.type) for x in values if x is not None), (name, values)
        if '"keep"' in column.entry:
            assert Counter(values) == Counter(array.to_pylist())
            assert order == "secret" or values == array.to_pylist()
        if 'missing = "refuse"' in column.entry:
            assert None not in values
        if 'missing = "public"' in column.entry and "place" not in column.entry:
            assert sum(x is None for x in values) == array.null_count


def _float_slack(holds, value, arrow):
    """A bound that a float of 32 bits does not hold is met to its last place."""
    return holds(value) or (pa.types.is_float32(arrow) and holds(float(Fraction(value).limit_denominator(10**4))))
