"""Parsed statements: one way to say no, and nothing that is passed over."""

import pytest
import sqlglot

from metricdp.errors import ArgumentError
from metricdp.policies import Policy
from metricdp.policies.sql.parsing import _say_no_by_not, parsed
from metricdp.policies.sql.statements import read_select


@pytest.mark.parametrize("written", ["x not like 'a%'", "not x like 'a%'", "x not ilike 'a%'", "x is not true"])
def test_one_way_to_say_no(written):
    (statement,) = parsed(f"select count(*) from t where {written}")
    assert isinstance(statement.args["where"].this, sqlglot.exp.Not)
    assert all(not node.args.get("negate") for node in statement.walk())


def test_whatever_the_parser_calls_a_no():
    condition = sqlglot.parse_one("a and x is null")
    condition.find(sqlglot.exp.Is).set("negate", True)
    for node in list(condition.walk()):
        _say_no_by_not(node)
    assert condition.sql() == "a AND NOT x IS NULL"


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("select count(*) from t as x(sex, age) where sex > 3", "columns"),
        ("with a(sex) as (select age from t) select count(*) from a", "columns"),
        ("select count(*) from (select * from t) as s tablesample (10 percent)", "sample"),
        ("select round(avg(x), 0, 1) from t", "truncate"),
        ("select floor(avg(x), 1) from t", "decimals"),
        ("select count(*) from t group by ltrim(x)", "position"),
        ("select x, count(*) from t group by x limit 10 percent", "limit_options"),
    ],
)
def test_a_part_that_nobody_reads_is_refused(question, part):
    with pytest.raises(ArgumentError, match=f"{part} is more than is understood here"):
        parsed(question)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("select count() from t", "an aggregate is of one column"),
        ("select sum() from t", "cannot be read as SQL"),
        ("select regr_slope(x) from t", "it is of two columns: regr_slope"),
        ("select count(*) t join c on t.x = c.x", "a join stands after from"),
        ("select count(*) from t group by cast(x as decimal(end, 0))", "these are computed"),
    ],
)
def test_what_lacks_a_part_is_refused_in_words(question, words):
    column = {"type": "integer", "bounds": [0, 9], "epsilon": 1, "missing": "refuse"}
    policy = Policy.of({"format": 2, "records": 9, "columns": {"x": column}})
    with pytest.raises(ArgumentError, match=words):
        read_select(question, policy.askable)


def test_several_statements_and_none():
    assert len(parsed("select count(*); select 1")) == 2
    assert not parsed("-- nothing")
