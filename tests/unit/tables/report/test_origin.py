"""The record of a release: when, by whom, of what; whole rows at once; the same facts in text, page and JSON."""

import datetime as dt
import hashlib
import html
import math
import re

import pytest

from metricdp.policies import Policy
from metricdp.tables.report import Report
from metricdp.tables.report.origin import Origin

POLICY = """
format = 2
[columns]
name = "drop"
[columns.age]
type = "integer"
within = "5 years"
bounds = [0, 100]
[columns.sex]
type = "category"
values = ["f", "m"]
factor = 3
[columns.income]
type = "number"
within = "1000 dollars"
"""
UNIT = '\n[person]\ncolumn = "who"\nrows = 4\n'


@pytest.fixture
def report():
    return Report.of(Policy.parse(POLICY), 10)


def flat(text):
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", text)).replace("×\u00a0", "x ").split())


def test_all_columns_at_once(report):
    assert report.whole_row.named == 2 * 3 * 2
    assert report.whole_row.widest is None
    assert report.whole_row.unbounded == ("income",)
    assert report.whole_person is None
    bounded = Report.of(Policy.parse(POLICY.replace('"1000 dollars"', '"1000 dollars"\nbounds = [0, 3000]')))
    assert bounded.whole_row.widest == pytest.approx(2**20 * 3 * 2**3)
    assert bounded.whole_row.widest >= 2**20 * 3 * 2**3
    assert bounded.whole_row.unbounded == ()


def test_all_rows_of_a_person_at_once():
    report = Report.of(Policy.parse(POLICY + UNIT))
    assert report.whole_person.named == pytest.approx(12**4)
    assert report.whole_person.named >= 12**4
    for form in (report.text(), report.html()):
        assert "Two people, in all 4 rows that differ in all columns at once" in flat(form)
        assert "up to x 20,736" in flat(form)


def test_what_is_beyond_the_floats_is_said_to_be():
    report = Report.of(Policy.parse(POLICY.replace("factor = 3", "epsilon = 700") + UNIT))
    assert math.isinf(report.whole_person.named)
    assert "up to x more than 10^308" in flat(report.text())


def test_the_same_facts_in_text_page_and_json(report, tmp_path):
    (tmp_path / "out.csv").write_bytes(b"age\n1\n")
    digest = hashlib.sha256(b"age\n1\n").hexdigest()
    made = report.with_origin("Ada", "people.csv", tmp_path / "out.csv", "out.csv", tmp_path / "out.csv")
    tree = made.to_json()
    assert tree["origin"] == {
        "when": made.origin.when,
        "by": "Ada",
        "source": "people.csv",
        "source_sha256": digest,
        "output": "out.csv",
        "output_sha256": digest,
    }
    when = dt.datetime.fromisoformat(made.origin.when)
    assert abs(dt.datetime.now(dt.UTC) - when) < dt.timedelta(minutes=5)
    assert tree["whole_row"] == {"named": 12.0, "widest": None, "unbounded": ["income"]}
    for form in (made.text(), made.html()):
        said = flat(form)
        assert flat(tree["in_plain_words"]) in said
        for fact in ("Ada", "people.csv", digest, "sha256sum out.csv", made.policy_sha256, "One row, one person"):
            assert fact in said
        assert "all columns at once x 12 becomes x 144" in said
        assert 'values = ["f", "m"]' in said, "the policy itself"
    assert Report.from_json(tree) == made


def test_the_first_paragraph_comes_before_any_formula(report):
    text = report.text()
    assert text.index("even odds become 66.7% at most") < text.index("exp(") < text.index("ln 2/5")
    page = report.html()
    assert page.index("even odds become 66.7% at most") < page.index("exp(")
    assert "by a factor of up to 12" in flat(text)


def test_one_row_one_person_is_assumed_only_where_nobody_is_declared(report):
    assert "One row, one person" in report.text()
    assert "One row, one person" not in Report.of(Policy.parse(POLICY + UNIT)).text()


def test_a_file_carries_neither_source_nor_policy(report):
    claim = report.with_origin("Ada", "people.csv").claim()
    assert claim["origin"]["by"] == "Ada"
    assert claim["origin"]["source"] is None
    assert claim["policy_text"] is None
    assert "people.csv" not in str(claim)


def test_a_digest_of_the_source_only_where_asked_for(report):
    assert report.with_origin("Ada", "people.csv").origin.source_sha256 is None


def test_names_in_a_record_steer_nothing(report):
    made = report.with_origin("\x1b[31mAda", "a\nb.csv")
    assert "\x1b" not in made.text()
    assert r"\x1b[31mAda" in made.text()
    assert Origin("2025-01-01T00:00:00+00:00").by is None
