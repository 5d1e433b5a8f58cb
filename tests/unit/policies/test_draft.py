"""Drafts: from names and types alone, with a question for every decision, and refused until all are answered."""

import tomllib

import pyarrow as pa
import pytest

from metricdp.errors import ArgumentError, PolicyError
from metricdp.policies import Policy
from metricdp.policies.draft import Draft, answered
from metricdp.policies.types import TYPES
from metricdp.tables.sanitizer import Sanitizer

SCHEMA = pa.schema(
    [
        ("age", pa.int16()),
        ("pay", pa.float64()),
        ("bill", pa.decimal128(9, 2)),
        ("ill", pa.bool_()),
        ("born", pa.date32()),
        ("seen", pa.timestamp("us", "UTC")),
        ("stay", pa.duration("s")),
        ("came", pa.time64("us")),
        ("town", pa.string()),
        ("ward", pa.dictionary(pa.int8(), pa.string())),
        ("load", pa.list_(pa.float32())),
        ("tags", pa.list_(pa.string())),
        ("raw", pa.binary()),
        ("home", pa.struct([("lat", pa.float64()), ("lon", pa.float64()), ("in", pa.struct([("floor", pa.int8())]))])),
    ]
)
ODD = ["", " ", "a.b", 'say "hi"', "back\\slash", "größe", "new\nline", "tab\t", "#", "[columns]", "'", "日本", "\x7f"]


def problems(text):
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text)
    return caught.value.problems


def test_types_that_say_what_they_are_are_suggested():
    suggested = {column.name: column.suggested for column in Draft.of(SCHEMA, "t").columns}
    assert suggested == {
        "age": "integer",
        "pay": "number",
        "bill": "number",
        "ill": "boolean",
        "born": "date",
        "seen": "time",
        "stay": "duration",
        "came": "time_of_day",
        "town": None,
        "ward": None,
        "load": "series",
        "tags": "set",
        "raw": None,
        "home.lat": "number",
        "home.lon": "number",
        "home.in.floor": "integer",
    }
    assert {name for name in suggested.values() if name} <= set(TYPES.names)


def test_every_question_is_open_and_has_its_line():
    text = Policy.draft(SCHEMA, source="people.parquet")
    assert text.startswith("# A policy for people.parquet, to be filled in.")
    lines = text.splitlines()
    marks = [number for number, line in enumerate(lines, start=1) if ' = "?"' in line]
    found = problems(text)
    assert [int(problem.split()[1].rstrip(",")) for problem in found] == marks
    assert all("still an open question" in problem for problem in found)
    asked = [line for line in lines if ' = "?"' in line and "#" not in line]
    assert asked == ['records = "?"', 'column = "?"', 'rows = "?"'], "all others carry their question"


def test_a_source_without_types_has_every_type_as_a_question():
    text = Policy.draft(dict.fromkeys(["age", "town"]))
    assert text.count('type = "?"') == 2
    assert tomllib.loads(text)["columns"] == {"age": {"type": "?"}, "town": {"type": "?"}}


@pytest.mark.parametrize("name", ODD)
def test_odd_names_are_right_toml(name):
    for kind in (None, pa.float64()):
        text = Policy.draft({name: kind, "b": None})
        assert list(tomllib.loads(text)["columns"]) == [name, "b"]
        assert any("still an open question" in problem for problem in problems(text))
    draft = Draft.of({name: pa.float64()}, "odd\nname")
    answers = {name: {"type": "number", "within": "5 points", "missing": "refuse"}}
    policy = Policy.parse(draft.text(answers, {"records": 3, "column": None}))
    assert policy.columns[0].columns == (name,)
    assert policy.columns[0].line == next(
        number for number, line in enumerate(policy.text.splitlines(), start=1) if line.startswith("[columns")
    )
    Sanitizer.of(policy, pa.schema([(name, pa.float64())]))


def test_answers_make_a_policy_that_fits():
    draft = Draft.of(SCHEMA, "t")
    answers = {column.name: {"type": "drop"} for column in draft.columns}
    answers["age"] = {"type": "integer", "within": "5 years", "bounds": [0, 120], "missing": "secret"}
    answers["home.lat"] = {"type": "place", "columns": ["home.lat", "home.lon"], "within": "200 m"}
    del answers["home.lon"], answers["born"]
    policy = Policy.parse(draft.text(answers, {"records": None, "column": "born", "rows": 3}))
    assert policy.records is None
    assert (policy.person.column, policy.person.rows) == ("born", 3)
    assert policy.columns[0].level_words == "odds within a factor 2 at 5 years"
    with pytest.raises(PolicyError, match="text or integers are wanted"):
        Sanitizer.of(policy, SCHEMA)  # a date tells nobody apart


def test_latitudes_and_longitudes_are_one_place():
    text = Policy.draft(pa.schema([("Lat", pa.float64()), ("lng", pa.float64()), ("pay", pa.float64())]))
    assert text.count("are one place") == 2
    assert "one place" not in Policy.draft({"lat": pa.float64(), "pay": pa.float64()})


@pytest.mark.parametrize("schema", [3, {}, {"a": "int64"}, pa.schema([("a", pa.int8()), ("a", pa.int8())])])
def test_what_is_no_schema(schema):
    with pytest.raises(ArgumentError):
        Policy.draft(schema)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("5 years", "5 years"),
        ("[0, 1]", [0, 1]),
        ("3", 3),
        ('"3"', "3"),
        ("", ""),
        ("true", True),
        ("a = 3\nb", "a = 3\nb"),
    ],
)
def test_answers_as_they_are_typed(written, meant):
    assert answered(written) == meant


@pytest.mark.parametrize("name", ["a\u202eb", "\x7f", "\xa0", "\U000e0001", "𝒳", "a\tb", 'q"', "\\"])
def test_a_name_is_written_with_nothing_that_cannot_be_seen(name):
    text = Policy.draft({name: pa.int8()})
    assert list(tomllib.loads(text)["columns"]) == [name]
    assert all(sign.isprintable() or sign == "\n" for sign in text)


def test_a_name_that_is_no_text():
    with pytest.raises(ArgumentError, match="name of a column is text"):
        Policy.draft({3: pa.int8()})
