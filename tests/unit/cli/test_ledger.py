"""``metricdp ledger``: every verb, what it prints and with which status it ends."""

import json

import pytest

from metricdp.cli import app
from metricdp.ledger import Ledger
from metricdp.metrics import Guarantee, attributes, great_circle

CITY = ["account", "city", "--metric", "ln 2/200 great_circle", "--dataset", "rides", "--receiver", "the city"]


@pytest.fixture
def run(here, capsys, monkeypatch):
    monkeypatch.setenv("METRICDP_LEDGER", "spent.db")

    def command(*arguments, status=0):
        with pytest.raises(SystemExit) as ended:
            app(["ledger", *map(str, arguments)])
        printed = capsys.readouterr()
        assert ended.value.code == status, printed
        return printed.out if status == 0 else printed.out + printed.err

    return command


def test_from_the_first_to_the_last(run, here):
    assert "spent.db is ready" in run("create", "spent.db")
    assert "ln 2/200·great-circle(m)-private" in run(*CITY, "--unit", "a ride")
    with Ledger("spent.db") as ledger:
        receipt = ledger.charge("city", Guarantee(great_circle().within(400)), "rides of Monday")
    balance = run("balance", "city")
    assert "city, rides, for the city: 1 charge;" in balance
    assert "██████████░░░░░░░░░░  50% spent  200 m apart: a factor 1.41 left" in balance
    assert "charged  city  ln 2/400·great-circle(m)-private  rides of Monday" in run("history", "--account", "city")
    assert "3 entries are chained" in run("check")
    (here / "receipts.json").write_text(json.dumps([receipt.to_json()]))
    assert "1 receipt agrees" in run("check", "--receipts", "receipts.json")
    assert "Written to e.csv" in run("export", "--out", "e.csv")
    assert "exists already" in run("export", "--out", "e.csv", status=2)
    run("export", "--out", "e.csv", "--overwrite")
    assert run("export", "--out", "-").startswith("sequence,kind,when")


def test_as_json(run):
    made = json.loads(run("create", "spent.db", "--json"))
    assert len(made["result"]["ledger"]) == 32
    opened = json.loads(run(*CITY, "--json"))
    assert opened["guarantee"]["formula"] == "ln 2/200·great-circle(m)-private"
    assert json.loads(run("balance", "--json"))["result"][0]["charges"] == 0
    assert [entry["kind"] for entry in json.loads(run("history", "--json"))["result"]] == ["created", "opened"]
    assert json.loads(run("check", "--json"))["result"]["holds"] is True


def test_columns_deltas_and_parents(run):
    run("create", "spent.db")
    run("account", "all", "--attribute", "age=ln 2/5 absolute", "--attribute", "sex = 0.5 discrete", "--delta", "1e-6")
    run(
        "account",
        "press",
        "--parent",
        "all",
        "--attribute",
        "sex=0.5 discrete",
        "--delta",
        "1e-6",
        "--advanced",
        "1e-7",
    )
    text = run("balance")
    assert "age, 5 apart: a factor 2 left" in text
    assert "charged to all as well" in text
    assert "delta: 9e-07 left" in text
    with Ledger("spent.db") as ledger:
        ledger.charge("press", Guarantee(attributes({"sex": 0.5})), "x")
    assert "sex: used up" in run("balance", "press")


def test_an_empty_ledger(run):
    run("create", "spent.db")
    assert run("balance") == "There are no accounts.\n"
    assert run("history", "--after", "5") == "There are no entries.\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["balance", "nobody"], "no account 'nobody'"),
        (["account", "b"], "--metric for the whole secret, or --attribute"),
        (["account", "b", "--metric", "discrete", "--attribute", "a=discrete"], "--metric for the whole secret"),
        (["account", "b", "--attribute", "a"], "write NAME=METRIC"),
        (["account", "b", "--attribute", "a=1 discrete", "--attribute", "a=1 discrete"], "each name once"),
        (["account", "b", "--metric", "nonsense"], "is no metric"),
        (["account", "city", "--metric", "discrete"], "already"),
        (["account", "b", "--metric", "discrete", "--parent", "city"], "another metric"),
        (["create", "spent.db"], "exists already"),
        (["check", "-l", "nowhere.db"], "there is no ledger nowhere.db"),
        (["check", "-l", "mysql://x/y"], "not in mysql"),
        (["export", "--out", "e.txt"], "must end in one of"),
    ],
)
def test_mistakes(run, arguments, message):
    run("create", "spent.db")
    run(*CITY)
    assert message in run(*arguments, status=2)


def test_a_ledger_that_was_changed(run, here):
    import sqlite3

    run("create", "spent.db")
    run(*CITY)
    connection = sqlite3.connect("spent.db")
    with connection:
        connection.execute("update ledger_entries set at = 'never' where sequence = 2")
    connection.close()
    assert "DOES NOT HOLD: entry 2" in run("check", status=1)
    (here / "receipts.json").write_text("no json")
    assert "it is not JSON that can be read" in run("check", "--receipts", "receipts.json", status=2)
    (here / "receipts.json").write_text("{}")
    assert "no receipt" in run("check", "--receipts", "receipts.json", status=2)


def test_a_witness(run, here):
    run("create", "spent.db", "--witness", "heads.txt")
    assert (here / "heads.txt").read_text().count("\n") == 2
    assert "1 receipt agrees" in run("check", "--witness", "heads.txt")
