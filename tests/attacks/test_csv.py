"""CSV files that were damaged or made to deceive: no value of one column in another, and no row lost in silence.

The model is a reader of a few lines, a machine of four states over characters. What it refuses must be refused, and
what it takes must come out field for field.
"""

import tempfile
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metricdp.errors import DataError, MetricDPError
from metricdp.policies import Policy
from metricdp.tables import sanitize
from tests.attacks.effort import attack

MARK = "TOPSECRET"
POLICY = """
format = 2
[columns]
name = "drop"
site = "keep"
[columns.pay]
type = "number"
within = 1000
missing = "public"
[columns.health]
type = "category"
values = ["good", "fair", "poor"]
epsilon = 1
[rows]
order = "public"
"""
HEADER = "site,name,pay,health\n"


def rows(count, end="\n"):
    return "".join(f"s{row},{MARK}{row},{50_000 + row}.25,good{end}" for row in range(count))


def release(content, policy=POLICY, name="in.csv"):
    """What a file becomes, as a table of text; the released file must hold neither names nor true pay."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / name, Path(folder) / "out.csv"
        source.write_bytes(content if isinstance(content, bytes) else content.encode())
        refusal = None
        try:
            sanitize(source, Policy.parse(policy), out)
        except MetricDPError as error:
            refusal = error
        if refusal is not None:
            assert MARK not in str(refusal)
            assert [path.name for path in Path(folder).iterdir()] == [name]
            raise refusal
        written = out.read_bytes()
        assert MARK.encode() not in written
        text = pa_csv.ConvertOptions(column_types=dict.fromkeys(["site", "pay", "health"], "string"))
        parse = pa_csv.ParseOptions(newlines_in_values=True)
        return pa_csv.read_csv(out, parse_options=parse, convert_options=text).to_pydict()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f'{HEADER}"s0,{MARK},50000.25,good\n{rows(3)}', "row 0: the file ends inside quotes"),
        (f'{HEADER}{rows(2)}"s2,{MARK},50000.25,good', "row 2: the file ends inside quotes"),
        (f'{HEADER}{rows(2)}"s2,{MARK},1.5,good\n"s3",{MARK},1.5,good\n', "row 2: text after a closing quote"),
        (f'{HEADER}{rows(2)}s"2,{MARK},50000.25,good\n', "row 2: a quote inside a field that is not quoted"),
        (f'{HEADER}{rows(2)}s2",{MARK},50000.25,good\n', "row 2: a quote inside a field that is not quoted"),
        (f'{HEADER}{rows(2)}"s2"x,{MARK},50000.25,good\n', "row 2: text after a closing quote"),
        (f'{HEADER}{rows(2)}"s2" ,{MARK},50000.25,good\n', "row 2: text after a closing quote"),
        (f'{HEADER}{rows(2)}"s2""x,{MARK},50000.25,good\n', "row 2: the file ends inside quotes"),
        (f"{HEADER}{rows(2)}s2,{MARK}\n", "row 2: the row does not have as many fields"),
        (f"{HEADER}{rows(2)}s2,{MARK},50000.25,good,more\n", "row 2: the row does not have as many fields"),
        (f"{HEADER}{rows(2)}\n{rows(1)}", "row 2: the row does not have as many fields"),
        (f"{HEADER}{rows(2)}s2\0,{MARK},50000.25,good\n", "row 2: a null byte"),
        (f"{HEADER}{rows(2)}s2\r,{MARK},50000.25,good\n", "row 2: a carriage return"),
        ((HEADER + rows(2)).encode() + b"s\xff," + MARK.encode() + b",1.5,good\n", "row 2: bytes that are not UTF-8"),
        ((HEADER + rows(2)).encode("utf-16"), "the header: bytes that are not UTF-8"),
        (f'si"te,name,pay,health\n{rows(2)}', "the header: a quote inside"),
        (f"\n{HEADER}{rows(2)}", "the header: the first line is empty"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_with_row_and_rule(content, message):
    with pytest.raises(DataError, match=message):
        release(content)


def test_legal_files_are_read():
    """Quoted delimiters, line ends and quotes, line ends of Windows, a byte-order mark, empty lines at the end."""
    content = (
        f'\ufeff{HEADER}"a,b\nc",{MARK},5.5,good\r\n"say ""hi""","{MARK}\n{MARK}",,"good"\r\n"",x,1,fair\r\n\r\n\n'
    )
    assert release(content)["site"] == ["a,b\nc", 'say "hi"', ""]


def model(text, width):
    """The fields of a file by a machine of four states; None where it is not whole."""
    found, row, field, state, begin = [], [], "", "start", 0
    text = text if text.endswith("\n") else text + "\n"
    if "\0" in text:
        return None
    for place, char in enumerate(text):
        if state == "quoted":
            if char == '"':
                state = "closed"
            else:
                field += char
        elif char == '"':
            if state == "plain":
                return None
            field, state = (field + '"' if state == "closed" else field), "quoted"
        elif char in ",\n" or (char == "\r" and text[place + 1 : place + 2] == "\n"):
            if char == "\r":
                state = "closed" if state == "closed" else "end"
                continue
            row.append(field)
            field, state = "", "start"
            if char == "\n":
                found.append(row if text[begin:place].rstrip("\r") else [])
                row, begin = [], place + 1
        elif state in ("closed", "end") or char == "\r":
            return None
        else:
            field, state = field + char, "plain"
    if state == "quoted":
        return None
    while found and not found[-1]:
        found.pop()
    return found if all(len(row) == width for row in found) else None


PIECES = st.lists(
    st.sampled_from(
        ['"', '""', ",", "\n", "\r\n", "\r", "a", "é", "b c", "'", "\\", ";", "\t", "1", "\ufeff", '",', ',"', "\0"]
    ),
    max_size=14,
).map("".join)


@attack(150)
@given(PIECES, st.sampled_from([7, 11, 1 << 23]))
def test_fields_are_those_of_a_strict_reader(text, block):
    """Whatever a file holds: refused where the machine refuses, and otherwise every field as the machine has it."""
    from metricdp.sources import csv_files
    from metricdp.sources.dialect import Dialect

    before = csv_files.BLOCK
    csv_files.BLOCK = block
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "in.csv"
            path.write_bytes(("x,y\n" + text).encode())
            file = csv_files.CsvFile(path, Dialect(null=("NULL",)))
            wanted = model(text, 2) if text else []
            try:
                parts = [batch.to_pydict() for batch in file.read(file.begin()[0], ["x", "y"], 3)]
                found = [list(row) for part in parts for row in zip(part["x"], part["y"], strict=True)]
            except DataError:
                found = None
        assert found == wanted
    finally:
        csv_files.BLOCK = before


@attack(40)
@given(st.data())
def test_a_file_with_bytes_changed_never_shows_what_was_dropped(data):
    """Insert, remove or change a few bytes anywhere: refused, or released with every column in its place."""
    content = bytearray((HEADER + rows(4, data.draw(st.sampled_from(["\n", "\r\n"])))).encode())
    wild = st.sampled_from([b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"\\", b";", b"\t", b"'", b"x"])
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(len(HEADER), len(content)))
        cut = data.draw(st.integers(0, 2))
        content[place : place + cut] = data.draw(wild)
    text = bytes(content)
    try:
        released = release_unmarked(text)
    except MetricDPError:
        return
    fields = model(text.decode()[len(HEADER) :], 4)
    assert fields is not None
    assert released["site"] == [row[0] for row in fields]
    assert len(released["health"]) == len(fields)
    assert set(released["health"]) <= {"good", "fair", "poor", ""}


def release_unmarked(content):
    """As `release`; a mark may stand in a kept field, if the damaged file itself has it there."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.csv", Path(folder) / "out.csv"
        source.write_bytes(content)
        sanitize(source, Policy.parse(POLICY), out)
        text = pa_csv.ConvertOptions(column_types=dict.fromkeys(["site", "pay", "health"], "string"))
        return pa_csv.read_csv(
            out, parse_options=pa_csv.ParseOptions(newlines_in_values=True), convert_options=text
        ).to_pydict()


def test_a_dropped_column_is_never_parsed():
    """Whatever stands in it, as long as its field ends: text where the file has numbers, words for null, quotes."""
    content = HEADER + 's0,"12,""5\n",1.5,good\ns1,NA,1.5,good\ns2,=1+1,1.5,good\n'
    assert release(content)["site"] == ["s0", "s1", "s2"]


@attack(25)
@given(st.sampled_from(["latin-1", "cp1252", "utf-16", "utf-8", "utf-8-sig", "shift_jis", "gb18030"]), st.data())
def test_encodings(encoding, data):
    """Text in the declared encoding comes out as it went in; bytes of another are refused or are other text."""
    words = st.text(st.sampled_from("aÄé漢,;\"'\n表ソ"), max_size=5)
    sites = data.draw(st.lists(words, min_size=1, max_size=3))
    try:
        quoted = [site.replace('"', '""') for site in sites]
        content = (HEADER + "".join(f'"{site}",{MARK},1.5,good\n' for site in quoted)).encode(encoding)
    except UnicodeEncodeError:
        return
    policy = POLICY + f'[csv]\nencoding = "{encoding}"\n'
    assert release(content, policy)["site"] == sites
    other = data.draw(st.sampled_from(["utf-8", "latin-1", "utf-16"]))
    try:
        read = release(content, POLICY + f'[csv]\nencoding = "{other}"\n')
    except MetricDPError:
        return
    assert read["site"] == sites or encoding != other


NUMBERS = [
    "18.0",
    " 18 ",
    "+18",
    "18.",
    "0x12",
    "1_8",
    "1e1",
    "nan",
    "NaN",
    "inf",
    "-inf",
    "",
    "1e400",
    "1e-400",
    "18,0",
    "=18",
    "=0x1.2p4",
]
GIVEN = {"18.0": 18, " 18 ": 18, "+18": 18, "18.": 18, "1e1": 10, "": None}


@pytest.mark.parametrize("word", NUMBERS)
def test_what_is_a_number(word):
    """Nothing is guessed: a number in the declared form, a word for null, or a refusal without the value."""
    near = POLICY.replace("within = 1000", "within = 0.001")
    content = f'{HEADER}s,{MARK},"{word}",good\n'
    if word not in GIVEN:
        with pytest.raises(DataError, match=r"column 'pay', row 0: a (value is not of the type|number of more)"):
            release(content, near)
        return
    (pay,) = release(content, near)["pay"]
    assert (pay == "") if GIVEN[word] is None else abs(float(pay) - GIVEN[word]) < 1


def test_numbers_of_a_csv_file_are_read_exactly():
    """Two numbers that one float would stand for are two: no noise of their size hides that they differ."""
    policy = 'format=2\n[columns.x]\ntype="number"\nepsilon=100000\nresolution=2\n[rows]\norder="public"'
    drawn = {word: set() for word in ("9007199254740991", "9007199254740993", "9007199254740993.001")}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "in.csv"
        for word, seen in drawn.items():
            source.write_text("x\n" + f"{word}\n" * 200)
            seen.update(sanitize(source, Policy.parse(policy)).table["x"].to_pylist())
    # Half-way between two cells a draw goes to either; a hair above, to the upper one alone.
    assert drawn["9007199254740991"] == {2.0**53 - 2, 2.0**53}
    assert drawn["9007199254740993"] == {2.0**53, 2.0**53 + 2}
    assert drawn["9007199254740993.001"] == {2.0**53 + 2}
