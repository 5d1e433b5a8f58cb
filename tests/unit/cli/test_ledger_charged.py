"""``metricdp sanitize`` and ``metricdp query`` with a ledger."""

import json

import pytest

from metricdp.cli import app
from metricdp.ledger import Ledger

FILES = {
    "people.csv": "sex,age\n" + "".join(f"{'FM'[k % 2]},{20 + k % 60}\n" for k in range(200)),
    "people.toml": """format = 2
records = 200
[columns]
sex = {type = "category", values = ["F", "M"], epsilon = 0.5, missing = "refuse"}
age = {type = "integer", bounds = [0, 100], within = "5 years", missing = "refuse"}
""",
}
COUNT = "select count(*) from people group by sex"


@pytest.fixture
def run(here, capsys, monkeypatch):
    monkeypatch.delenv("METRICDP_LEDGER", raising=False)

    def command(*arguments, status=0):
        with pytest.raises(SystemExit) as ended:
            app(list(arguments))
        printed = capsys.readouterr()
        assert ended.value.code == status, printed
        return printed.out + printed.err

    command("ledger", "create", "spent.db")
    command("ledger", "account", "staff", "-l", "spent.db", "--policy", "people.toml", "--times", "2")
    return command


def charges():
    with Ledger("spent.db") as ledger:
        assert ledger.check()
        return ledger.balance("staff").charges


def test_a_table_and_a_question_until_it_is_spent(run, here):
    run("sanitize", "people.csv", "-p", "people.toml", "-o", "out.parquet", "-l", "spent.db", "-a", "staff")
    asked = run("query", "people.csv", COUNT, "-p", "people.toml", "-l", "spent.db", "-a", "staff", "--json")
    again = run("query", "people.csv", COUNT, "-p", "people.toml", "-l", "spent.db", "-a", "staff", "--json")
    assert json.loads(again)["result"]["groups"] == json.loads(asked)["result"]["groups"], (
        "from the ledger, for nothing"
    )
    assert charges() == 2
    refused = run("sanitize", "people.csv", "-p", "people.toml", "-o", "b.parquet", "-l", "spent.db", status=1)
    assert "sex: together 1.5, and the cap is 1" in refused
    assert not (here / "b.parquet").exists()
    assert charges() == 2


def test_the_environment_names_the_ledger(run, monkeypatch):
    monkeypatch.setenv("METRICDP_LEDGER", "spent.db")
    run("query", "people.csv", COUNT, "-p", "people.toml")
    assert charges() == 1
    run("sanitize", "people.csv", "-p", "people.toml", "--dry-run")
    run("query", "people.csv", COUNT, "-p", "people.toml", "--dry-run")
    assert charges() == 1, "a dry run costs nothing"


def test_bad_data_cost_nothing(run, here):
    (here / "people.csv").write_text("sex,age\nF,30\nX,40\n")
    run("sanitize", "people.csv", "-p", "people.toml", "-o", "out.parquet", "-l", "spent.db", status=1)
    assert charges() == 0
    assert not (here / "out.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-a", "staff"], "it goes with --ledger"),
        (["-l", "spent.db", "-a", "nobody"], "no account 'nobody'"),
        (["-l", "gone.db"], "there is no ledger gone.db"),
        (["-l", "spent.db", "--seed", "1"], "not private"),
    ],
)
def test_mistakes(run, here, arguments, message):
    told = run("sanitize", "people.csv", "-p", "people.toml", "-o", "out.parquet", *arguments, status=2)
    assert message in told
    assert message in run("query", "people.csv", COUNT, "-p", "people.toml", *arguments, status=2)
    assert not (here / "out.parquet").exists()
    assert charges() == 0


def test_a_second_release_without_a_ledger_is_told_of(run, here):
    first = run("sanitize", "people.csv", "-p", "people.toml", "-o", "a.parquet")
    assert "same policy" not in first
    run("sanitize", "people.csv", "-p", "people.toml", "-o", "b.arrow")
    told = run("sanitize", "people.csv", "-p", "people.toml", "-o", "c.csv")
    assert "a.parquet is a release under the same policy" in told
    assert "b.arrow is a release under the same policy" in told
    assert "same policy" in run("sanitize", "people.csv", "-p", "people.toml", "-o", "a.parquet", "--overwrite")
    assert "same policy" not in run("sanitize", "people.csv", "-p", "people.toml", "-o", "d.csv", "-l", "spent.db")
    (here / "other.toml").write_text(FILES["people.toml"].replace("0.5", "0.25"))
    (here / "broken.parquet").write_text("no parquet")
    assert "same policy" not in run("sanitize", "people.csv", "-p", "other.toml", "-o", "e.csv")


def test_a_policy_that_requires_a_ledger(run, here):
    (here / "strict.toml").write_text(FILES["people.toml"].replace("format = 2", 'format = 2\nledger = "required"'))
    assert "requires a ledger" in run("query", "people.csv", COUNT, "-p", "strict.toml", status=2)
    assert "requires a ledger" in run("sanitize", "people.csv", "-p", "strict.toml", "-o", "o.csv", status=2)
    run("query", "people.csv", COUNT, "-p", "strict.toml", "-l", "spent.db")
    assert charges() == 1


def test_a_witness_of_a_synthetic_table(run, here):
    run("synthesize", "people.csv", "-p", "people.toml", "-l", "spent.db", "--witness", "heads.txt", "-o", "o.csv")
    assert len((here / "heads.txt").read_text().splitlines()) == 3, "its name, the charge, and the answer"
    run("ledger", "check", "-l", "spent.db", "--witness", "heads.txt")


def test_a_witness_of_what_commands_charge(run, here):
    charged = ["-p", "people.toml", "-l", "spent.db", "--witness", "heads.txt"]
    told = run("query", "people.csv", COUNT, *charged)
    assert "heads.txt is a new witness" in told
    kept = (here / "spent.db").read_bytes()
    told = run("sanitize", "people.csv", *charged, "-o", "out.parquet")
    assert "new witness" not in told
    assert len((here / "heads.txt").read_text().splitlines()) == 5, "its name, and two entries for each release"
    run("ledger", "check", "-l", "spent.db", "--witness", "heads.txt")
    for name in ("spent.db-wal", "spent.db-shm"):
        (here / name).unlink(missing_ok=True)
    (here / "spent.db").write_bytes(kept)  # the backup from before the table
    assert "lacks what its witness saw" in run("sanitize", "people.csv", *charged, "-o", "b.parquet", status=2)
    assert "lacks what its witness saw" in run("query", "people.csv", COUNT, *charged, status=2)
    assert "lacks what its witness saw" in run("synthesize", "people.csv", *charged, "-o", "b.parquet", status=2)
    assert not (here / "b.parquet").exists()
    assert "it goes with --ledger" in run(
        "query", "people.csv", COUNT, "-p", "people.toml", "--witness", "w.txt", status=2
    )
