"""Channels in files: CSV, JSON, Parquet and Arrow.

| file | probabilities | promise |
| --- | --- | --- |
| .csv | decimals, fractions such as 2/3 and scientific notation, read exactly | none |
| .json | integer weights (see `metricdp.channels.serialize`) | yes |
| .parquet, .arrow, .feather | integer weights where metricdp wrote the file, else floats | yes |

A promise in a file is verified when it is read, and the file refused where it does not hold.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metricdp.channels.cells import digits, integer, label_text, read_label
from metricdp.channels.channel import Channel
from metricdp.channels.serialize import (
    FORMAT,
    VERSION,
    check_version,
    from_probabilities,
    from_rows,
    guarantee_document,
    promised,
    read_document,
    to_json,
    to_rows,
)
from metricdp.errors import ArgumentError, FileError, KindError, MissingExtraError
from metricdp.sources.file_kinds import as_path
from metricdp.sources.whole_files import appearing, check_output

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["from_arrow", "read_channel", "read_claim", "read_csv", "read_named", "to_arrow", "write_channel"]

_HEADER = b"metricdp.channel"
_INPUT = "input"

Names = dict[Any, str]
"""What to call inputs and outputs, by their labels."""

Claimed = tuple[Channel, Any, Names]
"""A channel without a promise, the document of the promise that its file claims, and the names of its points."""


def read_channel(path: str | Path) -> Channel:
    r"""The channel in a .csv, .json, .parquet or .arrow file.

    CSV is read as `metricdp.channels.serialize.from_rows` says: with labels where the first cell is empty or begins
    with "input", without where it is a number. Parquet and Arrow files of others are read as `from_arrow` says.

    Raises:
        ArgumentError: what is wrong, with its column and row; also a promise that the channel does not keep.
        MissingExtraError: Parquet and Arrow want pyarrow.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "channel.csv")
    ...     _ = file.write_text("input,y,z\na,2/3,1/3\nb,1/3,2/3\n")
    ...     read_channel(file).outputs
    ('y', 'z')
    """
    return promised(*read_claim(path))


def read_claim(path: str | Path) -> tuple[Channel, Any]:
    """The channel in a file without its promise, and the document of that promise: a claim, not verified.

    See `metricdp.channels.serialize.claimed`.
    """
    return read_named(path)[:2]


def read_named(path: str | Path) -> Claimed:
    """The same as `read_claim`, and what to call inputs and outputs, where `write_channel` was given names."""
    file = as_path(path)
    reader = _form(file)[0]
    if not file.exists():
        raise FileError(f"there is no {file}")
    if file.is_dir():
        raise FileError(f"{file.name} is a folder; a channel is one file")
    try:
        return reader(file)
    except PermissionError:
        raise FileError(f"{file.name} may not be read: no permission") from None
    except UnicodeDecodeError:
        raise FileError(f"{file.name} is not text in UTF-8") from None


def write_channel(
    channel: Channel, path: str | Path, overwrite: bool = False, *, names: Mapping[Any, str] | None = None
) -> None:
    """Write a channel to a .csv, .json, .parquet or .arrow file, which appears whole or not at all.

    Weights are written exactly. CSV has no room for the promise and for names; the others keep them.

    Args:
        channel: to be written.
        path: of the file; its ending says which form it has.
        overwrite: replace the file if it is there.
        names: what to call inputs and outputs, by their labels, where these are coordinates.

    Raises:
        FileError: the file exists already and ``overwrite`` is not given, or it cannot be written.
        ArgumentError: an unknown ending, or a label that has no form in a file.

    >>> import tempfile
    >>> channel = Channel.from_matrix("ab", "yz", [["2/3", "1/3"], ["1/3", "2/3"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_channel(channel, Path(folder, "channel.json"))
    ...     read_channel(Path(folder, "channel.json")) == channel
    True
    """
    out = as_path(path)
    content = _form(out)[1](channel, _names_document(channel, names))
    check_output(out, overwrite)
    with appearing(out, overwrite) as temporary:
        temporary.write_bytes(content)


def read_csv(path: Path, delimiters: Sequence[str] = (",",)) -> list[list[str]]:
    """The rows of a CSV file as text.

    Args:
        path: of the file.
        delimiters: what may stand between fields: the first of them that is in the first line, does.

    Raises:
        FileError: it is not text in UTF-8, or no CSV file.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            header = file.readline()
            file.seek(0)
            sign = next((sign for sign in delimiters if sign in header), delimiters[0])
            return list(csv.reader(file, strict=True, delimiter=sign))
        except csv.Error as error:
            raise FileError(f"{path.name} cannot be read as CSV: {error}") from None
        except UnicodeDecodeError:
            raise FileError(f"{path.name} is not text in UTF-8") from None


def _names_document(channel: Channel, names: Mapping[Any, str] | None) -> dict[str, list[str]] | None:
    if names is None:
        return None
    sides = ("inputs", channel.inputs), ("outputs", channel.outputs)
    return {side: [names.get(label, label_text(label)) for label in labels] for side, labels in sides}


def _read_names(channel: Channel, document: Any) -> Names:
    if document is None:
        return {}
    names: Names = {}
    for side, labels in (("outputs", channel.outputs), ("inputs", channel.inputs)):
        found = document.get(side) if isinstance(document, Mapping) else None
        if not isinstance(found, list) or len(found) != len(labels) or not all(isinstance(one, str) for one in found):
            raise KindError(f"the names of the {side} are a list with a text for each of them")
        names |= dict(zip(labels, found, strict=True))
    return names


def to_arrow(channel: Channel, names: Any = None) -> pa.Table:
    """The channel as an Arrow table: a column "input" of labels, then a column of weights for each output.

    Weights are 64-bit integers, or decimal text where one of them is larger. The total, the promise, the format and its
    version lie beside the schema.
    """
    pa = _pyarrow()
    small = channel.total < 1 << 63
    columns = [
        pa.array(column if small else map(digits, column), pa.int64() if small else pa.string())
        for column in channel.stored.T.tolist()
    ]
    header = {
        "format": FORMAT,
        "version": VERSION,
        "total": digits(channel.total),
        "guarantee": guarantee_document(channel.promise),
        "names": names,
    }
    labels = pa.array([label_text(label) for label in channel.inputs], pa.string())
    heads = [_INPUT, *(label_text(label) for label in channel.outputs)]
    return pa.table([labels, *columns], names=heads).replace_schema_metadata({_HEADER: json.dumps(header)})


def from_arrow(table: pa.Table) -> Channel:
    """The channel of an Arrow table, written by `to_arrow` or by others.

    In a table of others, each column is an output with its probabilities as floats, or as text as in CSV. The labels of
    the inputs are the index of the pandas frame that it was, or else the first column if it is called "input" or is of
    no type of numbers; without either the inputs are 0, 1, 2, ... Names of columns are read as labels in CSV are: "3"
    is the integer 3.
    """
    return promised(*_from_arrow(table)[:2])


def _from_arrow(table: pa.Table) -> Claimed:
    metadata = table.schema.metadata or {}
    if _HEADER in metadata:
        return _own(table, metadata[_HEADER])
    place = _label_column(table)
    names = [name for number, name in enumerate(table.column_names) if number != place]
    if not names or not table.num_rows:
        raise ArgumentError("there is no column of probabilities, or no row")
    columns = [table.column(number).to_pylist() for number in range(table.num_columns) if number != place]
    inputs: list[Any] = list(range(table.num_rows))
    if place is not None:
        inputs = table.column(place).to_pylist()
        inputs = [read_label(label) if isinstance(label, str) else label for label in inputs]
    labels = [read_label(name) for name in names]
    return from_probabilities(inputs, labels, list(zip(*columns, strict=True))), None, {}


def _own(table: pa.Table, written: bytes) -> Claimed:
    try:
        header = json.loads(written)
        check_version(header)
        total = integer(header["total"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = str(error) if isinstance(error, ArgumentError) else "it is damaged"
        raise ArgumentError(f"the header of the channel cannot be read: {why}") from None
    if table.num_columns < 2 or table.column_names[0] != _INPUT:
        raise ArgumentError("the channel's table has lost its column 'input', or all others")
    weights = np.empty((table.num_rows, table.num_columns - 1), dtype=object)
    for place, name in enumerate(table.column_names[1:]):
        for row, value in enumerate(table.column(place + 1).to_pylist()):
            digital = isinstance(value, str) and value.isascii() and value.isdigit()
            if not digital and type(value) is not int:
                where = f"column {name!r}, row {row}"
                raise ArgumentError(f"{where}: a weight is an integer, or its decimal digits as text")
            weights[row, place] = integer(value) if digital else value
    inputs = table.column(0).to_pylist()
    if not all(isinstance(label, str) for label in inputs):
        raise ArgumentError(f"column {_INPUT!r}: labels are text here")
    outputs = [read_label(name) for name in table.column_names[1:]]
    channel = Channel(tuple(map(read_label, inputs)), tuple(outputs), weights, total)
    return channel, header.get("guarantee"), _read_names(channel, header.get("names"))


def _label_column(table: pa.Table) -> int | None:
    pa = _pyarrow()
    for name in _pandas_index(table.schema.metadata or {}):
        if name in table.column_names:
            return int(table.column_names.index(name))
    if not table.num_columns:
        return None
    first, kind = table.column_names[0], table.schema.types[0]
    if first == "" or first.lower().startswith(_INPUT):
        return 0
    numeric = pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    return None if numeric else 0


def _pandas_index(metadata: dict[bytes, bytes]) -> Sequence[str]:
    """The names of the columns that were the index of a frame; a plain count of rows is none."""
    try:
        index = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", [])
        return [name for name in index if isinstance(name, str)]
    except (ValueError, AttributeError, TypeError):
        return []


# Files


def _read_json(path: Path) -> Claimed:
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        where = f": line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise FileError(f"{path.name} cannot be read as JSON{where}") from None
    try:
        channel, claim = read_document(document)
        return channel, claim, _read_names(channel, document.get("names"))
    except RecursionError:
        raise FileError(f"{path.name} holds labels that are nested too deeply") from None


def _write_json(channel: Channel, names: Any) -> bytes:
    document = to_json(channel) | ({} if names is None else {"names": names})
    rows = ",\n".join(f"    {json.dumps(row)}" for row in document.pop("weights"))
    head = json.dumps(document, indent=2, allow_nan=False)[:-2]
    return f'{head},\n  "weights": [\n{rows}\n  ]\n}}\n'.encode()


def _write_csv(channel: Channel, names: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(to_rows(channel))
    return text.getvalue().encode()


def _read_parquet(path: Path) -> Claimed:
    pa = _pyarrow()
    import pyarrow.parquet as pa_parquet

    try:
        with pa_parquet.ParquetFile(path) as file:
            table = file.read()
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, "Parquet", error) from None
    return _from_arrow(table)


def _read_ipc(path: Path) -> Claimed:
    pa = _pyarrow()
    try:
        with pa.memory_map(str(path)) as memory, pa.ipc.open_file(memory) as file:
            table = file.read_all()
            table.validate(full=True)  # of a damaged file, lengths and offsets may point anywhere
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(path, "Arrow", error) from None
    return _from_arrow(table)


def _unreadable(path: Path, kind: str, error: Exception) -> Exception:
    if isinstance(error, PermissionError):
        return error
    return FileError(f"{path.name} cannot be read as {kind}: it is damaged, or something else")


def _write_parquet(channel: Channel, names: Any) -> bytes:
    table = to_arrow(channel, names)
    import pyarrow.parquet as pa_parquet

    out = io.BytesIO()
    pa_parquet.write_table(table, out, compression="snappy")
    return out.getvalue()


def _write_ipc(channel: Channel, names: Any) -> bytes:
    pa = _pyarrow()
    table, out = to_arrow(channel, names), io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ModuleNotFoundError:
        raise MissingExtraError("pyarrow", "tables") from None
    return pyarrow


_Form = tuple[Callable[[Path], Claimed], Callable[[Channel, Any], bytes]]
_FORMS: dict[str, _Form] = {
    ".csv": (lambda path: (from_rows(read_csv(path)), None, {}), _write_csv),
    ".json": (_read_json, _write_json),
    ".parquet": (_read_parquet, _write_parquet),
    ".arrow": (_read_ipc, _write_ipc),
    ".feather": (_read_ipc, _write_ipc),
}


def _form(path: Path) -> _Form:
    form = _FORMS.get(path.suffix.lower())
    if form is None:
        raise ArgumentError(f"{path.name}: the file of a channel ends in one of {', '.join(_FORMS)}")
    return form
