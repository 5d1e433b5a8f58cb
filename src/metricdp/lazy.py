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
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["lazily", "listing"]


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
        if not home:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(f"{package}.{home}"), name)
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
