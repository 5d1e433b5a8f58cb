"""Bad input gives a named, helpful error and nothing else; overflow saturates."""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import metricdp as mdp
from metricdp.errors import (
    ArgumentError,
    DataError,
    ImpossibleError,
    KindError,
    LevelError,
    MetricDPError,
    NotAMetricError,
    NotFiniteError,
    OffGridError,
    OutOfDomainError,
    ShapeError,
    UnknownCategoryError,
    UnsupportedMetricError,
)
from metricdp.metrics import Guarantee
from metricdp.testing._secrets import traces

m = mdp.metrics
LINE = mdp.laplace(m.absolute().within(5))
BOUNDED = mdp.laplace(m.absolute().within(5), bounds=(0, 100))
PLANE = mdp.laplace(m.euclidean(), dim=2)
GLOBE = mdp.laplace(m.great_circle().within(200))
DAYS = mdp.laplace(m.dates().within(5))
STEPS = mdp.geometric(mdp.ln(2) * m.absolute(), step="0.25")
LETTERS = mdp.randomized_response("abcd", 1)
SETS = mdp.set_response("abc", 1)
NULLS = mdp.laplace(Fraction(1, 20) * m.nullable(m.absolute(), 100), bounds=(0, 100))


def refused(mechanism, secrets, error, row, match):
    """Refused by exactly this error, which names the row and says what to do."""
    with pytest.raises(error, match=match) as caught:
        mechanism.release(secrets)
    assert caught.type is error
    assert caught.value.row == row
    assert row is None or str(caught.value).startswith(f"row {row}: ")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, MetricDPError)
    assert traces(caught.value) == []


# NaN and infinity


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, Decimal("nan"), Decimal("-inf"), np.float32("nan")])
def test_not_finite(bad):
    for mechanism in (LINE, BOUNDED, STEPS):
        refused(mechanism, bad, NotFiniteError, 0, "finite number is wanted")
        refused(mechanism, [0.5, 0.25, float(bad)], NotFiniteError, 2, "finite number is wanted")
        refused(mechanism, np.array([0.5, float(bad)]), NotFiniteError, 1, "finite number is wanted")
        refused(mechanism, pd.Series([0.5, float(bad)]), NotFiniteError, 1, "finite number is wanted")


@pytest.mark.parametrize("bad", [Decimal("nan"), Decimal("sNaN"), Decimal("inf"), math.inf])
def test_not_finite_among_exact_numbers(bad):
    for good in (Decimal(1), Fraction(1, 3), 10**20 // 10**20):
        refused(LINE, [good, bad], NotFiniteError, 1, "finite number is wanted")


def test_not_finite_points():
    refused(PLANE, [[0.0, 0.0], [1.0, math.nan]], NotFiniteError, 1, "finite number is wanted")
    refused(PLANE, [0.0, math.inf], NotFiniteError, 0, "finite number is wanted")
    refused(GLOBE, [[0.0, 0.0], [math.nan, 1.0]], NotFiniteError, 1, "finite number of degrees")
    refused(GLOBE, np.array([[0.0, 0.0], [0.0, -math.inf]]), NotFiniteError, 1, "finite number of degrees")


def test_not_a_time():
    refused(DAYS, np.array(["2024-01-01", "NaT"], dtype="datetime64[D]"), NotFiniteError, 1, "not NaT")
    refused(DAYS, np.datetime64("NaT", "s"), NotFiniteError, 0, "not NaT")
    refused(DAYS, pd.Series(pd.to_datetime(["2024-01-01", None])), NotFiniteError, 1, "not NaT")


def test_the_first_bad_row_is_named():
    rows = np.zeros(40_000)
    rows[[20_000, 30_000]] = math.nan
    refused(LINE, rows, NotFiniteError, 20_000, "finite number is wanted")
    rows = np.zeros((10, 2))
    rows[7, 0] = rows[3, 1] = math.nan
    refused(PLANE, rows, NotFiniteError, 3, "finite number is wanted")


# Out of the domain


@pytest.mark.parametrize("latitude", [91.0, -91.0, 90.00000000000001, 1e300])
def test_latitude(latitude):
    refused(GLOBE, [[0.0, 0.0], [latitude, 0.0]], OutOfDomainError, 1, "latitude lies between -90 and 90")


def test_longitude():
    refused(GLOBE, [[0.0, 0.0], [0.0, 361.0]], OutOfDomainError, 1, "longitude lies between -360 and 360")
    for longitude in (180.0, -180.0, 359.5, -360.0):
        assert -180 <= GLOBE.release([0.0, longitude])[1] < 180


def test_degrees_may_be_integers_and_floats_together():
    assert len(GLOBE.release([48, 2.5])) == 2
    assert len(GLOBE.release([[48, 2.5], [0.0, -3]])) == 2
    assert GLOBE.release(np.array([[48, 2], [0, 3]])).shape == (2, 2)


@pytest.mark.parametrize("bad", [None, True, "48", 1j])
def test_degrees_of_the_wrong_kind(bad):
    refused(GLOBE, [[0.0, 0.0], [bad, 0.0]], KindError, 1, "number")


@pytest.mark.parametrize("bad", ["e", None, 3, "A", ["a", "b"], {"a"}, math.nan])
def test_unknown_category(bad):
    for mechanism in (
        LETTERS,
        mdp.randomized_response("abcd", 1, "0.1"),
        mdp.exponential(mdp.Space("abcd", m.discrete())),
    ):
        refused(mechanism, ["a", bad], UnknownCategoryError, 1, "not one of the declared values")


@pytest.mark.parametrize("bad", [{"b", "x"}, ["x"], (None,), [["a"]], [{"a"}]])
def test_unknown_element(bad):
    refused(SETS, [{"a"}, bad], UnknownCategoryError, 1, "not in the declared universe")


def test_space_index_names_no_point():
    secret = "-".join(("TOP", "SECRET"))
    with pytest.raises(UnknownCategoryError) as caught:
        mdp.Space("abc", m.discrete()).index(secret)
    assert traces(caught.value) == []


def test_outside_the_bounds():
    for mechanism in (BOUNDED, mdp.approximate_laplace(0, 100, 1, "0.01")):
        for bad in (-1.0, 100.00000000000001, -5e-324, 1e9, Decimal("100.01"), Fraction(-1, 10**30)):
            refused(mechanism, [50.0, bad], OutOfDomainError, 1, "outside the declared bounds")
        assert 0 <= mechanism.release(100.0) <= 100
        assert 0 <= mechanism.release(-0.0) <= 100
    refused(NULLS, [None, 101.0], OutOfDomainError, 1, "outside the declared bounds")
    refused(mdp.truncated_geometric(m.absolute(), k=10), [3, 11], OutOfDomainError, 1, r"outside 0 \.\. 10 steps")
    refused(mdp.truncated_geometric(m.absolute(), k=10), [3, -1], OutOfDomainError, 1, r"outside 0 \.\. 10 steps")


def test_bounds_that_no_float_is():
    """Between 1/3 and its float lie secrets that only rationals tell apart."""
    mechanism = mdp.laplace(m.absolute(), bounds=(0, Fraction(1, 3)), resolution=Fraction(1, 3))
    assert mechanism.release(1 / 3) in (0.0, 1 / 3)  # the float lies below a third
    refused(mechanism, math.nextafter(1 / 3, 1), OutOfDomainError, 0, "outside the declared bounds")
    refused(mechanism, Fraction(1, 3) + Fraction(1, 10**40), OutOfDomainError, 0, "outside the declared bounds")


def test_between_two_steps():
    refused(STEPS, [0.25, 0.3], OffGridError, 1, "snap=True")
    refused(STEPS, [Decimal("0.25"), Decimal("0.26")], OffGridError, 1, "snap=True")
    refused(mdp.geometric(m.absolute(), step="0.1"), 0.1, OffGridError, 0, "multiple of the declared step 1/10")
    assert isinstance(mdp.geometric(m.absolute(), step="0.1").release(Decimal("0.1")), float)
    refused(mdp.geometric(m.absolute(), step=2), [2, 3], OffGridError, 1, "snap=True")
    refused(mdp.geometric(m.absolute(), step=2), 5e-324, OffGridError, 0, "snap=True")
    refused(mdp.geometric(m.absolute(), step=2**70), [0, 1], OffGridError, 1, "snap=True")


def test_snapping_is_paid_for():
    metric = mdp.ln(2) * m.absolute()
    plain, snapping = mdp.geometric(metric), mdp.geometric(metric, snap=True)
    assert plain.guarantee == Guarantee(metric)
    assert snapping.guarantee == Guarantee(metric + mdp.ln(2) * m.discrete())
    assert plain.guarantee < snapping.guarantee
    assert isinstance(snapping.release([0.3, 2.5])[0], int)
    half = mdp.truncated_geometric(metric, k=10, step="0.5", snap=True)
    assert half.guarantee == Guarantee(metric + mdp.ln(2) / 2 * m.discrete())


def test_beyond_what_the_resolution_holds():
    most = float(2**61 * LINE.resolution)
    assert LINE.release([most, -most, int(most)])
    for bad in (2 * most, -2 * most, 1e300, 10**30, Decimal(10) ** 40):
        refused(LINE, [0.0, bad], OutOfDomainError, 1, "give a coarser resolution")
    refused(mdp.laplace(m.absolute(), resolution=1), [0, 2**62], OutOfDomainError, 1, "give a coarser resolution")
    refused(mdp.laplace(m.absolute(), resolution=1), np.array([-(2**63)]), OutOfDomainError, 0, "coarser resolution")
    refused(mdp.laplace(m.absolute(), resolution=1), [2**1100], OutOfDomainError, 0, "give a coarser resolution")
    refused(PLANE, [[0.0, 0.0], [0.0, 1e300]], OutOfDomainError, 1, "give a coarser resolution")
    assert isinstance(mdp.laplace(m.absolute(), resolution=2**40).release(1e20), int)
    assert isinstance(mdp.laplace(m.absolute(), resolution=2**40).release(10**20), int)


# Wrong shapes


@pytest.mark.parametrize("mechanism", [LINE, STEPS, DAYS, LETTERS, SETS, NULLS, PLANE, GLOBE])
def test_empty(mechanism):
    refused(mechanism, [], ShapeError, None, "empty")
    if mechanism is not SETS:
        refused(mechanism, np.array([]), ShapeError, None, "empty")


SAMPLES = mdp.function_samples(m.supremum(), [0, 1])
EXPANSION = mdp.function_expansion(m.square_integrable(), 1, 2)


@pytest.mark.parametrize(
    ("mechanism", "secrets", "row", "words"),
    [
        (PLANE, [1.0, 2.0, 3.0], None, "dimension 2 are wanted, not 3"),
        (PLANE, np.zeros((4, 3)), None, "dimension 2 are wanted, not 3"),
        (PLANE, np.zeros((4, 2, 2)), None, "points are wanted"),
        (PLANE, 3.0, None, "a point is wanted"),
        (PLANE, [[1.0, 2.0], [1.0]], 1, "length"),
        (PLANE, [[1.0, 2.0], 3.0], 1, "point"),
        (PLANE, [1.0, [2.0, 3.0]], None, None),
        (PLANE, pd.DataFrame({"a": [1.0]}), None, "dimension 2 are wanted, not 1"),
        (PLANE, pd.Series([1.0, 2.0]), None, "a point is wanted"),
        (GLOBE, [[1.0, 2.0, 3.0]], None, "latitude, longitude"),
        (LINE, np.zeros((3, 2)), None, "one number a row is wanted"),
        (LINE, pd.DataFrame({"a": [1.0], "b": [2.0]}), 0, None),
        (SAMPLES, [1.0, 2.0, 3.0], None, "dimension 2"),
        (EXPANSION, [1.0, 2.0, 3.0], None, "dimension 2"),
        (EXPANSION, [[1.0, 2.0], [1.0]], 1, "length"),
        (EXPANSION, 1.0, None, "coefficients are wanted"),
    ],
)
def test_wrong_dimension(mechanism, secrets, row, words):
    with pytest.raises(DataError, match=words) as caught:
        mechanism.release(secrets)
    assert type(caught.value) is ShapeError or (words is None and type(caught.value) is KindError)
    assert caught.value.row in (row, None) or words is None


@pytest.mark.parametrize("secrets", [[[1.0, 2.0], [3.0, 4.0]], [[1.0]], [0.5, [1.0]]])
def test_points_for_the_line(secrets):
    with pytest.raises(DataError) as caught:
        LINE.release(secrets)
    assert type(caught.value) in (ShapeError, KindError)


def test_records():
    records = mdp.independent(LINE, LETTERS)
    refused(records, [(1.0, "a"), (1.0,)], ShapeError, 1, "2 attributes")
    refused(records, (1.0, "a", "b"), ShapeError, 0, "2 attributes")
    refused(records, [(1.0, "a"), (math.nan, "b")], NotFiniteError, 1, "finite")
    refused(records, [(1.0, "a"), (2.0, "x")], UnknownCategoryError, 1, "declared")
    refused(records, [], ShapeError, None, "empty")
    refused(records, pd.DataFrame({"x": [1.0]}), ShapeError, None, "2 columns")


@pytest.mark.parametrize("bad", [5, None, [5], [None], "ab", ["ab"], object()])
def test_not_a_record(bad):
    with pytest.raises(DataError) as caught:
        mdp.independent(LINE, LETTERS).release(bad)
    assert type(caught.value) in (ShapeError, KindError)


# Wrong kinds


@pytest.mark.parametrize(
    "bad", [None, "3.5", b"3", True, 1j, object(), [1.0], {1.0}, dt.timedelta(1), np.True_, np.complex64(1)]
)
def test_not_a_number(bad):
    for mechanism in (LINE, BOUNDED, STEPS):
        with pytest.raises(KindError) as caught:
            mechanism.release([0.5, bad])
        assert caught.value.row == 1
        assert isinstance(caught.value, TypeError)
        if not isinstance(bad, list):
            with pytest.raises(KindError):
                mechanism.release(bad)


@pytest.mark.parametrize(
    "array",
    [
        np.array([True]),
        np.array([1j]),
        np.array(["3"]),
        np.array([b"3"]),
        np.array([1], dtype="m8[D]"),
        np.zeros(2, "i4,i4"),
    ],
    ids=lambda array: str(array.dtype),
)
def test_arrays_of_no_numbers(array):
    for mechanism in (LINE, STEPS, BOUNDED, NULLS):
        with pytest.raises(KindError, match="numbers are wanted"):
            mechanism.release(array)
    if array.ndim == 1 and array.dtype.names is None:
        for mechanism in (PLANE, GLOBE):
            with pytest.raises(KindError):
                mechanism.release(np.stack([array, array], axis=1))


def test_no_bool_hides_among_numpy_integers():
    refused(LINE, [np.True_, np.int64(3)], KindError, 0, "number")


AWARE = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "secrets", [AWARE, [AWARE], pd.Series([AWARE, AWARE], dtype=object), pd.Timestamp(AWARE)], ids=repr
)
def test_time_zones(secrets):
    with pytest.raises(KindError, match="time zone"):
        DAYS.release(secrets)


@pytest.mark.parametrize("bad", [None, "2024-01-02", 3.5, AWARE, dt.timedelta(1), True], ids=repr)
def test_not_a_date(bad):
    """The row that is no date is named, not the first that is one."""
    good = dt.datetime(2024, 1, 1) if bad is AWARE else dt.date(2024, 1, 1)
    with pytest.raises(KindError) as caught:
        DAYS.release([good, bad])
    assert caught.value.row == 1


def test_dates_of_the_wrong_kind():
    refused(DAYS, np.array(["2024-01"], dtype="datetime64[M]"), KindError, None, "uneven length")
    for mechanism in (STEPS, GLOBE, PLANE):
        with pytest.raises(DataError):
            mechanism.release(np.array(["2024-01-01", "2024-01-02"], dtype="datetime64[D]"))


def test_sets_of_the_wrong_kind():
    for bad in ("ab", 3, None, {"a": 1}):
        refused(SETS, [{"a"}, bad], KindError, 1, "a set is wanted")
        refused(SETS, bad, KindError, 0, "a set is wanted")


# Levels, at construction


@pytest.mark.parametrize(
    "bad", [0, -1, -0.5, math.nan, math.inf, -math.inf, "zero", "", None, True, 1j, Fraction(0), Decimal("nan")]
)
def test_epsilon(bad):
    for make in (
        lambda: mdp.laplace(bad * m.absolute()),
        lambda: mdp.randomized_response("ab", bad),
        lambda: mdp.set_response("ab", bad),
        lambda: mdp.Space.line(3, bad * m.absolute()),
    ):
        with pytest.raises((LevelError, TypeError)):
            make()
    with pytest.raises(LevelError):
        mdp.randomized_response("ab", bad)
    with pytest.raises(ArgumentError):  # a radius, which is no level
        m.absolute().within(bad)


@pytest.mark.parametrize("bad", [1, 0, 0.5, -2, math.nan, math.inf])
def test_factor(bad):
    with pytest.raises(LevelError):
        m.absolute().within(5, factor=bad)
    with pytest.raises(LevelError):
        mdp.ln(bad)


@pytest.mark.parametrize("bad", [1, 1.5, -0.1, math.nan, math.inf, None, True])
def test_delta(bad):
    for make in (
        lambda: mdp.randomized_response("ab", 1, bad),
        lambda: mdp.approximate_laplace(0, 1, 1, bad),
        lambda: Guarantee(m.discrete(), bad),
    ):
        with pytest.raises(LevelError):
            make()


def test_epsilon_with_delta():
    for epsilon in (-1, math.nan, math.inf, None):
        with pytest.raises(LevelError):
            mdp.approximate_laplace(0, 1, epsilon, "0.1")
    with pytest.raises(LevelError):
        mdp.approximate_laplace(0, 1, 0, 0)
    try:
        mechanism = mdp.approximate_laplace(0, 1, 0, "0.1")
    except LevelError:
        return  # refused at construction, or else it works:
    assert mechanism.guarantee.delta == Fraction(1, 10)
    assert "odds" in mechanism.explain()


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "a cell", True, None])
def test_resolution_and_step(bad):
    makers = [lambda: mdp.geometric(m.absolute(), step=bad), lambda: mdp.truncated_geometric(m.absolute(), 3, step=bad)]
    if bad is not None:  # None asks for the default
        makers += [
            lambda: mdp.laplace(m.absolute(), resolution=bad),
            lambda: mdp.laplace(m.euclidean(), resolution=bad),
            lambda: mdp.laplace(m.great_circle(), resolution=bad),
            lambda: mdp.approximate_laplace(0, 1, 1, "0.1", resolution=bad),
            lambda: mdp.function_samples(m.supremum(), [0], resolution=bad),
        ]
    for make in makers:
        with pytest.raises(ArgumentError):
            make()


@pytest.mark.parametrize("bad", ["0.7", 7, 91, Fraction(180, 7)])
def test_a_grid_that_does_not_close_around_the_globe(bad):
    with pytest.raises(ArgumentError, match="divides 90"):
        mdp.laplace(m.great_circle().within(200), resolution=bad)


@pytest.mark.parametrize(
    "bounds", [(1, 0), (1, 1), (0, math.inf), (-math.inf, math.inf), (math.nan, 1), ("a", "b"), (None, 1)]
)
def test_bounds(bounds):
    for make in (
        lambda: mdp.laplace(m.absolute(), bounds=bounds),
        lambda: mdp.approximate_laplace(*bounds, 1, "0.1"),
        lambda: mdp.laplace(m.nullable(m.absolute(), 100), bounds=bounds),
    ):
        with pytest.raises(ArgumentError):
            make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: mdp.laplace(m.absolute(), bounds=(0, 1), resolution=2),
        lambda: mdp.laplace(m.nullable(m.absolute(), 10), bounds=(0, 1), resolution=2),
        lambda: mdp.approximate_laplace("0.1", "0.2", 1, "0.01", resolution=1),
    ],
)
def test_resolution_wider_than_the_bounds(make):
    with pytest.raises(ArgumentError, match="wider than the bounds"):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: mdp.laplace(m.absolute(), dim=2),
        lambda: mdp.laplace(m.euclidean(), dim=2, bounds=(0, 1)),
        lambda: mdp.laplace(m.great_circle().within(200), bounds=(0, 1)),
        lambda: mdp.laplace(m.great_circle().within(200), dim=3),
        lambda: mdp.laplace(m.attributes({"a": m.absolute()}), bounds=(0, 1)),
        lambda: mdp.laplace(m.matrix("ab", [[0, 1], [1, 0]]), bounds=(0, 1)),
    ],
)
def test_options_that_mean_nothing_are_not_ignored(make):
    """Bounds that are not kept, or a dimension that is not the one, would deceive."""
    with pytest.raises((ArgumentError, UnsupportedMetricError)):
        make()


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
def test_dimension_and_steps(bad):
    with pytest.raises(ArgumentError, match="dimension"):
        mdp.laplace(m.euclidean(), dim=bad)
    with pytest.raises(ArgumentError, match="positive integer"):
        mdp.truncated_geometric(m.absolute(), k=bad)


def test_an_unknown_dimension_says_so():
    mechanism = mdp.laplace(m.euclidean())
    assert len(mechanism.release([0.0, 0.0, 0.0])) == 3
    assert "give dim=" in mechanism.explain()
    with pytest.raises(ArgumentError, match="dim="):
        mechanism.radius()


def test_categories():
    for bad in ([], ["a"], "aab", [1, True], ["a", "a"]):
        with pytest.raises(ArgumentError, match="each once"):
            mdp.randomized_response(bad, 1)
    for bad in ([], "aba"):
        with pytest.raises(ArgumentError, match="each once"):
            mdp.set_response(bad, 1)
    with pytest.raises(ArgumentError, match="two points"):
        mdp.exponential(mdp.Space([1], m.discrete()))
    with pytest.raises(MetricDPError):
        mdp.Space(["a", "a"], m.discrete())


@pytest.mark.parametrize("make", [mdp.randomized_response, mdp.set_response])
def test_categories_that_cannot_be_looked_up(make):
    with pytest.raises(MetricDPError):
        make([["unhashable"], ["list"]], 1)


def test_nothing_to_put_together():
    for make in (mdp.independent, mdp.compose):
        with pytest.raises(ArgumentError, match="at least one mechanism"):
            make()


def test_functions():
    with pytest.raises(ArgumentError):
        mdp.function_samples(m.supremum(), [])
    for length, terms in ((0, 3), (-1, 3), (1, 0), (math.nan, 3)):
        with pytest.raises(ArgumentError):
            mdp.function_expansion(m.square_integrable(), length, terms)
    with pytest.raises(UnsupportedMetricError, match="supremum"):
        mdp.function_samples(m.absolute(), [0])
    with pytest.raises(UnsupportedMetricError, match="square_integrable"):
        mdp.function_expansion(m.supremum(), 1, 1)
    refused(mdp.function_samples(m.supremum(), [0, 1]), lambda time: math.nan, NotFiniteError, 0, "finite")


# Metrics


def test_no_triangle_inequality():
    with pytest.raises(NotAMetricError, match="triangle inequality") as caught:
        m.matrix("abc", [[0, 1, 5], [1, 0, 1], [5, 1, 0]])
    assert caught.value.violation is not None
    loose = m.matrix("abc", [[0, 1, 5], [1, 0, 1], [5, 1, 0]], check=False)
    for make in (lambda: mdp.Space("abc", loose), lambda: mdp.laplace(loose)):
        with pytest.raises(NotAMetricError, match="triangle inequality"):
            make()
    assert isinstance(mdp.laplace(loose.closure("abc")).release("a"), str)
    with pytest.raises(NotAMetricError, match="triangle inequality"):
        mdp.laplace(m.nullable(m.absolute(), 10), bounds=(0, 100))


def test_a_null_on_an_unbounded_column():
    with pytest.raises(ImpossibleError, match="unbounded") as caught:
        mdp.laplace(mdp.ln(2) * m.nullable(m.absolute(), 100))
    for word in ("twice", "capped", "bounds", "public column"):
        assert word in str(caught.value)


def test_a_null_at_infinity():
    with pytest.raises(ArgumentError, match="public"):
        mdp.laplace(m.nullable(m.absolute(), math.inf), bounds=(0, 1))


@pytest.mark.parametrize(
    ("metric", "instead"),
    [
        (m.hamming(), "exponential"),
        (m.discrete(), "randomized_response"),
        (m.symmetric_difference(), "set_response"),
        (m.add_remove(), "exponential"),
        (m.capped(m.absolute(), 10), "exponential"),
    ],
    ids=str,
)
def test_no_laplace_density(metric, instead):
    with pytest.raises(UnsupportedMetricError, match=instead):
        mdp.laplace(2 * metric)


@pytest.mark.parametrize(
    "make",
    [
        mdp.laplace,
        mdp.geometric,
        lambda bad: mdp.truncated_geometric(bad, 3),
        lambda bad: mdp.function_samples(bad, [0]),
        lambda bad: mdp.function_expansion(bad, 1, 1),
        lambda bad: mdp.Space("abc", bad),
        mdp.exponential,
    ],
)
def test_not_a_metric_at_all(make):
    for bad in (3, None, "absolute", m.absolute, 0.5):
        with pytest.raises(MetricDPError):
            make(bad)


def test_a_metric_for_another_mechanism():
    for metric in (m.euclidean(), m.great_circle(), m.dates()):
        with pytest.raises(UnsupportedMetricError, match="between numbers"):
            mdp.geometric(metric)
    with pytest.raises(UnsupportedMetricError, match="symmetric_difference"):
        mdp.set_response("ab", m.hamming())


@pytest.mark.parametrize("bad", [3, None, "laplace", mdp.laplace])
def test_not_a_mechanism(bad):
    for make in (mdp.independent, mdp.compose, lambda bad: mdp.postprocess(bad, abs)):
        with pytest.raises(MetricDPError):
            make(bad)


# Overflow saturates


def test_noise_beyond_the_grid_saturates():
    """A secret at the end of what the grid holds: noise may take it further, and nothing is raised."""
    most = float(2**61 * LINE.resolution)
    wide = mdp.laplace(m.absolute().within(2**40), resolution=LINE.resolution)
    released = wide.release(np.full(2000, most))
    assert np.isfinite(released).all()
    assert (released > most).any()
    whole = mdp.laplace(m.absolute().within(2**59), resolution=1)
    released = whole.release(np.full(2000, 2**59))
    assert released.dtype == np.int64
    assert (released > 0).mean() > 0.4, "saturated, not wrapped around"
    released = mdp.geometric(Fraction(1, 2**60) * m.absolute()).release(np.full(2000, -(2**59)))
    assert (released < 0).mean() > 0.4


@pytest.mark.parametrize(("dtype", "secret", "width"), [(np.float16, 65_000, 1000), (np.float32, 3.4e38, 1e37)])
def test_small_floats_saturate(dtype, secret, width):
    mechanism = mdp.laplace(m.absolute().within(width), resolution=width / 2**10)
    released = mechanism.release(np.full(2000, secret, dtype=dtype))
    assert released.dtype == dtype
    assert np.isfinite(released).all()
    assert (released >= dtype(secret)).any()


@pytest.mark.parametrize("secret", [dt.date.max, dt.date.min])
def test_the_calendar_saturates(secret):
    """Dates end with the year 9999 and begin with 1: what lies beyond is the last or the first day."""
    released = DAYS.release([secret] * 200)
    assert {type(day) for day in released} == {dt.date}
    assert secret in released


def test_the_clock_saturates():
    mechanism = mdp.laplace(m.dates().within(5), resolution=Fraction(1, 24))
    last = mechanism.release([dt.datetime.max] * 50)
    assert {type(moment) for moment in last} == {dt.datetime}
    assert max(last) == dt.datetime(9999, 12, 31, 23)
    assert min(mechanism.release([dt.datetime.min] * 50)) == dt.datetime.min


def test_nanoseconds_saturate():
    """The type ends in the year 2262; beyond it is its last moment, not NaT and not the year 1677."""
    last = np.datetime64(2**63 - 1, "ns")
    mechanism = mdp.laplace(m.dates().within(5), resolution=1)
    released = mechanism.release(np.full(500, last))
    assert not np.isnat(released).any()
    assert (released > np.datetime64("2261-01-01")).all()


@pytest.mark.parametrize("mechanism", [LINE, PLANE, GLOBE, STEPS, LETTERS, SETS], ids=lambda k: type(k).__name__)
@pytest.mark.parametrize("distance", [1e300, math.inf])
def test_every_release_is_somewhere(mechanism, distance):
    assert mechanism.probability_within(distance) > 0.999999
