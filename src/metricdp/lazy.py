"""Folders that import a name when it is first used, and list their public names and no others.

A folder's ``__init__`` says where each of its names lives:

    if TYPE_CHECKING:
        from metricdp.tables.release import Release
    else:
        __getattr__, __dir__ = lazily(__name__, {"Release": "release"})

    __all__ = ["Release"]

A name may live in a module of its own name. A folder that imports its names at once lists them by
``__dir__ = listing(__all__)``.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from metricdp.errors import MissingExtraError

__all__ = ["lazily", "listing", "missing_extra", "optional_libraries"]

_BRINGS = {
    "pyarrow": "tables", "duckdb": "tables", "pandas": "tables", "sqlglot": "queries", "ibis": "queries",
    "matplotlib": "plots", "mpltern": "plots", "polars": "polars", "geopandas": "geopandas", "h3": "geopandas",
    "sklearn": "sklearn", "pyspark": "spark", "sqlalchemy": "postgres", "psycopg": "postgres", "fastapi": "service",
    "uvicorn": "service", "nicegui": "studio",
}  # fmt: skip
"""Optional libraries, and the extra of this package that installs each."""

_ALL_THAT_IT_NEEDS = {
    "metricdp.queries": "queries", "metricdp.sessions": "queries", "metricdp.estimates": "queries",
    "metricdp.cli.query": "queries", "metricdp.cli.estimate": "queries", "metricdp.cli.compare": "queries",
    "metricdp.cli.synthesize": "queries", "metricdp.integrations.polars": "polars",
    "metricdp.integrations.geopandas": "geopandas", "metricdp.integrations.maps": "geopandas",
    "metricdp.integrations.sklearn": "sklearn", "metricdp.service": "service", "metricdp.studio": "studio",
}  # fmt: skip
"""Parts of this package that need more than the library which is missed first, and the extra that brings all of it."""


def missing_extra(error: ImportError, asking: str) -> MissingExtraError | None:
    """What to install, where a module could not be imported for the lack of an optional library; None elsewhere.

    Args:
        error: of the import.
        asking: the module of this package that was wanted.

    >>> error = ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")
    >>> print(missing_extra(error, "metricdp.tables.release"))
    pyarrow is not installed; run: pip install 'metricdp[tables]'
    >>> print(missing_extra(error, "metricdp.queries.select.asking"))
    pyarrow is not installed; run: pip install 'metricdp[queries]'
    """
    library = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or library not in _BRINGS:
        return None
    whole = (extra for part, extra in _ALL_THAT_IT_NEEDS.items() if f"{asking}.".startswith(f"{part}."))
    return MissingExtraError(library, next(whole, _BRINGS[library]))


@contextmanager
def optional_libraries(asking: str) -> Iterator[None]:
    """Say what to install, where an import in this block fails for the lack of an optional library.

    Args:
        asking: the module of this package that is imported.

    Raises:
        MissingExtraError: such a library is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = missing_extra(error, asking)
        if missing is None:
            raise
        raise missing from None


def lazily(
    package: str, homes: Mapping[str, str], also: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The ``__getattr__`` and ``__dir__`` of a package whose names are imported when they are first used.

    Args:
        package: its ``__name__``.
        homes: for each public name the module under the package that defines it; an empty text where the name is that
            of a module or folder itself.
        also: further names to list, which the package has already.

    >>> find, names = lazily("metricdp", {"ln": "exact.level", "errors": ""})
    >>> find("ln").__name__, find("errors").__name__, names()
    ('ln', 'metricdp.errors', ['errors', 'ln'])
    >>> find("nothing")
    Traceback (most recent call last):
    AttributeError: module 'metricdp' has no attribute 'nothing'
    """

    def find(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = f"{package}.{home or name}"
        with optional_libraries(module):
            found = importlib.import_module(module)
            if not home:
                return found
            value = getattr(found, name)
        setattr(sys.modules[package], name, value)  # so that it is looked for once
        return value

    sys.modules[package].__class__ = _kept(homes)
    return find, listing([*homes, *also])


def _kept(homes: Mapping[str, str]) -> type[types.ModuleType]:
    """A class of module in which a public name never becomes the module of the same name.

    Python sets ``package.name`` to a module under the package when anybody imports it, and would hide a function
    that lives in a module of its own name.
    """

    class Package(types.ModuleType):
        def __setattr__(self, name: str, value: object) -> None:
            if homes.get(name) == name and isinstance(value, types.ModuleType):
                value = getattr(value, name)
            super().__setattr__(name, value)

    return Package


def listing(names: Iterable[str]) -> Callable[[], list[str]]:
    """The ``__dir__`` of a package that shows these names alone.

    >>> listing(["b", "a"])()
    ['a', 'b']
    """
    shown = sorted(names)
    return lambda: list(shown)
