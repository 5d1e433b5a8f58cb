"""A release looks the same whatever the secret: for every mechanism, container and pair of neighbours.

Container, type, grid, ends, kinds of values and errors are compared by forcing the noise to both ends and by
drawing it; where the law of a release is finite, it is enumerated exactly.
"""

import datetime as dt
import itertools
import math
import traceback
from decimal import Decimal
from fractions import Fraction
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from flint import arb
from hypothesis import assume, given
from hypothesis import strategies as st

import metricdp as mdp
from metricdp.errors import DataError, KindError, MetricDPError, NotFiniteError
from metricdp.exact.balls import ball, precision
from tests.attacks.effort import attack
from tests.attacks.support import (
    DATES,
    DRAWING,
    FAR,
    LABELS,
    NUMBERS,
    POINTS,
    ROWS,
    date_pairs,
    draws,
    float_pairs,
    form,
    integer_pairs,
    label_look,
    listed,
    look,
)

m = mdp.metrics
LIMIT = 2**61

LINES = {
    "fine": mdp.laplace(m.absolute().within(5)),
    "cents": mdp.laplace(m.absolute().within(5), resolution="0.01"),
    "thirds": mdp.laplace(m.absolute().within(5), resolution=Fraction(1, 3)),
    "whole": mdp.laplace(m.absolute().within(5), resolution=1),
    "sevens": mdp.laplace(m.absolute().within(50), resolution=7),
    "coarse": mdp.laplace(m.absolute().within(2**12), resolution=2**10),
    "bounded": mdp.laplace(m.absolute().within(5), bounds=(-1, 100)),
    "bounded far out": mdp.laplace(m.absolute().within(2**20), bounds=(-(2**65), 2**65), resolution=2**10),
    "delta": mdp.approximate_laplace(0, 100, 1, "0.01"),
    "null": mdp.laplace(Fraction(1, 240) * m.nullable(m.absolute(), 240), bounds=(-1, 100)),
    "null, whole": mdp.laplace(Fraction(1, 240) * m.nullable(m.absolute(), 240), bounds=(-1, 100), resolution=1),
}
STEPS = {
    "geometric": mdp.geometric(mdp.ln(2) * m.absolute()),
    "quarters": mdp.geometric(mdp.ln(2) * m.absolute(), step="0.25"),
    "truncated": mdp.truncated_geometric(mdp.ln(2) * m.absolute(), steps=100),
    "snapped": mdp.geometric(Fraction(1, 10) * m.absolute(), step=10, snap=True),
}
DAYS = {
    "days": mdp.laplace(m.dates().within(5)),
    "weeks": mdp.laplace(m.dates().within(5), resolution=7),
    "hours": mdp.laplace(m.dates().within(5), resolution=Fraction(1, 24)),
    "null": mdp.laplace(Fraction(1, 100) * m.nullable(m.dates(), 100), bounds=(-1, 59), resolution=1),
}
SPACES = {
    "L1": mdp.laplace(m.manhattan(), dim=2, resolution=3),
    "L2": mdp.laplace(m.euclidean(), dim=2),
    "L-infinity": mdp.laplace(m.chebyshev(), dim=2, resolution="0.01"),
}


def comparable(mechanism, one, two):
    """Whether both secrets are in the declared domain, or both outside."""
    ends = [LIMIT * mechanism.resolution]
    bounds = getattr(getattr(mechanism, "numbers", mechanism), "bounds", None)
    inside = [all(abs(Fraction(x)) <= end for end in ends) for x in (one, two)]
    if bounds is not None:
        inside = [
            within and bounds[0] <= Fraction(x) <= bounds[1] for within, x in zip(inside, (one, two), strict=True)
        ]
    if getattr(mechanism, "steps", None) is not None:
        inside = [within and 0 <= x <= mechanism.steps for within, x in zip(inside, (one, two), strict=True)]
    return inside[0] == inside[1] and not (bounds is not None and inside == [False, False])


NOT_HELD = (ValueError, TypeError, ArithmeticError, RuntimeWarning, pa.ArrowException, pl.exceptions.PolarsError)


def same(mechanism, make, *pairs):
    """Equal looks of every pair that the container holds and that lies on one side of the domain's ends."""
    tried = 0
    for one, two in pairs:
        rows = ROWS if hasattr(mechanism, "numbers") else 3
        try:
            secrets = [make([secret] * rows) for secret in (one, two)]
        except NOT_HELD:
            continue
        assert look(mechanism, secrets[0]) == look(mechanism, secrets[1])
        tried += 1
    assume(tried)


HARD = [pair for pair in integer_pairs() if max(map(abs, pair)) in (2**24, 2**31, 2**53, 2**53 + 1, 2**63, 2**63 + 1)]


def numbers_for(mechanism, *pairs):
    return [pair for pair in pairs if comparable(mechanism, *pair)]


@pytest.mark.long
@attack(120)
@given(st.sampled_from(list(LINES)), st.sampled_from(list(NUMBERS)), st.sampled_from(integer_pairs() + float_pairs()))
def test_numbers_on_a_line(name, container, pair):
    assume(container != "scalar" or "null" not in name)  # which shows a number or null, one at a time
    same(LINES[name], NUMBERS[container], *numbers_for(LINES[name], *HARD, pair))


@attack(60)
@given(st.sampled_from(list(STEPS)), st.sampled_from(list(NUMBERS)), st.sampled_from(integer_pairs()))
def test_numbers_on_steps(name, container, pair):
    same(STEPS[name], NUMBERS[container], *numbers_for(STEPS[name], *HARD, pair))


@attack(80)
@given(st.sampled_from(list(DAYS)), st.sampled_from(list(DATES)), st.sampled_from(date_pairs()))
def test_dates(name, container, pair):
    if name == "null":
        assume(container != "date")
        pair = (dt.date(1970, 1, 1), dt.date(1970, 2, 2))
    same(DAYS[name], DATES[container], pair)


@attack(60)
@given(st.sampled_from(list(SPACES)), st.sampled_from(list(POINTS)), st.sampled_from(integer_pairs() + float_pairs()))
def test_points(name, container, pair):
    same(SPACES[name], POINTS[container], *numbers_for(SPACES[name], *HARD, pair))


@attack(40)
@given(st.sampled_from(["null", "null, whole"]), st.sampled_from(list(NUMBERS)), st.sampled_from([0, 1, 99, 100, 50]))
def test_null_and_a_number(name, container, number):
    assume(container != "scalar")
    same(LINES[name], NUMBERS[container], (None, number))


@attack(40)
@given(st.sampled_from(list(DATES)), st.sampled_from([0, 1, 30, 58]))
def test_null_and_a_date(container, day):
    assume(container != "date")
    same(DAYS["null"], DATES[container], (None, dt.date(1970, 1, 1) + dt.timedelta(day)))


ANY = [
    5,
    5.0,
    Decimal(5),
    Fraction(5),
    np.int8(5),
    np.float32(5),
    np.float64(5),
    Fraction(11, 2),
    Decimal("0.1"),
    10**12,
]


@attack(60)
@given(
    st.sampled_from(["fine", "cents", "whole", "coarse"]),
    st.sampled_from(["scalar", "list", "tuple", "objects", "series of objects"]),
    st.sampled_from(ANY),
    st.sampled_from(ANY),
)
def test_containers_that_declare_nothing_forget_what_number_it_was(name, container, one, two):
    same(LINES[name], NUMBERS[container], (one, two))


RESPONSES = {
    "letters": (mdp.randomized_response(["a", "b", "a longer one"], 1), ["a", "b", "a longer one"]),
    "a taxonomy": (mdp.exponential(mdp.Space(["x", "yy", "zzz"], m.discrete())), ["x", "yy", "zzz"]),
    "integers": (mdp.randomized_response([1, 2, 300, 2**40], 1), [1, 2, 300, 2**40]),
    "with null": (mdp.randomized_response(["a", "b", None], 1), ["a", "b"]),
}


@attack(60)
@given(st.sampled_from(list(RESPONSES)), st.sampled_from(list(LABELS)), st.data())
def test_labels(name, container, data):
    assume(container != "label" or name != "with null")  # one label at a time shows whether it is null
    mechanism, labels = RESPONSES[name]
    looks = []
    for _ in range(2):
        rows = data.draw(st.lists(st.sampled_from(labels), min_size=3, max_size=3))
        try:
            secrets = LABELS[container](rows)
        except NOT_HELD:
            assume(False)
        try:
            looks.append(label_look(mechanism.release(secrets)))
        except MetricDPError as error:
            looks.append((type(error).__name__, str(error)))
    assert looks[0] == looks[1]


# What was found, each by itself


@pytest.mark.parametrize("dtype", ["Int64", "Int32", "int64[pyarrow]", "UInt8"])
@pytest.mark.parametrize("name", ["null", "null, whole"])
def test_a_null_among_nullable_integers_changes_no_type(dtype, name):
    without, with_null = (pd.Series([5, 7, value] * ROWS, dtype=dtype) for value in (9, None))
    assert look(LINES[name], without) == look(LINES[name], with_null)
    assert str(LINES["null, whole"].release(with_null).dtype) == (dtype if "[" in dtype else "Int64")


@pytest.mark.parametrize("container", ["pandas Int64", "pandas int64[pyarrow]", "polars Int64", "arrow int64", "list"])
def test_no_integer_beyond_2_to_53_is_rounded(container):
    """The same noise around the next integer, also where a null stands beside it."""
    mechanism = mdp.laplace(Fraction(1, 2**52) * m.nullable(m.absolute(), 2**54), bounds=(0, 2**54), resolution=1)
    with draws(0):
        for secret in (2**53, 2**53 + 1, 2**53 + 3):
            seen = {x for x in listed(mechanism.release(NUMBERS[container]([secret, None] * ROWS))) if x is not None}
            assert secret in {x for x in seen if x is not pd.NA}


def test_python_integers_across_2_to_63():
    for mechanism in LINES.values():
        if mechanism.resolution >= 2**10:
            assert look(mechanism, [2**63 - 1] * ROWS) == look(mechanism, [2**63] * ROWS)
    fine = mdp.laplace(m.absolute().within(2**12), resolution=Fraction(2**11 + 1, 2))
    assert look(fine, [2**63 - 1] * ROWS) == look(fine, [2**63] * ROWS)


def test_frames_above_2_to_53():
    for resolution in (3, 1):
        mechanism = mdp.laplace(m.manhattan(), dim=2, resolution=resolution)
        looks = [look(mechanism, pd.DataFrame({"n": [n] * 4, "x": [0.5] * 4})) for n in (2**53, 2**53 + 1, 5)]
        assert looks[0] == looks[1] == looks[2]
        with draws(0):
            assert mechanism.release(pd.DataFrame({"n": [3 * 2**53 + 3], "x": [0.0]}))["n"].tolist() == [3 * 2**53 + 3]


@pytest.mark.parametrize("year", [2262, 2263, 2300, 9998, 1677, 1600, 2])
def test_timestamps_beyond_the_nanoseconds_do_not_wrap(year):
    moment = pd.Timestamp(dt.datetime(year, 6, 1)).as_unit("s")
    with draws(0):
        assert DAYS["days"].release([moment]) == [dt.date(year, 6, 1)]


@pytest.mark.parametrize("container", DATES)
def test_the_ends_of_the_calendar(container):
    """Noise to either end gives the last point of the type, never the other end, nor an error."""
    secrets = DATES[container]([dt.date(2000, 1, 1)] * 3)
    early, late = [], []
    for cells, found in zip(FAR, (late, early), strict=True):
        with draws(cells):
            found += [str(x)[:4] for x in listed(DAYS["days"].release(secrets))]
    assert set(early) <= {"0001", "1-01", "1677", "1678"}
    assert set(late) <= {"9999", "2262", "2261"}


# The law of a nullable mechanism, exactly


def law(mechanism, secrets):
    """The probability of each cell, and of null, for each secret of an array, by where it is really placed."""
    placed = []

    def catch(formula, count):
        placed.append(formula)
        return np.zeros((1, count), dtype=np.int64)

    with mock.patch(f"{DRAWING[0]}.nearest_integers", catch):
        mechanism.release(secrets)
    (formula,) = placed
    first, last = (bound / mechanism.resolution for bound in mechanism.numbers.bounds)
    cells = range(math.ceil(first), math.floor(last) + 1)

    def below(edge, centre, rate):
        far = rate * ball(edge - centre)
        return far.exp() / 2 if edge <= centre else 1 - (-far).exp() / 2

    tables = []
    rate = 1 / formula.scale.ball()
    is_null = [bool(x != x) for x in secrets]
    for row in range(len(secrets)):
        centre = int(formula.placed.cells[row]) + formula.placed.exact(row)
        edges = [arb(0), *(below(cell + Fraction(1, 2), centre, rate) for cell in cells[:-1]), arb(1)]
        null = mechanism.true_null() if is_null[row] else mechanism.false_null()
        tables.append([null, *((1 - null) * (high - low) for low, high in itertools.pairwise(edges))])
    return tables


COARSE = {
    "float16": (np.float16, (60_000, 65_000), 4, "0.3", [60_000, 64_992, 62_496], 2500),
    "float16, small": (np.float16, (2048, 2051), 1, 1, [2048, 2050], Fraction(3, 2)),
    "float32": (np.float32, (2**26, 2**26 + 9), 1, 1, [2**26, 2**26 + 8], Fraction(9, 2)),
    "float64": (np.float64, (2**56, 2**56 + 9), 1, 1, [2**56], Fraction(9, 2)),
}


@pytest.mark.parametrize("name", COARSE)
def test_the_law_of_null_is_the_one_that_was_proved(name):
    """The ratio of any two secrets' probabilities, over all outputs: at most exp of their distance."""
    dtype, bounds, resolution, level, numbers, half = COARSE[name]
    metric = level * m.nullable(m.absolute(), half + Fraction(1, 10) / Fraction(level))
    mechanism = mdp.laplace(metric, bounds=bounds, resolution=resolution)
    check_law(mechanism, np.array([math.nan, *numbers], dtype=dtype), [None, *numbers], metric)


@pytest.mark.parametrize("dtype", ["M8[D]", "M8[10D]", "M8[h]", "M8[2h]"])
def test_the_law_of_null_among_coarse_dates(dtype):
    metric = Fraction(1, 5) * m.nullable(m.dates(), 16)
    mechanism = mdp.laplace(metric, bounds=(0, 30), resolution=10)
    secrets = np.array(["NaT", "1970-01-01", "1970-01-31"], dtype="M8[D]").astype(dtype)
    check_law(mechanism, secrets, [None, dt.date(1970, 1, 1), dt.date(1970, 1, 31)], metric)


def check_law(mechanism, secrets, points, metric):
    with precision(4096):
        tables = law(mechanism, secrets)
        for one, first in zip(points, tables, strict=True):
            assert abs(sum(first, start=arb(0)) - 1) < 1e-60
            for two, second in zip(points, tables, strict=True):
                allowed = metric.ball(one, two).exp() * (1 + arb(2) ** -100)
                for a, b in zip(first, second, strict=True):
                    assert a <= allowed * b, f"{float((a / b).mid()):.4g} where {float(allowed.mid()):.4g} is promised"


# Containers that are not understood, and errors


WEIRD = {
    "matrix": np.ones((2, 1)).view(np.matrix),
    "masked": np.ma.array([1.0, 123456.0], mask=[False, True]),
    "masked dates": np.ma.array(np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]"), mask=[False, True]),
    "records": np.rec.array([(1.0, 2.0)], dtype=[("a", float), ("b", float)]),
    "characters": np.char.array(["a", "b"]),
    "index": pd.Index([1.0, 2.0]),
    "pandas array": pd.array([1, 2]),
    "sparse": pd.Series([1.0, 0.0], dtype="Sparse[float]"),
    "table": pa.table({"a": [1.0]}),
    "lazy": pl.LazyFrame({"a": [1.0]}),
}
MECHANISMS = {
    **LINES,
    **STEPS,
    **{f"{name} of time": day for name, day in DAYS.items()},
    **SPACES,
    "globe": mdp.laplace(m.great_circle().within(200)),
    "letters": mdp.randomized_response("ab", 1),
    "sets": mdp.set_response("ab", 1),
    "exponential": mdp.exponential(mdp.Space.line(3, m.absolute())),
    "records": mdp.independent(LINES["fine"], LINES["whole"]),
    "samples": mdp.function_samples(m.supremum(), [0, 1]),
}


@pytest.mark.parametrize("weird", WEIRD)
@pytest.mark.parametrize("name", MECHANISMS)
def test_what_is_not_understood_is_refused(name, weird):
    with pytest.raises(DataError):
        MECHANISMS[name].release(WEIRD[weird])


BEYOND = 2**31 - 1
"""As a number of days, far beyond what Python's calendar holds; libraries name it in their errors, or panic."""
BEYOND_PYTHON = {
    "arrow date": pa.array([BEYOND], pa.date32()),
    "arrow timestamp": pa.array([BEYOND * 10**9], pa.timestamp("s")),
    "arrow duration": pa.array([BEYOND * 10**9], pa.duration("s")),
    "arrow text": pa.array([b"\xff%d" % BEYOND]).view(pa.string()),
    "pandas date": pd.Series([BEYOND], dtype="int32[pyarrow]").astype("date32[day][pyarrow]"),
    "polars date": pl.Series([BEYOND], dtype=pl.Int32).cast(pl.Date),
    "polars moment": pl.Series([BEYOND * 10**6]).cast(pl.Datetime("ms")),
}


@pytest.mark.parametrize("column", BEYOND_PYTHON)
def test_values_that_python_cannot_hold_are_refused_without_being_named(column):
    """Not the library's own error, which would name the value: by mechanisms on labels, and by queries."""
    response = mdp.randomized_response([dt.date(2020, 1, 1), dt.date(2020, 1, 2)], 1)
    chosen = mdp.exponential(mdp.Space([0, 1], m.absolute()))
    for ask in (response.release, chosen.release, mdp.queries.Sum(bounds=(0, 1)).evaluate):
        with pytest.raises(DataError) as caught:
            ask(BEYOND_PYTHON[column])
        assert str(BEYOND) not in "".join(traceback.format_exception(caught.value)).replace("BEYOND", "")


def test_a_masked_secret_does_not_come_back():
    for mechanism in (LINES["fine"], STEPS["geometric"], LINES["null"]):
        with pytest.raises(KindError, match="plain array"):
            mechanism.release(np.ma.array([1.0, 99.0], mask=[False, True]))


HOSTILE = [
    10**400,
    -(10**400),
    2**1100,
    Decimal("1e999999"),
    Decimal("-1e-999999"),
    Decimal("sNaN"),
    pd.NA,
    pd.NaT,
    None,
    math.inf,
    Fraction(1, 10**400),
    Fraction(10**400, 3),
    np.longdouble(1.5),
    np.float16(1.5),
    5e-324,
    True,
    "5",
    b"5",
    1j,
    [],
    {},
    (),
    np.datetime64("NaT"),
    dt.timedelta(1),
    np.timedelta64(1, "s"),
    np.timedelta64(1),
    object(),
    dt.date(1, 1, 1),
    np.datetime64("30000-01-01"),
]


@pytest.mark.parametrize("name", MECHANISMS)
def test_only_errors_of_the_package_whatever_numpy_raises(name):
    """Also where every float warning of numpy is an error."""
    mechanism = MECHANISMS[name]
    with np.errstate(all="raise"):
        for hostile in HOSTILE:
            for secrets in (
                hostile,
                [hostile],
                [0.5, hostile],
                [[hostile, 1.0]],
                np.array([hostile, None], dtype=object)[:1],
            ):
                try:
                    mechanism.release(secrets)
                except MetricDPError:
                    continue


@pytest.mark.parametrize("name", [*LINES, *SPACES, "globe", "samples"])
def test_every_float_is_taken_under_seterr(name):
    with np.errstate(all="raise"):
        for dtype in (np.float16, np.float32, np.float64):
            for secret in (0.0, -0.0, 5e-324, 1e-310, 1e-45, 0.1, 1.0):
                row = [secret] * (1 if name in LINES else 2)
                MECHANISMS[name].release(np.array(row if len(row) > 1 else row * 3, dtype=dtype))


def test_missing_values_name_their_row():
    for secrets in (pd.Series([1, None], dtype="Int64"), pl.Series([1, None]), pa.array([1, None])):
        with pytest.raises(NotFiniteError) as caught:
            LINES["whole"].release(secrets)
        assert caught.value.row == 1


# Not private


def test_the_mark_is_printed_and_kept():
    with pytest.warns(mdp.errors.NotPrivateWarning), mdp.seeded(1):
        array = LINES["fine"].release(np.zeros(4))
    plain = np.ones(2)
    for made in (
        array,
        array[1:],
        array + 1,
        np.concatenate([plain, array]),
        np.stack([array, array]),
        np.hstack([array, plain]),
        np.vstack([array, array]),
        np.append(plain, array),
        np.where(array > 0, array, 0),
        np.sort(array),
        np.round(array),
        np.clip(array, 0, 1),
        np.split(array, 2)[0],
        np.array_split(array, 2)[1],
        np.cumsum(array),
        np.tile(array, 2),
        array.round(1),
        np.unique_counts(array).values,
        np.linalg.svd(array.reshape(2, 2)).S,
    ):
        assert str(made).startswith("not private")
        assert repr(made).startswith("not private")
        assert f"{made}".startswith("not private")
    assert np.asarray(array).tolist() == array.tolist()
    assert form(array) == ("NotPrivate", "float64")


def seeded_frames():
    """Every way in which a frame or a Series of pandas is released."""
    import geopandas

    from metricdp.integrations import PrivateTransformer, enable
    from metricdp.tables import sanitize

    enable("pandas", "geopandas")
    rules = {"format": 2, "columns": {"x": {"type": "number", "within": 1}}}
    frame, noise = pd.DataFrame({"x": [1.0, 2.0]}), mdp.laplace(m.absolute())
    yield sanitize(frame, rules).table
    yield frame.metricdp.sanitize(rules).table
    yield frame["x"].metricdp.release(rules, "x")
    yield frame["x"].metricdp.release(noise)
    yield PrivateTransformer(rules).fit_transform(frame)
    yield mdp.independent(noise).release(frame)
    yield mdp.laplace(m.euclidean()).release(frame)
    yield geopandas.GeoSeries.from_xy([2.0], [48.0], crs=4326).metricdp.within(200)


def test_every_seeded_frame_carries_the_mark():
    with pytest.warns(mdp.errors.NotPrivateWarning), mdp.seeded(1):
        assert [made.attrs.get("private") for made in seeded_frames()] == [False] * 8
    assert [made.attrs.get("private") for made in seeded_frames()] == [None] * 8


def test_a_seeded_function_says_so():
    """Of coefficients that are given as a list, which takes no mark, too; and its numbers are floats, however large."""
    mechanism = mdp.function_expansion(m.square_integrable(), length=24, terms=2, resolution=4)
    with pytest.warns(mdp.errors.NotPrivateWarning), mdp.seeded(1):
        seeded = mechanism.release([1.0, 2.0])
    assert seeded.to_json()["private"] is False
    assert "not private" in repr(seeded)
    for coefficient in (0, 2**60, 2**62):
        released = mechanism.release([coefficient, -5])
        assert released.to_json()["private"] is True
        assert released.coefficients.dtype == np.float64
