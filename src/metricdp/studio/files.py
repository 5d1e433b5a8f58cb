"""Files that somebody gives to a page: streamed to a folder of their browser, and files that a page gives back."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import HTTPException, Request
from nicegui import app, ui

from metricdp.errors import FileError, MetricDPError
from metricdp.exact.bits import secure
from metricdp.studio.browsers import Browser, Browsers
from metricdp.studio.controls import said
from metricdp.studio.maps import read_lines
from metricdp.visible import visible_name

__all__ = ["GivenFile", "add_file_route", "file_input", "file_name", "own_lines_input", "text_in"]

_SEND = """(e) => {{
    const input = e.target, file = input.files[0];
    if (!file) return;
    const told = input.closest('label').querySelector('.file-sent');
    const ended = (words) => {{ told.textContent = words; input.value = ''; }};
    const sent = new XMLHttpRequest();
    const place = '/' + location.pathname.split('/')[1] + '/_files/{key}?name=' + encodeURIComponent(file.name);
    sent.open('POST', place);
    sent.upload.onprogress = (now) => {{
        told.textContent = 'sending: ' + Math.floor(100 * now.loaded / Math.max(now.total, 1)) + '%';
    }};
    sent.onload = () => {{
        ended(sent.status === 200 ? '' : 'It did not arrive: reload the page and try again.');
        if (sent.status === 200) emit();
    }};
    sent.onerror = () => ended('It did not arrive: it cannot be read, or the studio has stopped.');
    sent.send(file);
}}"""
_DROP = """(e) => {
    e.preventDefault();
    const input = e.currentTarget.querySelector('input');
    if (!e.dataTransfer.files.length) return;
    input.files = e.dataTransfer.files;
    input.dispatchEvent(new Event('change', { bubbles: true }));
}"""
_ENDINGS = (".csv.gz", ".parquet", ".arrow", ".ipc", ".feather", ".csv", ".tsv", ".toml", ".json", ".geojson", ".db")
_LONGEST = 50  # characters, of up to four bytes each


@dataclass(frozen=True)
class GivenFile:
    """A file that somebody gave.

    Attributes:
        name: what it is called where it came from.
        path: where it is now.
        encoding: of its text, where somebody said that it is not UTF-8.
    """

    name: str
    path: Path
    encoding: str | None = None

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
        path = browser.new_folder() / file_name(name)
        try:
            with path.open("xb") as file:
                path.chmod(0o600)
                async for chunk in request.stream():
                    file.write(chunk)
        except BaseException:  # a disk that is full, or somebody who went away: no half of a file stays
            path.unlink(missing_ok=True)
            raise
        browser.expected[key] = GivenFile(path.name, path)
        return {}


def file_input(browser: Browser, label: str, accept: str, given: Callable[[GivenFile], Any]) -> Any:
    """A control for a file: chosen, or dropped onto it.

    Args:
        browser: whose file it will be.
        label: what is asked for.
        accept: endings, with commas between them.
        given: called with the file when it is here; a `MetricDPError` of it says why the file is not taken.

    Returns:
        The words below it, which say why the last file was not taken.
    """
    key = f"{secure().integer(64):016x}"
    browser.expected[key] = None

    async def arrived() -> None:
        file = browser.expected[key]
        if file is None:
            return
        refused.text = ""
        try:
            done = given(file)
            if done is not None:
                await done
        except MetricDPError as error:
            refused.text = f"{file.shown} was not taken: {error}"
        except Exception as error:  # its message may hold a secret
            refused.text = f"{file.shown} was not taken: it cannot be read ({type(error).__name__})."
            raise

    with ui.element("div").classes("file-with-words"):
        with ui.element("label").classes("file") as place:
            ui.html(html.escape(label), tag="span").classes("file-label")
            ui.html("choose a file", tag="span").classes("file-button")
            ui.html("or drop it here", tag="span").classes("file-hint")
            made = ui.element("input").props(f'type=file accept="{accept}"').classes("unseen")
            ui.html("", tag="span").classes("file-sent").props('aria-live="polite"')
        refused = said("problem")
    made.on("change", arrived, js_handler=_SEND.format(key=key))
    place.on("drop", js_handler=_DROP)
    place.on("dragover", js_handler="(e) => e.preventDefault()")
    return refused


def own_lines_input(browser: Browser, given: Callable[[], None]) -> None:
    """A control for lines that all maps of this browser show from then on.

    Args:
        browser: whose maps they are.
        given: called when they are there.
    """

    def take(file: GivenFile) -> None:
        browser.made["lines"] = read_lines(text_in(file))
        given()

    file_input(browser, "Lines of your own (GeoJSON)", ".geojson,.json", take)


def text_in(file: GivenFile) -> str:
    """The text of a file.

    Raises:
        FileError: it is not text in UTF-8.
    """
    try:
        return file.path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise FileError("it is not text in UTF-8") from None


def file_name(name: str) -> str:
    """The name under which a file is kept: as it was called, but in no other folder, and of bearable length.

    >>> file_name("../People 2024.CSV.gz"), file_name("x" * 300 + ".csv")[-8:], file_name("..")
    ('People 2024.csv.gz', 'xxxx.csv', 'file')
    """
    base = "".join(sign for sign in name.replace("\\", "/").rpartition("/")[2] if sign.isprintable())
    ending = next((one for one in _ENDINGS if base.lower().endswith(one)), "")
    stem = base[: len(base) - len(ending)].lstrip(".")[-_LONGEST:]
    return f"{stem or 'file'}{ending}"
