"""``metricdp init``: a draft from a table that nobody reads, and answers question by question."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from metricdp.cli import app
from metricdp.policies import Policy
from metricdp.tables import sanitize

SECRET = "Zebulon"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pa.table({"name": [SECRET], "age": [41], "town": ["Here"]})
    pq.write_table(table, tmp_path / "people.parquet")
    (tmp_path / "people.csv").write_text(f"name,age,town\n{SECRET},41,Here\n")
    return tmp_path


def run(*arguments, typed=None):
    return CliRunner().invoke(app, ["init", *arguments], input=typed)


@pytest.mark.parametrize("source", ["people.parquet", "people.csv"])
def test_a_draft_that_refuses_to_run(here, source):
    result = run(source, "-o", "people.toml")
    assert result.exit_code == 0, result.output
    assert "metricdp explain people.toml" in result.stderr
    text = (here / "people.toml").read_text()
    assert SECRET not in text
    assert "41" not in text
    assert ('type = "integer"' in text) == (source == "people.parquet")
    explained = CliRunner().invoke(app, ["explain", "people.toml"])
    assert explained.exit_code == 2
    assert all("open question" in line for line in explained.stderr.splitlines())
    assert len(explained.stderr.splitlines()) == text.count(' = "?"')


@pytest.mark.parametrize(("sign", "written"), [(";", '";"'), ("\t", '"\\t"'), ("|", '"|"')])
def test_a_file_of_another_delimiter_is_recognised_by_its_header(here, sign, written):
    (here / "europe.csv").write_text(f"name,age,town\n{SECRET},41,Here\n".replace(",", sign))
    result = run("europe.csv", "-o", "europe.toml")
    assert result.exit_code == 0, result.output
    text = (here / "europe.toml").read_text()
    assert f"[csv]\ndelimiter = {written}\n" in text
    assert SECRET not in text
    said = {"name": "drop", "town": "keep", "age": {"type": "integer", "within": "5 years", "missing": "refuse"}}
    policy = Policy.of({"format": 2, "csv": {"delimiter": sign}, "columns": said})
    assert sanitize(here / "europe.csv", policy).table.column_names == ["age", "town"]


def test_decimal_commas_do_not_hide_the_semicolons_of_the_header(here):
    (here / "europe.csv").write_text('"name, first";height\nAnn;1,72\nBob;1,8\n')
    assert run("europe.csv", "-o", "europe.toml").exit_code == 0
    text = (here / "europe.toml").read_text()
    assert '[csv]\ndelimiter = ";"\n' in text
    assert 'decimal = ","' in text, "what else such a file needs is said"
    assert '[columns."name, first"]' in text


def test_a_file_that_is_not_utf_8(here):
    (here / "windows.csv").write_bytes("name;größe\nJürgen;1,72\n".encode("cp1252"))
    unread = run("windows.csv", "-o", "p.toml")
    assert unread.exit_code == 2
    assert unread.stderr.endswith("bytes that are not UTF-8; give its encoding, as in --encoding cp1252\n")
    result = run("windows.csv", "-o", "p.toml", "--encoding", "windows-1252")
    assert result.exit_code == 0, result.output
    text = (here / "p.toml").read_text()
    assert 'delimiter = ";"\nencoding = "cp1252"\n' in text
    assert "[columns.größe]" in text or '[columns."größe"]' in text
    refused = run("windows.csv", "-o", "q.toml", "--encoding", "klingon")
    assert refused.exit_code == 2
    assert "cp1252" in refused.stderr


def test_standard_input_of_another_delimiter_says_what_to_do(here):
    result = run("-", "-o", "p.toml", typed="name;age\nA;1\n")
    assert result.exit_code == 2
    assert 'delimiter = ";"' in result.stderr


def test_printed_and_never_over_another_file(here):
    printed = run("people.csv", "-o", "-")
    assert printed.exit_code == 0
    assert printed.stdout.startswith("# A policy for people.csv")
    assert run("people.csv", "-o", "p.toml").exit_code == 0
    assert run("people.csv", "-o", "p.toml").exit_code == 2
    assert run("people.csv", "-o", "p.toml", "--overwrite").exit_code == 0
    assert run("people.csv", "-o", "p.txt").exit_code == 2
    assert run("nowhere.csv", "-o", "q.toml").exit_code == 2


def test_nothing_of_a_value_is_said_of_a_damaged_file(here):
    (here / "bad.parquet").write_bytes(b"PAR1" + SECRET.encode() * 9)
    result = run("bad.parquet", "-o", "p.toml")
    assert result.exit_code == 2
    assert SECRET not in result.output


def test_answers_one_by_one(here):
    typed = "\n".join(
        [
            *("many", "1"),  # how many records: a number
            *("nobody", "name", "3"),  # whose row it is: a column that is there, and how many
            *("integr", "integer", "5 years", "[0, 120]", "perhaps"),  # a wrong answer: the column again
            *("integer", "5 years", "0, 120", "refuse"),  # brackets may be left out
            *("category", "Here, There", "3", "secret"),
        ]
    )
    result = run("people.parquet", "-o", "people.toml", "--ask", typed=typed + "\n")
    assert result.exit_code == 0, result.output
    assert "there is no type 'integr'" in result.stderr
    assert "missing is one of 'secret', 'public', 'refuse'" in result.stderr
    policy = Policy.load(here / "people.toml")
    assert policy.records == 1
    assert (policy.person.column, policy.person.rows) == ("name", 3)
    assert [column.level_words for column in policy.columns] == [
        "odds within a factor 2 at 5 years",
        "odds within a factor 3 between any two values",
    ]
    done = CliRunner().invoke(app, ["sanitize", "people.parquet", "-o", "out.parquet", "-p", "people.toml"])
    assert done.exit_code == 0, done.output


def test_answers_that_end_too_soon_write_nothing(here):
    assert run("people.parquet", "-o", "people.toml", "--ask", typed="\n").exit_code != 0
    assert not (here / "people.toml").exists()
