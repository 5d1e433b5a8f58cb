"""CSV files: what is legal is read, in any dialect that a policy declares; what is not is refused with row and rule."""

import re
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from metricdp.errors import ColumnError, DataError, PolicyError
from metricdp.policies import Policy
from metricdp.sources import csv_files
from metricdp.sources.csv_files import CsvFile
from metricdp.sources.dialect import Dialect
from metricdp.tables import sanitize

GERMAN = """
format = 2
[columns]
ort = "keep"
[columns.lohn]
type = "number"
within = 0.001
missing = "public"
[columns.geboren]
type = "time"
within = "0.01 days"
resolution = "1 day"
[columns.raucher]
type = "boolean"
epsilon = 50
missing = "refuse"
[columns.kinder]
type = "integer"
within = 0.01
missing = "public"
[csv]
delimiter = ";"
decimal = ","
null = ["", "k. A."]
encoding = "latin-1"
date_format = "%d.%m.%Y"
true = ["ja"]
false = ["nein"]
[rows]
order = "public"
"""


def fields(path, dialect=None, columns=None):
    file = CsvFile(path, dialect or Dialect())
    names = file.begin()[0]
    batches = list(file.read(names, columns or names, 1 << 17))
    return pa.Table.from_batches(batches).to_pydict() if batches else {}


def test_a_dialect_of_its_own(tmp_path):
    source = tmp_path / "in.csv"
    source.write_bytes(
        "ort;lohn;geboren;raucher;kinder\nKöln;1234,5;31.12.1999;ja;2\n"
        '"Bad ""X""; Dorf";k. A.;1.2.2000;nein;k. A.\n'.encode("latin-1")
    )
    table = sanitize(source, Policy.parse(GERMAN)).table
    assert table.schema == pa.schema(
        [
            *(("ort", pa.string()), ("lohn", pa.float64()), ("geboren", pa.date32())),
            *(("raucher", pa.bool_()), ("kinder", pa.int64())),
        ]
    )
    assert table["ort"].to_pylist() == ["Köln", 'Bad "X"; Dorf']
    assert abs(table["lohn"][0].as_py() - 1234.5) < 0.5
    assert table["lohn"][1].as_py() is None
    assert [day.isoformat() for day in table["geboren"].to_pylist()] == ["1999-12-31", "2000-02-01"]
    assert table["raucher"].to_pylist() == [True, False]
    assert table["kinder"].to_pylist() == [2, None]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("K;1.234,5;31.12.1999;ja;2", "column 'lohn', row 0: a number with a decimal comma is wanted"),
        ("K;1,5;1999-12-31;ja;2", "column 'geboren', row 0: a value is not of the type .* date_format"),
        ("K;1,5;31.02.1999;ja;2", "column 'geboren', row 0: a value is not of the type"),
        ("K;1,5;31.12.1999;true;2", "column 'raucher', row 0: .*a word for true or for false"),
        ("K;1,5;31.12.1999;ja;2,0", "column 'kinder', row 0: .*a whole number.* declare type = \"number\""),
        ("K;1,5;31.12.1999;ja;NA", "column 'kinder', row 0: .*a whole number is wanted"),
    ],
)
def test_values_of_another_dialect_are_refused(tmp_path, row, message):
    source = tmp_path / "in.csv"
    source.write_text(f"ort;lohn;geboren;raucher;kinder\n{row}\n", encoding="latin-1")
    with pytest.raises(ColumnError, match=message) as caught:
        sanitize(source, Policy.parse(GERMAN))
    assert row.split(";")[1] not in str(caught.value)


def test_zoned_moments_are_instants(tmp_path):
    text = 'format=2\n[columns.at]\ntype="time"\nwithin="1 s"\nresolution="1 s"\n[rows]\norder="public"\n'
    source = tmp_path / "in.csv"
    source.write_text("at\n2024-01-01T12:00:00Z\n2024-01-01T14:00:00+02:00\n2024-01-01 05:00:00.5-0700\n")
    with pytest.raises(ColumnError, match="row 0: a moment with an offset from UTC; declare"):
        sanitize(source, Policy.parse(text))
    for zoned in ("true", '["at"]'):
        table = sanitize(source, Policy.parse(text + f"[csv]\nzoned = {zoned}\n")).table
        assert table["at"].type == pa.timestamp("us", "UTC")
        assert all(abs(moment.timestamp() - 1704110400) < 100 for moment in table["at"].to_pylist())
    source.write_text("at\n2024-01-01T12:00:00\n")
    with pytest.raises(ColumnError, match="row 0: a moment without the offset"):
        sanitize(source, Policy.parse(text + "[csv]\nzoned = true\n"))
    source.write_text("at\n1/2/24 3:04 +0100\n")
    table = sanitize(source, Policy.parse(text + '[csv]\ndate_format = {at = "%d/%m/%y %H:%M %z"}\n')).table
    assert abs(table["at"][0].as_py().timestamp() - 1706753040) < 100


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ('delimiter = ";;"', "line 5, csv: delimiter is one character"),
        ('delimiter = "a"', "line 5, csv: delimiter is one character"),
        ('delimiter = "\\""', "line 5, csv: delimiter is one character"),
        ('decimal = ";"', "line 5, csv: decimal is"),
        ('decimal = ","', "line 5, csv: decimal and delimiter are the same"),
        ('null = "NA"', "line 5, csv: null = "),
        ('encoding = "klingon"', "line 5, csv: encoding is the name of one"),
        ('encoding = "utf-7"', "line 5, csv: encoding is the name of one"),
        ('encoding = "unicode_escape"', "line 5, csv: encoding is the name of one"),
        ('date_format = "%d.%m"', "line 5, csv: date_format says the year"),
        ('date_format = "%Q"', "line 5, csv: date_format has directives"),
        ('date_format = {a = "%Y-%m-%d"}', "line 5, csv: date_format names a column"),
        ("zoned = 3", "line 5, csv: zoned is true, or lists"),
        ('zoned = ["a"]', "line 5, csv: zoned is true, or lists"),
        ('true = ["x"]\nfalse = ["x"]', "line 5, csv: true and false share a word"),
        ('true = ["x"]\nnull = ["x"]', "line 6, csv: a word for a missing value"),
        ('colour = "red"', "line 5, csv: 'colour' is not known here"),
    ],
)
def test_mistakes_in_a_dialect_have_their_line(written, message):
    with pytest.raises(PolicyError) as caught:
        Policy.parse(f'format = 2\n[columns]\na = "keep"\n[csv]\n{written}\n')
    assert caught.value.problems[0].startswith(message), caught.value.problems


def test_a_dialect_that_is_no_table():
    with pytest.raises(PolicyError, match="csv: write \\[csv\\] with"):
        Policy.parse('format = 2\ncsv = 3\n[columns]\na = "keep"')


def test_tabs_and_one_column(tmp_path):
    (tmp_path / "in.tsv").write_text("a\tb\n1\t2\n")
    assert fields(tmp_path / "in.tsv") == {"a": ["1"], "b": ["2"]}
    (tmp_path / "in.csv").write_text("a\n1\n\n2\n\n")
    assert fields(tmp_path / "in.csv") == {"a": ["1", None, "2", None]}
    (tmp_path / "in.csv").write_text("a,b\n")
    assert fields(tmp_path / "in.csv") == {}


@pytest.mark.parametrize("block", [1, 2, 3, 5, 8, 13, 1 << 20])
def test_blocks_of_any_size(tmp_path, monkeypatch, block):
    """Where a block of bytes ends shows nowhere: not between CR and LF, not inside a letter, not between two quotes."""
    monkeypatch.setattr(csv_files, "BLOCK", block)
    path = tmp_path / "in.csv"
    path.write_bytes('\ufeffä,b\r\n"x""y\r\n",é\r\n1,"2"\r\n\r\n'.encode())
    assert fields(path) == {"ä": ['x"y\r\n', "1"], "b": ["é", "2"]}
    path.write_bytes('ä,b\r\n"x""y\r\n",é\r\n1,"2"\r\n\r\n'.encode("utf-16"))
    assert fields(path, Dialect(encoding="utf-16")) == {"ä": ['x"y\r\n', "1"], "b": ["é", "2"]}
    path.write_bytes(b'a,b\r\n1,"2\r\n3,4\r\n')
    with pytest.raises(DataError, match="row 0: the file ends inside quotes"):
        fields(path)


def test_a_row_without_end_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_files, "MOST", 1 << 16)
    monkeypatch.setattr(csv_files, "BLOCK", 1 << 14)
    path = tmp_path / "in.csv"
    path.write_text('a,b\n1,2\n1,"' + "x,y\n" * 100_000)
    with pytest.raises(DataError, match="row 1: a row of more than"):
        fields(path)


def test_memory_does_not_grow_with_the_file(tmp_path):
    code = """
import resource, sys
from metricdp.sources.csv_files import CsvFile
from metricdp.sources.dialect import Dialect
from pathlib import Path
file = CsvFile(Path(sys.argv[1]), Dialect())
print(sum(batch.num_rows for batch in file.read(file.begin()[0], ["a"], 1 << 17)))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""
    peaks = []
    for megabytes in (16, 128):
        path = tmp_path / f"in{megabytes}.csv"
        with path.open("w") as file:
            file.write("a,b\n")
            for _ in range(megabytes):
                file.write('1234567,"abc""def"\n' * 52_000)
        command = [sys.executable, "-c", code, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert int(done[0]) == megabytes * 52_000
        peaks.append(int(done[1]))
    assert peaks[1] < 1.5 * peaks[0]
    assert resource is not None


def test_the_reader_agrees_with_its_parser_on_the_number_of_rows(tmp_path, monkeypatch):
    """If pyarrow ever saw other rows than were checked, nothing is released."""
    path = tmp_path / "in.csv"
    path.write_text("a,b\n1,2\n")
    real = csv_files.pa_csv.read_csv
    monkeypatch.setattr(csv_files.pa_csv, "read_csv", lambda *args: pa.concat_tables([real(*args)] * 2))
    with pytest.raises(DataError, match="its rows cannot be told apart"):
        fields(Path(path))


def test_only_the_first_byte_order_mark_of_a_file_is_one(tmp_path):
    path = tmp_path / "in.csv"
    path.write_bytes("\ufeffa,b\n\ufeff1,2\n\ufeff3,4\n".encode())
    assert fields(path) == {"a": ["\ufeff1", "\ufeff3"], "b": ["2", "4"]}


def test_a_csv_file_is_written_as_the_policy_reads_it(tmp_path):
    (tmp_path / "in.csv").write_text("age;visits\n3,5;1\n4,25;2\n")
    policy = Policy.parse(
        'format = 2\n[csv]\ndelimiter = ";"\ndecimal = ","\n'
        '[columns.age]\ntype = "number"\nwithin = 1\nresolution = 0.25\n'
        '[columns.visits]\ntype = "integer"\nwithin = 1\n'
    )
    sanitize(tmp_path / "in.csv", policy, tmp_path / "once.csv")
    header, *rows = (tmp_path / "once.csv").read_text().splitlines()
    assert header == '"age";"visits"'
    assert all(re.fullmatch(r'"-?[0-9]+(,[0-9]+)?";-?[0-9]+', row) for row in rows)
    sanitize(tmp_path / "once.csv", policy, tmp_path / "twice.csv")
