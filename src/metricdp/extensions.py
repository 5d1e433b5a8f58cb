"""Metrics, mechanisms, losses, column types, engines, plots and commands by their names, also those of other packages.

Everything that can be asked for by a name stands in a `Registry`. The package's own things stand there as
``name: "module:object"``, and a package outside adds its own by the same line in its ``pyproject.toml``:

    [project.entry-points."metricdp.metrics"]
    edit_distance = "my_package:edit_distance"

Nothing is imported until it is asked for. A name that two packages claim is refused, and both are named.
`docs/extending.md` does each of the seven kinds in one file.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from metricdp.errors import ArgumentError
from metricdp.visible import visible_name

__all__ = ["Extension", "Registry"]

Thing = TypeVar("Thing")
_OURS = "metricdp"


@dataclass(frozen=True)
class Extension:
    """A name that a package has registered.

    Attributes:
        name: what it is asked for by.
        reference: where it is: ``module:object``.
        package: the name of the package that registered it, as pip knows it.
    """

    name: str
    reference: str
    package: str

    def load(self) -> Any:
        """Import it."""
        module, _, path = self.reference.partition(":")
        found: Any = importlib.import_module(module)
        for part in filter(None, path.split(".")):
            found = getattr(found, part)
        return found


class Registry(Generic[Thing]):
    """Things of one kind by their names, imported when they are asked for.

    Args:
        group: the end of the entry points' group: "metrics" for ``metricdp.metrics``.
        noun: what messages call one of them, such as "metric".
        own: the package's own: for each name, ``module:object``.
        check: says what is wrong with a thing that was loaded, in a few words; empty where it is as it should be.

    >>> metrics = Registry("metrics", "metric", {"absolute": "metricdp.metrics.vectors:absolute"})
    >>> metrics["absolute"]()
    absolute()
    >>> "absolute" in metrics, "absurd" in metrics
    (True, False)
    >>> metrics["absurd"]
    Traceback (most recent call last):
    metricdp.errors.ArgumentError: there is no metric 'absurd'; there are: absolute
    """

    def __init__(
        self, group: str, noun: str, own: Mapping[str, str], check: Callable[[Any], str] = lambda thing: ""
    ) -> None:
        self.group = f"metricdp.{group}"
        self.noun = noun
        self._own = {name: Extension(name, reference, _OURS) for name, reference in own.items()}
        self._check = check
        self._loaded: dict[Extension, Thing] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """All names, the package's own first; none of them is imported for it."""
        return tuple(dict.fromkeys([*self._own, *sorted(found.name for found in _outside(self.group))]))

    @property
    def outside(self) -> tuple[str, ...]:
        """The names that other packages have registered."""
        return tuple(name for name in self.names if name not in self._own)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._own or any(found.name == name for found in _outside(self.group))

    def extension(self, name: str) -> Extension | None:
        """Who registered a name; None where nobody did.

        Raises:
            ArgumentError: two packages claim it.
        """
        found = [self._own[name]] if name in self._own else []
        found += [extension for extension in _outside(self.group) if extension.name == name]
        found = list(dict.fromkeys(found))
        if len(found) > 1:
            packages = " and ".join(extension.package for extension in found)
            raise ArgumentError(
                f"the {self.noun} {visible_name(name)!r} is registered by {packages}: one of these packages has to "
                "rename it, or be uninstalled"
            )
        return found[0] if found else None

    def find(self, name: str) -> Thing | None:
        """The thing of that name, imported; None where there is none.

        Raises:
            ArgumentError: two packages claim the name, or it cannot be loaded.
        """
        extension = self.extension(name)
        if extension is None:
            return None
        if extension not in self._loaded:
            self._loaded[extension] = self._load(extension)
        return self._loaded[extension]

    def __getitem__(self, name: str) -> Thing:
        found = self.find(name)
        if found is None:
            raise ArgumentError(f"there is no {self.noun} {visible_name(name)!r}; there are: {', '.join(self.names)}")
        return found

    def _load(self, extension: Extension) -> Thing:
        if self._own.get(extension.name) == extension:
            return cast(Thing, extension.load())
        told = f"the {self.noun} {visible_name(extension.name)!r} of the package {extension.package}"
        try:
            thing = extension.load()
        except Exception as error:  # of another package, or of a folder of ours that wants more installed
            raise ArgumentError(f"{told} cannot be loaded: {type(error).__name__}: {error}") from error
        wrong = self._check(thing)
        if wrong:
            raise ArgumentError(f"{told} ({extension.reference}) cannot be used: {wrong}")
        return cast(Thing, thing)


@functools.cache
def _outside(group: str) -> tuple[Extension, ...]:
    """What other packages have registered; they are looked for once in a process."""
    from importlib.metadata import entry_points

    found = (
        Extension(entry.name, entry.value, "an unnamed package" if entry.dist is None else entry.dist.name)
        for entry in entry_points(group=group)
    )
    return tuple(dict.fromkeys(found))
