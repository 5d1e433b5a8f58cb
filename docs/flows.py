"""Writes docs/architecture.md: a drawing of the folders, and the files that four flows enter, by watching them run.

python docs/flows.py            # writes the page, and prints the counts
python docs/flows.py --print    # prints the counts alone
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import tempfile
import textwrap
import threading
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "metricdp"
sys.path.insert(0, str(SOURCE.parent))  # these files, wherever another copy of the package is installed
PAGE = ROOT / "docs" / "architecture.md"
DATA = SOURCE / "cli" / "demo" / "data"
_FUNCTION = inspect.CO_OPTIMIZED  # functions have this flag; modules and classes, which run when imported, do not


_PLUMBING = ("lazy.py",)  # runs only where a name is used for the first time
_ONCE = {
    "sources/csv_files.py: CsvFile.begin": "table opened",
    "policies/_reader.py: Reader.__init__": "policy parsed",
    "policies/sql/statements.py: read_select": "question parsed",
    "channels/verify.py: verify": "channel verified",
}
"""Work that no flow does twice, by the function that does it."""


# Watching


@dataclass
class Flow:
    """The files of the package that one call enters, in the order of their first functions.

    Attributes:
        title: what is called.
        code: the same as code, for the page.
        files: for each file the names of the functions that ran.
        upward: calls from a folder into one above it: the caller's file, and the function that was called.
        work: how often each piece of work was done that is to be done once; files that were opened, too.
        forwards: files of which nothing ran but functions that hand on to another file.
    """

    title: str
    code: str
    files: dict[str, set[str]] = field(default_factory=dict)
    upward: set[tuple[str, str]] = field(default_factory=set)
    work: Counter[str] = field(default_factory=Counter)

    @property
    def folders(self) -> dict[str, list[str]]:
        """The files by folder, from the top of the house down."""
        found: dict[str, list[str]] = {}
        for file in self.files:
            found.setdefault(folder_of(file), []).append(file)
        return dict(sorted(found.items(), key=lambda item: height(item[0])))

    @property
    def forwards(self) -> list[str]:
        return sorted(file for file, names in self.files.items() if _only_forwards(SOURCE / file, names))


def watch(title: str, code: str, run: Callable[[], Any]) -> Flow:
    """Run something and note every function of the package that it enters; what an import runs does not count."""
    flow = Flow(title, code)
    importing = threading.local()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event not in ("call", "return"):
            return
        function = frame.f_code
        if not function.co_filename.startswith(str(SOURCE)):
            return
        if not function.co_flags & _FUNCTION:  # the body of a module or class
            importing.depth = getattr(importing, "depth", 0) + (1 if event == "call" else -1)
            return
        if event == "return" or getattr(importing, "depth", 0):
            return
        file = Path(function.co_filename).relative_to(SOURCE).as_posix()
        if file in _PLUMBING:
            return
        flow.files.setdefault(file, set()).add(function.co_qualname)
        if words := _ONCE.get(f"{file}: {function.co_qualname}"):
            flow.work[words] += 1
        caller = _caller(frame)
        if caller is not None and height(folder_of(caller)) > height(folder_of(file)):
            flow.upward.add((caller, f"{file}: {function.co_qualname}"))

    threading.setprofile(profile)
    sys.setprofile(profile)
    _WATCHED.append(flow)
    try:
        run()
    finally:
        _WATCHED.clear()
        sys.setprofile(None)
        threading.setprofile(None)
    return flow


_WATCHED: list[Flow] = []


def _note_opening(event: str, arguments: tuple[Any, ...]) -> None:
    if _WATCHED and event == "open" and Path(str(arguments[0])).parent == DATA:
        _WATCHED[0].work[f"{Path(arguments[0]).suffix} file opened"] += 1


sys.addaudithook(_note_opening)


def _caller(frame: FrameType) -> str | None:
    above = frame.f_back
    if above is None or not above.f_code.co_filename.startswith(str(SOURCE)):
        return None
    return Path(above.f_code.co_filename).relative_to(SOURCE).as_posix()


def _only_forwards(path: Path, names: set[str]) -> bool:
    """Whether every function that ran hands its work on in one statement, and the file has little else."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    ran = [node for node in functions if node.name in {name.rsplit(".", 1)[-1] for name in names}]
    return bool(ran) and len(functions) <= 3 and all(_hands_on(node) for node in ran)


def _hands_on(function: ast.FunctionDef) -> bool:
    body = [
        node
        for node in function.body
        if not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return len(body) == 1 and isinstance(body[0], ast.Return) and isinstance(body[0].value, ast.Call)


# The house


def layers() -> list[list[str]]:
    """The folders from the top down, those of one storey together, as import-linter checks them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = next(one for one in settings["tool"]["importlinter"]["contracts"] if one["id"] == "layers")
    storeys = [[name.strip("() ") for name in line.split("|")] for line in contract["layers"]]
    there = [[name for name in storey if _exists(name)] for storey in storeys]
    return [storey for storey in there if storey]


def _exists(name: str) -> bool:
    return (SOURCE / name / "__init__.py").exists() or (SOURCE / f"{name}.py").exists()


def height(folder: str) -> int:
    """The storey of a folder, 0 at the top."""
    for number, storey in enumerate(layers_once()):
        if folder in storey:
            return number
    return 0


_LAYERS: list[list[str]] = []


def layers_once() -> list[list[str]]:
    if not _LAYERS:
        _LAYERS.extend(layers())
    return _LAYERS


def folder_of(file: str) -> str:
    return file.split("/")[0].removesuffix(".py")


def purpose(folder: str) -> str:
    """The first sentence of a folder's docstring."""
    path = SOURCE / folder / "__init__.py"
    source = path if path.exists() else SOURCE / f"{folder}.py"
    words = (ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or "").split("\n")[0]
    return re.sub(r"``?", "", words).rstrip(".")


def drawing() -> str:
    """The folders as a house, each with what it is for."""
    lines = []
    for storey in layers_once():
        rooms = [name for name in storey if (SOURCE / name).is_dir()]
        if not rooms:
            continue
        lines.append("+" + "-" * 98 + "+")
        for name in rooms:
            for number, line in enumerate(textwrap.wrap(purpose(name), 80)):
                lines.append(f"| {f'{name}/' if number == 0 else '':<14}  {line:<80} |")
    return "\n".join([*lines, "+" + "-" * 98 + "+"])


# The four flows


def flows() -> list[Flow]:
    """Each of the four, run once in a folder of its own."""
    import metricdp as mdp

    def release() -> object:
        return mdp.laplace(mdp.metrics.great_circle().within(200, factor=2)).release([48.8566, 2.3522])

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "released.parquet"

        def sanitize() -> object:
            return mdp.tables.sanitize(DATA / "health_insurance.csv", DATA / "health_insurance.toml", out=out)

        def optimal() -> object:
            space = mdp.Space.grid(3, 3, mdp.ln(2) * mdp.metrics.euclidean())
            return mdp.design.optimal(space, prior="uniform", loss="distance")

        def query() -> object:
            policy = DATA / "health_insurance.toml"
            return mdp.queries.ask(DATA / "health_insurance.csv", policy, "select avg(age) group by sex")

        return [
            watch("A release", "laplace(great_circle().within(200, factor=2)).release([48.8566, 2.3522])", release),
            watch(
                "A sanitized table", 'tables.sanitize("people.csv", "people.toml", out="released.parquet")', sanitize
            ),
            watch("The best mechanism", 'design.optimal(space, prior="uniform", loss="distance")', optimal),
            watch("An answer", 'queries.ask("people.csv", "people.toml", "select avg(age) group by sex")', query),
        ]


# The page


def page(found: list[Flow]) -> str:
    parts = [
        "# The house",
        "This page is made by `python docs/flows.py`, which runs the four flows and notes every file of the package "
        "that they enter. Read it top-down, import it bottom-up: a folder imports the folders below it, never one "
        "above or beside it; `import-linter` checks that.",
        f"```\n{drawing()}\n```",
        "`metricdp/errors.py` has the tree of exceptions, `extensions.py` the registries that other packages add to, "
        "`lazy.py` how folders import a name when it is used, `visible.py` how names from outside may be shown.",
        "# Four flows",
        "\n".join(["| flow | files | folders | calls upward |", "| --- | --- | --- | --- |", *map(_row, found)]),
        "A call upward goes from a folder to one above it, by an object or a callback that was handed down. "
        "`__init__.py` counts as a file where a function in it runs.",
    ]
    for flow in found:
        parts += [f"## {flow.title}", f"`{flow.code}`", f"{len(flow.files)} files:", _table(flow)]
        if flow.work:
            parts.append("How often: " + ", ".join(f"{words} {times}" for words, times in sorted(flow.work.items())))
        if flow.upward:
            calls = sorted(f"- `{caller}` calls `{called}`" for caller, called in flow.upward)
            parts += ["Calls upward:", "\n".join(calls)]
        if flow.forwards:
            parts.append("Nothing ran there but a call handed on: " + ", ".join(f"`{file}`" for file in flow.forwards))
    return "\n\n".join(parts) + "\n"


def _row(flow: Flow) -> str:
    return f"| {flow.title} | {len(flow.files)} | {len(flow.folders)} | {len(flow.upward)} |"


def _table(flow: Flow) -> str:
    rows = ["| folder | files entered |", "| --- | --- |"]
    for folder, files in flow.folders.items():
        names = ", ".join(f"`{file.removeprefix(folder + '/')}`" for file in files)
        rows.append(f"| {folder} ({len(files)}) | {names} |")
    return "\n".join(rows)


def main() -> None:
    found = flows()
    for flow in found:
        calls = f"{len(flow.upward)} calls upward"
        print(f"{len(flow.files):3} files in {len(flow.folders)} folders, {calls}: {flow.title}")
        if flow.work:
            print("    " + ", ".join(f"{words} {times}" for words, times in sorted(flow.work.items())))
        if flow.forwards:
            print(f"    only hand on: {', '.join(flow.forwards)}")
    if "--print" not in sys.argv:
        PAGE.write_text(page(found), encoding="utf-8")
        print(f"written to {PAGE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
