"""The report: from the policy alone, the same facts in three forms, and never more than what holds."""

import hashlib
import json
import math
from dataclasses import replace

import pyarrow as pa
import pytest

from metricdp.errors import KindError, PolicyError
from metricdp.exact.balls import Real
from metricdp.metrics.words import Measure, factor_words, odds_range, percent
from metricdp.policies import Policy
from metricdp.tables import sanitize
from metricdp.tables.release import Release
from metricdp.tables.report import Report
from metricdp.tables.report.plain import first_paragraph

POLICY = """
format = 2

[columns]
passport = "drop"
site = "keep"

[columns.place]
type = "place"
columns = ["lat", "lon"]
within = "200 m"

[columns.salary]
type = "number"
within = "1000 dollars"
bounds = [0, 50000]
outside = "clamp"

[columns.index]
type = "number"
within = "20 points"
bounds = [0, 100]

[columns.visits]
type = "integer"
within = 2
bounds = [0, 100]
missing = "public"

[columns.since]
type = "time"
epsilon = 1
per = "5 days"

[columns.health]
type = "category"
values = ["good", "fair", "poor"]
factor = 4
missing = "refuse"

[columns.diagnosis]
type = "category"
parents = {flu = "lungs", asthma = "lungs", lungs = "ill", burn = "skin", skin = "ill"}
epsilon = 1

[columns.smoker]
type = "boolean"
epsilon = "ln 3"

[columns.hobbies]
type = "set"
values = ["chess", "golf", "jazz"]
factor = 3

[columns.load]
type = "series"
length = 24
within = "0.5 kWh"
"""
UNIT = '\n[person]\ncolumn = "patient_number"\nrows = 3\n'


@pytest.fixture(scope="module")
def policy():
    return Policy.parse(POLICY)


@pytest.fixture(scope="module")
def report(policy):
    return Report.of(policy, rows=1234)


def column(report, name):
    return next(column for column in report.columns if column.name == name)


LEVELS = {
    "place": "odds within a factor 2 at 200 m",
    "salary": "odds within a factor 2 at 1,000 dollars",
    "index": "odds within a factor 2 at 20 points",
    "visits": "odds within a factor 2 at a distance of 2",
    "since": "epsilon 1 for 5 days",
    "health": "odds within a factor 4 between any two values",
    "diagnosis": "epsilon 1 for 1 step in the taxonomy",
    "smoker": "epsilon ln 3 between any two values",
    "hobbies": "odds within a factor 3 for each element",
    "load": "odds within a factor 2 at 0.5 kWh in every reading",
}


def test_levels_are_said_as_the_policy_says_them(report):
    assert {column.name: column.level for column in report.columns} == LEVELS


def test_every_column_is_somewhere(report):
    assert report.kept == ("site",)
    assert report.dropped == ("passport",)
    assert column(report, "place").columns == ("lat", "lon")
    assert column(report, "smoker").kind == "boolean"


def test_errors_are_those_of_the_mechanisms(policy, report):
    for item in policy.columns:
        if item.mechanism is None:
            continue
        facts, mechanism = column(report, item.name), item.mechanism
        if facts.median is None:
            assert facts.truth == mechanism.probability_within(0)
            continue
        numbers = getattr(mechanism, "numbers", mechanism)
        assert facts.median == numbers.radius(0.5)
        assert facts.radius_95 == numbers.radius(0.95)
        assert numbers.probability_within(facts.radius_95) >= 0.95


def test_null_probabilities_are_those_of_the_mechanisms(policy, report):
    treatments = {item.name: item for item in policy.columns}
    index, mechanism = column(report, "index"), treatments["index"].mechanism
    assert index.null_stays == pytest.approx(float(Real(mechanism.true_null)))
    assert index.null_appears == pytest.approx(float(Real(mechanism.false_null)))
    smoker = column(report, "smoker")  # three values, a factor 3: 3/5 for the truth, 1/5 for each other
    assert (smoker.null_stays, smoker.null_appears) == (pytest.approx(3 / 5), pytest.approx(1 / 5))
    assert column(report, "health").null_stays is None, "missing health is refused"
    diagnosis = column(report, "diagnosis")
    assert diagnosis.null_stays / diagnosis.null_appears <= math.exp(4) * (1 + 1e-9)


def test_the_adversary_sees_what_the_guarantee_says(policy, report):
    place = column(report, "place")
    assert [(view.secrets, view.factor) for view in place.views][1:3] == [("200 m apart", 2.0), ("400 m apart", 4.0)]
    for facts in report.columns:
        for view in facts.views:
            assert view.factor >= math.exp(view.epsilon) * (1 - 1e-9)
            assert view.person_factor is None
    assert {view.secrets for view in column(report, "diagnosis").views} == {
        "2 steps apart (asthma, flu)",
        "4 steps apart (burn, asthma)",
        "missing or not",
    }


def test_integers_are_not_half_a_step_apart(report):
    assert column(report, "visits").views[0].secrets == "1 apart"
    odd = Report.of(Policy.parse('format = 2\ncolumns.age = {type = "integer", within = 5}'))
    assert [view.secrets for view in odd.columns[0].views] == ["5 apart", "10 apart", "25 apart"]


def test_a_null_that_is_hardly_hidden_is_said_so(report):
    assert "hardly hidden" in column(report, "salary").attention[0]
    assert column(report, "salary").views[-1].factor == 2.0**50
    assert column(report, "index").attention == ()
    assert column(report, "index").views[-1].factor == 32


def test_a_level_that_hides_nothing_is_said_so():
    frank = Report.of(Policy.parse('format = 2\ncolumns.x = {type = "boolean", epsilon = 12}'))
    assert "hides little" in frank.columns[0].attention[0]


def test_a_person_is_promised_the_product_of_her_rows():
    report = Report.of(Policy.parse(POLICY + UNIT))
    assert report.person.rows == 3
    assert report.person.formula.startswith("3·(")
    views = column(report, "place").views
    assert [view.person_factor for view in views][1:3] == [8.0, 64.0]
    text = report.text()
    assert "One person (column patient_number) has 3 rows at most" in text
    assert "all 3 rows" in text
    assert "3·d(x, x')" in text


def test_the_schema_can_make_the_steps_coarser():
    policy = Policy.parse('format = 2\ncolumns.price = {type = "number", within = 1, missing = "refuse"}')
    decimals = Report.of(policy, schema=pa.schema([("price", pa.decimal128(10, 0))])).columns[0]
    floats = Report.of(policy, schema=pa.schema([("price", pa.float64())])).columns[0]
    assert decimals.radius_95 > floats.radius_95 + 0.4


@pytest.mark.parametrize(
    "words",
    [
        "Kamalaruban et al. 2020, section 5",
        "Chatzikokolakis et al. 2013, footnote 5",
        "Holohan et al. 2014, Theorem 4",
        "Sanitizing twice adds up",
        "The number of rows is public",
        "Kept columns are not protected",
        "everybody sees which values are missing",
        "1,234 rows",
        "NOT PROTECTED",
    ],
)
def test_text_and_page_say_what_is_not_promised(report, words):
    assert words in " ".join(report.text().split())
    assert words in " ".join(report.html().split())


def test_text_fits_80_columns_and_has_no_blanks_at_ends(policy):
    for report in (Report.of(policy), Report.of(Policy.parse(POLICY + UNIT), 7, private=False)):
        for text in (report.text(), report.summary()):
            ours = text.split("\nThe policy\n")[0]  # which is quoted as it stands
            assert max(map(len, ours.splitlines())) <= 80
            assert all(line == line.rstrip() for line in text.splitlines())


def test_long_names_do_not_break_the_text():
    name = "a_name_as_long_as_only_a_data_warehouse_can_make_them_" * 2
    report = Report.of(Policy.parse(f'format = 2\ncolumns.{name} = {{type = "boolean", factor = 2}}'))
    assert name in report.text()
    assert report.summary()


def test_not_private_is_loud_in_all_forms(policy, report):
    loud = Report.of(policy, private=False)
    for form in (loud.text(), loud.summary(), loud.html(), json.dumps(loud.to_json())):
        assert "NOT PRIVATE" in form
    assert loud.text().count("NOT PRIVATE") == 2, "at the top and at the bottom"
    assert loud.to_json()["private"] is False
    for form in (report.text(), report.summary(), report.html(), json.dumps(report.to_json())):
        assert "NOT PRIVATE" not in form


def test_json_comes_back_as_the_same_report(policy, report):
    for made in (report, Report.of(Policy.parse(POLICY + UNIT), private=False)):
        text = json.dumps(made.to_json(), allow_nan=False)
        assert Report.from_json(json.loads(text)) == made
    assert report.to_json()["format"] == 2
    assert set(report.to_json()["versions"]) == {"metricdp", "numpy", "python-flint", "policy format"}


def test_an_infinite_factor_is_json_too():
    far = 'format = 2\ncolumns.x = {type = "number", within = 1, bounds = [0, 100000], missing = "secret"}'
    report = Report.of(Policy.parse(far))
    assert report.columns[0].views[-1].factor == math.inf
    assert report.to_json()["columns"][0]["views"][-1]["factor"] == "inf"
    assert Report.from_json(report.to_json()) == report
    assert "no bound" in report.text()
    assert report.html()


def test_a_claim_names_no_dropped_column():
    report = Report.of(Policy.parse(POLICY + UNIT), 10)
    claim = json.dumps(report.claim())
    assert "passport" not in claim
    assert "patient_number" not in claim
    assert "passport" in json.dumps(report.to_json())
    rekeyed = Report.of(Policy.parse(POLICY + UNIT + 'release = "rekey"\n'))
    assert "patient_number" in json.dumps(rekeyed.claim())
    assert "which rows are one person's" in rekeyed.text()
    assert Report.from_json(json.loads(claim)).text()


@pytest.mark.parametrize(
    "damage",
    [
        lambda tree: None,
        lambda tree: [],
        lambda tree: tree | {"format": 1},
        lambda tree: {key: value for key, value in tree.items() if key != "columns"},
        lambda tree: tree | {"columns": [{"name": "x"}]},
        lambda tree: tree | {"columns": 3},
        lambda tree: tree | {"person": {"rows": "many"}},
        lambda tree: tree | {"rows": "many"},
        lambda tree: tree | {"limits": []},
        lambda tree: tree | {"kept": 5},
        lambda tree: tree | {"versions": None},
    ],
)
def test_damaged_reports_are_refused(report, damage):
    with pytest.raises(KindError):
        Report.from_json(damage(report.to_json()))


def test_nothing_to_promise_is_an_error():
    with pytest.raises(PolicyError, match="no column is released privately"):
        Report.of(Policy.parse('format = 2\ncolumns.x = "keep"'))


def test_the_record_quotes_the_policy_and_what_a_file_carries_only_identifies_it(policy, report):
    remark = Policy.parse(f"# a remark of ours\n{POLICY}")
    made = Report.of(remark)
    assert made.policy_sha256 != report.policy_sha256
    assert hashlib.sha256(made.to_json()["policy_text"].encode()).hexdigest() == made.policy_sha256
    for form in (made.with_origin("Ada").text(), made.html()):
        assert "a remark of ours" in form
    assert "a remark of ours" not in made.text(), "whoever explains a policy has it"
    assert "a remark of ours" not in json.dumps(made.claim())


def test_a_release_prints_as_its_summary(report, tmp_path):
    release = Release(report, None, tmp_path / "out.parquet")
    assert str(release).startswith(f"Written to {tmp_path / 'out.parquet'}\n")
    assert report.summary() in str(release)
    assert "hush" not in repr(replace(release, table="hush")) + str(replace(release, table="hush"))


def test_words():
    assert Measure("days").say(1 / 24) == "1 hour"
    assert Measure("days").say(1.5) == "36 hours"
    assert Measure("days").say(1e-9) == "8.64e-05 seconds"
    assert Measure("m").say(200) == "200 m"
    assert Measure("visits").say(1) == "1 visit"
    assert Measure("kWh").say(2) == "2 kWh"
    assert factor_words(1.41421356) == "1.42", "rounded up, never down"
    assert factor_words(99.999) == "100"
    assert odds_range(2.0) == ("33.3%", "66.7%")
    assert percent(1 - 1e-16) == "100%" if 1 - 1e-16 == 1 else "over 99.9%"


def test_no_factor_is_promised_without_its_delta():
    """In the first paragraph, the summary, the text and the page; for all rows of a person it is that many times."""
    text = 'format = 2\n[columns.x]\ntype = "boolean"\nepsilon = 1\ndelta = 0.01\n[columns.y]\ntype = "category"\n'
    text += 'values = ["a", "b"]\nepsilon = 1\ndelta = 0.02\n'
    person = '[person]\ncolumn = "who"\nrows = 5\n'
    for policy, chance in ((text, None), (text + person, "0.15")):
        report = Report.of(Policy.parse(policy))
        for words in (report.claim()["in_plain_words"], report.summary(), report.text(), report.html()):
            plain = " ".join(words.split())
            assert "additive delta of 0.03" in plain
            assert chance is None or f"for all rows of a person the chance is {chance}" in plain
    without = Report.of(Policy.parse(text.replace("delta = 0.01\n", "").replace("delta = 0.02\n", "")))
    assert "delta" not in without.summary()


def test_the_first_paragraph_of_one_column_and_of_two():
    rules = {"format": 2, "columns": {"age": {"type": "integer", "within": 5}, "x": "drop"}}
    one = sanitize(pa.table({"age": [31], "x": [1]}), rules).report
    assert first_paragraph(one).startswith("The values of 1 column (age) are replaced by random ones")
    rules["columns"]["x"] = {"type": "integer", "within": 5}
    two = sanitize(pa.table({"age": [31], "x": [1]}), rules).report
    assert first_paragraph(two).startswith("The values of 2 columns (age and x) are replaced by random ones")
