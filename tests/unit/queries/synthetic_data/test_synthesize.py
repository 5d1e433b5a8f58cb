"""Synthetic tables: near the truth where little is hidden, in the table's own schema, charged, whole or not at all."""

import datetime as dt
import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ArgumentError, BudgetError, ColumnError, FileError, OutOfDomainError, PolicyError
from metricdp.exact.bits import seeded
from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap
from metricdp.policies.policy import Policy
from metricdp.queries import synthesize
from metricdp.queries.synthetic_data.synthesize import plan_marginals

ROWS = 600
TEXT = """
format = 2
{size}
[columns]
sex = {{type = "category", values = ["F", "M"], epsilon = {e}, missing = "refuse"}}
age = {{type = "integer", bounds = [0, 99], epsilon = {e}, missing = "refuse", count_by = 25}}
day = {{type = "date", bounds = [2024-01-01, 2024-04-30], epsilon = {e}, missing = "refuse", count_by = "month"}}
native = {{type = "boolean", epsilon = {e}, count_by.missing = "unknown", missing_distance = {e}}}
"""


def policy(e=100, size=f"records = {ROWS}"):
    return Policy.parse(TEXT.format(e=e, size=size))


def people():
    draw = np.random.default_rng(4)
    sex = draw.integers(0, 2, ROWS)
    age = np.clip(draw.normal(30 + 30 * sex, 12), 0, 99).astype(np.int16)
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=int(day)) for day in draw.integers(0, 121, ROWS)]
    native = [None if part < 0.1 else bool(part < 0.8) for part in draw.random(ROWS)]
    return pa.table({
        "id": pa.array(range(ROWS)), "day": pa.array(days), "age": pa.array(age),
        "sex": pa.array(np.array(["F", "M"])[sex]).dictionary_encode(), "native": pa.array(native),
    })  # fmt: skip


PEOPLE = people()


def pair_counts(table, one, other):
    frame = table.select([one, other]).to_pandas()
    if "age" in frame:
        frame["age"] //= 25
    if "day" in frame:
        frame["day"] = [day.month for day in frame["day"]]
    return frame.astype(str).value_counts()


def test_pairs_are_near_the_truth_where_little_is_hidden():
    made = synthesize(PEOPLE, policy())
    assert made.records == made.table.num_rows == ROWS
    for one, other in itertools.combinations(["sex", "age", "day", "native"], 2):
        off = pair_counts(made.table, one, other).sub(pair_counts(PEOPLE, one, other), fill_value=0)
        assert off.abs().max() <= 15, (one, other)
    assert made.private


def test_rows_have_the_schema_of_the_table():
    made = synthesize(PEOPLE, policy())
    assert made.table.column_names == ["day", "age", "sex", "native"]
    assert made.left_out == ("id",)
    assert made.table.schema.field("age").type == pa.int16()
    assert made.table.schema.field("day").type == pa.date32()
    assert made.table["native"].null_count
    frame = synthesize(PEOPLE.to_pandas(), policy(), 1, columns=["age", "sex"]).table
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["age", "sex"]


def test_a_secret_number_of_records_is_not_told():
    made = synthesize(PEOPLE, policy(size="capacity = 5000\nabsent = 1"))
    assert 0 < abs(made.records - ROWS) + 1 < 200
    assert "∅" in str(made.guarantee)
    few = {synthesize(PEOPLE, policy(size="capacity = 5000\nabsent = 0.01"), 1).records for _ in range(4)}
    assert len(few) > 1


def test_a_seed_is_told():
    with seeded(3):
        one = synthesize(PEOPLE, policy(1))
    with seeded(3):
        two = synthesize(PEOPLE, policy(1))
    assert one.table.equals(two.table)
    assert not one.private
    assert not one.to_json()["private"]
    assert "NOT PRIVATE" in one.text().upper()
    assert not synthesize(PEOPLE, policy(1)).table.equals(one.table)


def test_what_is_measured_follows_from_the_policy_alone():
    askable = policy(1).askable
    pairs = list(itertools.combinations(range(4), 2))
    assert plan_marginals(askable, askable.names, pairs)[0].sets == tuple(pairs)
    binary = Policy.parse(
        "format = 2\nrecords = 10\n[columns]\n"
        + "".join(f'c{n} = {{type = "boolean", epsilon = 1, missing = "refuse"}}\n' for n in range(4))
    ).askable
    triples = list(itertools.combinations(range(4), 3))
    assert plan_marginals(binary, binary.names, triples)[0].sets == ((0, 1, 2, 3),)  # all counts at once are better


def test_the_report_has_every_marginal_asked():
    made = synthesize(PEOPLE, policy(1), [["sex", "age"], "day"])
    assert [one.columns for one in made.marginals] == [("sex", "age"), ("day",)]
    assert [one.cells for one in made.marginals] == [8, 4]
    assert made.marginals[0].expected == pytest.approx(2**0.5 * made.marginals[0].scale)
    tree = made.to_json()
    assert [one["columns"] for one in tree["marginals"]] == [["sex", "age"], ["day"]]
    assert tree["guarantee"]["formula"].endswith("-private")
    assert "sex, age" in made.text()
    assert "<pre>" in made.html()
    assert "600 rows" in repr(made)


def test_files_appear_whole_or_not_at_all(tmp_path):
    source = tmp_path / "people.parquet"
    pq.write_table(PEOPLE, source)
    out = tmp_path / "made.parquet"
    made = synthesize(source, policy(), out=out)
    assert (made.path, made.table) == (out, None)
    found = pq.read_table(out)
    assert found.num_rows == ROWS
    assert b"-private" in found.schema.metadata[b"metricdp.synthetic"]
    with pytest.raises(FileError, match="exists"):
        synthesize(source, policy(), out=out)
    with pytest.raises(FileError):
        synthesize(source, policy(), out=source, overwrite=True)
    bad = policy(size="records = 7")
    with pytest.raises(OutOfDomainError, match="number of records"):
        synthesize(source, bad, out=tmp_path / "other.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["made.parquet", "people.parquet"]


def test_it_is_charged_before_it_is_handed_out(tmp_path):
    rules = policy(1)
    ledger = Ledger.create(tmp_path / "spent.db")
    ledger.open_account("city", policy_cap(rules, 1))
    with seeded(1), pytest.raises(ArgumentError, match="seed"):
        synthesize(PEOPLE, rules, ledger=ledger, account="city")
    synthesize(PEOPLE, rules, out=tmp_path / "made.csv", ledger=ledger, account="city")
    (entry,) = [one for one in ledger.history("city") if "synthetic table" in str(one)]
    assert "sex" in str(entry)
    with pytest.raises(BudgetError):
        synthesize(PEOPLE, rules, out=tmp_path / "again.csv", ledger=ledger, account="city")
    assert not (tmp_path / "again.csv").exists()


def test_mistakes_are_said_without_values():
    broken = PEOPLE.set_column(2, "age", pa.array([4321] + [5] * (ROWS - 1)))
    with pytest.raises(ColumnError) as error:
        synthesize(broken, policy())
    assert "4321" not in str(error.value)
    for marginals, words in ((0, "1, 2"), ("sex", "list"), ([["nobody"]], "names some of the columns"), ([], "list")):
        with pytest.raises(ArgumentError, match=words):
            synthesize(PEOPLE, policy(), marginals)
    with pytest.raises(ArgumentError, match="columns are some"):
        synthesize(PEOPLE, policy(), columns=["nobody"])
    with pytest.raises(PolicyError, match="how many records"):
        synthesize(PEOPLE, policy(size=""))


def test_more_combinations_than_could_be_counted_at_once():
    draw = np.random.default_rng(1)
    table = pa.table({f"c{n}": draw.integers(0, 20, 300) for n in range(6)})
    text = "".join(
        f'c{n} = {{type = "integer", bounds = [0, 19], epsilon = 50, missing = "refuse"}}\n' for n in range(6)
    )
    rules = Policy.parse(f"format = 2\nrecords = 300\n[columns]\n{text}")
    chain = [[f"c{n}", f"c{n + 1}"] for n in range(5)]
    made = synthesize(table, rules, chain)  # 64 million combinations
    before, after = (one.to_pandas().value_counts(["c2", "c3"]) for one in (table, made.table))
    assert after.sub(before, fill_value=0).abs().max() <= 4
