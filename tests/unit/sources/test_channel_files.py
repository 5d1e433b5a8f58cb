"""Channels in files: what was written comes back, whole or not at all, and mistakes are named by column and row."""

import datetime
import json
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import metricdp as mdp
from metricdp.channels.channel import Channel
from metricdp.channels.proved import Proved
from metricdp.errors import ArgumentError, FileError, MissingExtraError
from metricdp.metrics import Guarantee, absolute, discrete
from metricdp.sources.channel_files import from_arrow, read_channel, read_claim, to_arrow, write_channel

LINE = Channel.from_matrix([0, 1, 2], "abc", [["2/3", "1/6", "1/6"], ["1/3"] * 3, ["1/6", "1/6", "2/3"]])
PROMISED = LINE.promising(Guarantee(mdp.ln(2) * absolute()))
SUFFIXES = [".csv", ".json", ".parquet", ".arrow", ".feather"]


def huge():
    total = (1 << 3000) + 1
    labels = ((0, "x"), datetime.date(2024, 5, 1)), ("input", '3, "4"', None)
    weights = np.array([[1, 2, total - 3], [total - 3, 2, 1]], dtype=object)
    return Channel(*labels, weights, total)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("channel", [LINE, huge()], ids=["small", "huge"])
def test_files_come_back(tmp_path, suffix, channel):
    path = tmp_path / f"channel{suffix}"
    write_channel(channel, path)
    again = read_channel(path)
    assert again == channel
    assert [type(label) for label in again.inputs + again.outputs] == [
        type(label) for label in channel.inputs + channel.outputs
    ]
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_promises_come_back(tmp_path, suffix):
    path = tmp_path / f"channel{suffix.upper()}"
    write_channel(PROMISED, path)
    assert read_channel(path).promise == (None if suffix == ".csv" else PROMISED.promise)


@pytest.mark.parametrize("suffix", [".json", ".parquet", ".arrow"])
def test_promises_are_not_believed(tmp_path, suffix):
    path = tmp_path / f"liar{suffix}"
    write_channel(LINE.promising(Proved(absolute() / 2)), path)  # a writer who lies
    with pytest.raises(ArgumentError, match="does not keep its promise"):
        read_channel(path)
    channel, claim = read_claim(path)
    assert channel == LINE
    assert channel.promise is None
    assert claim["formula"] == "0.5·|x − y|-private"


def test_files_for_people(tmp_path):
    write_channel(LINE, tmp_path / "c.csv")
    assert (tmp_path / "c.csv").read_text() == "input,a,b,c\n0,2/3,1/6,1/6\n1,1/3,1/3,1/3\n2,1/6,1/6,2/3\n"
    write_channel(PROMISED, tmp_path / "c.json")
    text = (tmp_path / "c.json").read_text()
    assert json.loads(text) == PROMISED.to_json()
    assert "    [4, 1, 1],\n" in text, "a row of weights on a line"


def test_existing_files_stay(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("mine")
    with pytest.raises(FileError, match=r"c\.csv exists already"):
        write_channel(LINE, path)
    assert path.read_text() == "mine"
    write_channel(LINE, path, overwrite=True)
    assert read_channel(path) == LINE


def test_files_appear_whole_or_not_at_all(tmp_path, monkeypatch):
    def fail(file):
        raise OSError(28, "No space left on device")

    path = tmp_path / "c.csv"
    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(FileError, match=r"c\.csv could not be written: No space left"):
        write_channel(LINE, path)
    assert not list(tmp_path.iterdir())


def test_outputs_that_cannot_be(tmp_path):
    with pytest.raises(ArgumentError, match=r"ends in one of \.csv, \.json"):
        write_channel(LINE, tmp_path / "c.xls")
    with pytest.raises(FileError, match="no folder"):
        write_channel(LINE, tmp_path / "nowhere" / "c.csv")
    odd = Channel.from_matrix([b"x"], [0], [[1]])
    with pytest.raises(ArgumentError, match="has no form in a file"):
        write_channel(odd, tmp_path / "c.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("c.csv", b"", "there is no row"),
        ("c.csv", b"\xff\xfe\x00", "not text in UTF-8"),
        ("c.csv", b',a\nx,"1', "cannot be read as CSV"),
        ("c.csv", b",a,b\nx,0.5,0.4\n", "row 0: input 'x': its probabilities sum to 0.9"),
        ("c.csv", b",a,b\nx,1,0\ny,-1,2\n", "column 'a', row 1: a negative probability"),
        ("c.csv", b",a,b\nx,1,0\nx,1,0\n", "'x' stands twice"),
        ("c.json", b"", "cannot be read as JSON: line 1"),
        ("c.json", b"[" * 100_000, "cannot be read as JSON"),
        ("c.json", b"\xff", "not text in UTF-8"),
        ("c.json", b"{}", "no channel"),
        ("c.json", b'{"format": "metricdp channel", "version": 3}', "version 3"),
        ("c.parquet", b"PAR1 nothing PAR1", "cannot be read as Parquet"),
        ("c.arrow", b"ARROW1 nothing", "cannot be read as Arrow"),
        ("c.txt", b"x", "ends in one of"),
    ],
)
def test_files_that_are_no_channel(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    with pytest.raises((ArgumentError, FileError), match=words):
        read_channel(tmp_path / name)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileError, match="there is no"):
        read_channel(tmp_path / "c.csv")
    (tmp_path / "c.csv").mkdir()
    with pytest.raises(FileError, match="is a folder"):
        read_channel(tmp_path / "c.csv")


def test_csv_of_a_spreadsheet(tmp_path):
    (tmp_path / "c.csv").write_bytes(b"\xef\xbb\xbfinput,low,high\r\n3,0.25,0.75\r\n\r\n4,75e-2,1/4\r\n,,\r\n")
    channel = read_channel(tmp_path / "c.csv")
    assert channel.inputs == (3, 4)
    assert channel.outputs == ("low", "high")
    assert channel.probability(4, "high") == Fraction(1, 4)


# Arrow


def test_an_arrow_table():
    table = to_arrow(PROMISED)
    assert table.column_names == ["input", "a", "b", "c"]
    assert table.schema.types == [pa.string(), pa.int64(), pa.int64(), pa.int64()]
    assert from_arrow(table).promise == PROMISED.promise
    assert from_arrow(table.take([2, 0])).inputs == (2, 0), "labels go with their rows"
    with pytest.raises(ArgumentError, match="do not sum"):
        from_arrow(table.select(["input", "a", "b"]))
    with pytest.raises(ArgumentError, match="lost its column 'input'"):
        from_arrow(table.select(["a", "b", "c"]))


@pytest.mark.parametrize(
    "header", [b"", b"{", b"[]", b"3", b'{"format": "metricdp channel", "version": 1}', b"[" * 99999]
)
def test_damaged_headers(header):
    with pytest.raises(ArgumentError, match="header of the channel cannot be read"):
        from_arrow(to_arrow(LINE).replace_schema_metadata({b"metricdp.channel": header}))


def test_damaged_weights():
    table = to_arrow(LINE)
    nulls = table.set_column(2, "b", pa.array([1, None, 1])).replace_schema_metadata(table.schema.metadata)
    with pytest.raises(ArgumentError, match="column 'b', row 1: a weight is an integer"):
        from_arrow(nulls)


@pytest.mark.parametrize(
    ("columns", "inputs"),
    [
        ({"3": [0.5, 0.25], "b": [0.5, 0.75]}, (0, 1)),
        ({"input": [7, 9], "3": [0.5, 0.25], "b": [0.5, 0.75]}, (7, 9)),
        ({"who": ["x", "(0, 1)"], "3": [0.5, 0.25], "b": [0.5, 0.75]}, ("x", (0, 1))),
        ({"day": [datetime.date(2024, 5, 1), None], "3": ["1/2", "0.25"], "b": ["0.5", "3/4"]}, None),
    ],
)
def test_tables_of_others(columns, inputs):
    channel = from_arrow(pa.table(columns))
    assert channel.inputs == (inputs or (datetime.date(2024, 5, 1), None))
    assert channel.outputs == (3, "b")
    assert channel.probability(channel.inputs[1], "b") == Fraction(3, 4)


@pytest.mark.parametrize("index", [None, pd.Index(["x", "y"]), pd.Index(["x", "y"], name="secret")])
def test_frames_of_pandas(tmp_path, index):
    pd.DataFrame([[0.1, 0.9], [0.3, 0.7]], index=index, columns=["0", "1"]).to_parquet(tmp_path / "c.parquet")
    channel = read_channel(tmp_path / "c.parquet")
    assert channel.inputs == ((0, 1) if index is None else ("x", "y"))
    assert channel.outputs == (0, 1)
    assert channel.probability(channel.inputs[0], 0) == Fraction(0.1)


def test_small_floats(tmp_path):
    pq.write_table(
        pa.table({"a": pa.array([0.1, 0.3], pa.float32()), "b": pa.array([0.9, 0.7], pa.float32())}),
        tmp_path / "c.parquet",
    )
    assert read_channel(tmp_path / "c.parquet").probability(0, "a") == Fraction(float(np.float32(0.1)))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [0.5, None], "b": [0.5, 0.5]}, "column 'a', row 1: a missing value"),
        ({"a": [0.5, float("nan")], "b": [0.5, 0.5]}, "column 'a', row 1: NaN"),
        ({"a": [0.5, 1.5], "b": [0.5, -0.5]}, "column 'b', row 1: a negative probability"),
        ({"a": [0.5, 0.4], "b": [0.5, 0.5]}, "row 1: input 1: its probabilities sum to 0.9"),
        ({"input": ["x", "x"], "a": [1.0, 1.0]}, "'x' stands twice"),
        ({"x": ["x", "y"], "a": [True, True]}, "column 'a', row 0: a probability is a number, not bool"),
        ({"input": ["x"]}, "no column of probabilities"),
        ({}, "no column of probabilities"),
    ],
)
def test_tables_that_are_no_channel(columns, words):
    with pytest.raises(ArgumentError, match=words):
        from_arrow(pa.table(columns))


def test_without_pyarrow(tmp_path, monkeypatch):
    for name in ("c.parquet", "c.csv"):
        write_channel(LINE, tmp_path / name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"metricdp\[tables\]"):
        read_channel(tmp_path / "c.parquet")
    assert read_channel(tmp_path / "c.csv") == LINE


def test_a_promise_with_a_delta(tmp_path):
    promised = LINE.promising(Guarantee(mdp.ln("19/10") * discrete(), "0.4"))
    write_channel(promised, tmp_path / "c.arrow")
    assert read_channel(tmp_path / "c.arrow").promise == promised.promise
