"""Parsed statements: one way to say no, and nothing that is passed over."""

import pytest
import sqlglot

from metricdp.errors import ArgumentError
from metricdp.policies.sql.parsing import _say_no_by_not, parsed


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


def test_several_statements_and_none():
    assert len(parsed("select count(*); select 1")) == 2
    assert not parsed("-- nothing")
