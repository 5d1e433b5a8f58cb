"""The README's blocks run as they stand, from the folder of the clone; its links lead somewhere; it is short."""

import re
import shutil
from pathlib import Path

import pytest

import metricdp
from tests.guides import follow

ROOT = Path(metricdp.__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_readme(tmp_path):
    data = tmp_path / "src" / "metricdp" / "cli" / "demo" / "data"
    shutil.copytree(ROOT / "src" / "metricdp" / "cli" / "demo" / "data", data)
    assert follow(ROOT / "README.md", tmp_path) >= 3
    assert (tmp_path / "released.parquet").exists()
    assert (tmp_path / "report.html").exists()


def test_it_is_read_in_three_minutes():
    prose = re.sub(r"```.*?```|\]\([^)]*\)", "", (ROOT / "README.md").read_text(), flags=re.DOTALL)
    assert len(prose.split()) <= 800


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in link:
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def made_by(page):
    """The files that the commands of a page make in the folder of the clone."""
    text = page.read_text(encoding="utf-8").partition("\ncd ")[0]  # what comes after is done elsewhere
    return set(re.findall(r"(?:-o|--report|--out) (\S+)", "\n".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL))))


def test_who_goes_on_after_the_readme_finds_no_file_in_the_way():
    first = made_by(ROOT / "README.md")
    assert "released.parquet" in first
    for page in (ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))):
        if not page.name.startswith(("cookbook", "tables-in")):  # of tables that the reader has
            assert not first & made_by(page), page.name
