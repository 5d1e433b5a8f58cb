"""The commands about tables: what they print, what they write, and how they leave."""

import hashlib
import json
import sys
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from metricdp.cli import app
from metricdp.errors import NotPrivateWarning
from metricdp.tables.report import Report

POLICY = """
format = 2

[columns]
name = "drop"
site = "keep"

[columns.income]
type = "number"
within = "1000 dollars"
missing = "refuse"

[columns.smoker]
type = "boolean"
factor = 3
"""
WRONG = POLICY.replace('"1000 dollars"', '"many"').replace("factor = 3", "factr = 3")
SECRET = "Zebulon"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.toml").write_text(POLICY)
    (tmp_path / "wrong.toml").write_text(WRONG)
    table = {"name": [SECRET] * 50, "site": ["a"] * 50, "income": [1234.5] * 50, "smoker": [True, None] * 25}
    pq.write_table(pa.table(table), tmp_path / "people.parquet")
    return tmp_path


def run(*arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotPrivateWarning)  # the command says so itself
        return CliRunner().invoke(app, list(arguments))


def sanitize(*arguments):
    return run("sanitize", "people.parquet", "--policy", "people.toml", *arguments)


def test_explain_prints_the_report(here):
    result = run("explain", "people.toml")
    assert result.exit_code == 0
    assert "odds within a factor 2 at 1,000 dollars" in result.stdout
    assert "What is not promised" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


def test_explain_as_json_and_as_a_page(here):
    result = run("explain", "people.toml", "--json", "--report", "page.html")
    assert Report.from_json(json.loads(result.stdout)["result"]).kept == ("site",)
    assert result.stderr == "Written to page.html\n"
    assert (here / "page.html").read_text().startswith("<!doctype html>")
    again = run("explain", "people.toml", "--report", "page.html")
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert run("explain", "people.toml", "--report", "page.html", "--overwrite").exit_code == 0
    assert run("explain", "people.toml", "--report", "page.pdf").exit_code == 2


@pytest.mark.parametrize(
    "command", [("explain", "wrong.toml"), ("sanitize", "people.parquet", "-o", "o.parquet", "--policy", "wrong.toml")]
)
def test_every_mistake_is_on_a_line_of_its_own(here, command):
    result = run(*command)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert len(lines) == 3
    assert all(line.startswith("wrong.toml: line ") for line in lines)
    assert "'factr' is not known here" in result.stderr
    assert result.stdout == ""
    assert not (here / "o.parquet").exists()


@pytest.mark.parametrize("content", [b"\xff\xfe", b"format = ", b"", b"[columns]\nx = 3"])
def test_a_policy_that_is_none(here, content):
    (here / "bad.toml").write_bytes(content)
    result = run("explain", "bad.toml")
    assert result.exit_code == 2
    assert result.stderr.startswith("bad.toml: ")
    assert "Traceback" not in result.output


def test_nothing_to_promise(here):
    (here / "bare.toml").write_text('format = 2\ncolumns.x = "keep"')
    result = run("explain", "bare.toml")
    assert result.exit_code == 2
    assert "no column is released privately" in result.stderr


def test_sanitize_writes_the_table_and_its_claim(here):
    result = sanitize("-o", "out.parquet", "--report", "report.html")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Written to out.parquet\n")
    assert "factor 2 at 1,000 dollars" in result.stdout
    assert "\x1b" not in result.output
    released = pq.read_table(here / "out.parquet")
    assert released.column_names == ["site", "income", "smoker"]
    assert released.num_rows == 50
    assert (here / "report.html").read_text().startswith("<!doctype html>")
    bytes_out = (here / "out.parquet").read_bytes()
    assert SECRET.encode() not in bytes_out
    inspected = run("inspect", "out.parquet")
    assert inspected.exit_code == 0, inspected.output
    assert "It is no proof" in " ".join(inspected.stdout.split())
    assert "odds within a factor 2 at 1,000 dollars" in inspected.stdout
    tree = json.loads(run("inspect", "out.parquet", "--json").stdout)["result"]
    assert tree["doubts"] == []
    assert tree["claim"]["private"] is True


@pytest.mark.parametrize(("name", "start"), [("r.json", "{"), ("r.txt", "metricdp report"), ("r.html", "<!doctype")])
def test_reports_in_three_forms(here, name, start):
    assert sanitize("-o", "out.csv", "--report", name).exit_code == 0
    assert (here / name).read_text().startswith(start)
    assert not list(here.glob(".*"))


def test_csv_says_that_it_carries_nothing(here):
    assert "CSV has no room for the guarantee" in sanitize("-o", "out.csv").stdout
    inspected = run("inspect", "out.csv")
    assert inspected.exit_code == 1
    assert "claims no guarantee" in inspected.stdout


def test_a_dry_run_releases_nothing(here):
    before = set(here.iterdir())
    result = sanitize("--dry-run")
    assert result.exit_code == 0, result.output
    assert "dry run" in result.stdout
    assert set(here.iterdir()) == before


def test_a_mismatch_is_a_mistake_of_the_policy(here):
    pq.write_table(pa.table({"income": [1], "smoker": ["yes"], "other": [2]}), here / "people.parquet")
    result = sanitize("--dry-run")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 5, "two missing, two of a wrong type, one not named"
    assert "column 'other'" in result.stderr


def test_json_is_the_report(here):
    result = sanitize("-o", "out.parquet", "--json")
    assert Report.from_json(json.loads(result.stdout)["result"]).rows == 50


def test_a_seed_is_loud_and_repeats(here):
    result = sanitize("-o", "one.parquet", "--seed", "7")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("NOT PRIVATE") == 2
    assert sanitize("-o", "two.parquet", "--seed", "7").exit_code == 0
    assert pq.read_table(here / "one.parquet").equals(pq.read_table(here / "two.parquet"))
    assert "NOT PRIVATE" in run("inspect", "one.parquet").stdout
    sanitize("-o", "three.parquet")
    assert not pq.read_table(here / "one.parquet").equals(pq.read_table(here / "three.parquet"))


def test_outputs_are_not_replaced(here):
    assert sanitize("-o", "out.parquet").exit_code == 0
    result = sanitize("-o", "out.parquet")
    assert result.exit_code == 2
    assert "exists already" in result.stderr
    assert sanitize("-o", "out.parquet", "--overwrite").exit_code == 0
    same = sanitize("-o", "people.parquet", "--overwrite")
    assert same.exit_code == 2
    assert "is another file of this command already" in same.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 2),
        (["-o", "out.parquet", "--report", "r.pdf"], 2),
        (["-o", "out.parquet", "--report", "out.parquet"], 2),
        (["-o", "out.html", "--report", "out.html"], 2),
        (["-o", "out.parquet", "--report", "nowhere/r.html"], 2),
        (["-o", "out.parquet", "--engine", "abacus"], 2),
        (["-o", "out.parquet", "--engine", "spark", "--seed", "1"], 2),
        (["-o", "nowhere/out.parquet"], 2),
        (["-o", "out.xls"], 2),
    ],
)
def test_commands_that_cannot_be(here, arguments, code):
    result = sanitize(*arguments)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert not list(here.glob("out.*"))


def test_a_missing_input_is_a_mistake_of_the_command(here):
    assert run("sanitize", "nobody.parquet", "-o", "o.parquet", "--policy", "people.toml").exit_code == 2
    assert run("inspect", "nobody.parquet").exit_code == 2


def test_bad_data_is_one_line_without_the_value(here):
    table = pa.table({"name": ["x"], "site": ["a"], "income": pa.array([None], pa.float64()), "smoker": [True]})
    pq.write_table(table, here / "people.parquet")
    result = sanitize("-o", "out.parquet")
    assert result.exit_code == 1
    assert result.stderr.startswith("metricdp: column 'income', row 0: a value is missing")
    assert len(result.stderr.splitlines()) == 1
    assert not (here / "out.parquet").exists()


def test_corrupt_files_are_one_line(here):
    (here / "people.parquet").write_bytes(b"PAR1 nothing of the kind PAR1")
    for result in (sanitize("-o", "out.parquet"), run("inspect", "people.parquet")):
        assert result.exit_code == 2
        assert result.stderr.startswith("metricdp: people.parquet cannot be read")
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "command", [("inspect", "people.parquet"), ("sanitize", "people.parquet", "-p", "people.toml", "-o", "o.csv")]
)
def test_without_pyarrow_the_line_to_install_it(here, monkeypatch, command):
    ours = ("metricdp.tables", "metricdp.sources")
    for name in [name for name in sys.modules if name.split(".")[0] == "pyarrow" or name.startswith(ours)]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    result = run(*command)
    assert result.exit_code == 2
    assert result.stderr == "metricdp: pyarrow is not installed; run: pip install 'metricdp[tables]'\n"


def test_a_claim_cannot_steer_the_terminal(here):
    evil = "\x1b]0;owned\x07\x9b31m"
    report = Report.from_json(json.loads(run("explain", "people.toml", "--json").stdout)["result"]).to_json()
    report["columns"][0]["level"] = evil
    table = pq.read_table(here / "people.parquet").replace_schema_metadata({"metricdp.report": json.dumps(report)})
    pq.write_table(table, here / "evil.parquet")
    for arguments in ((), ("--json",)):
        output = run("inspect", "evil.parquet", *arguments).output
        assert "\x1b" not in output
        assert "\x9b" not in output
        assert "owned" in output


def test_help_teaches(here):
    for verb, words in (("sanitize", "--dry-run"), ("explain", "people.toml"), ("inspect", "released.parquet")):
        output = run(verb, "--help").output
        assert f"metricdp {verb} " in " ".join(output.split())
        assert words in output


def test_a_dry_run_of_csv_reads_the_rows_as_the_run_does(here):
    text = "name,site,income,smoker\nann,a,12.5,true\nbob,b,{},false\n"
    (here / "people.csv").write_text(text.format("14"))
    told = run("sanitize", "people.csv", "-p", "people.toml", "--dry-run")
    assert told.exit_code == 0, told.output
    assert "every row was read and can be released" in " ".join(told.stdout.split())
    tree = json.loads(run("sanitize", "people.csv", "-p", "people.toml", "--dry-run", "--json").stdout)
    assert tree["result"]["checked"] == "rows"
    (here / "people.csv").write_text(text.format("much"))
    result = run("sanitize", "people.csv", "-p", "people.toml", "--dry-run")
    assert result.exit_code == 1
    assert "column 'income', row 1" in result.stderr
    assert 'declare type = "category"' in result.stderr
    assert "much" not in result.output
    typed = " ".join(sanitize("--dry-run").stdout.split())
    assert "of the right types; no row was read; --check-first reads them" in typed
    assert run("sanitize", "people.csv", "-p", "people.toml", "-o", "o.csv", "--check-first").exit_code == 1
    assert not (here / "o.csv").exists()


@pytest.mark.parametrize("ending", [".parquet", ".arrow", ".csv", ".csv.gz"])
def test_inspect_compares_rows_and_digest_of_what_came_from_csv(here, ending):
    (here / "people.csv").write_text("name,site,income,smoker\n" + "ann,a,12.5,true\n" * 7)
    out, report = f"out{ending}", ["--report", "report.json", "--by", "Ada"]
    assert run("sanitize", "people.csv", "-p", "people.toml", "-o", out, *report).exit_code == 0
    claim = run("inspect", out, "--against", "report.json", "--json")
    tree = json.loads(claim.stdout)["result"]
    assert claim.exit_code == 0, tree["doubts"]
    assert tree["rows"] == tree["claim"]["rows"] == 7
    assert tree["compared"] == ["the names of its columns", "the number of rows", "its SHA-256"]
    if not ending.startswith(".csv"):
        own = json.loads(run("inspect", out, "--json").stdout)["result"]
        assert own["compared"] == ["the names of its columns", "the number of rows"]
        assert own["claim"]["origin"]["by"] == "Ada"
        assert own["claim"]["origin"]["source"] is None
    run("sanitize", "people.csv", "-p", "people.toml", "-o", out, "--overwrite")
    other = run("inspect", out, "--against", "report.json")
    assert other.exit_code == 1
    assert "The SHA-256 of the file is not that of the report" in " ".join(other.stdout.split())


def test_what_is_no_report_is_refused(here):
    sanitize("-o", "out.parquet")
    (here / "not.json").write_text("[1, 2]")
    (here / "broken.json").write_text("{")
    for name in ("not.json", "broken.json", "gone.json"):
        result = run("inspect", "out.parquet", "--against", name)
        assert result.exit_code == 2
        assert name in result.stderr


def test_a_report_printed_as_json_can_be_compared_too(here):
    (here / "printed.json").write_text(sanitize("-o", "out.parquet", "--json").stdout)
    assert run("inspect", "out.parquet", "--against", "printed.json").exit_code == 0


def test_the_record_of_a_release(here):
    result = sanitize("-o", "out.parquet", "--by", "Ada", "--source-digest", "--json")
    record = json.loads(result.stdout)["result"]["origin"]
    assert (record["by"], record["source"], record["output"]) == ("Ada", "people.parquet", "out.parquet")
    for name, key in (("people.parquet", "source_sha256"), ("out.parquet", "output_sha256")):
        assert hashlib.sha256((here / name).read_bytes()).hexdigest() == record[key]
    plain = json.loads(sanitize("-o", "other.parquet", "--json").stdout)["result"]["origin"]
    assert plain["source_sha256"] is None
    assert plain["by"] is None
