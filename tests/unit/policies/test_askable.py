"""What a policy lets be asked: its cells and metrics, how many records there are, and what it lacks for questions."""

from fractions import Fraction

import pyarrow as pa
import pytest

from metricdp.errors import ArgumentError, PolicyError
from metricdp.exact.level import ln
from metricdp.metrics import absolute, capped, discrete, nullable, records, unprotected
from metricdp.policies import Policy
from metricdp.queries import ask

GOOD = """
format = 2
records = 1000
[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 0.5, missing = "refuse"}
age = {type = "integer", bounds = [0, 120], within = 5, missing_distance = 100, count_by = {missing = "unknown"}}
"""

MATRIX = 'metric = {metric = "matrix", points = ["a", "c"], distances = [[0, 1], [1, 0]]}'
LISTED = 'metric = {metric = "matrix", points = [0, 1, 2], distances = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}'


def test_what_it_says():
    askable = Policy.parse(GOOD).askable
    assert askable.records == askable.most == 1000
    assert askable.names == ("sex", "age")
    assert askable.metric("sex") == Fraction(1, 2) * discrete()
    assert askable.metric("age") == ln(2) / 5 * nullable(capped(absolute(), 200), 100)
    assert askable.column("AGE").name == "age"
    assert askable.column("age").labels[-1] == "unknown"
    assert askable.guarantee(["sex"]).metric == records(askable.record_metric(["sex"]))
    assert askable.guarantee([]) is None


def test_where_the_number_of_records_is_secret():
    askable = Policy.parse(GOOD.replace("records = 1000", 'capacity = 5000\nabsent = "ln 2"')).askable
    assert (askable.records, askable.capacity, askable.most, askable.absent) == (None, 5000, 5000, ln(2))
    metric = askable.record_metric(["sex", "age"])
    assert metric(None, ("F", 3)) == pytest.approx(float(ln(2)))
    assert metric(("F", 3), ("M", 90)) == pytest.approx(2 * float(ln(2))), "by way of an absent record"
    assert metric(("F", 3), ("F", 4)) == pytest.approx(float(ln(2)) / 5)
    assert metric.proven
    assert askable.guarantee([]) is not None


def test_columns_need_not_make_one_small_universe():
    many = "\n".join(f"c{n} = {{type = 'integer', bounds = [0, 999], epsilon = 1}}" for n in range(9))
    askable = Policy.parse(f"format = 2\nrecords = 3\n[columns]\n{many}").askable
    assert [len(askable.column(name)) for name in askable.names] == [1001] * 9


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "records = 1000",
            "records = 1000\ncapacity = 2000",
            "line 4, records is for a number of records that is public",
        ),
        ("records = 1000", "records = 0", "line 3, records is a whole number of records, 1 or more"),
        ("records = 1000", "records = true", "1 or more"),
        ("records = 1000", "capacity = 10", "line 3, absent = .."),
        ("records = 1000", "records = 10\nabsent = 1", "line 4, absent = .., how far"),
        ("records = 1000", "capacity = 10\nabsent = -1", "line 4, absent: a level is positive"),
        ("records = 1000", "capacity = 10\nabsent = 'soon'", "absent: 'soon' is no level"),
        ("records = 1000", "records = 10\nunit = 3", "line 4, 'unit' is not known here"),
        ("epsilon = 0.5, ", "", "line 5, column 'sex': either epsilon, or factor, or metric, is wanted"),
        ("epsilon = 0.5", "epsilon = 0", "line 5, column 'sex': a level is positive"),
        ("epsilon = 0.5", "epsilon = true", "line 5, column 'sex'"),
        ("epsilon = 0.5", "epsilon = [1]", "line 5, column 'sex'"),
        ("epsilon = 0.5", "epsilon = nan", "line 5, column 'sex'"),
        ("epsilon = 0.5", "metric = 'ln 2 miles'", "is no metric"),
        ("missing_distance = 100", "missing_distance = 0", "line 6, column 'age': missing_distance is positive"),
        ("missing_distance = 100", 'missing = "refuse"', "count_by names a cell for missing values"),
        (
            'missing_distance = 100, count_by = {missing = "unknown"}',
            'missing = "public", missing_distance = 3',
            "public",
        ),
        ('values = ["F", "M"]', 'values = ["F", "F"]', "a value is listed twice"),
        ('missing = "unknown"}', 'missing = "unknown", default = 3}', "'default' is not known in count_by"),
        ('missing = "unknown"}', 'missing = "unknown", width = 0}', "line 6, column 'age': a width is positive"),
    ],
)
def test_mistakes(old, new, words):
    assert old in GOOD
    with pytest.raises(PolicyError) as caught:
        Policy.parse(GOOD.replace(old, new))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("records = 1000\n", "", "write records = .. at its top"),
        ("sex = {", 'AGE = {type = "boolean", epsilon = 1}\nsex = {', "stands twice"),
    ],
)
def test_what_the_whole_lacks(old, new, words):
    policy = Policy.parse(GOOD.replace(old, new))
    with pytest.raises(PolicyError, match=words):
        _ = policy.askable


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('{type = "integer", within = 5}', r"line 4, column 'v': to be asked about, it needs bounds = \[least"),
        ('{type = "number", within = 5, release = "drop"}', "it needs bounds"),
        ('{type = "number", bounds = [0, 1], release = "drop"}', "it needs a level: write within or epsilon"),
        ('"keep"', "it needs a type with its values"),
        ('"drop"', "it needs a level"),
        ('{type = "place", columns = ["a", "b"], within = "5 m"}', "columns of type 'place' are not answered"),
        ('{type = "set", values = ["a"], epsilon = 1}', "columns of type 'set' are not answered"),
        ('{type = "time", within = "1 hour", bounds = [2024-01-01, 2024-02-01]}', 'declare type = "date"'),
        ('{type = "integer", within = 5, bounds = [0, 9999999]}', None),
        ('{type = "integer", bounds = [0, 9], metric = "0.5 euclidean", missing = "refuse"}', None),
        ('{type = "category", values = ["a"], metric = "0.5 absolute", missing = "refuse"}', "such as a"),
    ],
)
def test_what_a_column_lacks_is_said_when_it_is_asked_about(entry, words):
    """A policy that says enough for sanitized tables is no mistake; a question says which line to add."""
    askable = Policy.parse(f"format = 2\nrecords = 3\n[columns]\nv = {entry}\nw = 'keep'").askable
    if words is None:
        askable.column("v")
        return
    with pytest.raises(PolicyError, match=words):
        askable.column("v")


def test_unknown_columns():
    with pytest.raises(ArgumentError, match="no column 'pay'; it has sex, age"):
        Policy.parse(GOOD).askable.column("pay")


def test_dropped_columns_may_be_asked_about_and_kept_ones_freely():
    policy = Policy.parse("""
format = 2
records = 3
[columns]
age = {type = "integer", bounds = [0, 9], within = 5, missing = "refuse", release = "drop"}
ward = {type = "category", values = ["a", "b"], missing = "refuse", release = "keep"}
note = "drop"
""")
    assert policy.askable.names == ("age", "ward")
    assert policy.askable.metric("age") == ln(2) / 5 * absolute()
    assert policy.askable.metric("ward") == unprotected()
    assert policy.dropped == ("age", "note")
    assert policy.kept == ("ward",)
    with pytest.raises(PolicyError, match="no column is released privately"):
        _ = policy.guarantee


def test_a_public_missing_value_is_told_freely():
    entry = '{type = "integer", bounds = [0, 9], within = 5, missing = "public"}'
    policy = Policy.parse(f"format = 2\nrecords = 3\ncolumns.age = {entry}")
    metric = policy.askable.metric("age")
    assert metric(3, 8) == pytest.approx(float(ln(2)))
    assert metric(3, None) == float("inf")
    assert policy.askable.column("age").missing == "missing"


@pytest.mark.parametrize(("values", "name"), [('["a", "b"]', "missing"), ('["missing", "b"]', "(missing)")])
def test_missing_values_have_a_cell_of_their_own(values, name):
    text = f"format = 2\nrecords = 3\ncolumns.v = {{type = 'category', values = {values}, epsilon = 1}}"
    assert Policy.parse(text).askable.column("v").labels[-1] == name


@pytest.mark.parametrize(
    ("entry", "rule"),
    [
        (
            'type = "category", values = [0, 10], epsilon = 1, count_by = {missing = "0"}',
            "missing has a name of its own",
        ),
        (
            f'type = "category", values = ["a"], missing = "refuse", count_by = {{other = "b"}}, {MATRIX}',
            "does not say how far the cell 'b' is",
        ),
        (
            f'type = "integer", bounds = [0, 1], outside = "clamp", missing = "refuse", {LISTED}',
            "values outside the bounds are clamped",
        ),
        (
            f'type = "integer", bounds = [0, 1], missing = "refuse", count_by = {{other = "b"}}, {LISTED}',
            "does not say how far the cell 'b' is",
        ),
    ],
)
def test_a_cell_that_stands_for_more_than_the_metric_measures_is_refused(entry, rule):
    with pytest.raises(PolicyError, match=rule):
        _ = Policy.parse(f"format = 2\nrecords = 2\n[columns]\nv = {{{entry}}}\n").askable.column("v")


@pytest.mark.parametrize(
    ("entry", "metric"),
    [
        ('type = "boolean", epsilon = 0.5, missing_distance = 1', nullable(discrete(), 1)),
        (
            'type = "integer", bounds = [0, 99], epsilon = 0.5, missing_distance = 10',
            nullable(capped(absolute(), 20), 10),
        ),
        ('type = "integer", bounds = [0, 99], epsilon = 0.5', nullable(capped(absolute(), 198), 99)),
    ],
)
def test_a_missing_value_has_a_distance_that_can_be_set(entry, metric):
    assert Policy.parse(f"format = 2\ncolumns.v = {{{entry}}}").columns[0].metric == Fraction(1, 2) * metric


def test_an_entry_may_have_another_name_than_its_column():
    entry = '{type = "integer", columns = ["gross income"], bounds = [0, 9], within = 5, missing = "refuse"}'
    askable = Policy.parse(f"format = 2\nrecords = 3\n[columns]\npay = {entry}\nincome = 'drop'").askable
    assert askable.names == ("gross income",)
    assert askable.column("pay") == askable.column("GROSS INCOME")
    assert askable.column("pay").name == "gross income"
    assert askable.metric("gross income") == askable.metric("pay") == ln(2) / 5 * absolute()
    people = pa.table({"gross income": [1, 2, 3], "pay": ["not", "this", "one"]})
    for name in ("pay", '"gross income"'):
        answers = ask(people, askable.policy, f"select count(*) from t where {name} > 1")
        assert answers.columns == ("gross income",)
