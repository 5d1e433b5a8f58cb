"""Policies: every type of entry, and every mistake at once with its line."""

import math
from fractions import Fraction

import pyarrow as pa
import pytest

from metricdp import metrics as m
from metricdp.errors import LevelError, PolicyError
from metricdp.exact.level import Level, ln
from metricdp.mechanisms.continuous import LineLaplace, VectorLaplace
from metricdp.mechanisms.finite import Exponential
from metricdp.mechanisms.nulls import NullableLaplace
from metricdp.mechanisms.response import RandomizedResponse, SetResponse
from metricdp.mechanisms.sphere import SphereLaplace
from metricdp.mechanisms.stepped import Geometric
from metricdp.tables.entries import KINDS
from metricdp.tables.policy import Policy, Unit
from metricdp.tables.quantities import level_of, quantity


def policy(*entries, rest=""):
    return Policy.parse("format = 1\n" + "\n".join(f"[columns.{entry}" for entry in entries) + "\n" + rest)


def one(entry, rest=""):
    (treatment,) = policy(entry, rest=rest).treatments
    return treatment


def problems(text):
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text)
    return caught.value.problems


def test_every_type():
    made = policy(
        'place]\ntype="location"\ncolumns=["lat", "lon"]\nwithin="200 m"',
        'pay]\ntype="number"\nwithin="1000 dollars"\nfactor=3',
        'visits]\ntype="integer"\nepsilon=0.5',
        'since]\ntype="time"\nwithin="5 days"',
        'health]\ntype="category"\nvalues=["good", "poor"]\nepsilon=1',
        'ill]\ntype="category"\nparents={flu="lungs", burn="skin", lungs="ill", skin="ill"}\nepsilon=1',
        'smoker]\ntype="boolean"\nfactor=3',
        'hobbies]\ntype="set"\nvalues=["chess", "golf"]\nfactor=3',
        'load]\ntype="series"\nlength=24\nwithin="0.5 kWh"',
        'site]\ntype="keep"',
        'name]\ntype="drop"',
    )
    assert [item.kind for item in made.treatments] == [
        *("location", "number", "integer", "time", "category", "category", "category"),
        *("set", "series", "keep", "drop"),
    ]
    assert set(KINDS) == {item.kind for item in made.treatments} | {"boolean"}
    place, pay, visits, since, health, ill, smoker, hobbies, load, site, name = (x.mechanism for x in made.treatments)
    assert isinstance(place, SphereLaplace)
    assert place.guarantee.metric == ln(2) / 200 * m.great_circle()
    assert isinstance(pay, LineLaplace)
    assert pay.guarantee.metric == ln(3) / 1000 * m.absolute()
    assert isinstance(visits, Geometric)
    assert visits.guarantee.metric == Fraction(1, 2) * m.absolute()
    assert since.guarantee.metric == ln(2) / 5 * m.dates()
    assert isinstance(health, RandomizedResponse)
    assert health.values == ("good", "poor", None)
    assert isinstance(ill, Exponential)
    assert ill.space.points == ("flu", "burn", None)
    assert smoker.values == (True, False, None)
    assert smoker.guarantee.metric == ln(3) * m.discrete()
    assert isinstance(hobbies, SetResponse)
    assert isinstance(load, VectorLaplace)
    assert load.dim == 24
    assert site is None
    assert name is None
    assert made.treatments[0].columns == ("lat", "lon")
    assert (made.unit, made.order) == (None, "secret")


def test_a_word_alone_is_a_type():
    made = Policy.parse('format = 1\n[columns]\na = "keep"\nb = "drop"')
    assert [item.kind for item in made.treatments] == ["keep", "drop"]


def test_an_entry_may_have_another_name_than_its_column():
    assert one('pay]\ntype="number"\nwithin=1\ncolumns=["gross income"]').columns == ("gross income",)


@pytest.mark.parametrize(
    ("kind", "rest"),
    [
        ("number", "within=1\nbounds=[0, 10]"),
        ("integer", "within=1\nbounds=[0, 10]"),
        ("time", 'within="1 day"\nbounds=[2024-01-01, 2024-12-31]'),
        ("category", 'epsilon=1\nvalues=["a", "b"]'),
        ("category", 'epsilon=1\nparents={a="r", b="r"}'),
        ("boolean", "epsilon=1"),
    ],
)
def test_missing_is_secret_where_bounded_or_finite(kind, rest):
    assert one(f'x]\ntype="{kind}"\n{rest}').missing == "secret"
    for missing in ("public", "refuse"):
        assert one(f'x]\ntype="{kind}"\n{rest}\nmissing="{missing}"').missing == missing


@pytest.mark.parametrize(
    ("kind", "rest"),
    [
        ("number", "within=1"),
        ("integer", "within=1"),
        ("time", 'within="1 day"'),
        ("location", 'within="1 m"\ncolumns=["a", "b"]'),
        ("set", 'epsilon=1\nvalues=["a"]'),
        ("series", "within=1\nlength=2"),
    ],
)
def test_missing_is_refused_elsewhere(kind, rest):
    assert one(f'x]\ntype="{kind}"\n{rest}').missing == "refuse"
    assert one(f'x]\ntype="{kind}"\n{rest}\nmissing="public"').missing == "public"
    (problem,) = problems(f'format=1\n[columns.x]\ntype="{kind}"\n{rest}\nmissing="secret"')
    assert problem.startswith("line 2, column 'x': a missing value can be secret only where")


def test_secret_nulls_pay_for_themselves():
    mechanism = one('x]\ntype="number"\nepsilon=0.1\nbounds=[0, 30]').mechanism
    assert isinstance(mechanism, NullableLaplace)
    assert mechanism.guarantee.metric(None, 7.0) == pytest.approx(3.0)
    assert mechanism.guarantee.metric(2.0, 7.0) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("written", "unit", "amount"),
    [
        ("200 m", "m", 200),
        ("1.5 km", "m", 1500),
        ("2 miles", "m", Fraction("3218.688")),
        ("10 feet", "m", Fraction("3.048")),
        ("36 hours", "days", Fraction(3, 2)),
        ("90 s", "days", Fraction(1, 960)),
        ("2 weeks", "days", 14),
        ("1 ms", "days", Fraction(1, 86_400_000)),
        ("0.001 degrees", "degrees", Fraction(1, 1000)),
        ("1,000 dollars", "", 1000),
        ("0.1", "", Fraction(1, 10)),
        ("1/3", "", Fraction(1, 3)),
        (5, "m", 5),
    ],
)
def test_quantities_are_exact(written, unit, amount):
    assert quantity(written, unit) == amount


@pytest.mark.parametrize(
    ("written", "unit"), [("5 parsecs", "m"), ("5 m", "days"), ("m", "m"), ("", ""), (None, ""), (True, ""), ([1], "m")]
)
def test_wrong_quantities(written, unit):
    with pytest.raises(LevelError):
        quantity(written, unit)


def test_levels():
    assert level_of({"within": "200 m"}, "m") == ln(2) / 200
    assert level_of({"within": 5, "factor": "3/2"}, "") == ln(Fraction(3, 2)) / 5
    assert level_of({"epsilon": "0.1"}, "") == Level.of(Fraction(1, 10))
    assert level_of({"epsilon": "ln 3", "per": "2 days"}, "days") == ln(3) / 2
    for wrong in (
        {},
        {"within": 1, "epsilon": 1},
        {"epsilon": 1, "factor": 2},
        {"within": 0},
        {"epsilon": 1, "per": 0},
    ):
        with pytest.raises(LevelError):
            level_of(wrong, "")


def test_every_mistake_at_once_with_its_line():
    found = problems(
        """format = 2
surprise = 1
[columns]
a = "hide"
[columns.b]
type = "number"
within = "5 dollars"
colour = "red"
[columns.c]
type = "category"
values = ["x", 1]
epsilon = 1

[columns.d]
type = "location"
within = "200 m"
[columns.e]
type = "number"
bounds = [10, 0]
within = 1
[unit]
column = "who"
rows = 0
[rows]
order = "random"
"""
    )
    assert [problem.split(",")[0] for problem in found] == [
        *("line 1", "line 2", "line 4", "line 8", "line 9", "line 14", "line 17", "line 21", "line 25")
    ]
    wanted = [
        "format = 1",
        "'surprise'",
        "column 'a'",
        "'colour'",
        "column 'c'",
        "column 'd'",
        "column 'e'",
        "rows",
        "order",
    ]
    assert all(word in problem for word, problem in zip(wanted, found, strict=True))


def test_two_entries_for_a_column():
    (problem,) = problems('format=1\n[columns]\na="keep"\n[columns.b]\ntype="number"\nwithin=1\ncolumns=["a"]')
    assert problem == "line 4, column 'a' stands in two entries, 'a' and 'b'"
    (problem,) = problems('format=1\n[columns]\na="keep"\na="drop"\nb="drop"')
    assert "not TOML" in problem
    assert "line 4" in problem
    (problem,) = problems('format=1\n[columns.p]\ntype="location"\ncolumns=["a", "a"]\nwithin=1')
    assert "two entries" in problem


def test_the_unit_needs_no_entry():
    rest = '[unit]\ncolumn="who"\nrows=3\nexcess="cut"\nrelease="rekey"\n[rows]\norder="public"'
    made = policy('pay]\ntype="number"\nepsilon=0.5', rest=rest)
    assert made.unit == Unit("who", 3, "cut", "rekey")
    assert made.order == "public"
    (problem,) = problems('format=1\n[columns]\nwho="drop"\n[unit]\ncolumn="who"\nrows=1')
    assert problem == "line 4, column 'who' is the unit; it needs no entry under columns"


def test_a_person_sums_over_her_rows():
    rest = '[unit]\ncolumn="who"\nrows=3'
    made = policy('pay]\ntype="number"\nepsilon=0.5', 'sick]\ntype="boolean"\nepsilon=1\nmissing="refuse"', rest=rest)
    near, far = {"pay": 1.0, "sick": True}, {"pay": 3.0, "sick": False}
    assert made.guarantee.metric(near, far) == pytest.approx(2.0)
    assert made.person_guarantee.metric(near, far) == pytest.approx(6.0)


def test_nothing_released_privately_promises_nothing():
    with pytest.raises(PolicyError, match="no column is released privately"):
        _ = Policy.parse('format=1\n[columns]\na="keep"').guarantee


@pytest.mark.parametrize("version", ["0", "2", "true", "1.0", '"1"', "[1]"])
def test_unknown_format(version):
    (problem,) = problems(f'format = {version}\n[columns]\na="keep"')
    assert problem.startswith("line 1, format = 1 is wanted")


@pytest.mark.parametrize(
    "text", ["", "format = 1", "format = 1\n[columns]", "format=1\ncolumns=3", "format=1\ncolumns=[]"]
)
def test_no_columns(text):
    assert any("no columns" in problem for problem in problems(text))


def test_not_toml():
    (problem,) = problems("format = = 1")
    assert problem.startswith("not TOML")


def test_load(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text('format = 1\n[columns]\n"größe" = "keep"', encoding="utf-8")
    assert Policy.load(path).treatments[0].name == "größe"


GARBAGE = """true|-1|0|1.5|nan|inf|"x"|""|[]|[1]|["a", "b"]|[1, 2]|[2, 1]|{}|{a="b"}|{a="a"}|{a=1}|2024-01-01|"1/0"
"ln 0"|"ln x"|"5 parsecs"|"1/0 m"|"ln 1"|[["a"]]|["a", "a"]|[1.5, 2]|[true, false]|[2024-01-01, 2024-02-01]|1e400
"1e999999999"|1e999999999|[nan, 1]|[1, inf]|"public"|"secret"|12:00:00|10000000000000000000000|{type="keep"}"""
WHOLE = {
    "location": {"within": '"200 m"', "columns": '["a", "b"]'},
    "number": {"within": "5"},
    "integer": {"within": "2"},
    "time": {"within": '"5 days"'},
    "category": {"values": '["a", "b"]', "epsilon": "1"},
    "boolean": {"epsilon": "1"},
    "set": {"values": '["a"]', "epsilon": "1"},
    "series": {"length": "3", "within": "1"},
    "keep": {},
    "drop": {},
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_garbage_is_a_named_mistake(kind):
    """Whatever stands behind a key: a policy, or a PolicyError with a line; never another error, never no answer."""
    found = []
    for key in ("type", "columns", *KINDS[kind].keys):
        for value in GARBAGE.replace("\n", "|").split("|"):
            entry = {"type": f'"{kind}"', **WHOLE[kind]}
            entry.pop({"epsilon": "within", "factor": "epsilon", "parents": "values"}.get(key, ""), None)
            entry[key] = value
            text = "format = 1\n[columns.c]\n" + "\n".join(f"{name} = {written}" for name, written in entry.items())
            try:
                Policy.parse(text)
            except PolicyError as error:
                found += error.problems
    assert len(found) > 10
    assert all(problem.startswith("line ") for problem in found)


def schema(**types):
    return pa.schema(list(types.items()))


def bound(made, **types):
    with pytest.raises(PolicyError) as caught:
        made.bind(schema(**types))
    return caught.value.problems


def test_bind_reports_everything_at_once():
    made = policy('pay]\ntype="number"\nwithin=1', 'sick]\ntype="boolean"\nepsilon=1', 'gone]\ntype="keep"')
    found = bound(made, pay=pa.string(), sick=pa.bool_(), other=pa.int8(), more=pa.int8())
    assert len(found) == 4
    assert found[0].startswith("line 2, column 'pay': type 'number' wants a floating-point or decimal column")
    assert found[0].endswith("and the table has string")
    assert "line 8, column 'gone': the table has no such column" in found[1]
    assert "'other'" in found[2]
    assert 'write other = "drop" or "keep"' in found[2]
    assert "'more'" in found[3]


def test_bind_refuses_two_columns_of_one_name():
    made = policy('pay]\ntype="number"\nwithin=1')
    with pytest.raises(PolicyError, match="two columns called 'pay'"):
        made.bind(pa.schema([("pay", pa.float64()), ("pay", pa.float64())]))


def test_bind_drops_metadata_and_columns():
    made = policy('pay]\ntype="number"\nwithin=1', 'name]\ntype="drop"', rest='[unit]\ncolumn="who"\nrows=2')
    whole = pa.schema([("name", "string"), ("pay", "float32"), ("who", "string")], metadata={"pandas": "{}"})
    plan = made.bind(whole)
    assert plan.schema_out == pa.schema([("pay", pa.float32())])
    assert plan.schema_out.metadata is None
    assert plan.schema.metadata is None


def test_bind_checks_the_unit():
    entry = 'pay]\ntype="number"\nwithin=1'
    dropped = policy(entry, rest='[unit]\ncolumn="who"\nrows=2')
    assert bound(dropped, pay=pa.float64()) == ("unit: the table has no column 'who'",)
    assert bound(dropped, pay=pa.float64(), who=pa.list_(pa.int8())) == (
        "unit, column 'who': text or integers are wanted",
    )
    dropped.bind(schema(pay=pa.float64(), who=pa.int8()))
    rekeyed = policy(entry, rest='[unit]\ncolumn="who"\nrows=2\nrelease="rekey"')
    assert "integers of 64 bits" in bound(rekeyed, pay=pa.float64(), who=pa.int32())[0]
    assert rekeyed.bind(schema(pay=pa.float64(), who=pa.int64())).schema_out.names == ["pay", "who"]


@pytest.mark.parametrize(
    ("entry", "accepted", "refused"),
    [
        ('type="number"\nwithin=1', ["float", "double", "decimal"], ["int64", "string", "bool"]),
        ('type="integer"\nwithin=1', ["int8", "uint64", "int64"], ["double", "string"]),
        ('type="time"\nwithin="5 days"', ["date32", "date64", "s", "ns"], ["int64", "string", "time"]),
        ('type="time"\nwithin="1 hour"', ["s", "us", "ns"], ["date32", "date64"]),
        ('type="time"\nwithin="1 s"', ["ms", "us", "ns"], ["s", "date32"]),
        (
            'type="category"\nvalues=["a", "b"]\nepsilon=1',
            ["string", "large", "dictionary"],
            ["int8", "double", "bool"],
        ),
        ('type="category"\nvalues=[1, 300]\nepsilon=1', ["int64", "uint64"], ["int8", "string", "double"]),
        ('type="boolean"\nepsilon=1', ["bool"], ["int8", "string"]),
        ('type="set"\nvalues=["a"]\nepsilon=1', ["strings"], ["string", "doubles"]),
        ('type="series"\nlength=2\nwithin=1', ["doubles", "pairs"], ["double", "strings", "triples"]),
    ],
)
def test_types_are_checked_before_any_row(entry, accepted, refused):
    types = {
        **{name: pa.type_for_alias(name) for name in ("float", "double", "int8", "int64", "uint64", "string", "bool")},
        **{unit: pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")},
        "decimal": pa.decimal128(10, 2),
        "date32": pa.date32(),
        "date64": pa.date64(),
        "time": pa.time32("s"),
        "large": pa.large_string(),
        "dictionary": pa.dictionary(pa.int8(), pa.string()),
        "strings": pa.list_(pa.string()),
        "doubles": pa.large_list(pa.float64()),
        "pairs": pa.list_(pa.float32(), 2),
        "triples": pa.list_(pa.float32(), 3),
    }
    made = policy(f"x]\n{entry}")
    for name in accepted:
        made.bind(schema(x=types[name]))
    for name in refused:
        (problem,) = bound(made, x=types[name])
        assert problem.startswith("line 2, column 'x': type ")


def test_a_dictionary_too_narrow_for_the_list_is_refused():
    many = ", ".join(f'"v{number}"' for number in range(200))
    made = policy(f'x]\ntype="category"\nvalues=[{many}]\nepsilon=1')
    assert len(bound(made, x=pa.dictionary(pa.int8(), pa.string()))) == 1
    made.bind(schema(x=pa.dictionary(pa.int16(), pa.string())))


def test_factor_is_what_it_says():
    guarantee = one('x]\ntype="number"\nwithin=200\nfactor=2').mechanism.guarantee
    assert guarantee.metric(0.0, 200.0) == pytest.approx(math.log(2))
