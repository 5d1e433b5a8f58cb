"""The function of DuckDB."""

import duckdb
import pytest

from metricdp.errors import ArgumentError, PolicyError
from metricdp.integrations import register_duckdb
from metricdp.policies import Policy

ONCE, TWICE = "ℓ₁(ln 2/1000·|x − y| (income))", "ℓ₁(ln 2/500·|x − y| (income))"

PLACES = """
format = 2
[columns.home]
type = "place"
columns = ["lat", "lon"]
within = "200 m"
missing = "refuse"
[columns.kind]
type = "category"
values = ["a", "b"]
epsilon = 1
missing = "refuse"
[columns.day]
type = "date"
within = "3 days"
missing = "refuse"
"""


@pytest.fixture
def connection():
    with duckdb.connect() as made:
        yield made


def test_equal_values_get_noise_of_their_own_in_every_place(connection, policy):
    register_duckdb(connection, policy)
    rows = connection.sql(
        "select metricdp(5e4::double, 'income') as a, metricdp(5e4::double, 'income') as b from range(5000)"
    ).fetchall()
    assert len({value for row in rows for value in row}) > 9000
    assert all(a != b for a, b in rows[:100])
    (mean,) = connection.sql("select avg(metricdp(5e4::double, 'income')) from range(20000)").fetchone()
    assert abs(mean - 50_000) < 200  # the noise has a standard deviation of 2,040: seven of an average of 20,000 is 101
    assert connection.sql("select count(distinct metricdp(5e4::double, 'income')) from range(100)").fetchone()[0] > 90


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("31::tinyint", "TINYINT"),
        ("31::integer", "INTEGER"),
        ("31::ubigint", "UBIGINT"),
        ("31.5::float", "FLOAT"),
    ],
)
def test_a_release_has_the_type_that_its_secret_had(connection, value, kind):
    number = "integer" if "int" in value else "number"
    register_duckdb(connection, {"format": 2, "columns": {"age": {"type": number, "within": "5 years"}}})
    assert connection.sql(f"select typeof(metricdp({value}, 'age'))").fetchone() == (kind,)
    assert connection.sql(f"select count(distinct metricdp({value}, 'age')) from range(60)").fetchone()[0] > 5


def test_categories_dates_and_places(connection):
    register_duckdb(connection, Policy.parse(PLACES))
    sql = connection.sql(
        "select metricdp(k, 'kind') k, metricdp(date '2024-02-29', 'day') d, "
        "metricdp({'lat': 48.85::double, 'lon': 2.35::double}, 'home') h from (select unnest(['a', 'b', 'a']) k)"
    )
    rows = sql.fetchall()
    assert sql.types[1] == "DATE"
    assert {row[0] for row in rows} <= {"a", "b"}
    assert all(set(row[2]) == {"lat", "lon"} and abs(row[2]["lat"] - 48.85) < 0.2 for row in rows)
    (swapped,) = connection.sql("select metricdp({'lon': 2.35::double, 'lat': 48.85::double}, 'home')").fetchone()
    assert abs(swapped["lat"] - 48.85) < 0.2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("metricdp(1::hugeint, 'income')", "values of HUGEINT would be rounded"),
        ("metricdp(1::uhugeint, 'income', 7)", "values of UHUGEINT would be rounded"),
        ("metricdp(31.50::decimal(20,12), 'income')", "values of DECIMAL would be rounded"),
        ("metricdp(interval 1 day, 'income')", "does not support"),
        ("metricdp(1::double, 'name')", "releases no column of that name"),
        ("metricdp(1::double, 31.5::varchar)", "releases no column of that name"),
        ("metricdp('abc', 'income')", "wants"),
        ("metricdp(31.5::double, 'age')", "wants"),
        ("metricdp('inf'::double, 'income')", "row 0"),
        ("metricdp(null::double, 'income')", "a value is missing"),
        ("metricdp(1::double, if(range = 1, 'income', 'age'))", "one text, the same for all rows"),
    ],
)
def test_what_cannot_be_released_as_it_is_is_refused_without_a_value(connection, policy, call, message):
    register_duckdb(connection, policy)
    with pytest.raises(duckdb.Error, match=message) as caught:
        connection.sql(f"select {call} from range(2)").fetchall()
    assert "31.5" not in str(caught.value).split("LINE")[0].replace(call, "")


def test_a_place_that_is_no_struct_is_refused(connection):
    register_duckdb(connection, Policy.parse(PLACES))
    with pytest.raises(duckdb.Error, match="as a struct"):
        connection.sql("select metricdp(1::double, 'home')").fetchall()
    with pytest.raises(duckdb.Error, match="a value is missing"):
        connection.sql("select metricdp(null::struct(lat double, lon double), 'home')").fetchall()


def spent(ledger):
    return str(ledger.balance("staff").spent)


def test_each_value_is_charged_where_nobody_says_whose_it_is(connection, policy, ledger, charges):
    register_duckdb(connection, policy, ledger, "staff")
    connection.sql("select metricdp(1::double, 'income') from range(2)").fetchall()
    assert spent(ledger) == TWICE
    with pytest.raises(duckdb.Error, match="BudgetError"):
        connection.sql("select metricdp(1::double, 'income')").fetchall()
    assert charges() == 1
    connection.sql("select metricdp(40, 'age')").fetchall()


def test_with_keys_a_pass_over_a_table_costs_one_release_however_long_it_is(connection, policy, ledger, charges):
    register_duckdb(connection, policy, ledger, "staff")
    passing = "select count(metricdp(range::double, 'income', range)) from range(10000)"
    assert connection.sql(passing).fetchone() == (10_000,)
    assert charges() == 1
    assert spent(ledger) == ONCE
    half = "select count(metricdp(range::double, 'income', range)) from range(5000)"
    connection.sql(half).fetchone()
    assert spent(ledger) == TWICE
    connection.sql("select count(metricdp(range::double, 'income', range)) from range(5000, 10000)").fetchone()
    assert charges() == 2  # they come for the second time, as the others have
    with pytest.raises(duckdb.Error, match="BudgetError"):
        connection.sql("select metricdp(0::double, 'income', 17)").fetchall()


def test_a_join_that_brings_a_record_twice_is_charged_twice(connection, policy, ledger):
    register_duckdb(connection, policy, ledger, "staff")
    connection.sql("select metricdp(1::double, 'income', a.range) from range(3) a, range(2) b").fetchall()
    assert spent(ledger) == TWICE


def test_a_missing_key_is_refused(connection, policy, ledger, charges):
    register_duckdb(connection, policy, ledger, "staff")
    with pytest.raises(duckdb.Error, match="a key is missing"):
        connection.sql("select metricdp(1::double, 'income', if(range = 1, null, range)) from range(3)").fetchall()
    assert charges() == 0


def test_a_ledger_is_required_where_the_policy_says_so_or_counts_a_person(connection, strict, ledger):
    with pytest.raises(PolicyError, match="requires a ledger"):
        register_duckdb(connection, strict)
    register_duckdb(connection, strict, ledger, "staff")
    person = 'format = 2\n[person]\ncolumn = "who"\nrows = 3\n[columns.age]\ntype = "integer"\nwithin = "5 years"\n'
    with pytest.raises(PolicyError, match="counted by a ledger"):
        register_duckdb(connection, Policy.parse(person))
    with pytest.raises(ArgumentError, match="a function has a name"):
        register_duckdb(connection, strict, ledger, "staff", name="drop table; --")


def test_a_second_policy_takes_the_place_of_the_first(connection, policy):
    register_duckdb(connection, policy)
    register_duckdb(connection, {"format": 2, "columns": {"pay": {"type": "number", "within": "1000 dollars"}}})
    connection.sql("select metricdp(1::double, 'pay')").fetchall()
    with pytest.raises(duckdb.Error, match="no column of that name"):
        connection.sql("select metricdp(1::double, 'income')").fetchall()


def test_a_cursor_and_another_connection_have_a_function_of_their_own(policy, tmp_path):
    """To register it a second time ended in an error of DuckDB's catalog."""
    first = duckdb.connect(tmp_path / "staff.duckdb")
    second = duckdb.connect(tmp_path / "staff.duckdb")
    pay = {"format": 2, "columns": {"pay": {"type": "number", "within": "1000 dollars"}}}
    for made, rules in ((first, policy), (first.cursor(), policy), (second, pay), (first, policy)):
        register_duckdb(made, rules)
        column = "income" if rules is policy else "pay"
        assert len(made.sql(f"select metricdp(1::double, '{column}')").fetchall()) == 1
    with pytest.raises(duckdb.Error, match="no column of that name"):
        second.sql("select metricdp(1::double, 'income')").fetchall()
    second.close()
    first.close()
