"""Accessors for the frames of other libraries, put there when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from metricdp.errors import ArgumentError
from metricdp.lazy import optional_libraries

__all__ = ["enable"]

_LIBRARIES = {
    "pandas": "metricdp.integrations.pandas",
    "polars": "metricdp.integrations.polars",
    "geopandas": "metricdp.integrations.geopandas",
}


def enable(*libraries: str) -> None:
    """Give the frames and columns of other libraries the accessor ``.metricdp``.

    Args:
        libraries: "pandas", "polars", "geopandas"; enabling one twice changes nothing.

    Raises:
        ArgumentError: nothing is known of such a library.
        MissingExtraError: it is not installed.

    >>> import pandas
    >>> import metricdp as mdp
    >>> enable("pandas")
    >>> ages = pandas.Series([31, 47], name="age")
    >>> released = ages.metricdp.release(mdp.geometric(mdp.ln(2) / 5 * mdp.metrics.absolute()))
    >>> released.name, len(released)
    ('age', 2)
    """
    unknown = [name for name in libraries if name not in _LIBRARIES]
    if unknown or not libraries:
        raise ArgumentError(f"which library? There are: {', '.join(_LIBRARIES)}")
    for name in libraries:
        with optional_libraries(_LIBRARIES[name]):
            give: Callable[[], None] = import_module(_LIBRARIES[name]).give_accessors
        give()
