"""Pages of the reference: one for each folder of the package, with every public name in it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import metricdp

HEAD = "top-level"
"""The page of what stands in ``metricdp`` itself."""


def folders() -> list[str]:
    """The folders and modules of the package that have public names."""
    found = [one.name for one in pkgutil.iter_modules(metricdp.__path__) if not one.name.startswith("_")]
    return [name for name in found if name not in ("lazy", "visible", "cli")]


def public(folder: str) -> dict[str, object]:
    """The public names of a folder, with what they stand for."""
    module = importlib.import_module(f"metricdp.{folder}")
    return {name: getattr(module, name) for name in module.__all__}


def page(folder: str) -> str:
    """A page in reStructuredText: what the folder is, and each of its names."""
    module = importlib.import_module(f"metricdp.{folder}")
    title = f"metricdp.{folder}"
    lines = [title, "=" * len(title), "", (module.__doc__ or "").strip().splitlines()[0], ""]
    for name, thing in public(folder).items():
        kind = "autoclass" if inspect.isclass(thing) else "autofunction" if inspect.isroutine(thing) else "autodata"
        lines += [f".. {kind}:: metricdp.{folder}.{name}", ""]
    return "\n".join(lines)


def top() -> str:
    """The page of the names in ``metricdp`` itself, each of which has its home in a folder."""
    lines = [HEAD, "=" * len(HEAD), "", "``import metricdp as mdp``: these names stand in the package itself.", ""]
    homes = {name: folder for folder in folders() for name in public(folder)}
    for name in metricdp.__all__:
        thing = getattr(metricdp, name)
        if isinstance(thing, ModuleType):
            lines.append(f"- ``mdp.{name}``: :doc:`{name}`")
        else:
            lines.append(f"- ``mdp.{name}``: :py:obj:`metricdp.{homes[name]}.{name}`")
    return "\n".join([*lines, ""])


def write(folder: Path) -> None:
    """Write all pages, and leave those alone that are the same."""
    folder.mkdir(exist_ok=True)
    pages = {HEAD: top()} | {name: page(name) for name in folders()}
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.rst"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
