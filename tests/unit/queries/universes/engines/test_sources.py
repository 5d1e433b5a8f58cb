"""CSV files behind questions: quotes that would swallow records are refused, and every line is a record."""

import pytest

from metricdp.errors import ColumnError, DataError
from metricdp.policies import Policy
from metricdp.policies.cells.listed import CategoryCells
from metricdp.queries import ask
from metricdp.queries.universes.counting import histogram
from metricdp.queries.universes.universe import Universe
from metricdp.sources import count_rows

SEX = Universe([CategoryCells("sex", ["F", "M"], other="other", missing="missing")])


@pytest.mark.parametrize(
    ("text", "row", "rule"),
    [
        ('sex,age\nF,1\nM,"2\nF,3\nM,4\n', 1, "not closed"),
        ('sex,age\nF,1\n"M,2\nF,3\n', 1, "not closed"),
        ('sex,age\nF,1\nF,1\nM",2\nF,3\n', 2, "inside a field"),
        ('sex,age\n"a\nb",1\n"M"x,2\n', 1, "after a closing quote"),
        ('"sex"x,age\nF,1\n', None, "after a closing quote"),
    ],
)
def test_a_quote_that_would_swallow_records_is_refused(text, row, rule, tmp_path):
    """The rest of the file became one value, and all its records one record."""
    path = tmp_path / "a.csv"
    for mark in ("", "\ufeff"):
        path.write_text(mark + text, encoding="utf-8")
        for read in (count_rows, lambda path: histogram(path, SEX)):
            with pytest.raises(DataError, match=rule) as caught:
                read(path)
            assert caught.value.row == row


def test_quotes_as_programs_write_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'\xef\xbb\xbf"sex","note"\r\n"F","a ""b"" c"\r\n"M","two\nlines"\r\n"",""\r\n')
    assert histogram(path, SEX).counts.tolist() == [1, 1, 0, 1]
    tabs = tmp_path / "a.tsv"
    tabs.write_text('sex\tnote\n"F"\t"a,b"\nM\tx\n', encoding="utf-8")
    assert histogram(tabs, SEX).counts.tolist() == [1, 1, 0, 0]


def test_an_empty_line_of_one_column_is_a_record(tmp_path):
    """Its value is missing. It vanished, and with it the record."""
    path = tmp_path / "a.csv"
    path.write_text("sex\nF\n\nM\n\n", encoding="utf-8")
    assert histogram(path, SEX).counts.tolist() == [1, 1, 0, 2]
    path.write_text("sex,age\nF,1\n\nM,2\n\n", encoding="utf-8")
    with pytest.raises(DataError, match="row 1: the row does not have as many fields as the header, which has 2"):
        histogram(path, SEX)
    path.write_text("sex,age\nF,1\nM,2\n\n", encoding="utf-8")
    assert histogram(path, SEX).counts.tolist() == [1, 1, 0, 0]


FOREIGN = """
format = 2
records = 3
[csv]
delimiter = ";"
decimal = ","
null = ["NA"]
encoding = "cp1252"
date_format = "%d.%m.%Y"
[columns]
name = {type = "category", values = ["Zoë", "Bob"], epsilon = 1000000}
pay = {type = "number", bounds = [0, 10], within = "1/1000000"}
day = {type = "date", bounds = [2024-01-01, 2024-12-31], within = "1/1000000 days"}
"""


def test_a_question_reads_the_dialect_of_the_policy(tmp_path):
    path = tmp_path / "a.csv"
    text = "name;pay;day\nZoë;1,25;31.01.2024\nBob;7,5;01.02.2024\nNA;NA;NA\n"
    path.write_bytes(text.encode("cp1252"))
    policy = Policy.parse(FOREIGN)

    def values(question):
        return [round(one.value, 2) for row in ask(path, policy, question).found for one in row]

    assert values("select count(*) from t") == [3]
    assert values("select sum(pay) from t where name = 'Bob'") == [7.5]
    assert values("select count(*) from t where day <= '2024-01-31'") == [1]
    assert values("select count(*) from t where name is null") == [1]
    path.write_bytes(text.replace("1,25", "1.25").encode("cp1252"))
    with pytest.raises(ColumnError, match=r"column 'pay', row 0: .*decimal comma"):
        values("select sum(pay) from t")
