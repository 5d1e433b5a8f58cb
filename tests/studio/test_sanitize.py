"""Sanitize, as a person would use it."""

import hashlib
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap
from metricdp.policies import Policy
from tests.studio.visitors import Visitor, launched

pytestmark = pytest.mark.xdist_group("studio")

POLICY = """format = 2
[columns.age]
type = "integer"
within = "5 years"
bounds = [0, 100]
missing = "refuse"
[columns.name]
type = "drop"
"""


def editor(visitor):
    return visitor.page.get_by_role("textbox", name="Policy", exact=True)


def downloaded(visitor, name, folder):
    with visitor.page.expect_download() as waiting:
        visitor.button(f"Download: {name}").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def test_the_story_of_the_shipped_table(visit, axe, tmp_path):
    visitor = visit()
    page = visitor.goto("sanitize")
    visitor.button("Use the table that comes with the package").click()
    visitor.shows("16 columns. No value has been read.")
    income = page.get_by_role("region", name="income", exact=True)
    income.get_by_text("odds within a factor 2 at 1,000 dollars").wait_for()
    income.get_by_label("95% within (dollars)").fill("2000")
    income.get_by_text("95% within 2,0").or_(income.get_by_text("95% within 1,99")).first.wait_for()
    assert 'within = "46' in editor(visitor).input_value(), "the promise follows the accuracy that is wanted"
    income.get_by_label("within", exact=True).fill("800 dollars")
    income.get_by_text("odds within a factor 2 at 800 dollars").wait_for()
    assert 'within = "800 dollars"' in editor(visitor).input_value()
    visitor.goto("sanitize")
    assert 'within = "800 dollars"' in editor(visitor).input_value(), "nothing is lost on a reload"
    visitor.button("Dry run").click()
    visitor.shows("Nothing was released")
    visitor.button("Sanitize").click()
    visitor.shows("Released: 5,630 rows.")
    visitor.shot("sanitize")
    assert visitor.violations(axe) == []
    table = downloaded(visitor, "Table", tmp_path)
    assert pq.read_table(table).num_rows == 5630
    report = downloaded(visitor, "Report", tmp_path).read_text()
    assert "income" in report
    assert f"sha256sum {table.name} prints" in report, "the report names the file that was handed over"
    assert hashlib.sha256(table.read_bytes()).hexdigest() in report
    assert "800 dollars" in downloaded(visitor, "Policy", tmp_path).read_text()
    notebook = json.loads(downloaded(visitor, "Notebook", tmp_path).read_text())
    assert "800 dollars" in "".join(line for cell in notebook["cells"] for line in cell["source"])
    visitor.shows("metricdp sanitize health_insurance.csv -o released.parquet --policy policy.toml")


def test_a_file_of_ones_own_is_asked_about(visit, tmp_path):
    people = tmp_path / "people.csv"
    people.write_text("name;age\nAnn <b>Zeta</b>;31\nBob;47\n")  # recognised by its header
    visitor = visit(viewport={"width": 390, "height": 800})
    page = visitor.goto("sanitize")
    visitor.upload("A table", people)
    visitor.shows("2 columns. No value has been read.")
    assert "Zeta" not in page.content(), "values only if somebody asks"
    visitor.button("Show the first rows (secret)").click()
    visitor.shows("Secret: these are values of the table")
    visitor.shows("Ann <b>Zeta</b>")
    visitor.button("Sanitize").click()
    page.get_by_role("alert").wait_for()
    page.get_by_label("What name is").select_option("drop")
    page.get_by_role("region", name="name", exact=True).get_by_text("it is left out").wait_for()
    assert 'delimiter = ";"' in editor(visitor).input_value()
    editor(visitor).fill(POLICY + '[csv]\ndelimiter = ";"\n')
    visitor.shows("odds within a factor 2 at 5 years")
    assert visitor.fits()
    visitor.button("Sanitize").click()
    visitor.shows("Released: 2 rows.")
    visitor.shot("sanitize-390")
    assert "Zeta" not in downloaded(visitor, "Report", tmp_path).read_text()
    visitor.button("Undo").click()
    page.wait_for_function("text => document.querySelector('textarea').value !== text", arg=POLICY)


PATIENT = """
import threading
import typer
from metricdp.studio import jobs
from metricdp.studio.command import studio
report, first = jobs.Job.report, []
def patient(self, done, total=None):
    if not first or first[0] is self:  # the first job goes on for as long as nobody stops it
        first[:] = [self]
        self.done, self.total = done, total
        self._stop.wait(600)
    report(self, done, total)
jobs.Job.report = patient
typer.run(studio)
"""
"""A studio whose first long work is not done before somebody stops it, on a machine of any speed."""


@pytest.fixture
def patient(chromium, shots, tmp_path):
    process, address = launched(folder=tmp_path, program=PATIENT)
    visitor = Visitor(chromium, address, shots)
    try:
        yield visitor
    finally:
        visitor.context.close()
        process.kill()
        process.communicate()


def test_a_million_rows_do_not_freeze_the_page_and_can_be_stopped(patient, tmp_path):
    visitor, big = patient, tmp_path / "big.parquet"
    pq.write_table(
        pa.table({"name": pa.array(["x"]).take(pa.array(np.zeros(10**6, int))), "age": np.arange(10**6) % 100}), big
    )
    page = visitor.goto("sanitize")
    visitor.upload("A table", big)
    visitor.shows("2 columns. No value has been read.")
    editor(visitor).fill(POLICY)
    visitor.shows("odds within a factor 2 at 5 years")
    visitor.button("Sanitize").click()
    page.get_by_text(re.compile("[1-9][0-9,]* of 1,000,000 rows")).wait_for()
    visitor.button("Stop").click()
    visitor.shows("Stopped; nothing was kept.")
    assert page.get_by_text("Released:").count() == 0
    assert visitor.button("Download: Table").count() == 0
    visitor.button("Sanitize").click()
    page.get_by_label("What name is").select_option("keep")
    page.get_by_role("region", name="name", exact=True).get_by_text("it is public").wait_for()
    visitor.shows("Released: 1,000,000 rows.")
    assert visitor.problems == []


def test_a_release_is_charged_to_a_ledger_that_is_named(visit, tmp_path):
    (tmp_path / "people.csv").write_text("name,age\nAnn,31\nBob,47\n")
    with Ledger.create(tmp_path / "spent.db") as ledger:
        ledger.open_account("city", policy_cap(Policy.parse(POLICY), 1))
    visitor = visit()
    page = visitor.goto("sanitize")
    visitor.upload("A table", tmp_path / "people.csv")
    visitor.shows("2 columns. No value has been read.")
    editor(visitor).fill(POLICY)
    visitor.shows("odds within a factor 2 at 5 years")
    page.get_by_label("Ledger, a file on this machine").fill(str(tmp_path / "nothing.db"))
    visitor.button("Sanitize").click()
    visitor.shows("there is no ledger")
    page.get_by_label("Ledger, a file on this machine").fill(str(tmp_path / "spent.db"))
    page.get_by_label("Account").fill("city")
    page.wait_for_timeout(1000)  # a text is sent when nobody has typed for a moment
    visitor.goto("sanitize")
    assert page.get_by_label("Account").input_value() == "city", "nothing is lost on a reload"
    visitor.button("Dry run").click()
    visitor.shows("Nothing was released")
    visitor.button("Sanitize").click()
    visitor.shows("Released: 2 rows.")
    visitor.shows("city, 1 charge.")
    visitor.shows("--ledger ")
    visitor.button("Sanitize").click()
    visitor.shows("account 'city'")
    with Ledger(tmp_path / "spent.db") as ledger:
        assert ledger.balance("city").charges == 1
        assert ledger.check()


def test_a_file_of_excel_in_europe_by_clicks_alone(visit, tmp_path):
    (tmp_path / "löhne.csv").write_bytes("name;größe\nJürgen;172\nÄnne;160\n".encode("cp1252"))
    visitor = visit()
    page = visitor.goto("sanitize")
    visitor.upload("A table", tmp_path / "löhne.csv")
    visitor.shows("löhne.csv was not taken: the header: bytes that are not UTF-8")
    visitor.shows("choose below what its text is written in")
    page.get_by_label("Encoding of a CSV file").select_option("Windows (cp1252)")
    visitor.shows("löhne.csv: 2 columns. No value has been read.")
    assert page.get_by_text("was not taken").count() == 0
    visitor.shows("5 questions are still open")
    page.get_by_label("Can somebody have several rows?").select_option("no: every row is another person's")
    visitor.shows("3 questions are still open")
    page.get_by_label("records, if public").fill("")
    visitor.shows("2 questions are still open")
    page.get_by_label("What name is").select_option("drop")
    page.get_by_label("What größe is").select_option("integer")
    size = page.get_by_role("region", name="größe", exact=True)
    size.get_by_text("Still open: within, bounds, missing.").wait_for()
    for key, answer in (("within", "5 cm"), ("bounds", "50 to 250")):
        size.get_by_label(key, exact=True).fill(answer)
    size.get_by_label("missing", exact=True).select_option("refuse")
    visitor.shows("odds within a factor 2 at 5 cm")
    assert "bounds = [50, 250]\n" in editor(visitor).input_value()
    assert "# All answers come from what you know" in editor(visitor).input_value(), "remarks stay"
    visitor.button("Sanitize").click()
    visitor.shows("Released: 2 rows. From löhne.csv.")
    assert "löhne.csv" in downloaded(visitor, "Report", tmp_path).read_text()


def test_a_thousand_columns_are_decided_by_a_few_clicks(visit, tmp_path):
    """Every click took twelve seconds, since the policy was read anew for each form."""
    (tmp_path / "wide.csv").write_text(",".join(f"c{number}" for number in range(1000)) + "\n" + "1," * 999 + "1\n")
    visitor = visit()
    page = visitor.goto("sanitize")
    visitor.upload("A table", tmp_path / "wide.csv")
    visitor.shows("1,000 columns. No value has been read.")
    visitor.shows("And 940 more: change them in the text.")
    page.get_by_label("Can somebody have several rows?").select_option("no: every row is another person's")
    page.get_by_label("What c0 is", exact=True).select_option("integer")  # at once: its form was made anew, and it lost
    first = page.get_by_role("region", name="c0", exact=True)
    first.get_by_label("within", exact=True).fill("5 years")
    first.get_by_label("bounds", exact=True).fill("")
    first.get_by_label("missing", exact=True).select_option("refuse")
    first.get_by_text("odds within a factor 2 at 5 years").wait_for()
    page.get_by_label("records, if public").fill("")
    visitor.button("Leave out all 999 that are undecided").click()
    page.get_by_role("region", name="c59", exact=True).get_by_text("it is left out").wait_for()
    visitor.until(lambda: page.get_by_text("still open").count() == 0)
    visitor.button("Sanitize").click()
    visitor.shows("Released: 1 row.")


WAITING = """
import pathlib
import time
import typer
from metricdp.studio import jobs
from metricdp.studio.command import studio
report = jobs.Job.report
def waiting(self, done, total=None):
    while not pathlib.Path("go").exists():  # until the test has changed the page
        time.sleep(0.05)
    report(self, done, total)
jobs.Job.report = waiting
typer.run(studio)
"""


def test_what_is_handed_over_is_what_was_used(chromium, shots, tmp_path):
    (tmp_path / "people.csv").write_text("name,age\nAnn,31\nBob,47\n")
    process, address = launched(folder=tmp_path, program=WAITING)
    visitor = Visitor(chromium, address, shots)
    try:
        visitor.goto("sanitize")
        visitor.upload("A table", tmp_path / "people.csv")
        visitor.shows("2 columns. No value has been read.")
        editor(visitor).fill(POLICY)
        visitor.shows("odds within a factor 2 at 5 years")
        visitor.button("Sanitize").click()
        visitor.button("Stop").wait_for()
        editor(visitor).fill(POLICY.replace("5 years", "9 years"))
        visitor.shows("odds within a factor 2 at 9 years")
        (tmp_path / "go").touch()
        visitor.shows("Released: 2 rows.")
        assert "5 years" in downloaded(visitor, "Policy", tmp_path).read_text(), "as it was when the release began"
        visitor.button("Use the table that comes with the package").click()
        visitor.shows("health_insurance.csv: 16 columns.")
        visitor.button("Undo").click()
        visitor.shows("people.csv: 2 columns.")
        assert "9 years" in editor(visitor).input_value(), "the table and its policy come back together"
        assert visitor.problems == []
    finally:
        visitor.context.close()
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("name", "content", "rule"),
    [
        ("empty.csv", b"", "empty.csv cannot be read as csv: it is empty"),
        ("photo.parquet", b"\x89PNG\r\n\x1a\n\xff" * 9, "photo.parquet cannot be read"),
        ("photo.png", b"\x89PNG", "photo.png: a .parquet, .csv"),
    ],
)
def test_a_wrong_file_is_refused_by_its_own_name_in_words_that_stay(visit, tmp_path, name, content, rule):
    (tmp_path / name).write_bytes(content)
    visitor = visit()
    page = visitor.goto("sanitize")
    visitor.upload("A table", tmp_path / name)
    visitor.shows(f"{name} was not taken: {rule}")
    page.wait_for_timeout(6000)  # longer than a notice
    assert page.get_by_text(f"{name} was not taken").count() == 1
