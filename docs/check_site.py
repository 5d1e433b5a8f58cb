"""Checks the built site: python docs/check_site.py docs/_build. Exits with status 1 and says what is missing."""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "src"), str(HERE)]

OUTSIDE = ("http", "https", "mailto")


class Page(HTMLParser):
    """What a page refers to, what can be referred to in it, and its pictures without words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.wordless: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.anchors.add(str(given["id"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        source = given.get("src") or (given.get("href") if tag == "link" else None)
        if source:
            self.loaded.append(source)
        if tag == "img" and len((given.get("alt") or "").split()) < 2:
            self.wordless.append(str(given.get("src")))


def problems(folder: Path, names: dict[str, list[str]]) -> list[str]:
    """Dead links, files from elsewhere, pictures without words, and public names that no page has.

    Args:
        folder: of the site.
        names: for each page of the reference, the anchors that it must have.
    """
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in folder.rglob("*.html")}
    found = []
    for path, page in pages.items():
        where = path.relative_to(folder)
        found += [f"{where}: the picture {source} has no words" for source in page.wordless]
        found += [f"{where}: {one} comes from elsewhere" for one in page.loaded if urlsplit(one).scheme in OUTSIDE]
        for link in {*page.links, *page.loaded}:
            parts = urlsplit(link)
            if parts.scheme or link.startswith("//"):
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{where}: there is no {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors | {"top"}:
                found.append(f"{where}: {link} leads to no place of that page")
    for name, anchors in names.items():
        there = pages.get(folder / f"{name}.html")
        has = set() if there is None else there.anchors
        found += [f"{name}.html: {anchor} is missing" for anchor in anchors if anchor not in has]
    if not (folder / "searchindex.js").exists():
        found.append("there is no index to search")
    return sorted(found)


def public_names() -> dict[str, list[str]]:
    """The anchors of the reference, by page."""
    import api_pages

    return {
        f"api/{folder}": [f"metricdp.{folder}.{name}" for name in api_pages.public(folder)]
        for folder in api_pages.folders()
    }


def main() -> None:
    """Check the site in the folder that is named."""
    folder, names = Path(sys.argv[1]).resolve(), public_names()
    found = problems(folder, names)
    for problem in found:
        print(problem)
    pages = sum(1 for _ in folder.rglob("*.html"))
    print(f"{pages} pages, {sum(map(len, names.values()))} public names, {len(found)} problems")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
