"""The page on extending metricdp, run as a package from outside would."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import metricdp

SOURCE = Path(metricdp.__file__).parent
PAGE = SOURCE.parent.parent / "docs" / "extending.md"
KINDS = {"metrics", "mechanisms", "losses", "column_types", "engines", "plots", "commands"}


def blocks():
    """Kind, word and text of every fenced block, in order."""
    return re.findall(r"^```(\w*)(?: (\w+))?\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def project():
    return tomllib.loads(next(text for kind, _, text in blocks() if kind == "toml"))["project"]


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    """A folder with the page's package in it, as pip would install it, and an environment that finds it."""
    folder = tmp_path_factory.mktemp("site-packages")
    package, info = folder / "acme", folder / "acme-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    (package / "__init__.py").write_text("")
    for kind, word, text in blocks():
        if kind == "python" and not word.startswith("check_"):
            (package / f"{word}.py").write_text(text, encoding="utf-8")
    described = project()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {described['name']}\nVersion: {described['version']}\n"
    )
    lines = []
    for group, names in described["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {reference}" for name, reference in names.items()), ""]
    (info / "entry_points.txt").write_text("\n".join(lines))
    path = os.pathsep.join([str(folder), str(SOURCE.parent)])
    return os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "PYTHONWARNINGS": "error"}


def run(program, environment, folder):
    done = subprocess.run(
        program, env=environment, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_has_one_of_each():
    assert {group.removeprefix("metricdp.") for group in project()["entry-points"]} == KINDS
    files = {word for kind, word, _ in blocks() if kind == "python" and not word.startswith("check_")}
    lines = {
        reference.split(":")[0].removeprefix("acme.")
        for names in project()["entry-points"].values()
        for reference in names.values()
    }
    assert files == lines, "one file for each line"


CHECKS = [
    (kind, word, text, expected[2])
    for (kind, word, text), expected in zip(blocks(), [*blocks()[1:], ("", "", "")], strict=True)
    if word.startswith("check_")
]


@pytest.mark.long
@pytest.mark.parametrize(("kind", "word", "text", "expected"), CHECKS, ids=[check[1] for check in CHECKS])
def test_what_the_page_shows_is_what_is_printed(kind, word, text, expected, outside, tmp_path):
    if kind == "sh":
        command = tmp_path / "metricdp"
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m metricdp "$@"\n')
        command.chmod(0o755)
        outside = outside | {"PATH": f"{tmp_path}{os.pathsep}{outside['PATH']}"}
        assert run(["bash", "-e", "-c", text], outside, tmp_path) == expected
    else:
        assert run([sys.executable, "-c", text], outside, tmp_path) == expected


def test_nothing_of_it_is_imported_before_it_is_asked_for(outside, tmp_path):
    program = (
        "import sys, metricdp as mdp\n"
        "mdp.laplace(mdp.metrics.absolute()).release(3.0)\n"
        "from metricdp.metrics.registry import METRICS, named_metric\n"
        "assert 'edit_distance' in METRICS.names\n"
        "named_metric('absolute')\n"
        "print('acme' in sys.modules)\n"
    )
    assert run([sys.executable, "-c", program], outside, tmp_path) == "False\n"
