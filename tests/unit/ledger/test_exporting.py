"""Exports: one row for each entry, with the fields that registries ask for."""

import csv
import json

import pytest

from metricdp.errors import ArgumentError, FileError
from metricdp.ledger import What
from metricdp.ledger.exporting import FIELDS
from metricdp.metrics import Guarantee, great_circle

CAP = Guarantee(great_circle().within(100), "1e-6")


@pytest.fixture
def filled(ledger):
    ledger.open_account("city", CAP, dataset="rides", receiver="the city", privacy_unit="a ride")
    ledger.open_account("press", CAP)
    what = What("rides, of Monday", mechanism="laplace", purpose="planning", who="ann", versions={"policy": "3"})
    ledger.answer(ledger.charge("city", Guarantee(great_circle().within(200)), what, key="k1"), {"secret": "answer"})
    return ledger


def test_csv(filled, tmp_path):
    filled.export(tmp_path / "e.csv")
    with (tmp_path / "e.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == FIELDS
    assert [row["kind"] for row in rows] == ["created", "opened", "opened", "charged", "answered"]
    charged = rows[3]
    assert charged["unit_of_privacy"] == "a ride"
    assert (charged["dataset"], charged["receiver"], charged["account"]) == ("rides", "the city", "city")
    assert charged["guarantee"] == "ln 2/200·great-circle(m)-private"
    assert (charged["metric"], charged["level"], charged["delta"]) == ("ln 2/200·great-circle(m)", "1/200 ln 2", "0")
    assert (charged["mechanism"], charged["purpose"], charged["who"]) == ("laplace", "planning", "ann")
    assert (charged["description"], charged["request_key"]) == ("rides, of Monday", "k1")
    assert charged["when"].endswith("+00:00")
    assert "metricdp" in charged["versions"]
    assert "policy 3" in charged["versions"]
    assert rows[4]["answers_entry"] == charged["sequence"]
    assert len(rows[4]["answer_digest"]) == 64
    assert "answer" not in rows[4].values()
    assert '"secret"' not in (tmp_path / "e.csv").read_text(), "answers stay in the ledger"


def test_json_of_one_account(filled, tmp_path):
    filled.export(tmp_path / "e.json", "press")
    (row,) = json.loads((tmp_path / "e.json").read_text())
    assert row["kind"] == "opened"
    assert set(row) == set(FIELDS)


def test_what_is_refused(filled, tmp_path):
    (tmp_path / "e.csv").write_text("mine")
    with pytest.raises(FileError, match="exists already"):
        filled.export(tmp_path / "e.csv")
    assert (tmp_path / "e.csv").read_text() == "mine"
    filled.export(tmp_path / "e.csv", overwrite=True)
    with pytest.raises(ArgumentError, match="neither"):
        filled.export(tmp_path / "e.txt")
    with pytest.raises(ArgumentError, match="no account"):
        filled.export(tmp_path / "f.csv", "nobody")
    assert not (tmp_path / "f.csv").exists()
