"""People with several rows: the bound is kept before anything is answered, and the factors are a person's."""

import datetime as dt

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from metricdp.errors import ColumnError
from metricdp.policies import Policy
from metricdp.queries import ask

TEXT = """
format = 2
{size}
[person]
column = "who"
rows = 3
{rest}
[columns]
ill = {{type = "boolean", factor = 2, missing = "refuse"}}
"""
PEOPLE = pa.table({"who": ["Zebulon"] * 3 + ["bob"], "ill": [True, False, True, True]})


def policy(size="records = 4", rest=""):
    return Policy.parse(TEXT.format(size=size, rest=rest))


@pytest.mark.parametrize("container", ["table", "csv"])
def test_factors_are_those_of_all_rows_of_a_person(container, tmp_path):
    source = PEOPLE
    if container == "csv":
        source = tmp_path / "t.csv"
        source.write_text("who,ill\n" + "Zebulon,true\n" * 3 + "bob,false\n")
    answers = ask(source, policy(), "select count(*) from t where ill = true")
    assert dict(answers.meanings()) == {"ill": 8.0}
    assert str(answers.guarantee) == "ℓ₁(ln 2·[x ≠ y] (ill))-private"
    assert str(answers.person_guarantee) == "3·ℓ₁(ln 2·[x ≠ y] (ill))-private"
    assert answers.to_json()["rows_per_person"] == 3
    secret = ask(source, policy("capacity = 9\nabsent = 'ln 2'"), "select count(*) from t")
    assert dict(secret.meanings()) == {"being in the table at all": 8.0}


@pytest.mark.parametrize("rest", ["", 'excess = "cut"'])
def test_nobody_has_more_rows(rest):
    crowded = pa.concat_tables([PEOPLE, PEOPLE.slice(0, 1)])
    with pytest.raises(ColumnError, match="column 'who': somebody has more than 3 rows") as caught:
        ask(crowded, policy("records = 5", rest), "select count(*) from t where ill = true")
    assert "Zebulon" not in str(caught.value)


@pytest.mark.parametrize("rest", ["", 'missing = "drop"'])
def test_no_row_is_nobodys(rest):
    nobody = pa.table({"who": ["bob", None], "ill": [True, False]})
    with pytest.raises(ColumnError, match="column 'who': a row belongs to no person"):
        ask(nobody, policy("records = 2", rest), "select count(*) from t where ill = true")


def test_a_table_without_the_column():
    with pytest.raises(ColumnError, match="column 'who'"):
        ask(pa.table({"ill": [True]}), policy("records = 1"), "select count(*) from t")


@pytest.mark.parametrize(
    "who",
    [
        pa.array(["a", "b", "b", "b", "b"]).dictionary_encode(),
        pa.array(["a", "b", "b", "b", "b"], pa.string_view()),
        pa.array([1, 2, 2, 2, 2], pa.uint8()),
        pa.array([dt.date(2020, 1, 1)] + [dt.date(2020, 1, 2)] * 4),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 1, 2]), pa.array(["a", "b", "b"])),
    ],
    ids=lambda array: str(array.type),
)
@pytest.mark.parametrize("form", ["table", "relation", "parquet"])
def test_identifiers_of_every_type_are_counted(who, form, tmp_path):
    table = pa.table({"who": who, "ill": [True] * 5})
    if form != "table" and not pa.types.is_string_view(who.type):
        pq.write_table(table, tmp_path / "t.parquet")
    elif form == "parquet":
        return
    source = {"table": table, "relation": duckdb.from_arrow(table), "parquet": tmp_path / "t.parquet"}[form]
    with pytest.raises(ColumnError, match="column 'who': somebody has more than 3 rows"):
        ask(source, policy("records = 5"), "select count(*) from t where ill = true")
    few = {"table": table.slice(0, 4), "relation": duckdb.from_arrow(table.slice(0, 4))}.get(form)
    if few is not None:
        ask(few, policy("records = 4"), "select count(*) from t where ill = true")


@pytest.mark.parametrize("who", [pa.array([0.0, -0.0]), pa.array([b"a", b"b"]), pa.array([["a"], ["b"]])], ids=str)
def test_other_identifiers_are_refused_without_being_named(who):
    table = pa.table({"who": who, "ill": [True, False]})
    with pytest.raises(ColumnError, match="column 'who': identifiers are text or integers, and these are"):
        ask(table, policy("records = 2"), "select count(*) from t where ill = true")
