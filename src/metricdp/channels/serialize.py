"""Channels as plain values: a document for JSON, and a table of text for CSV.

The document holds the weights as they are, so a channel comes back exactly as it was. A number from 2^53 on is decimal
text, for not every reader of JSON keeps its last digits. Labels are text, numbers, booleans and null as JSON has them;
a list is a tuple; and what JSON has no word for is an object with one key: ``{"float": "2.0"}``, ``{"set": [1, 2]}``,
``{"fraction": "2/3"}``, ``{"date": "2024-05-01"}``.

A promise in a document is a claim. It is verified when it is read, and refused where it does not hold.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from metricdp.channels.cells import digits, integer, label_text, number_text, read_label, read_number
from metricdp.channels.channel import Channel
from metricdp.channels.whole_rows import ROUNDING
from metricdp.errors import ArgumentError, DataError, MetricDPError, NotFiniteError
from metricdp.metrics import Guarantee, Metric
from metricdp.metrics.amounts import plain
from metricdp.metrics.toml import from_tree, to_tree

__all__ = [
    "FORMAT",
    "VERSION",
    "check_version",
    "claimed",
    "from_json",
    "from_probabilities",
    "from_rows",
    "guarantee_document",
    "label_document",
    "promised",
    "read_document",
    "read_table",
    "to_json",
    "to_rows",
]

FORMAT = "metricdp channel"
VERSION = 1

_EXACT_IN_FLOAT = 1 << 53


# Documents


def to_json(channel: Channel) -> dict[str, Any]:
    """The channel and its promise as plain values for JSON.

    A metric with points that have no TOML form (see `Metric.to_toml`) is left out, and only its formula is kept.

    >>> document = to_json(Channel.from_matrix(["yes", "no"], [0, 1], [["2/3", "1/3"], ["1/3", "2/3"]]))
    >>> document["inputs"], document["total"], document["weights"], document["guarantee"]
    (['yes', 'no'], '3', [[2, 1], [1, 2]], None)
    """
    return {
        "format": FORMAT,
        "version": VERSION,
        "inputs": [label_document(label) for label in channel.inputs],
        "outputs": [label_document(label) for label in channel.outputs],
        "total": digits(channel.total),
        "weights": [[_number(weight) for weight in row] for row in channel.stored.tolist()],
        "guarantee": guarantee_document(channel.promise),
    }


def from_json(document: Any) -> Channel:
    """The channel that `to_json` wrote.

    The promise is verified before it is believed. One whose metric was left out is not: the channel then has none.

    Raises:
        ArgumentError: another format or version, weights that are no channel, or a promise that they do not keep.
    """
    return promised(*read_document(document))


def read_document(document: Any) -> tuple[Channel, Any]:
    """The channel of a document without its promise, and the document of that promise: a claim, not verified."""
    if not isinstance(document, Mapping):
        raise ArgumentError(f"a channel's document is an object, not {type(document).__name__}")
    check_version(document)
    missing = {"inputs", "outputs", "total", "weights"} - set(document)
    if missing:
        raise ArgumentError(f"the document of a channel lacks {', '.join(map(repr, sorted(missing)))}")
    inputs, outputs = _labels(document["inputs"], "inputs"), _labels(document["outputs"], "outputs")
    rows, total = document["weights"], _whole(document["total"])
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise ArgumentError("the weights of a channel are a list of rows")
    if total is None or total < 1:
        raise ArgumentError("the total of a channel is a positive integer")
    if len(rows) != len(inputs):
        raise ArgumentError(f"{len(rows)} rows of weights for {len(inputs)} inputs")
    weights = np.empty((len(inputs), len(outputs)), dtype=object)
    for row, values in enumerate(rows):
        if len(values) != len(outputs):
            raise ArgumentError(f"row {row}: {len(values)} weights for {len(outputs)} outputs")
        whole = [_whole(value) for value in values]
        if None in whole:
            column = label_text(outputs[whole.index(None)])
            raise ArgumentError(f"column {column!r}, row {row}: a weight is an integer, or its decimal digits as text")
        weights[row] = whole
    return Channel(tuple(inputs), tuple(outputs), weights, total), document.get("guarantee")


def check_version(document: Mapping[str, Any]) -> None:
    """Refuse a document of another format or of a later version."""
    if document.get("format") != FORMAT:
        raise ArgumentError(f'this is no channel: its "format" is not "{FORMAT}"')
    version = document.get("version")
    if version != VERSION or isinstance(version, bool):
        written = version if isinstance(version, int) else "unknown"
        raise ArgumentError(f"a channel of version {written}; this release of metricdp reads version {VERSION}")


def promised(channel: Channel, document: Any) -> Channel:
    """The channel with the promise of a document, once verified; without one where there is none to verify."""
    guarantee = claimed(document)
    return channel if guarantee is None else channel.promising(guarantee)


def claimed(document: Any) -> Guarantee | None:
    """The promise of a document, not verified; None where there is none, or where its metric was left out."""
    if document is None:
        return None
    if not isinstance(document, Mapping) or not isinstance(document.get("metric"), str | Mapping | None):
        raise ArgumentError('a guarantee is an object with a "metric", a "delta" and a "formula"')
    form = document.get("metric")
    if form is None:
        return None
    try:
        metric = Metric.from_toml(form) if isinstance(form, str) else from_tree(form)
        return Guarantee(metric, document.get("delta", 0))
    except MetricDPError as error:
        raise ArgumentError(f"the channel's promise cannot be read: {error}") from None
    except (TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):  # of whatever stands there
        raise ArgumentError("the channel's promise cannot be read: its metric is of no known form") from None


def guarantee_document(guarantee: Guarantee | None) -> dict[str, Any] | None:
    """A promise as plain values: the metric as a tree, as TOML where it has dates, as null where it has no form."""
    if guarantee is None:
        return None
    metric: Any
    try:
        metric = to_tree(guarantee.metric)
        if from_tree(metric) != guarantee.metric:
            metric = None
        json.dumps(metric)
    except MetricDPError:
        metric = None
    except TypeError:  # dates have no form in JSON
        metric = guarantee.metric.to_toml()
    return {"metric": metric, "delta": plain(guarantee.delta), "formula": str(guarantee)}


# Labels in documents


def label_document(label: Any) -> Any:
    """A label as plain values, from which `read_label_document` makes an equal one of the same type.

    >>> label_document(("a", 2, 2.0, None))
    ['a', 2, {'float': '2.0'}, None]
    """
    kind = type(label)
    if label is None or kind in (str, bool):
        return label
    if kind is int:
        return label if abs(label) < _EXACT_IN_FLOAT else {"integer": digits(label)}
    if kind is float:
        return {"float": repr(label)} if label.is_integer() or math.isinf(label) else label
    if kind is tuple:
        return [label_document(part) for part in label]
    if kind is frozenset:
        return {"set": sorted((label_document(part) for part in label), key=json.dumps)}
    for name, (known, write, _) in _TAGS.items():
        if kind is known:
            return {name: write(label)}
    raise ArgumentError(f"a label of type {kind.__name__} has no form in a file; text, numbers, dates and tuples have")


def read_label_document(document: Any) -> Any:
    """The label of `label_document`."""
    if document is None or isinstance(document, (str, bool, int, float)):
        return document
    if isinstance(document, list):
        return tuple(read_label_document(part) for part in document)
    if isinstance(document, Mapping) and len(document) == 1:
        ((name, content),) = document.items()
        if name == "set" and isinstance(content, list):
            return frozenset(read_label_document(part) for part in content)
        if name in _TAGS and isinstance(content, str):
            try:
                return _TAGS[name][2](content)
            except (ValueError, ZeroDivisionError):
                raise ArgumentError(f"a label that is no {name}") from None
    raise ArgumentError(f"a label is text, a number, a list, or an object with one of the keys set, {', '.join(_TAGS)}")


_TAGS: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "integer": (int, digits, integer),
    "float": (float, repr, float),
    "fraction": (Fraction, label_text, lambda text: Fraction(*map(integer, text.split("/")))),
    "date": (datetime.date, label_text, datetime.date.fromisoformat),
    "datetime": (datetime.datetime, label_text, datetime.datetime.fromisoformat),
    "time": (datetime.time, label_text, datetime.time.fromisoformat),
}


def _labels(documents: Any, what: str) -> list[Any]:
    if not isinstance(documents, list):
        raise ArgumentError(f"the {what} of a channel are a list of labels")
    labels = []
    for row, document in enumerate(documents):
        try:
            labels.append(read_label_document(document))
        except ArgumentError as error:
            raise ArgumentError(f"row {row}: {what}: {error}") from None
    return labels


def _number(value: int) -> int | str:
    return value if value < _EXACT_IN_FLOAT else digits(value)


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return integer(value)
    return value if type(value) is int else None


# Tables of text


def to_rows(channel: Channel) -> list[list[str]]:
    """The channel as rows of text: a header of outputs, then each input with its probabilities, exactly.

    >>> to_rows(Channel.from_matrix("ab", "yz", [["2/3", "1/3"], [0.25, 0.75]]))
    [['input', 'y', 'z'], ['a', '2/3', '1/3'], ['b', '0.25', '0.75']]
    """
    total, texts = channel.total, dict[int, str]()

    def text(weight: int) -> str:
        if weight not in texts:
            texts[weight] = number_text(Fraction(weight, total))
        return texts[weight]

    rows = [["input", *map(label_text, channel.outputs)]]
    rows += [
        [label_text(label), *map(text, weights)]
        for label, weights in zip(channel.inputs, channel.stored.tolist(), strict=True)
    ]
    return rows


def from_rows(rows: Sequence[Sequence[str]]) -> Channel:
    """The channel of rows of text, with labels or without.

    With labels, the first cell is empty or begins with "input"; then the first row names the outputs and the first
    column the inputs (see `metricdp.channels.cells`). Without, the first cell is a probability, and inputs and outputs
    are 0, 1, 2, ... Probabilities are read exactly (see `from_probabilities`).

    Raises:
        ArgumentError: names the column and the row, counted from 0 below the header.

    >>> print(from_rows([["", "yes", "no"], ["0", "2/3", "1/3"], ["1", "0.25", "0.75"]]))
    channel of 2 inputs and 2 outputs, weights out of 12
       yes   no
    0  2/3  1/3
    1  1/4  3/4
    """
    return from_probabilities(*read_table(rows, "output", "a probability"))


def read_table(rows: Sequence[Sequence[str]], across: str, entry: str) -> tuple[list[Any], list[Any], list[list[str]]]:
    """The labels of the rows, those of the columns, and the cells of a table of text.

    Args:
        rows: of text.
        across: what a column is called in errors, such as "output".
        entry: what a cell is called in errors, such as "a probability".
    """
    filled = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if not filled:
        raise ArgumentError("there is no row")
    corner = filled[0][0]
    if corner == "" or corner.lower().startswith("input"):
        columns: list[Any] = [read_label(cell) for cell in filled[0][1:]]
        names: list[Any] = [read_label(row[0]) for row in filled[1:]]
        cells = [row[1:] for row in filled[1:]]
        if not columns or not names:
            raise ArgumentError(
                f"there is only a header: below it, a row gives an input and then {entry} for each {across}"
            )
    else:
        try:
            read_number(corner)
        except NotFiniteError:
            pass  # said later, with its place
        except DataError:
            raise ArgumentError(
                "the first cell is empty or says 'input' where rows and columns have labels, and is "
                f"{entry} where they have none"
            ) from None
        columns, names, cells = list(range(len(filled[0]))), list(range(len(filled))), filled
    for row, values in enumerate(cells):
        if len(values) != len(columns):
            raise ArgumentError(f"row {row}: {len(values)} cells for {len(columns)} {across}s")
    return names, columns, cells


def from_probabilities(inputs: Sequence[Any], outputs: Sequence[Any], rows: Sequence[Sequence[Any]]) -> Channel:
    """The channel of probabilities as they stand in a file: text, floats, integers and decimals, each taken exactly.

    A row with a decimal or a float may miss one by rounding (up to 1e-6); then its largest entry takes the difference.
    A row of integers and fractions sums to exactly one.

    Raises:
        ArgumentError: an entry that is no probability, with its column and row, or a row that does not sum to one.
    """
    exact = []
    for row, values in enumerate(rows):
        probabilities = [_probability(value, outputs[place], row) for place, value in enumerate(values)]
        missing = 1 - sum(probabilities, Fraction(0))
        if missing and abs(missing) <= ROUNDING and any(_is_rounded(value) for value in values):
            largest = max(range(len(probabilities)), key=probabilities.__getitem__)
            probabilities[largest] += missing
        exact.append(probabilities)
    return Channel.from_matrix(inputs, outputs, exact)


def _probability(value: Any, output: Any, row: int) -> Fraction:
    where = f"column {str(output)!r}, row {row}"
    if value is None:
        raise ArgumentError(f"{where}: a missing value, where a probability belongs")
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        raise ArgumentError(f"{where}: a probability is a number, not {type(value).__name__}")
    if not isinstance(value, str) and not math.isfinite(value):
        raise ArgumentError(f"{where}: NaN or infinity where a probability belongs")
    try:
        probability = read_number(value) if isinstance(value, str) else Fraction(value)
    except DataError as error:
        raise ArgumentError(f"{where}: {error.rule}") from None
    if probability < 0:
        raise ArgumentError(f"{where}: a negative probability")
    return probability


def _is_rounded(value: Any) -> bool:
    if isinstance(value, str):
        return "/" not in value and not value.lstrip("+").isdigit()
    return not isinstance(value, int)
