"""Files that somebody gives to a page: streamed to a folder of their browser, and files that a page gives back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import HTTPException, Request
from nicegui import app, ui

from metricdp.errors import FileError
from metricdp.exact.bits import secure
from metricdp.studio.browsers import Browser, Browsers
from metricdp.studio.maps import read_lines
from metricdp.visible import visible_name

__all__ = ["GivenFile", "add_file_route", "file_input", "own_lines_input"]

_SEND = """async (e) => {{
    const file = e.target.files[0];
    if (!file) return;
    const place = '/' + location.pathname.split('/')[1] + '/_files/{key}?name=' + encodeURIComponent(file.name);
    const answer = await fetch(place, {{ method: 'POST', body: file }});
    if (answer.ok) emit();
}}"""
_ENDINGS = (".csv.gz", ".parquet", ".arrow", ".ipc", ".feather", ".csv", ".tsv", ".toml", ".json", ".geojson", ".db")


@dataclass(frozen=True)
class GivenFile:
    """A file that somebody gave.

    Attributes:
        name: what it is called where it came from.
        path: where it is now.
    """

    name: str
    path: Path

    @property
    def shown(self) -> str:
        """Its name, as it may be shown."""
        return visible_name(self.name)


def add_file_route(browsers: Browsers) -> None:
    """Tell NiceGUI's application where files arrive."""

    @app.post("/_files/{key}")
    async def receive(key: str, request: Request, name: str = "") -> dict[str, str]:
        browser = browsers.of(request.state.browser)
        if key not in browser.expected:
            raise HTTPException(404)
        path = browser.new_file(_ending(name))
        with path.open("xb") as file:
            path.chmod(0o600)
            async for chunk in request.stream():
                file.write(chunk)
        browser.expected[key] = GivenFile(Path(name).name or "file", path)
        return {}


def file_input(browser: Browser, label: str, accept: str, given: Callable[[GivenFile], Any]) -> None:
    """The browser's own control for files, onto which one can be dropped, too.

    Args:
        browser: whose file it will be.
        label: what is asked for.
        accept: endings, with commas between them.
        given: called with the file when it is here.
    """
    key = f"{secure().integer(64):016x}"
    browser.expected[key] = None

    async def arrived() -> None:
        file = browser.expected[key]
        if file is not None:
            done = given(file)
            if done is not None:
                await done

    with ui.element("label").classes("file"):
        ui.label(label)
        made = ui.element("input").props(f'type=file accept="{accept}"')
    made.on("change", arrived, js_handler=_SEND.format(key=key))


def own_lines_input(browser: Browser, given: Callable[[], None]) -> None:
    """A control for lines that all maps of this browser show from then on.

    Args:
        browser: whose maps they are.
        given: called when they are there.
    """

    def take(file: GivenFile) -> None:
        try:
            browser.made["lines"] = read_lines(file.path.read_text(encoding="utf-8"))
        except (FileError, UnicodeDecodeError):
            ui.notify("That is no GeoJSON with lines or areas in it.", type="negative")
        given()

    file_input(browser, "Lines of your own (GeoJSON)", ".geojson,.json", take)


def _ending(name: str) -> str:
    """The ending of a name, where it is one that is known; else none.

    >>> _ending("People.CSV.gz"), _ending("people.exe")
    ('.csv.gz', '')
    """
    return next((ending for ending in _ENDINGS if name.lower().endswith(ending)), "")
