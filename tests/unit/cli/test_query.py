"""``metricdp query``: answers for people and programs, mistakes in one line, and no secret in any of them."""

import csv
import json
import re
import sys

import duckdb
import pytest
from typer.testing import CliRunner

from metricdp.cli import app

POLICY = """format = 2
records = 6

[columns]
sex = {type = "category", values = ["F", "M", "X"], epsilon = 0.5, missing = "refuse"}
age = {type = "integer", bounds = [0, 99], epsilon = "ln 2/5", missing = "refuse"}
pay = {type = "integer", bounds = [0, 5000], epsilon = "ln 2/500", missing_distance = 4000, count_by.missing = "none"}
day = {type = "date", bounds = [2024-01-01, 2024-12-31], epsilon = "ln 2/7", missing = "refuse"}
"""
SHARP = re.sub(r'epsilon = (0.5|"ln 2/\d+")', "epsilon = 100000000", POLICY)
ROWS = "sex,age,pay,day,note\nF,30,100,2024-01-05,a\nF,50,,2024-02-05,b\nM,39,300,2024-03-05,c\n"
ROWS += "M,20,4321,2024-04-05,d\nF,61,500,2024-05-05,e\nM,77,600,2024-06-05,f\n"
FILES = {
    "people.csv": ROWS,
    "people.toml": POLICY,
    "sharp.toml": SHARP,
    "secret.toml": POLICY.replace("records = 6", "capacity = 1000\nabsent = 1"),
    "wrong.toml": POLICY.replace("epsilon = 0.5, ", "").replace("records = 6", "records = 6\nrecord = 3"),
    "outside.csv": ROWS.replace("M,39", "QQQ,39"),
    "text.csv": ROWS.replace("M,39", "M,thirtynine"),
    "more.csv": ROWS + "M,77,600,2024-06-05,g\n",
}


def run(*arguments):
    return CliRunner().invoke(app, ["query", *arguments])


def words(result):
    return " ".join(result.stdout.split())


def test_a_public_table_beside_it(here):
    (here / "sexes.csv").write_text("sex,word,weight\nF,woman,2\nM,man,0.5\n")
    question = "select s.word, count(*), sum(s.weight) from people p join sexes s on p.sex = s.sex group by s.word"
    result = run("people.csv", question, "-p", "sharp.toml", "--public", "sexes=sexes.csv", "-o", "-")
    assert result.exit_code == 0, result.output
    rows = list(csv.reader(result.stdout.splitlines()))
    assert [(row[0], round(float(row[1])), round(float(row[3]), 3)) for row in rows[1:3]] == [
        ("man", 3, 1.5),
        ("woman", 3, 6.0),
    ]
    refused = run("people.csv", question, "-p", "sharp.toml")
    assert refused.exit_code == 2
    assert "under that name (--public ..)" in refused.output
    for given in ("sexes", "sexes=nowhere.csv"):
        assert run("people.csv", question, "-p", "sharp.toml", "--public", given).exit_code == 2


def test_answers_for_people(here):
    result = run(
        "people.csv", "select sex, count(*), avg(age) from people group by sex", "-p", "people.toml", "--seed", "1"
    )
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("NOT PRIVATE: the noise came from a seed")
    assert lines[1:3] == [
        "select sex, count(*), avg(age) from people group by sex",
        "6 records, which is public; error bars hold with 95%, each by itself",
    ]
    assert lines[4].split() == ["sex", "count(*)", "avg(age)"]
    assert [line.split()[0] for line in lines[5:8]] == ["F", "M", "X"]
    assert all("±" in line for line in lines[5:8])
    text = words(result)
    assert (
        "Spent, once for all answers together: ℓ₁(0.5·[x ≠ y] (sex) + ln 2/5·|x − y| (age))-private For two people"
        in text
    )
    assert "sex 1.649 age, 5 apart 2 age, 10 apart 4" in text
    assert "Nothing was read of pay, day." in text
    assert "count(*), avg(age): Laplace noise; no Laplace noise on these answers" in text
    assert "? The error bar is half of all that the answer can be" in text, "six records hide nobody"
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in result.output


def test_the_truth_where_nothing_is_hidden(here):
    question = "select count(*), count(pay), sum(pay), avg(age), median(age), max(day) from t where sex = 'M'"
    result = run("people.csv", question, "--policy", "sharp.toml", "--json")
    assert result.exit_code == 0, result.output
    tree = json.loads(result.stdout)["result"]
    (group,) = tree["groups"]
    found = {answer["name"]: answer["value"] for answer in group["answers"]}
    assert found["max(day)"] == "2024-06-05"
    assert found["median(age)"] == 39
    assert [found[name] for name in ("count(*)", "count(pay)", "sum(pay)")] == pytest.approx([3, 3, 5221], abs=0.02)
    assert found["avg(age)"] == pytest.approx(136 / 3, abs=1e-3)


def test_json(here):
    result = run("people.csv", "select count(*), median(age) from t group by sex", "-p", "people.toml", "--json")
    tree = json.loads(result.stdout)["result"]
    assert set(tree) == {
        "question",
        "groups",
        "confidence",
        "records",
        "rows_per_person",
        "capacity",
        "columns",
        "guarantee",
        "meaning",
        "parts",
        "private",
        "again",
        "table",
        "out",
    }
    assert [group["group"] for group in tree["groups"]] == [{"sex": "F"}, {"sex": "M"}, {"sex": "X"}]
    assert set(tree["groups"][0]["answers"][0]) == {"name", "value", "error_bar", "tells"}
    assert (tree["records"], tree["capacity"], tree["confidence"]) == (6, None, 0.95)
    assert (tree["private"], tree["table"], tree["columns"]) == (True, "people.csv", ["sex", "age"])
    assert tree["guarantee"]["formula"] == "ℓ₁(0.5·[x ≠ y] (sex) + ln 2/5·|x − y| (age))-private"
    assert [part["shares"] for part in tree["parts"]] == [{"sex": "1/2"}, {"sex": "1/2", "age": "1"}]
    assert tree["meaning"][0] == {"differ": "sex", "odds": pytest.approx(1.6487212707)}


def test_noise_is_new_each_time(here):
    values = {
        json.loads(run("people.csv", "select count(*) group by sex", "-p", "people.toml", "--json").stdout)["result"][
            "groups"
        ][0]["answers"][0]["value"]
        for _ in range(3)
    }
    assert len(values) == 3
    seeded = [
        run("people.csv", "select count(*) group by sex", "-p", "people.toml", "--seed", "7").stdout for _ in "ab"
    ]
    assert seeded[0] == seeded[1]


def test_a_public_number_costs_nothing(here):
    result = run("people.csv", "select count(*) from people", "-p", "people.toml")
    assert result.exit_code == 0, result.output
    assert "Spent: nothing. What was asked is public." in result.stdout
    assert result.stdout.splitlines()[4].strip() == "6"
    secret = run("people.csv", "select count(*) from people", "-p", "secret.toml")
    assert "at most 1,000 records, how many is secret" in secret.stdout
    assert "being in the table at all  2.719" in secret.stdout


def test_a_dry_run_reads_nothing(here):
    result = run("nowhere.csv", "select count(*) from people group by sex", "-p", "people.toml", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "3 answers in 3 groups" in words(result)
    assert "nothing was read" in words(result)


def test_files_of_answers(here):
    question = "select count(*), min(day) from t group by sex"
    result = run("people.csv", question, "-p", "sharp.toml", "-o", "answers.csv")
    assert result.exit_code == 0, result.output
    assert "Written to answers.csv" in result.stdout
    header, *rows = csv.reader((here / "answers.csv").read_text().splitlines())
    assert header == ["sex", "count(*)", "count(*) error bar", "min(day)", "min(day) error bar"]
    assert [row[0] for row in rows] == ["F", "M", "X"]
    assert [round(float(row[1])) for row in rows] == [3, 3, 0]
    assert [row[3] for row in rows][:2] == ["2024-01-05", "2024-03-05"]
    again = run("people.csv", question, "-p", "sharp.toml", "-o", "answers.csv")
    assert again.exit_code == 2
    assert "exists already" in again.stderr
    assert run("people.csv", question, "-p", "sharp.toml", "-o", "answers.csv", "--overwrite").exit_code == 0
    assert run("people.csv", question, "-p", "sharp.toml", "-o", "answers.json").exit_code == 0
    assert len(json.loads((here / "answers.json").read_text())["groups"]) == 3
    assert run("people.csv", question, "-p", "sharp.toml", "-o", "answers.txt").exit_code == 2
    assert run("people.csv", question, "-p", "sharp.toml", "-o", "people.toml", "--overwrite").exit_code == 2
    assert run("people.csv", question, "-p", "sharp.toml", "-o", "people.csv", "--overwrite").exit_code == 2
    assert not list(here.glob(".*")), "nothing half-written is left"


def test_no_file_where_the_table_is_refused(here):
    assert run("outside.csv", "select count(*) group by sex", "-p", "people.toml", "-o", "new.csv").exit_code == 1
    assert not (here / "new.csv").exists()


def test_a_table_in_duckdb(here):
    with duckdb.connect(str(here / "people.duckdb")) as database:
        database.execute("create table humans as select * from 'people.csv'")
    question = "select count(*), sum(pay) from t group by sex"
    for source in ("people.duckdb", f"duckdb://{here / 'people.duckdb'}"):
        result = run(source, question, "-p", "sharp.toml", "--table", "humans", "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["result"]["table"] == "humans"
        values = [
            round(answer["value"]) for row in json.loads(result.stdout)["result"]["groups"] for answer in row["answers"]
        ]
        assert values == [3, 600, 3, 5221, 0, 0]
    assert run("people.duckdb", question, "-p", "sharp.toml").exit_code == 2
    missing = run("people.duckdb", question, "-p", "sharp.toml", "--table", "martians")
    assert missing.exit_code == 2
    assert "people.duckdb has no table 'martians'" in missing.stderr
    assert run("people.csv", question, "-p", "sharp.toml", "--table", "humans").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("people.csv", "select skewness(age)"), "the question: skewness(age): one of count(*)"),
        (("people.csv", "select count(*) from t join u"), "the question: a join"),
        (("people.csv", "select sum(sex)"), "the question: column 'sex' holds no numbers"),
        (("people.csv", "select count(*) where salary > 3"), "the policy has no column 'salary'"),
        (("people.csv", 'select count(*) where sex = "F"'), "text stands between single quotes, as in 'F'"),
        (("people.csv", "select count(*) where sex in (M, F)"), "text stands between single quotes, as in 'M'"),
    ],
)
def test_mistaken_questions(here, arguments, words):
    result = run(*arguments, "-p", "people.toml")
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not result.stdout


def test_a_mistaken_policy_with_all_its_mistakes(here):
    result = run("people.csv", "select count(*)", "-p", "wrong.toml")
    assert result.exit_code == 2
    assert result.stderr.splitlines() == [
        "wrong.toml: line 3, 'record' is not known here; one of format, ledger, records, capacity, absent, standard, "
        "rows, person, columns, csv",
        "wrong.toml: line 6, column 'sex': either epsilon, or factor, or metric, is wanted",
    ]


@pytest.mark.parametrize(
    ("table", "question", "secrets"),
    [
        ("outside.csv", "select count(*) group by sex", ["QQQ"]),
        ("text.csv", "select count(*) where age > 3", ["thirtynine"]),
        ("text.csv", "select median(age)", ["thirtynine"]),
        ("more.csv", "select count(*) group by sex", ["7"]),
        ("more.csv", "select count(*)", ["7"]),
    ],
)
def test_a_table_that_is_not_as_the_policy_says(here, table, question, secrets):
    result = run(table, question, "-p", "people.toml")
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert not result.stdout
    assert not any(secret in result.output for secret in secrets)


def test_mistaken_commands(here):
    assert run("nowhere.csv", "select count(*)", "-p", "people.toml").exit_code == 2
    assert run("nowhere.duckdb", "select count(*)", "-p", "people.toml", "--table", "t").exit_code == 2
    assert run("people.csv", "select count(*)", "-p", "nowhere.toml").exit_code == 2
    assert run("people.csv", "-p", "people.toml").exit_code == 2
    unreachable = run("postgres://me:hunter2@nowhere.invalid/x", "select count(*)", "-p", "people.toml", "--table", "t")
    assert unreachable.exit_code == 2
    assert "hunter2" not in unreachable.output


def test_without_the_library(here, monkeypatch):
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    result = run("people.csv", "select count(*)", "-p", "people.toml")
    assert result.exit_code == 2
    assert "pip install 'metricdp[queries]'" in result.stderr


def test_help_teaches():
    result = CliRunner().invoke(app, ["query", "--help"], env={"COLUMNS": "120"})
    text = " ".join(re.sub(r"[│╭╮╰╯─]", " ", result.stdout).split())
    for taught in (
        'within = "5 years"',
        "select count(*) from people where age >= 18",
        "percentile(x, 0.9)",
        "empty ones are answered too",
        "--dry-run",
        "Exit status: 0 if the question was answered",
    ):
        assert taught in text, taught
    assert "query" in CliRunner().invoke(app, ["--help"]).stdout


def test_no_minus_before_zero():
    """An answer that rounds to 0 is 0, from below too."""
    from metricdp.cli.words.query import _amount
    from metricdp.queries.select.table_answers import TableAnswer

    shown = [_amount(TableAnswer(value, 12.0)) for value in (-0.3, -0.0, 0.3, -0.6)]
    assert shown == ["0 ± 12", "0 ± 12", "0 ± 12", "-1 ± 12"]
    assert _amount(TableAnswer(-0.004, 0.5)) == "0.00 ± 0.50"


def test_a_seeded_file_says_that_it_is_not_private(here):
    arguments = ["people.csv", "select count(*) from people group by sex", "-p", "people.toml", "-o", "seeded.csv"]
    assert run(*arguments, "--seed", "1").exit_code == 0
    with (here / "seeded.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert all(row["private"].startswith("NOT private") for row in rows)
    assert run(*arguments, "--overwrite").exit_code == 0
    assert "rivate" not in (here / "seeded.csv").read_text(encoding="utf-8")


def test_what_is_said_to_be_optimal(here):
    """It is said among what, and never beside a question mark."""
    clear = words(run("people.csv", "select median(age) from people", "-p", "sharp.toml"))
    assert "universally optimal" in clear
    assert "no other noise on the true answer that keeps this promise is better" in clear
    (here / "dull.toml").write_text(POLICY.replace("ln 2/5", "0.0001", 1), encoding="utf-8")
    unclear = words(run("people.csv", "select median(age) from people", "-p", "dull.toml"))
    assert "?" in unclear
    assert "optimal" not in unclear
    assert "best there is" not in clear + unclear
