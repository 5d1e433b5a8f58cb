"""Policies: every type of entry, and every mistake at once with its line."""

import datetime as dt
import math
import pickle
from fractions import Fraction

import pytest

from metricdp import metrics as m
from metricdp.errors import ArgumentError, FileError, PolicyError
from metricdp.exact.level import ln
from metricdp.mechanisms.continuous import LineLaplace, VectorLaplace
from metricdp.mechanisms.continuous.nulls import NullableLaplace
from metricdp.mechanisms.continuous.sphere import SphereLaplace
from metricdp.mechanisms.exponential import Exponential
from metricdp.mechanisms.geometric import Geometric
from metricdp.mechanisms.response import RandomizedResponse
from metricdp.mechanisms.set_response import SetResponse
from metricdp.policies import Person, Policy
from metricdp.policies.types import TYPES


def policy(*entries, rest=""):
    return Policy.parse("format = 2\n" + "\n".join(f"[columns.{entry}" for entry in entries) + "\n" + rest)


def one(entry, rest=""):
    (treatment,) = policy(entry, rest=rest).columns
    return treatment


def problems(text):
    with pytest.raises(PolicyError) as caught:
        Policy.parse(text)
    return caught.value.problems


def test_every_type():
    made = policy(
        'place]\ntype="place"\ncolumns=["lat", "lon"]\nwithin="200 m"',
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
        'born]\ntype="date"\nwithin="5 days"',
        'stay]\ntype="duration"\nwithin="10 min"',
        'came]\ntype="time_of_day"\nwithin="10 min"\nmissing="refuse"',
        'doctor]\ntype="rekey"',
    )
    assert [item.type_name for item in made.columns] == [
        *("place", "number", "integer", "time", "category", "category", "boolean"),
        *("set", "series", "keep", "drop", "date", "duration", "time_of_day", "rekey"),
    ]
    assert set(TYPES.names) == {item.type_name for item in made.columns}
    place, pay, visits, since, health, ill, smoker, hobbies, load, site, name, *others = (
        x.mechanism for x in made.columns
    )
    born, stay, came, doctor = others
    assert (born.guarantee.metric, born.resolution) == (ln(2) / 5 * m.dates(), 1)
    assert stay.guarantee.metric == ln(2) / 600 * m.absolute()
    assert came.bounds == (0, 86400)
    assert doctor is None
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
    assert made.columns[0].columns == ("lat", "lon")
    assert (made.person, made.order) == (None, "secret")


def test_a_word_alone_is_a_type():
    made = Policy.parse('format = 2\n[columns]\na = "keep"\nb = "drop"')
    assert [item.type_name for item in made.columns] == ["keep", "drop"]


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
        ("place", 'within="1 m"\ncolumns=["a", "b"]'),
        ("set", 'epsilon=1\nvalues=["a"]'),
        ("series", "within=1\nlength=2"),
    ],
)
def test_missing_is_refused_elsewhere(kind, rest):
    assert one(f'x]\ntype="{kind}"\n{rest}').missing == "refuse"
    assert one(f'x]\ntype="{kind}"\n{rest}\nmissing="public"').missing == "public"
    (problem,) = problems(f'format=2\n[columns.x]\ntype="{kind}"\n{rest}\nmissing="secret"')
    line = 5 + rest.count("\n")
    assert problem.startswith(f"line {line}, column 'x': a missing value can be secret only where")


def test_secret_nulls_pay_for_themselves():
    mechanism = one('x]\ntype="number"\nepsilon=0.1\nbounds=[0, 30]').mechanism
    assert isinstance(mechanism, NullableLaplace)
    assert mechanism.guarantee.metric(None, 7.0) == pytest.approx(3.0)
    assert mechanism.guarantee.metric(2.0, 7.0) == pytest.approx(0.5)


def test_every_mistake_at_once_with_its_line():
    found = problems(
        """format = 3
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
type = "place"
within = "200 m"
[columns.e]
type = "number"
bounds = [10, 0]
within = 1
[person]
column = "who"
rows = 0
[rows]
order = "random"
"""
    )
    assert [problem.split(",")[0] for problem in found] == [
        *("line 1", "line 2", "line 4", "line 8", "line 11", "line 14", "line 19", "line 23", "line 25")
    ]
    wanted = [
        "format = 2",
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
    (problem,) = problems('format=2\n[columns]\na="keep"\n[columns.b]\ntype="number"\nwithin=1\ncolumns=["a"]')
    assert problem == "line 4, column 'a' stands in two entries, 'a' and 'b'"
    (problem,) = problems('format=2\n[columns]\na="keep"\na="drop"\nb="drop"')
    assert "not TOML" in problem
    assert "line 4" in problem
    (problem,) = problems('format=2\n[columns.p]\ntype="place"\ncolumns=["a", "a"]\nwithin=1')
    assert "two entries" in problem


def test_the_person_needs_no_entry():
    rest = '[person]\ncolumn="who"\nrows=3\nexcess="cut"\nrelease="rekey"\n[rows]\norder="public"'
    made = policy('pay]\ntype="number"\nepsilon=0.5', rest=rest)
    assert made.person == Person("who", 3, "cut", "rekey", "refuse", 5)
    assert made.order == "public"
    (problem,) = problems('format=2\n[columns]\nwho="drop"\n[person]\ncolumn="who"\nrows=1')
    assert problem == "line 4, column 'who' is the person's; it needs no entry under columns"


def test_a_person_sums_over_her_rows():
    rest = '[person]\ncolumn="who"\nrows=3'
    made = policy('pay]\ntype="number"\nepsilon=0.5', 'sick]\ntype="boolean"\nepsilon=1\nmissing="refuse"', rest=rest)
    near, far = {"pay": 1.0, "sick": True}, {"pay": 3.0, "sick": False}
    assert made.guarantee.metric(near, far) == pytest.approx(2.0)
    assert made.person_guarantee.metric(near, far) == pytest.approx(6.0)


def test_nothing_released_privately_promises_nothing():
    with pytest.raises(PolicyError, match="no column is released privately"):
        _ = Policy.parse('format=2\n[columns]\na="keep"').guarantee


@pytest.mark.parametrize("version", ["0", "3", "true", "2.0", '"2"', "[2]"])
def test_unknown_format(version):
    (problem,) = problems(f'format = {version}\n[columns]\na="keep"')
    assert problem.startswith("line 1, format = 2 is wanted")


@pytest.mark.parametrize(
    "text", ["", "format = 2", "format = 2\n[columns]", "format=2\ncolumns=3", "format=2\ncolumns=[]"]
)
def test_no_columns(text):
    assert any("no columns" in problem for problem in problems(text))


def test_not_toml():
    (problem,) = problems("format = = 1")
    assert problem.startswith("not TOML")


def test_load(tmp_path):
    path = tmp_path / "p.toml"
    path.write_text('format = 2\n[columns]\n"größe" = "keep"', encoding="utf-8")
    assert Policy.load(path).columns[0].name == "größe"


GARBAGE = """true|-1|0|1.5|nan|inf|"x"|""|[]|[1]|["a", "b"]|[1, 2]|[2, 1]|{}|{a="b"}|{a="a"}|{a=1}|2024-01-01|"1/0"
"ln 0"|"ln x"|"5 parsecs"|"1/0 m"|"ln 1"|[["a"]]|["a", "a"]|[1.5, 2]|[true, false]|[2024-01-01, 2024-02-01]|1e400
"1e999999999"|1e999999999|[nan, 1]|[1, inf]|"public"|"secret"|12:00:00|10000000000000000000000|{type="keep"}"""
WHOLE = {
    "place": {"within": '"200 m"', "columns": '["a", "b"]'},
    "number": {"within": "5"},
    "integer": {"within": "2"},
    "time": {"within": '"5 days"'},
    "category": {"values": '["a", "b"]', "epsilon": "1"},
    "boolean": {"epsilon": "1"},
    "set": {"values": '["a"]', "epsilon": "1"},
    "series": {"length": "3", "within": "1"},
    "keep": {},
    "drop": {},
    "rekey": {},
    "date": {"within": '"5 days"'},
    "duration": {"within": '"5 min"'},
    "time_of_day": {"within": '"5 min"'},
}


@pytest.mark.parametrize("kind", TYPES.names)
def test_garbage_is_a_named_mistake(kind):
    """Whatever stands behind a key: a policy, or a PolicyError with a line; never another error, never no answer."""
    found = []
    for key in ("type", "columns", "release", *TYPES[kind].keys):
        for value in GARBAGE.replace("\n", "|").split("|"):
            entry = {"type": f'"{kind}"', **WHOLE[kind]}
            entry.pop(
                {"epsilon": "within", "factor": "epsilon", "parents": "values", "at": "values"}.get(key, ""), None
            )
            if key == "metric":
                entry = {name: value for name, value in entry.items() if name not in ("within", "epsilon")}
            entry[key] = value
            text = "format = 2\n[columns.c]\n" + "\n".join(f"{name} = {written}" for name, written in entry.items())
            try:
                Policy.parse(text)
            except PolicyError as error:
                found += error.problems
    assert len(found) > 10
    assert all(problem.startswith("line ") for problem in found)


def test_factor_is_what_it_says():
    guarantee = one('x]\ntype="number"\nwithin=200\nfactor=2').mechanism.guarantee
    assert guarantee.metric(0.0, 200.0) == pytest.approx(math.log(2))


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ('type="boolean"\nepsilon=1\nper=10', "per"),
        ('type="boolean"\nfactor=3\nwithin=10', "within"),
        ('type="boolean"\nepsilon=1\nfactor=3', "factor"),
        ('type="set"\nvalues=["a"]\nepsilon=1\nper="10 items"', "per"),
        ('type="set"\nvalues=["a"]\nepsilon=1\nwithin=3', "within"),
        ('type="set"\nvalues=["a"]\nepsilon=1\nresolution=3', "resolution"),
        ('type="category"\nvalues=["a", "b"]\nepsilon=1\nper=10', "per"),
        ('type="category"\nvalues=["a", "b"]\nfactor=3\nwithin=10', "within"),
        ('type="category"\nvalues=["a", "b"]\nepsilon=1\nbounds=[0, 1]', "bounds"),
        ('type="category"\nparents={a="r", b="r"}\nwithin=2\nper=3', "per"),
        ('type="number"\nwithin=5\nper=2', "per"),
        ('type="number"\nepsilon=5\nfactor=2', "factor"),
        ('type="number"\nwithin=5\nstep=2', "step"),
        ('type="number"\nwithin=5\nvalues=["a"]', "values"),
        ('type="integer"\nwithin=5\nresolution=2', "resolution"),
        ('type="integer"\nwithin=5\nper=2', "per"),
        ('type="time"\nwithin="5 days"\nper="2 days"', "per"),
        ('type="time"\nwithin="5 days"\nstep=1', "step"),
        ('type="place"\nwithin="5 m"\ncolumns=["a", "b"]\nper="2 m"', "per"),
        ('type="place"\nwithin="5 m"\ncolumns=["a", "b"]\nbounds=[1, 2]', "bounds"),
        ('type="series"\nwithin=5\nlength=2\nper=2', "per"),
        ('type="series"\nwithin=5\nlength=2\nbounds=[1, 2]', "bounds"),
        ('type="keep"\nepsilon=1', "epsilon"),
        ('type="drop"\nmissing="refuse"', "missing"),
    ],
)
def test_a_key_that_says_nothing_is_a_mistake_with_its_line(entry, key):
    """Otherwise protection would be weaker than it is written: epsilon 1 per 10 is not epsilon 1."""
    (problem,) = problems(f"format = 2\n[columns.x]\n{entry}")
    line = 3 + [part.split("=")[0] for part in entry.split("\n")].index(key)
    assert problem.startswith(f"line {line}, column 'x': "), problem
    assert key in problem


def test_lines_of_dotted_keys():
    assert problems('format = 2\ncolumns.x.type = "boolean"\ncolumns.x.epsilon = 1\ncolumns.x.per = 2')[0].startswith(
        "line 4, column 'x': 'per'"
    )
    assert problems('format = 2\ncolumns.x = {type = "boolean", epsilon = 1, per = 2}')[0].startswith("line 2, ")


def test_what_is_taken_for_a_policy(tmp_path):
    tree = {
        "format": 2,
        "records": 9,
        "columns": {
            "a b": {"type": "integer", "within": "5 years", "bounds": [0, 120]},
            "c": "keep",
            "d": {"type": "date", "within": "5 days", "bounds": [dt.date(2024, 1, 1), dt.date(2024, 12, 31)]},
            "e": {"type": "category", "parents": {"x": "r", "y": "r"}, "epsilon": Fraction(1, 3)},
        },
        "person": {"column": "who", "rows": 2},
    }
    made = Policy.of(tree)
    assert Policy.of(made) is made
    (tmp_path / "p.toml").write_text(made.text, encoding="utf-8")
    assert Policy.of(tmp_path / "p.toml") == Policy.of(str(tmp_path / "p.toml")) == made
    assert [column.name for column in made.columns] == ["c", "a b", "d", "e"]
    assert made.columns[-1].metric.level.coefficient == Fraction(1, 3)
    for wrong in (3, None, ["a"], {"format": 2, "columns": {"a": object()}}):
        with pytest.raises(ArgumentError):
            Policy.of(wrong)
    with pytest.raises(FileError, match="there is no policy"):
        Policy.load(tmp_path / "nowhere.toml")


def test_format_1_is_refused_with_what_changed():
    (problem,) = problems('format = 1\nrecords = 3\n[universe]\nage = "boolean"\n[unit]\ncolumn = "who"')
    assert problem.startswith("line 1, format = 1 is no longer read")
    for changed in ("[columns.NAME]", "[person]", '"place"', '"date"', "count_by", "missing"):
        assert changed in problem


def test_it_shows_what_is_inside():
    made = Policy.of({"format": 2, "columns": {"age": {"type": "integer", "within": "5 years"}, "note": "drop"}})
    assert repr(made) == "Policy(note: drop; age: integer, odds within a factor 2 at 5 years)"
    many = Policy.of({"format": 2, "columns": {f"c{place}": "keep" for place in range(50)}})
    assert repr(many).endswith("and 30 more)")
    assert "<td>age</td>" in made._repr_html_()
    assert made.to_json()["columns"][1]["metric"] == "ln 2/5·|x − y|"
    assert pickle.loads(pickle.dumps(made)) == made
