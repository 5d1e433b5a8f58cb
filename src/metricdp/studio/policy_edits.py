"""A policy's text with one thing changed: its other lines and its remarks stay as somebody wrote them."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any

from metricdp.policies._lines import Lines
from metricdp.policies._toml import key, value, written

__all__ = ["read_tree", "with_answer", "with_keys"]

Path = tuple[str, ...]


def read_tree(text: str) -> dict[str, Any] | None:
    """What is written, if it is TOML."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except (tomllib.TOMLDecodeError, ValueError):
        return None


def with_keys(text: str, path: Path, keys: Mapping[str, Any] | None) -> str:
    r"""The text with other keys in one of its tables; remarks stay, but for those right above what is removed.

    Where lines cannot be changed one by one, as in a list over several lines, all is written anew, without remarks.

    Args:
        text: of the policy, which is TOML.
        path: of the table; empty for the keys that stand before all tables.
        keys: all that the table holds from then on; None to remove it.

    >>> text = '# one\n[columns.age]\ntype = "?"  # what is it?\n# two\n[columns.sex]\ntype = "drop"\n'
    >>> print(with_keys(text, ("columns", "age"), {"type": "integer", "within": 5}), end="")
    # one
    [columns.age]
    type = "integer"
    within = 5
    # two
    [columns.sex]
    type = "drop"
    """
    wanted = _changed(read_tree(text) or {}, path, keys)
    edited = _edited(text, path, keys)
    return edited if read_tree(edited) == read_tree(written(wanted)) else written(wanted)


def with_answer(text: str, paths: Collection[Path], answer: Any) -> str:
    r"""The text with one answer for many keys; the remark behind a question goes with it.

    Args:
        text: of the policy, which is TOML.
        paths: of the keys, each of which stands on a line of its own.
        answer: that all of them get.

    >>> print(with_answer('[columns.age]\ntype = "?"  # what is it?\n', [("columns", "age", "type")], "drop"), end="")
    [columns.age]
    type = "drop"
    """
    lines, wanted = text.splitlines(), set(paths)
    for path, number in Lines(text).keys:
        if path in wanted:
            lines[number - 1] = f"{key(path[-1])} = {value(answer)}"
    return "\n".join(lines) + "\n"


def _changed(tree: Mapping[str, Any], path: Path, keys: Mapping[str, Any] | None) -> dict[str, Any]:
    """The tree with the table as it is wanted; at the top, tables are no keys."""
    if not path:
        return dict(keys or {}) | {name: inner for name, inner in tree.items() if isinstance(inner, Mapping)}
    name, rest = path[0], path[1:]
    if not rest:
        others = {one: inner for one, inner in tree.items() if one != name}
        return others if keys is None else {**tree, name: dict(keys)}
    return {**tree, name: _changed(tree.get(name, {}), rest, keys)}


def _edited(text: str, path: Path, keys: Mapping[str, Any] | None) -> str:
    lines, found = text.splitlines(), Lines(text)
    headers = [(table, number - 1) for table, number in found.tables]
    start = next((number for table, number in headers if table == path), -1 if not path else None)
    if start is None:
        return _appended(lines, found, path, keys)
    end = min((number for _, number in headers if number > start), default=len(lines))
    own = {place[len(path) :][0]: number - 1 for place, number in found.keys if start < number - 1 < end}
    old = _table(read_tree(text) or {}, path)
    removed, changed = set(), {}
    for name, number in own.items():
        if keys is None or name not in keys:
            removed |= {number, *_remarks_above(lines, number, start)} if keys is not None else {number}
        elif old.get(name) != keys[name]:
            changed[number] = f"{key(name)} = {value(keys[name])}"
    if keys is None:
        removed |= {start, *_remarks_above(lines, start, -1)}
    fresh = [f"{key(name)} = {value(entry)}" for name, entry in (keys or {}).items() if name not in own]
    last = max([start, *own.values()])
    made: list[str] = [] if last >= 0 else list(fresh)
    for number, line in enumerate(lines):
        if number not in removed:
            made.append(changed.get(number, line))
        if number == last:
            made += fresh
    return "\n".join(made) + "\n"


def _appended(lines: list[str], found: Lines, path: Path, keys: Mapping[str, Any] | None) -> str:
    """The table at the end; one that stood in a single line, as in age = "drop", goes from there."""
    alone = {number - 1 for place, number in found.keys if place == path}
    kept = [line for number, line in enumerate(lines) if number not in alone]
    if keys is not None:
        kept += ["", f"[{'.'.join(map(key, path))}]", *(f"{key(name)} = {value(one)}" for name, one in keys.items())]
    return "\n".join(kept) + "\n"


def _table(tree: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    for name in path:
        inner = tree.get(name, {})
        tree = inner if isinstance(inner, Mapping) else {}
    return tree


def _remarks_above(lines: list[str], number: int, start: int) -> set[int]:
    """The lines of remarks that stand right above a line."""
    found = set()
    while number - 1 > start and lines[number - 1].lstrip().startswith("#"):
        number -= 1
        found.add(number)
    return found
