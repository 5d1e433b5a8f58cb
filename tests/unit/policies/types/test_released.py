"""Every treatment on every Arrow type it accepts: types kept, nulls and bounds as declared, errors without values."""

import datetime as dt
import traceback
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from metricdp.errors import ColumnError
from metricdp.policies import Policy
from metricdp.tables.sanitizer import Sanitizer

ROWS = 400


def plan_of(entry, *types, rest=""):
    policy = Policy.parse(f"format = 2\n[columns.x]\n{entry}\n{rest}")
    names = policy.columns[0].columns
    return Sanitizer.of(policy, pa.schema(list(zip(names, types, strict=True))))


def release(entry, *arrays, first_row=0):
    plan = plan_of(entry, *(array.type for array in arrays))
    batch = pa.record_batch(list(arrays), schema=plan.schema)
    released = plan.apply(batch, first_row)
    released.validate(full=True)
    assert released.schema == plan.schema
    assert released.num_rows == batch.num_rows
    columns = released.columns
    return columns[0] if len(columns) == 1 else columns


def refused(entry, *arrays, first_row=0, never=()):
    """The error of a batch, after a look at everything it prints."""
    with pytest.raises(ColumnError) as caught:
        release(entry, *arrays, first_row=first_row)
    text = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + str(caught.value.__dict__)
    assert all(str(value) not in text for value in never), text
    assert caught.value.column == "x"
    return caught.value


NUMBER = 'type="number"\nwithin=5'
BOUNDED = 'type="number"\nwithin=5\nbounds=[0, 100]'
FLOATS = [pa.float16(), pa.float32(), pa.float64()]


@pytest.mark.parametrize("arrow", FLOATS, ids=str)
def test_numbers(arrow):
    secrets = pa.array(np.full(ROWS, 50.5), pa.float64()).cast(arrow)
    released = np.asarray(release(NUMBER, secrets).cast(pa.float64()))
    assert np.isfinite(released).all()
    assert np.unique(released).size > ROWS / 4
    assert 50.5 - 8 < np.median(released) < 50.5 + 8
    inside = np.asarray(release(BOUNDED + '\nmissing="refuse"', secrets).cast(pa.float64()))
    assert inside.min() >= 0
    assert inside.max() <= 100


@pytest.mark.parametrize("arrow", [pa.decimal128(5, 2), pa.decimal128(38, 10), pa.decimal256(50, 4)], ids=str)
def test_decimals(arrow):
    secrets = pa.array([Decimal("19.99")] * ROWS, arrow)
    released = release(NUMBER + '\nresolution="0.01"', secrets)
    assert len(set(released.to_pylist())) > ROWS / 4
    inside = release(
        'type="number"\nwithin=5\nbounds=[0, 100]\nresolution="0.01"', pa.array([None, Decimal("1.5")] * 200, arrow)
    )
    assert {type(value) for value in inside.to_pylist()} == {type(None), Decimal}
    assert all(0 <= value <= 100 for value in inside.to_pylist() if value is not None)


def test_decimals_saturate():
    """Noise far beyond what the column's type holds ends at its ends, and is no error."""
    released = release('type="number"\nwithin=100000', pa.array([Decimal("9.99")] * ROWS, pa.decimal128(3, 2)))
    assert set(released.to_pylist()) <= {Decimal(step) / 100 for step in range(-999, 1000)}
    assert {Decimal("9.99"), Decimal("-9.99")} <= set(released.to_pylist())


INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]


@pytest.mark.parametrize("arrow", INTEGERS, ids=str)
def test_integers(arrow):
    secrets = pa.array([7] * ROWS, arrow)
    released = release('type="integer"\nwithin=2', secrets).to_pylist()
    assert len(set(released)) > 5
    bounded = 'type="integer"\nwithin=2\nbounds=[5, 9]'
    assert set(release(bounded + '\nmissing="refuse"', secrets).to_pylist()) == {5, 6, 7, 8, 9}
    secret = release(bounded, pa.array([7, None] * (ROWS // 2), arrow)).to_pylist()
    assert set(secret) == {5, 6, 7, 8, 9, None}


@pytest.mark.parametrize("arrow", [arrow for arrow in INTEGERS if arrow.bit_width < 64], ids=str)
def test_integers_saturate(arrow):
    info = np.iinfo(arrow.to_pandas_dtype())
    released = release('type="integer"\nwithin=50', pa.array([info.max] * ROWS, arrow))
    assert released.to_pylist().count(info.max) > ROWS / 4
    low = release('type="integer"\nwithin=50', pa.array([info.min] * ROWS, arrow))
    assert low.to_pylist().count(info.min) > ROWS / 4


def test_integers_beyond_what_is_released_are_refused():
    for arrow in (pa.int64(), pa.uint64()):
        for value in (2**62 + 12345, 2**63 - 12345, *((2**63 + 12345, 2**64 - 5) if arrow == pa.uint64() else ())):
            error = refused('type="integer"\nwithin=1', pa.array([1, value], arrow), never=[value])
            assert error.row == 1


def test_integers_on_steps():
    released = release('type="integer"\nwithin=20\nstep=5\nbounds=[3, 53]\nmissing="refuse"', pa.array([8] * ROWS))
    assert set(released.to_pylist()) <= set(range(3, 54, 5))
    assert len(set(released.to_pylist())) > 3
    assert refused('type="integer"\nwithin=20\nstep=5', pa.array([5, 10, 98766]), never=[98766]).row == 2


TIMES = [
    pa.date32(),
    pa.date64(),
    *(pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "Europe/Paris")),
]


@pytest.mark.parametrize("arrow", TIMES, ids=str)
def test_times(arrow):
    day = pa.array([dt.date(2024, 2, 29)] * ROWS, pa.date32()).cast(arrow)
    released = release('type="time"\nwithin="5 days"', day)
    ticks = np.asarray(released.cast(pa.date32()).cast(pa.int32()))
    assert np.unique(ticks).size > 10
    assert abs(np.median(ticks) - 19782) <= 4
    bounded = 'type="time"\nwithin="5 days"\nbounds=[2024-02-20, 2024-03-10]'
    some = pa.concat_arrays([day.slice(0, ROWS // 2), pa.nulls(ROWS // 2, arrow)])
    inside = release(bounded, some)
    assert 0 < inside.null_count < ROWS
    assert min(inside.drop_null().cast(pa.date32()).to_pylist()) >= dt.date(2024, 2, 20)
    assert max(inside.drop_null().cast(pa.date32()).to_pylist()) <= dt.date(2024, 3, 10)
    clamped = release(bounded.replace("02-20", "03-01") + '\noutside="clamp"\nmissing="refuse"', day)
    assert min(clamped.cast(pa.date32()).to_pylist()) == dt.date(2024, 3, 1)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_keep_their_clock(unit):
    """Noise of minutes does not touch the day, and is not rounded to it."""
    noon = pa.array([dt.datetime(2024, 2, 29, 12)] * ROWS, pa.timestamp(unit))
    released = release('type="time"\nwithin="10 min"\nresolution="1 s"', noon)
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    seconds = np.asarray(pc.divide(pc.subtract(released, noon).cast(pa.int64()), per_second))
    assert 60 < np.median(np.abs(seconds)) < 3600
    assert np.unique(seconds).size > ROWS / 4


CATEGORY = 'type="category"\nvalues=["good", "fair", "poor"]\nepsilon=1'
TEXTS = [
    pa.string(),
    pa.large_string(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.large_string()),
    pa.dictionary(pa.uint32(), pa.string(), ordered=True),
]


@pytest.mark.parametrize("arrow", TEXTS, ids=str)
def test_categories(arrow):
    plain = pa.array(["good", None] * (ROWS // 2))
    if pa.types.is_dictionary(arrow):
        secrets = pa.DictionaryArray.from_arrays(
            pa.array([1, None] * (ROWS // 2), arrow.index_type),
            pa.array(["SECRET", "good"], arrow.value_type),
            ordered=arrow.ordered,
        )
    else:
        secrets = plain.cast(arrow)
    released = release(CATEGORY, secrets)
    assert set(released.to_pylist()) == {"good", "fair", "poor", None}
    public = release(CATEGORY + '\nmissing="public"', secrets)
    assert public.is_null().to_pylist() == secrets.is_null().to_pylist()
    assert set(public.to_pylist()) == {"good", "fair", "poor", None}
    if pa.types.is_dictionary(arrow):
        assert released.dictionary.to_pylist() == ["good", "fair", "poor"]
        assert release(CATEGORY, secrets.slice(0, 0)).dictionary.to_pylist() == []


@pytest.mark.parametrize("arrow", INTEGERS, ids=str)
def test_categories_of_integers(arrow):
    released = release('type="category"\nvalues=[0, 1, 100]\nepsilon=1', pa.array([1, None] * (ROWS // 2), arrow))
    assert set(released.to_pylist()) == {0, 1, 100, None}


def test_booleans():
    assert set(release('type="boolean"\nepsilon=1', pa.array([True, None] * 200)).to_pylist()) == {True, False, None}
    plain = release('type="boolean"\nepsilon=1\nmissing="refuse"', pa.array([True] * ROWS))
    assert set(plain.to_pylist()) == {True, False}


def test_taxonomy_confuses_near_categories_more():
    entry = 'type="category"\nparents={flu="lungs", asthma="lungs", burn="skin", lungs="ill", skin="ill"}\nepsilon=1'
    released = release(entry + '\nmissing="refuse"', pa.array(["flu"] * 4000)).to_pylist()
    assert set(released) == {"flu", "asthma", "burn"}
    assert released.count("flu") > released.count("asthma") > released.count("burn") > 0


@pytest.mark.parametrize("listed", [pa.list_, pa.large_list])
@pytest.mark.parametrize("inner", [pa.string(), pa.large_string()], ids=str)
def test_sets(listed, inner):
    entry = 'type="set"\nvalues=["chess", "golf", "jazz"]\nfactor=3'
    secrets = pa.array([["golf"], [], ["jazz", "jazz", "chess"], None] * 100, listed(inner))
    released = release(entry + '\nmissing="public"', secrets)
    assert released.is_null().to_pylist() == secrets.is_null().to_pylist()
    sets = [tuple(value) for value in released.to_pylist() if value is not None]
    assert {element for value in sets for element in value} == {"chess", "golf", "jazz"}
    assert all(len(set(value)) == len(value) for value in sets)
    assert refused(entry, secrets).row == 3
    assert release(entry, secrets.slice(402 % 400, 1)).type == secrets.type
    assert refused(entry, secrets.slice(1, 3), first_row=1).row == 3


def test_a_slice_is_released_as_itself():
    """Of a slice of a larger array, nothing but the slice."""
    entry = 'type="set"\nvalues=["a", "b"]\nepsilon=40'
    secrets = pa.array([["a"], ["b"], ["a", "b"], [], ["b"]], pa.list_(pa.string()))
    assert release(entry, secrets.slice(1, 3)).to_pylist() == [["b"], ["a", "b"], []]
    series = pa.array([[0.0, 0.0], [1000.0, 2000.0], [5000.0, 6000.0]], pa.list_(pa.float64(), 2)).slice(1, 2)
    near = release('type="series"\nlength=2\nwithin=0.001', series).to_pylist()
    assert np.abs(np.array(near) - [[1000, 2000], [5000, 6000]]).max() < 1
    number = release('type="number"\nwithin=0.001', pa.array([1.0, None, 3.0, 4.0]).slice(2, 2)).to_pylist()
    assert np.abs(np.array(number) - [3, 4]).max() < 1
    category = pa.array(["a", "b", "a"]).dictionary_encode().slice(1, 2)
    assert release('type="category"\nvalues=["b", "a"]\nepsilon=40', category).to_pylist() == ["b", "a"]


@pytest.mark.parametrize("value", [pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
def test_series(kind, value):
    arrow = {"list": pa.list_(value), "large": pa.large_list(value), "fixed": pa.list_(value, 3)}[kind]
    entry = 'type="series"\nlength=3\nwithin=1'
    secrets = pa.array([[1.0, 2.0, 3.0], None] * 100, arrow)
    released = release(entry + '\nmissing="public"', secrets)
    assert released.is_null().to_pylist() == secrets.is_null().to_pylist()
    assert {len(row) for row in released.to_pylist() if row} == {3}
    assert len({row[0] for row in released.to_pylist() if row}) > 50
    assert refused(entry, secrets).row == 1
    assert refused(entry, pa.array([[1.0, 2.0, 3.0], [1.0, None, 77.5]], arrow), never=["77.5"]).row == 1
    if kind != "fixed":
        assert refused(entry, pa.array([[1.0, 2.0, 3.0], [1.0, 77.5]], arrow), never=["77.5"]).row == 1


@pytest.mark.parametrize("arrow", [pa.float32(), pa.float64()], ids=str)
def test_locations(arrow):
    entry = 'type="place"\ncolumns=["lat", "lon"]\nwithin="200 m"'
    lat, lon = pa.array([48.8566] * ROWS, arrow), pa.array([2.3522] * ROWS, arrow)
    released = release(entry, lat, lon)
    assert 0 < np.abs(np.asarray(released[0]) - 48.8566).max() < 0.1
    assert len(set(released[0].to_pylist())) > ROWS / 8
    half = [pa.array([48.0, None, 48.0, None], arrow), pa.array([2.0, 2.0, None, None], arrow)]
    public = release(entry + '\nmissing="public"', *half)
    assert [column.is_null().to_pylist() for column in public] == [[False, True, True, True]] * 2
    assert refused(entry, *half, first_row=10).row == 11
    error = refused(entry, pa.array([48.0, 97.125], arrow), pa.array([2.0, 2.0], arrow), never=["97.125"])
    assert error.row == 1


UNBOUNDED = {
    NUMBER: (pa.array([1.5, None, 2.5]), 1),
    'type="integer"\nwithin=1': (pa.array([1, None, 2]), 1),
    'type="time"\nwithin="1 day"': (pa.array([dt.date(2024, 1, 1), None]), 1),
}


@pytest.mark.parametrize("entry", UNBOUNDED)
def test_missing_refused_or_public(entry):
    secrets, row = UNBOUNDED[entry]
    assert refused(entry, secrets).row == row
    assert refused(entry, secrets, first_row=1000).row == 1000 + row
    public = release(entry + '\nmissing="public"', secrets)
    assert public.is_null().to_pylist() == secrets.is_null().to_pylist()
    nothing = pa.nulls(3, secrets.type)
    assert release(entry + '\nmissing="public"', nothing).null_count == 3


def test_missing_secret_goes_both_ways():
    """A missing value may come out as a number, and a number as missing."""
    released = release(
        'type="number"\nwithin=50\nbounds=[0, 100]', pa.array([None] * ROWS + [50.0] * ROWS, pa.float64())
    )
    nulls = np.asarray(released.is_null())
    assert 0 < nulls[:ROWS].sum() < ROWS
    assert 0 < nulls[ROWS:].sum() < ROWS
    assert not np.isnan(np.asarray(released.drop_null())).any()


def test_not_a_number_is_missing_where_that_is_secret_and_refused_elsewhere():
    secrets = pa.array([1.0, float("nan")])
    assert refused(NUMBER, secrets).row == 1
    assert release(BOUNDED, secrets).type == pa.float64()
    assert refused(NUMBER, pa.array([1.0, float("inf")])).row == 1


OUTSIDE = [
    (BOUNDED, pa.array([50.0, 123.4375]), "123.4375"),
    (BOUNDED, pa.array([50.0, 123.4375], pa.float32()), "123.4375"),
    (BOUNDED, pa.array([50.0, -0.0078125]), "0.0078125"),
    (BOUNDED, pa.array([Decimal("50.00"), Decimal("123.44")]), "123.44"),
    ('type="integer"\nwithin=1\nbounds=[0, 100]', pa.array([50, 12345]), "12345"),
    ('type="integer"\nwithin=1\nbounds=[-100, 100]', pa.array([50, 2**62 + 7]), str(2**62 + 7)),
    (
        'type="time"\nwithin="1 day"\nbounds=[2020-01-01, 2020-12-31]',
        pa.array([dt.date(2020, 5, 5), dt.date(1987, 6, 5)]),
        "1987",
    ),
    (
        'type="time"\nwithin="1 day"\nbounds=[2020-01-01, 2020-12-31]',
        pa.array([dt.datetime(2020, 5, 5), dt.datetime(1987, 6, 5)], pa.timestamp("ns")),
        "1987",
    ),
]


@pytest.mark.parametrize("missing", ["secret", "refuse", "public"])
@pytest.mark.parametrize(("entry", "secrets", "value"), OUTSIDE)
def test_outside_the_bounds(entry, secrets, value, missing):
    entry += f'\nmissing="{missing}"'
    error = refused(entry, secrets, never=[value])
    assert error.row == 1
    assert refused(entry, secrets, first_row=5000, never=[value]).row == 5001
    assert str(error).startswith("column 'x', row 1: ")
    clamped = release(entry + '\noutside="clamp"', pa.concat_arrays([secrets] * 50))
    low, high = {"i": (-100, 100), "n": (0, 100), "t": (dt.date(2020, 1, 1), dt.date(2020, 12, 31))}[entry[6]]
    kept = [x.date() if isinstance(x, dt.datetime) else x for x in clamped.drop_null().to_pylist()]
    assert all(low <= x <= high for x in kept)


@pytest.mark.parametrize("entry", [entry for entry, *_ in OUTSIDE[:1]])
def test_the_row_is_the_tables_row_with_public_nulls_before_it(entry):
    secrets = pa.array([None, None, 50.0, None, 123.4375, None])
    assert refused(entry + '\nmissing="public"', secrets, first_row=100).row == 104


def test_a_bound_itself_is_inside():
    for entry in (BOUNDED, BOUNDED + '\nmissing="refuse"'):
        assert release(entry, pa.array([0.0, 100.0])).type == pa.float64()
    thin = 'type="number"\nwithin=5\nbounds=[0.1, 0.3]\nresolution="0.01"\noutside="clamp"'
    for arrow in (pa.float32(), pa.float64()):
        assert release(thin, pa.array([0.0, 1.0, 0.1, 0.3], arrow)).type == arrow


@pytest.mark.parametrize(
    ("entry", "secrets"),
    [
        (CATEGORY, pa.array(["good", "SECRET"])),
        (CATEGORY, pa.array(["good", "SECRET"]).dictionary_encode()),
        ('type="category"\nvalues=[1, 2]\nepsilon=1', pa.array([1, 5417632])),
        ('type="set"\nvalues=["a"]\nepsilon=1', pa.array([["a"], ["a", "SECRET"]])),
        ('type="set"\nvalues=[1]\nepsilon=1', pa.array([[1], [1, 5417632]])),
        ('type="set"\nvalues=["a"]\nepsilon=1', pa.array([["a"], ["a", None]])),
    ],
)
def test_outside_the_list(entry, secrets):
    error = refused(entry, secrets, first_row=7, never=["SECRET", "5417632"])
    assert error.row == 8


def test_a_null_among_categories_that_may_not_be():
    assert refused(CATEGORY + '\nmissing="refuse"', pa.array(["good", None])).row == 1


@pytest.mark.parametrize(
    ("entry", "arrow"),
    [
        (NUMBER, pa.float32()),
        (BOUNDED, pa.decimal128(5, 2)),
        ('type="integer"\nwithin=1', pa.int8()),
        ('type="time"\nwithin="1 day"', pa.timestamp("s", "UTC")),
        (CATEGORY, pa.dictionary(pa.int8(), pa.string())),
        ('type="boolean"\nepsilon=1', pa.bool_()),
        ('type="set"\nvalues=["a"]\nepsilon=1', pa.large_list(pa.string())),
        ('type="series"\nlength=3\nwithin=1', pa.list_(pa.float64(), 3)),
        ('type="keep"', pa.struct([("a", pa.int8())])),
    ],
)
def test_empty_batches(entry, arrow):
    assert len(release(entry, pa.array([], arrow))) == 0


def test_kept_columns_are_kept_and_their_dictionaries_hold_only_what_rows_hold():
    secrets = pa.array([{"a": 1}, None])
    assert release('type="keep"', secrets).equals(secrets)
    words = pa.DictionaryArray.from_arrays(
        pa.array([1, None, 1], pa.int8()), pa.array(["SECRET", "seen"]), ordered=True
    )
    kept = release('type="keep"', words)
    assert kept.to_pylist() == ["seen", None, "seen"]
    assert kept.dictionary.to_pylist() == ["seen"]


def test_words_of_a_kept_dictionary_come_in_an_order_of_their_own():
    """Sorted, unless the type says that its order means something: which row came first is not told."""
    words = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2], pa.int8()), pa.array(["b", "x", "c"]))
    assert release('type="keep"', words).dictionary.to_pylist() == ["b", "c"]
    ordered = pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), pa.array(["z", "x", "c"]), ordered=True)
    assert release('type="keep"', ordered).dictionary.to_pylist() == ["z", "c"]


@pytest.mark.parametrize("scale", [0, 2, 20])
@pytest.mark.parametrize("precision", [9, 18, 19, 38, 39, 76])
def test_decimals_of_every_width_are_exact(precision, scale):
    """With hardly any noise, what goes in comes out, whatever the number of words it is stored in."""
    if scale > precision:
        return
    arrow = (pa.decimal128 if precision <= 38 else pa.decimal256)(precision, scale)
    digits = min(precision, 17)
    entry = f'type="number"\nepsilon="1e80"\nresolution="1e-{scale}"'
    secrets = [Decimal(sign * (10**digits - 7)).scaleb(-scale) for sign in (1, -1)] + [Decimal(0)]
    assert release(entry, pa.array(secrets, arrow)).to_pylist() == secrets
    far = 10 ** (precision - scale - 1)
    if precision - scale > 18:
        wide = [Decimal(far), -Decimal(far)]
        coarse = f'type="number"\nepsilon="1e80"\nresolution="{far // 10**15}"'
        assert release(coarse, pa.array(wide, arrow)).to_pylist() == wide


def test_two_batches_differ():
    secrets = pa.array([1.5] * 50)
    assert release(NUMBER, secrets).to_pylist() != release(NUMBER, secrets).to_pylist()
