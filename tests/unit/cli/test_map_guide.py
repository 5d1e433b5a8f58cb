"""The guide "The best mechanism for your map", block by block: commands run, and what is printed is what it shows.

Another machine may end the search elsewhere within the gap, so numbers may differ a little; words may not.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import metricdp

SOURCE = Path(metricdp.__file__).parent
GUIDE = SOURCE.parent.parent / "docs" / "guides" / "the-best-mechanism-for-your-map.md"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")


def blocks():
    """Kind, word after it, and text of every fenced block."""
    return re.findall(r"^```(\w*)(?: (\w+))?\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)


def shows(output, text):
    """Whether some lines of the output are these lines, up to a little in each number.

    The gap, and how many points are ever released, depend on where the search ends.
    """
    wanted, lines = text.splitlines(), output.splitlines()
    return any(
        all(map(same, lines[start : start + len(wanted)], wanted)) for start in range(len(lines) - len(wanted) + 1)
    )


def same(line, other):
    if NUMBER.sub("#", line).split() != NUMBER.sub("#", other).split():
        return False
    numbers = [[float(number.replace(",", "")) for number in NUMBER.findall(text)] for text in (line, other)]
    return line.split()[:1] in (["gap"], ["released"]) or numbers[0] == pytest.approx(numbers[1], rel=3e-4)


def test_lines_that_differ_are_seen():
    assert shows("a\n  loss  740.68 m  on average\nb", "  loss  740.7 m on average\n")
    assert not shows("a\n  loss  740.68 m  on average\nb", "  loss  742 m on average\n")
    assert not shows("a\n  loss  740.68 m  on average\nb", "  loss  740.68 km on average\n")
    assert not shows("a\nb\n", "a\nb\nc\n")


def test_the_guide_word_by_word(tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "metricdp"
    command.write_text(f"#!/bin/sh\nexec {sys.executable} -c 'from metricdp.cli import app; app()' \"$@\"\n")
    command.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCE.parent),
        "PYTHONIOENCODING": "utf-8",
    }
    output, shown = "", 0
    for kind, word, text in blocks():
        if kind == "csv":
            (tmp_path / f"{word}.csv").write_text(text)
        elif kind == "python" or (kind == "sh" and word != "setup"):
            program = [sys.executable, "-c", text] if kind == "python" else ["bash", "-e", "-c", text]
            done = subprocess.run(
                program, cwd=tmp_path, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
            )
            output = done.stdout + done.stderr
            assert done.returncode == (1 if word == "unfinished" else 0), output
        elif kind == "":
            assert shows(output, text), output
            shown += 1
    assert shown == 7
    assert (tmp_path / "map.svg").read_text().count("<path") > 50


def test_the_picture_is_there():
    assert (GUIDE.parent / re.search(r"!\[.*\]\((.*)\)", GUIDE.read_text())[1]).is_file()
