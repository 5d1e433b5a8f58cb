"""Where in a TOML text a key stands, so that a mistake can be found."""

from __future__ import annotations

import re
import tomllib

__all__ = ["Lines"]

_PART = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_KEY = re.compile(rf"\s*({_PART}(?:\s*\.\s*{_PART})*)\s*=")


class Lines:
    r"""The line of each table and key of a TOML text, counted from 1.

    >>> lines = Lines('a = 1\n[b."c d"]\ne = 2\n"f\\"g" = 3')
    >>> lines.of(("a",)), lines.of(("b", "c d")), lines.of(("b", "c d", "e")), lines.of(("b", "c d", "f"))
    (1, 2, 3, 2)
    >>> lines.of(("b", "c d", 'f"g'))
    4
    """

    def __init__(self, text: str) -> None:
        self._lines: dict[tuple[str, ...], int] = {}
        table: tuple[str, ...] = ()
        for number, line in enumerate(text.splitlines(), start=1):
            if line.lstrip().startswith("["):
                header = _path(line.strip())
                if header:
                    table = header
                    self._lines.setdefault(table, number)
            elif found := _KEY.match(line):
                path = (*table, *_path(f"{found[1]} = 0"))
                for depth in range(len(table) + 1, len(path) + 1):
                    self._lines.setdefault(path[:depth], number)

    def of(self, path: tuple[str, ...]) -> int:
        """The line of the key, or of the nearest table around it; 0 where there is none."""
        while path and path not in self._lines:
            path = path[:-1]
        return self._lines.get(path, 0)


def _path(line: str) -> tuple[str, ...]:
    """The path that a table's header or a key opens; empty where the line is the middle of an array."""
    try:
        tree = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path: list[str] = []
    while isinstance(tree, dict) and tree:
        ((key, tree),) = tree.items()
        path.append(key)
    return tuple(path)
