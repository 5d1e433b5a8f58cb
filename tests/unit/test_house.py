"""The house itself: one place for each thing, and one name."""

import ast
import importlib
import pkgutil
import re
from collections import defaultdict
from pathlib import Path

import pytest

import metricdp

SOURCE = Path(metricdp.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
FOLDERS = sorted(
    module.name for module in pkgutil.iter_modules([str(SOURCE)]) if module.ispkg and not module.name.startswith("_")
)
MOST_SHARED = 12


def lines_that_say_something(file):
    """The lines of a file without blanks, comments, imports and lone punctuation."""
    kept = []
    in_import = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        text = line.strip()
        if in_import:
            in_import = ")" not in text
            continue
        if re.match(r"(from|import)\s", text):
            in_import = "(" in text and ")" not in text
            continue
        if not text or text.startswith("#") or not re.search(r"[A-Za-z0-9]", text):
            continue
        kept.append((number, " ".join(text.split())))
    return kept


def test_no_two_places_share_more_than_twelve_lines():
    runs = defaultdict(list)
    for file in FILES:
        kept = lines_that_say_something(file)
        for start in range(len(kept) - MOST_SHARED):
            window = tuple(text for _, text in kept[start : start + MOST_SHARED + 1])
            runs[window].append(f"{file.relative_to(SOURCE)}:{kept[start][0]}")
    shared = sorted({" ~ ".join(places) for places in runs.values() if len(places) > 1})
    assert not shared, "\n".join(shared)


def public_classes():
    for file in FILES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name, str(file.relative_to(SOURCE))


def test_no_two_public_classes_share_a_name():
    homes = defaultdict(list)
    for name, file in public_classes():
        homes[name].append(file)
    shared = {name: files for name, files in homes.items() if len(files) > 1}
    assert not shared, "\n".join(f"{name}: {', '.join(files)}" for name, files in sorted(shared.items()))


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_lists_its_public_names_and_no_others(folder):
    module = importlib.import_module(f"metricdp.{folder}")
    listed = set(getattr(module, "__all__", []))
    assert listed, f"metricdp.{folder} exports nothing"
    shown = {name for name in dir(module) if not name.startswith("_")}
    assert shown == listed
    for name in listed:
        assert getattr(module, name) is not None
        assert not isinstance(getattr(module, name), type(metricdp)), f"metricdp.{folder}.{name} is a module"


def test_only_mechanisms_test_the_class_of_a_mechanism():
    pattern = re.compile(r"isinstance\([^)]*(Mechanism|Laplace|Geometric|Exponential|Response)\b")
    found = [
        f"{file.relative_to(SOURCE)}:{number}"
        for file in FILES
        if file.relative_to(SOURCE).parts[0] != "mechanisms"
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert not found, "\n".join(found)


def test_files_stay_short():
    long = {str(f.relative_to(SOURCE)): n for f in FILES if (n := len(f.read_text().splitlines())) > 400}
    assert not long
