"""Where in a TOML text a key stands, so that a mistake can be found."""

from __future__ import annotations

import re

__all__ = ["Lines"]

_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_PATH = rf"({_PART}(?:\s*\.\s*{_PART})*)"
_KEY = re.compile(rf"\s*{_PATH}\s*=")
_HEADER = re.compile(rf"\s*\[\[?\s*{_PATH}\s*\]\]?\s*(?:#.*)?")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class Lines:
    r"""The line of each table and key of a TOML text, counted from 1.

    Attributes:
        tables: the headers in their order, with their lines.
        keys: what is assigned, in its order, with its lines.

    >>> lines = Lines('a = 1\n[b."c d"]\ne = 2\n"f\\"g" = 3')
    >>> lines.of(("a",)), lines.of(("b", "c d")), lines.of(("b", "c d", "e")), lines.of(("b", "c d", "f"))
    (1, 2, 3, 2)
    >>> lines.of(("b", "c d", 'f"g'))
    4
    """

    def __init__(self, text: str) -> None:
        self._lines: dict[tuple[str, ...], int] = {}
        self.tables: list[tuple[tuple[str, ...], int]] = []
        self.keys: list[tuple[tuple[str, ...], int]] = []
        table: tuple[str, ...] = ()
        for number, line in enumerate(text.splitlines(), start=1):
            if found := _HEADER.fullmatch(line):
                table = _parts(found[1])
                self.tables.append((table, number))
                self._lines.setdefault(table, number)
            elif found := _KEY.match(line):
                path = (*table, *_parts(found[1]))
                self.keys.append((path, number))
                for depth in range(len(table) + 1, len(path) + 1):
                    self._lines.setdefault(path[:depth], number)

    def of(self, path: tuple[str, ...]) -> int:
        """The line of the key, or of the nearest table around it; 0 where there is none."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 0)


def _parts(written: str) -> tuple[str, ...]:
    """The names in a dotted key, without their quotes."""
    return tuple(map(_name, re.findall(_PART, written)))


def _name(part: str) -> str:
    if part.startswith('"'):
        return _ESCAPE.sub(_unescaped, part[1:-1])
    return part[1:-1] if part.startswith("'") else part


def _unescaped(found: re.Match[str]) -> str:
    number = found[1] or found[2]
    return _ESCAPED.get(found[3], found[3]) if number is None else chr(min(int(number, 16), 0x10FFFF))
