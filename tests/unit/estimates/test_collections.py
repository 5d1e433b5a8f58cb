"""Sets and series: counts of elements corrected, mean curves with their intervals."""

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, ColumnError
from metricdp.estimates import MeanCurve, TopElements, estimate
from metricdp.estimates.collections import _reading_variance
from metricdp.policies import Policy
from metricdp.tables import sanitize

ROWS = 3000
HOBBIES = ["chess", "golf", "jazz", "kayak", "opera"]
POLICY = {
    "format": 2,
    "columns": {
        "hobbies": {"type": "set", "values": HOBBIES, "factor": 3},
        "meter": {"type": "series", "length": 4, "within": 2},
    },
}


@pytest.fixture(scope="module")
def tables():
    random = np.random.default_rng(31)
    shares = np.array([0.5, 0.05, 0.3, 0.2, 0.01])
    sets = [[name for name, share in zip(HOBBIES, shares, strict=True) if random.random() < share] for _ in range(ROWS)]
    curves = random.normal([1.0, 5.0, 3.0, 2.0], 1.0, (ROWS, 4)).tolist()
    secret = pa.table(
        {"hobbies": pa.array(sets, pa.list_(pa.string())), "meter": pa.array(curves, pa.list_(pa.float64()))}
    )
    with mdp.seeded(32):
        return secret, sanitize(secret, POLICY).table


def test_elements_are_counted_and_ordered(tables):
    secret, released = tables
    found = estimate(released, TopElements("hobbies", 3), confidence=0.9999)
    assert [label for (label,) in found.groups] == ["chess", "jazz", "kayak"]
    for (label,), (one,) in zip(found.groups, found.found, strict=True):
        truth = sum(label in each for each in secret["hobbies"].to_pylist())
        assert one.interval[0] <= truth <= one.interval[1]
    rare = estimate(released, TopElements("hobbies", 5)).found[-1][0]
    assert rare.naive > 5 * rare.value


def test_the_population_of_sets_has_wider_intervals(tables):
    own, whole = (estimate(tables[1], TopElements("hobbies", 1), truth=truth).only for truth in ("table", "population"))
    assert own.noise < whole.noise


def test_mean_curves_hold_the_truth_and_say_that_naive_is_as_good(tables):
    secret, released = tables
    truth = np.array(secret["meter"].to_pylist()).mean(axis=0)
    found = estimate(released, MeanCurve("meter"), confidence=0.9999)
    assert [label for (label,) in found.groups] == ["1", "2", "3", "4"]
    for mean, one in zip(truth, found, strict=True):
        assert one.interval[0] <= mean <= one.interval[1]
        assert one.naive == one.value
        assert "as good" in one.notes[0]


def test_the_variance_of_a_reading_is_that_of_the_noise():
    column = Policy.of(POLICY).columns[1]
    with mdp.seeded(33):
        drawn = column.mechanism.release(np.zeros((40_000, 4)))
    assert np.mean(np.square(drawn)) == pytest.approx(_reading_variance(column), rel=0.03)


def test_columns_of_another_type_and_edited_tables_are_refused(tables):
    released = tables[1]
    with pytest.raises(ArgumentError, match="no column of sets"):
        estimate(released, TopElements("meter"))
    with pytest.raises(ArgumentError, match="no column of series"):
        estimate(released, MeanCurve("hobbies"))
    with pytest.raises(ArgumentError, match="SQL knows no values"):
        estimate(released, "select count(*) where hobbies = 'chess'")
    edited = pa.table({"hobbies": pa.array([["chess", "poker"]])})
    with pytest.raises(ColumnError, match="universe"):
        estimate(edited, TopElements("hobbies"), policy=POLICY)
    short = pa.table({"meter": pa.array([[1.0, 2.0, 3.0]])})
    with pytest.raises(ColumnError, match="edited"):
        estimate(short, MeanCurve("meter"), policy=POLICY)
    with pytest.raises(ArgumentError, match="says nothing"):
        estimate(released.slice(0, 0), TopElements("hobbies"))


def test_elements_that_are_chosen_for_their_counts_hold_the_truth_as_often_as_they_say():
    """Of 100 elements that are equally frequent, the foremost three are those that noise lifts farthest."""
    names = [f"h{place}" for place in range(100)]
    policy = {"format": 2, "columns": {"h": {"type": "set", "values": names, "factor": 3}}}
    random, held = np.random.default_rng(3), 0
    for _ in range(40):
        flipped = random.random((400, 100)) < 0.25  # of rows that hold no element
        ends = np.cumsum([0, *flipped.sum(axis=1)])
        sets = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), pa.array(np.array(names)[np.nonzero(flipped)[1]]))
        found = estimate(pa.table({"h": sets}), TopElements("h", 3), policy=policy)
        assert "chosen" in found.notes[-1]
        held += sum(one.interval[0] <= 0 for one in found)
    assert held >= 0.95 * 120 - 3 * np.sqrt(120 * 0.95 * 0.05)
    assert found.found[0][0].confidence == 0.95


def test_all_elements_are_not_chosen(tables):
    own = estimate(tables[1], TopElements("hobbies", 5))
    assert not own.notes or "chosen" not in own.notes[-1]
    few = estimate(tables[1], TopElements("hobbies", 1))
    assert np.diff(few.only.interval) > 1.2 * np.diff(own.found[0][0].interval)


@pytest.mark.parametrize("most", [0, -1, True, 1.5])
def test_a_number_of_elements_that_is_none_is_refused(most):
    with pytest.raises(ArgumentError, match="1 at least"):
        TopElements("hobbies", most)


@pytest.mark.parametrize(("value", "words"), [(["golf", "golf"], "edited"), (None, "missing")])
def test_a_set_that_no_release_is_is_refused_with_its_row(tables, value, words):
    sets = tables[1]["hobbies"].to_pylist()
    sets[1234] = value
    edited = pa.table({"hobbies": pa.array(sets, pa.list_(pa.string()))})
    policy = {"format": 2, "columns": {"hobbies": POLICY["columns"]["hobbies"] | {"missing": "refuse"}}}
    with pytest.raises(ColumnError, match=f"row 1234.*{words}"):
        estimate(edited, TopElements("hobbies"), policy=policy)


def test_a_series_that_is_missing_is_refused(tables):
    curves = tables[1]["meter"].to_pylist()
    curves[7] = None
    edited = pa.table({"meter": pa.array(curves, pa.list_(pa.float64()))})
    with pytest.raises(ColumnError, match=r"row 7.*missing"):
        estimate(edited, MeanCurve("meter"), policy={"format": 2, "columns": {"meter": POLICY["columns"]["meter"]}})
