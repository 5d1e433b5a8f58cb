"""The estimates that end the cookbook's cases, on tables released by its policies."""

import tomllib

import numpy as np
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.estimates import HeatMap, MeanCurve, TopElements, estimate
from metricdp.tables import sanitize
from tests.guides import GUIDES, blocks

ROWS = 2000
COOKBOOK = GUIDES / "cookbook.md"


def policy_of(column):
    texts = [text for _, _, text in blocks(COOKBOOK, "toml") if f"[columns.{column}]" in text]
    return tomllib.loads(texts[0])


def released(columns, column):
    policy = policy_of(column)
    policy["columns"] = {column: policy["columns"][column]}
    with mdp.seeded(5):
        return sanitize(pa.table(columns), policy).table


def asked():
    return " ".join(text for kind, _, text in blocks(COOKBOOK) if kind in ("sh", "python"))


@pytest.mark.long
def test_registration_dates():
    days = np.datetime64("2010-01-01") + np.random.default_rng(1).integers(0, 3650, ROWS)
    table = released({"registered": days}, "registered")
    question = "select count(*) where registered < date '2015-01-01'"
    assert question in asked()
    low, high = estimate(table, question, confidence=0.9999).only.interval
    assert low <= (days < np.datetime64("2015-01-01")).sum() <= high < ROWS
    assert high - low < ROWS / 4
    assert "select median(registered), avg(registered)" in asked()
    found = estimate(table, "select median(registered), avg(registered)")
    assert all(one.interval[0] <= one.value <= one.interval[1] for one in found)


def test_smart_meters():
    load = np.random.default_rng(2).gamma(2, 0.2, (ROWS, 48))
    table = released({"load": load.tolist()}, "load")
    assert 'MeanCurve("load")' in asked()
    found = list(estimate(table, MeanCurve("load"), confidence=0.99999))
    for one, truth in zip(found, load.mean(axis=0), strict=True):
        assert one.interval[0] <= truth <= one.interval[1]


def test_hobbies():
    names = policy_of("hobbies")["columns"]["hobbies"]["values"]
    present = np.random.default_rng(3).random((ROWS, len(names))) < np.linspace(0.5, 0.02, len(names))
    lists = [[name for name, there in zip(names, row, strict=True) if there] for row in present]
    table = released({"hobbies": pa.array(lists, pa.list_(pa.string()))}, "hobbies")
    assert 'TopElements("hobbies", 5)' in asked()
    found = estimate(table, TopElements("hobbies", 5), confidence=0.99999)
    assert found.groups[0] == (names[0],)
    for (label,), (one,) in zip(found.groups, found.found, strict=True):
        assert one.value == pytest.approx(present[:, names.index(label)].sum(), abs=200)
        assert one.interval[0] <= present[:, names.index(label)].sum() <= one.interval[1]


def test_locations():
    random = np.random.default_rng(4)
    north, east = 48.85 + random.normal(size=ROWS) * 0.01, 2.35 + random.normal(size=ROWS) * 0.02
    table = released({"lat": north, "lon": east}, "place")
    assert 'HeatMap("place", 2, 2, bounds=(48.80, 2.25, 48.90, 2.45))' in asked()
    found = estimate(table, HeatMap("place", 2, 2, bounds=(48.80, 2.25, 48.90, 2.45)), confidence=0.9999)
    truth = ((north >= 48.85) & (east < 2.35)).sum()
    assert found.found[0][0].interval[0] <= truth <= found.found[0][0].interval[1]
