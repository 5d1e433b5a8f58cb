"""The pages of the site: links that lead somewhere, pictures with words, every public name. `make docs` builds it."""

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest

import metricdp
from tests.guides import follow

DOCS = Path(metricdp.__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "story_pages", "api"} & set(path.parts))
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")


def script(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def without_code(text):
    return re.sub(r"`[^`\n]+`", "", re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(path):
    """What GitHub and the site make of the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.replace("`", "").lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", [pytest.param(path, id=str(path.relative_to(DOCS))) for path in PAGES])
def test_links_lead_somewhere_and_pictures_have_words(page):
    text = without_code(page.read_text(encoding="utf-8"))
    for words, link in re.findall(r"(!?\[[^\]]*\])\(([^)\s]+)\)", text):
        if words.startswith("!"):
            assert len(words.strip("![]").split()) >= 2, f"{link} has no words"
        if "://" in link or link.startswith("mailto:"):
            continue
        place, _, part = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        assert target.exists(), f"there is no {link}"
        if part and target.suffix == ".md":
            assert part in anchors(target), f"{link} leads to no heading"


def test_every_page_is_in_the_table_of_contents():
    assert "\nguides/*\n" in INDEX
    assert "\ndecisions/0*\n" in INDEX
    listed = set(re.findall(r"^([\w/-]+)$", INDEX, re.MULTILINE))
    for page in PAGES:
        name = str(page.relative_to(DOCS).with_suffix(""))
        if not name.startswith(("stories/", "decisions/0", "guides/")) and name != "index":
            assert name in listed, f"{name} is in no table of contents"


def test_the_reference_has_every_public_name():
    made = script("api_pages")
    folders = [one.name for one in Path(metricdp.__file__).parent.iterdir() if (one / "__init__.py").exists()]
    assert set(folders) - {"cli"} <= set(made.folders())
    for folder in made.folders():
        text = made.page(folder)
        module = importlib.import_module(f"metricdp.{folder}")
        for name in module.__all__:
            assert re.search(rf"^\.\. auto\w+:: metricdp\.{folder}\.{name}$", text, re.MULTILINE)
    top = made.top()
    assert all(f"mdp.{name}``" in top for name in metricdp.__all__)


def test_the_check_of_the_built_site_finds_what_is_wrong(tmp_path):
    check = script("check_site")
    (tmp_path / "searchindex.js").write_text("")
    (tmp_path / "a.html").write_text(
        '<p id="x"><a href="b.html#y"></a><a href="#x"></a><img src="b.html" alt="two words">'
    )
    (tmp_path / "b.html").write_text('<p id="y">')
    assert check.problems(tmp_path, {"a": ["x"]}) == []
    (tmp_path / "b.html").write_text(
        '<img src="a.html"><script src="https://elsewhere/x.js"></script><a href="c.html">'
    )
    found = check.problems(tmp_path, {"a": ["x", "z"]})
    for words in ("leads to no place", "has no words", "comes from elsewhere", "there is no c.html", "z is missing"):
        assert any(words in problem for problem in found), words
    (tmp_path / "searchindex.js").unlink()
    assert "there is no index to search" in check.problems(tmp_path, {})


@pytest.mark.parametrize("name", script("notebook_files").NAMES)
def test_a_notebook_is_its_story_executed(name):
    made = script("notebook_files")
    path = made.NOTEBOOKS / f"{name}.ipynb"
    tree = json.loads(path.read_text(encoding="utf-8"))
    sources = [(cell["cell_type"] == "code", "".join(cell["source"])) for cell in tree["cells"]]
    story = made.parts((made.STORIES / f"{name}.md").read_text(encoding="utf-8"))
    assert sources == [(kind == "code", text) for kind, text in story], "run: make notebooks"
    assert (tree["nbformat"], path.stat().st_size < 400_000) == (4, True)
    pictures = [
        output for cell in tree["cells"] for output in cell.get("outputs", []) if "image/png" in output.get("data", {})
    ]
    assert pictures
    assert all(len(output["metadata"]["image/png"]["alt"].split()) > 3 for output in pictures)


@pytest.mark.parametrize("name", script("notebook_files").NAMES)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_code_of_a_notebook_runs(name):
    made = script("notebook_files")
    cells = made.notebook(name)["cells"]
    assert sum(bool(cell.get("outputs")) for cell in cells) >= 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("page", "shown"), [("start.md", 1), ("concepts/what-a-metric-promises.md", 1), ("concepts/why-not-epsilon.md", 1)]
)
def test_blocks_of_the_first_pages_run(page, shown, tmp_path):
    (tmp_path / "src").symlink_to(DOCS.parent / "src")
    assert follow(DOCS / page, tmp_path) == shown
