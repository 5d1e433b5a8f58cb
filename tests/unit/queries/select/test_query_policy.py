"""The policy for queries: what it says, and every mistake in it."""

from decimal import Decimal
from fractions import Fraction

import pytest

from metricdp.errors import MetricDPError, PolicyError
from metricdp.exact.level import ln
from metricdp.metrics import absolute, capped, discrete, nullable, records
from metricdp.queries.select.metric_words import metric_of_entry
from metricdp.queries.select.query_policy import QueryPolicy

GOOD = """
format = 1
records = 1000
[universe]
sex = { type = "category", values = ["F", "M"] }
age = { type = "integer", bounds = [0, 120], missing = "unknown" }
[metric]
sex = 0.5
age = { distance = "ln 2/5 absolute", missing = 100 }
"""


def test_what_it_says():
    policy = QueryPolicy.parse(GOOD)
    assert policy.records == policy.most == 1000
    assert policy.metrics == (Fraction(1, 2) * discrete(), ln(2) / 5 * nullable(capped(absolute(), 200), 100))
    assert policy.column("AGE").name == "age"
    assert policy.guarantee(["sex"]).metric == records(policy.record_metric(["sex"]))
    assert policy.guarantee([]) is None


def test_where_the_number_of_records_is_secret():
    policy = QueryPolicy.parse(GOOD.replace("records = 1000", 'capacity = 5000\nabsent = "ln 2"'))
    assert (policy.records, policy.capacity, policy.most, policy.absent) == (None, 5000, 5000, ln(2))
    metric = policy.record_metric(["sex", "age"])
    assert metric(None, ("F", 3)) == pytest.approx(float(ln(2)))
    assert metric(("F", 3), ("M", 90)) == pytest.approx(2 * float(ln(2))), "by way of an absent record"
    assert metric(("F", 3), ("F", 4)) == pytest.approx(float(ln(2)) / 5)
    assert metric.proven
    assert policy.guarantee([]) is not None


def test_columns_need_not_make_one_small_universe():
    many = "\n".join(f"c{n} = {{ type = 'integer', bounds = [0, 999] }}" for n in range(9))
    metrics = "\n".join(f"c{n} = 1" for n in range(9))
    assert len(QueryPolicy.parse(f"format = 1\nrecords = 3\n[universe]\n{many}\n[metric]\n{metrics}").columns) == 9


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("format = 1", "", "format = 1 is wanted"),
        ("format = 1", "format = 2", "format = 1 is wanted"),
        ("records = 1000", "", "records = .. says how many"),
        ("records = 1000", "records = 1000\ncapacity = 2000", "one of the two"),
        ("records = 1000", "records = 0", "1 or more"),
        ("records = 1000", "records = true", "1 or more"),
        ("records = 1000", "capacity = 10", "absent = .."),
        ("records = 1000", "records = 10\nabsent = 1", "goes with capacity"),
        ("records = 1000", "capacity = 10\nabsent = -1", "absent: a level is positive"),
        ("records = 1000", "capacity = 10\nabsent = 'soon'", "absent: 'soon' is no level"),
        ("records = 1000", "records = 10\nunit = 3", "'unit' is not known here"),
        ("[universe]", "[columns]", "no universe"),
        ("[metric]", "[distance]", "no metric"),
        ("sex = 0.5", "", "column 'sex' has no metric"),
        ("sex = 0.5", "sex = 0.5\npay = 1", "'pay' is no column of the universe"),
        ("sex = 0.5", "sex = 0", "metric of 'sex': a level is positive"),
        ("sex = 0.5", "sex = true", "metric of 'sex'"),
        ("sex = 0.5", "sex = [1]", "metric of 'sex'"),
        ("sex = 0.5", "sex = nan", "metric of 'sex'"),
        ("sex = 0.5", "sex = 'ln 2 miles'", "is no metric"),
        ("sex = 0.5", "sex = 'ln 5/2 discrete'", "two things"),
        ("sex = 0.5", "sex = '0.5 absolute'", "does not measure values such as F"),
        ('{ distance = "ln 2/5 absolute", missing = 100 }', '"ln 2/5 absolute"', "how far a missing value"),
        ("missing = 100 }", "missing = 0 }", "positive"),
        ("missing = 100 }", "other = 100 }", "distance = .. and missing = .."),
        ('values = ["F", "M"]', 'values = ["F", "F"]', "a value is listed twice"),
        ('values = ["F", "M"]', 'values = ["F", "M"], default = 3', "'default' is not known here"),
        ("bounds = [0, 120], ", "", "bounds = [..] is wanted"),
        ("sex = {", "AGE = 'boolean'\nsex = {", "stands twice"),
        ("[metric]", "[metric", "not TOML"),
    ],
)
def test_mistakes(old, new, words):
    assert old in GOOD
    with pytest.raises(PolicyError) as caught:
        QueryPolicy.parse(GOOD.replace(old, new))
    assert words in str(caught.value)


def test_all_mistakes_at_once():
    with pytest.raises(PolicyError) as caught:
        QueryPolicy.parse("records = 0\n[universe]\nsex = 'gender'\nage = 'boolean'\n[metric]\nage = 'far'\n")
    assert len(caught.value.problems) == 4


def test_files(tmp_path):
    (tmp_path / "p.toml").write_text(GOOD)
    assert QueryPolicy.load(tmp_path / "p.toml") == QueryPolicy.parse(GOOD)
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(PolicyError, match="UTF-8"):
        QueryPolicy.load(tmp_path / "bytes.toml")


def test_entries():
    assert metric_of_entry(Decimal("0.1")) == Fraction(1, 10) * discrete(), "as it is written"
    assert str(metric_of_entry(Decimal("inf"))) == str(metric_of_entry({"metric": "unprotected"}))
    assert metric_of_entry({"distance": 0.5, "missing": 1}) == Fraction(1, 2) * nullable(discrete(), 1)
    line = {"distance": "2 absolute", "missing": 10}
    assert metric_of_entry(line) == 2 * nullable(capped(absolute(), 20), 10)
    with pytest.raises(MetricDPError):
        metric_of_entry({"metric": "nowhere"})
