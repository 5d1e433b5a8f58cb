"""What all pages share: the way to the others, light and dark, undo, and how things look."""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import Request
from nicegui import ui

from metricdp.studio.browsers import Browser, Browsers
from metricdp.studio.files import add_file_route

__all__ = ["PAGES", "Page", "add_pages", "build_frame"]

_STYLE = (Path(__file__).parent / "data" / "studio.css").read_text(encoding="utf-8")
SENT = "metricdp_studio_sent"
"""The cookie with the number of what a page sent last when it was left."""
_LONGEST_WAIT = 1.0
_SCRIPT = """<script>
// What was typed a moment ago is sent before the page goes: fields wait until nobody types, or somebody leaves them.
// The next page waits for it: it learns by a cookie, which it gets at once, that something is on its way.
window.addEventListener('beforeunload', () => {
    const field = document.activeElement;
    if (!field || !field.matches('input, textarea')) return;
    const number = String(Date.now());
    document.cookie = 'SENT=' + number + '; path=/' + location.pathname.split('/')[1] + '; max-age=10; SameSite=Strict';
    field.dispatchEvent(new Event('blur'));
    queueMicrotask(() => emitEvent('sent', number));  // after what the field has to say
});
// A file that is dropped beside its control would replace the page.
for (const kind of ['dragover', 'drop']) window.addEventListener(kind, (e) => {
    if (e.dataTransfer && [...e.dataTransfer.types].includes('Files') && !e.target.closest('label.file')) {
        e.preventDefault();
        e.dataTransfer.dropEffect = 'none';
    }
});
</script>""".replace("SENT", SENT)
_LOOKS = {"auto": None, "light": False, "dark": True}


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes:
        name: of its module in `metricdp.studio.pages`, which has a function ``build``; of its inputs, too.
        path: in the address, after the token.
        title: for people.
        about: what it is for, in a sentence.
    """

    name: str
    path: str
    title: str
    about: str

    @property
    def build(self) -> Callable[[Browser], None]:
        """Makes what stands below the title."""
        found: Callable[[Browser], None] = importlib.import_module(f"metricdp.studio.pages.{self.name}").build
        return found


PAGES = (
    Page(
        "meaning",
        "/",
        "What does it mean?",
        "Two secrets, a promise, and what somebody could conclude from a release.",
    ),
    Page(
        "sanitize",
        "/sanitize",
        "Sanitize",
        "A private table out of a table and a policy, with the report that belongs to it.",
    ),
    Page("ask", "/ask", "Ask", "Questions in SQL, what they cost, and answers with error bars."),
    Page(
        "best",
        "/best",
        "Best mechanism",
        "The best that can be had for a promise, with a proof; and channels verified.",
    ),
    Page(
        "estimate", "/estimate", "Estimate and audit", "What a released table says; and how a broken mechanism shows."
    ),
)
"""All pages, in the order of the menu."""


def add_pages(browsers: Browsers) -> None:
    """Tell NiceGUI about all pages."""
    add_file_route(browsers)
    for page in PAGES:
        _add(page, browsers)


def _add(page: Page, browsers: Browsers) -> None:
    @ui.page(page.path, title=f"{page.title} - metricdp studio")
    async def show(request: Request) -> None:
        browser, until = browsers.of(request.state.browser), time.monotonic() + _LONGEST_WAIT
        sent = request.cookies.get(SENT)
        while sent is not None and browser.received != sent and time.monotonic() < until:
            await asyncio.sleep(0.01)
        build_frame(page, browser)


def build_frame(page: Page, browser: Browser) -> None:
    """The whole page."""
    ui.add_head_html(f"<style>{_STYLE}</style>{_SCRIPT}")
    ui.on("sent", lambda event: setattr(browser, "received", str(event.args)))
    ui.colors(primary="#1d5f9e", secondary="#475569", negative="#b42318", positive="#1a7f37", warning="#9a5b00")
    looks = browser.inputs("frame", look="auto")["look"]
    dark = ui.dark_mode(_LOOKS[looks])
    with ui.header(fixed=False).classes("studio-header"):
        ui.label("metricdp studio").classes("studio-name")
        with ui.element("nav").props('aria-label="Pages"').classes("studio-nav"):
            for other in PAGES:
                link = ui.link(other.title, other.path).classes("studio-link")
                if other is page:
                    link.props('aria-current="page"')

        def choose(event: Any) -> None:
            browser.change("frame", look=event.value)
            dark.value = _LOOKS[event.value]

        ui.toggle(list(_LOOKS), value=looks, on_change=choose).props(
            'dense no-caps unelevated toggle-color=white toggle-text-color=primary aria-label="Light or dark"'
        ).classes("studio-looks")
    content = ui.column().classes("studio-page")
    ui.skip_link(target=content)
    with content:
        with ui.row().classes("studio-title"):
            with ui.element("div"):
                ui.html(page.title, tag="h1")
                ui.html(page.about, tag="p")
            ui.button("Undo", on_click=lambda: undo(), icon="undo").props("outline no-caps").tooltip(
                "Take back the last change on this page"
            )
        body = ui.column().classes("studio-body")

    def build() -> None:
        body.clear()
        with body:
            page.build(browser)

    def undo() -> None:
        if browser.undo(page.name):
            build()  # the button itself stays, and the keyboard with it
            ui.notify("Taken back.")
        else:
            ui.notify("There is nothing to take back.")

    build()
