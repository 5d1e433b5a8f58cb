"""Notebooks from docs/stories, executed: python docs/notebook_files.py writes docs/notebooks/*.ipynb.

A story is a page whose Python blocks run one after the other. The notebook has its text, its code and what the code
gave: printed text, and the value of the last line, as a picture where it is one. Only the package is needed for it.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS.parent / "src"))
STORIES = DOCS / "stories"
NOTEBOOKS = DOCS / "notebooks"
NAMES = ("locations", "meters", "salaries", "survey", "optimal-map")

Cell = dict[str, Any]


def parts(text: str) -> list[tuple[str, str]]:
    """A story's parts: ("text", ..) and ("code", ..), in order."""
    found = []
    for place, part in enumerate(re.split(r"^```python\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)):
        if part.strip():
            found.append(("code" if place % 2 else "text", part.strip("\n")))
    return found


def run(code: str, names: dict[str, Any]) -> list[Cell]:
    """Run a cell as a notebook would, and say what it gave."""
    tree, last = ast.parse(code), None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)  # type: ignore[attr-defined]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = None if last is None else eval(compile(last, "<cell>", "eval"), names)
    outputs: list[Cell] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        outputs.append({"output_type": "display_data", **_shown(value)})
    return outputs


def _shown(value: Any) -> Cell:
    """A value as a notebook shows it."""
    if hasattr(value, "_repr_mimebundle_"):
        data, metadata = value._repr_mimebundle_()
        image = base64.b64encode(data["image/png"]).decode("ascii")
        return {"data": {"image/png": image, "text/plain": _lines(data["text/plain"])}, "metadata": metadata}
    return {"data": {"text/plain": _lines(repr(value))}, "metadata": {}}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook(name: str) -> Cell:
    """The notebook of a story, executed."""
    cells: list[Cell] = []
    names: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for number, (kind, text) in enumerate(parts((STORIES / f"{name}.md").read_text(encoding="utf-8"))):
        cell: Cell = {"id": f"cell-{number}", "metadata": {}, "source": _lines(text)}
        if kind == "text":
            cells.append({"cell_type": "markdown", **cell})
        else:
            count += 1
            cells.append({"cell_type": "code", "execution_count": count, "outputs": run(text, names), **cell})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def page(name: str, pictures: Path) -> str:
    """A page of the site from a notebook: what it says, its code, and what that gave."""
    tree = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    blocks: list[str] = []
    for number, cell in enumerate(tree["cells"]):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            blocks.append(text)
            continue
        blocks.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                blocks.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            elif "image/png" in output["data"]:
                picture = pictures / f"{name}-{number}.png"
                picture.write_bytes(base64.b64decode(output["data"]["image/png"]))
                alt = output["metadata"]["image/png"]["alt"].replace("[", "(").replace("]", ")").replace("\n", " ")
                blocks.append(f"![{alt}]({picture.name})")
            else:
                blocks.append(f"```text\n{''.join(output['data']['text/plain']).rstrip()}\n```")
    blocks.insert(
        1, f"{{download}}`This page as a notebook <../notebooks/{name}.ipynb>`, with what it printed when it ran."
    )
    return "\n\n".join(blocks) + "\n"


def write_pages(folder: Path) -> None:
    """Write the pages of all notebooks."""
    folder.mkdir(exist_ok=True)
    for name in NAMES:
        (folder / f"{name}.md").write_text(page(name, folder), encoding="utf-8")


def main() -> None:
    """Run all stories, and write their notebooks."""
    NOTEBOOKS.mkdir(exist_ok=True)
    for name in NAMES:
        path = NOTEBOOKS / f"{name}.ipynb"
        path.write_text(json.dumps(notebook(name), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        print(f"{path.name}: {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main()
