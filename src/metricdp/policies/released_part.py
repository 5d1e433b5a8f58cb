"""The part of a policy that a sanitized table may carry: what was done with the columns that are in it."""

from __future__ import annotations

import tomllib
from decimal import Decimal

from metricdp.policies._toml import written

__all__ = ["released_part"]

_TOP = ("format", "records", "rows")


def released_part(text: str, released: tuple[str, ...]) -> str:
    r"""The policy without comments, and without a word of columns that are left out.

    Args:
        text: the policy as it was written.
        released: the names of the entries that stay.

    >>> print(
    ...     released_part('format = 2\ncolumns.note = "drop"\ncolumns.age = {type = "integer", within = 5}', ("age",))
    ... )
    format = 2
    <BLANKLINE>
    [columns]
    <BLANKLINE>
    [columns.age]
    type = "integer"
    within = 5
    <BLANKLINE>
    """
    tree = tomllib.loads(text, parse_float=Decimal)
    columns = {name: entry for name, entry in tree["columns"].items() if name in released}
    return written({key: tree[key] for key in _TOP if key in tree} | {"columns": columns})
