"""Controls that several pages share; each has a name that is read aloud."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from metricdp.studio.browsers import Browser
from metricdp.studio.jobs import Job
from metricdp.visible import visible

__all__ = [
    "Range",
    "Slider",
    "choice",
    "drawn",
    "numbers",
    "panel",
    "picture",
    "pointed",
    "progress",
    "said",
    "table",
    "text_of",
]

_POINTED = """(e) => {{
    {only}
    if (e.type === 'pointerdown') {{ try {{ e.currentTarget.setPointerCapture(e.pointerId); }} catch {{ }} }}
    const box = e.currentTarget.getBoundingClientRect();
    const x = (e.clientX - box.left) / box.width, y = (e.clientY - box.top) / box.height;
    emit({{ x, y, begin: e.type === 'pointerdown' }});
}}"""


@contextmanager
def panel(title: str, classes: str = "") -> Iterator[Any]:
    """A part of a page with a heading."""
    with ui.element("section").classes(f"panel {classes}") as made:
        made.props["aria-label"] = title
        ui.html(html.escape(title), tag="h2")
        yield made


class Range:
    """The browser's own slider: it is reached by the keyboard, and its name and value are read aloud.

    Args:
        name: what it sets.
        ends: the least and the greatest value.
        value: to begin with.
        change: called with each new value.
        step: between two values.
        say: turns a value into words.
    """

    def __init__(
        self,
        name: str,
        ends: tuple[float, float],
        value: float,
        change: Callable[[float], None],
        step: float = 1,
        say: Callable[[float], str] = "{:g}".format,
    ) -> None:
        self.value, self.ends, self._change, self._say = value, ends, change, say
        self.element = ui.element("input").props(f"type=range min={ends[0]} max={ends[1]} step={step}")
        self.element.props["aria-label"] = name
        self._tell()
        self.element.on("input", self._moved, js_handler="(e) => emit(Number(e.target.value))", throttle=0.04)

    def _tell(self) -> None:
        self.element.props["value"] = self.value
        self.element.props["aria-valuetext"] = self._say(self.value)

    def _moved(self, event: Any) -> None:
        self.value = min(max(float(event.args), self.ends[0]), self.ends[1])
        self._tell()
        self._change(self.value)

    def show(self, value: float) -> None:
        """Move it to a value that was set elsewhere."""
        if self.value != value:
            self.value = value
            self._tell()


class Slider:
    """A slider with its name before it and its value after it; see `Range`."""

    def __init__(
        self,
        name: str,
        ends: tuple[float, float],
        value: float,
        change: Callable[[float], None],
        say: Callable[[float], str],
        step: float = 1,
    ) -> None:
        def changed(moved: float) -> None:
            self._words.text = say(moved)
            change(moved)

        self._say = say
        with ui.element("div").classes("control"):
            ui.label(name)
            self.range = Range(name, ends, value, changed, step, say)
            self._words = ui.label(say(value))

    def show(self, value: float) -> None:
        """Move it to a value that was set elsewhere."""
        self._words.text = self._say(value)
        self.range.show(value)


def drawn(alt: str = "") -> Any:
    """A place for a picture that is drawn anew by `picture`."""
    return ui.html(alt, sanitize=False)


def picture(place: Any, svg: str) -> None:
    """Show a picture of this package's making in its place."""
    if place.content != svg:
        place.content = svg


def pointed(place: Any, handler: Callable[[float, float, bool], None], drag: bool = True) -> None:
    """Call a function where somebody points into a picture, and while they drag: with shares of its width and height.

    Args:
        place: of the picture.
        handler: called with the two shares, and whether the finger or button has just come down.
        drag: whether movements count, too.
    """

    def moved(event: Any) -> None:
        found = event.args
        handler(float(found["x"]), float(found["y"]), bool(found["begin"]))

    place.classes("drawn")
    place.on("pointerdown", moved, js_handler=_POINTED.format(only=""))
    if drag:
        only = "if (!e.buttons) return;"
        place.on("pointermove", moved, js_handler=_POINTED.format(only=only), throttle=0.04)


def said(classes: str = "sentence") -> Any:
    """A place for words that change, which are read aloud when they do."""
    return ui.label().classes(classes).props('aria-live="polite"')


def numbers(place: Any, found: Sequence[tuple[str, str]]) -> None:
    """Some numbers with their names."""
    inner = "".join(
        f'<div class="number"><b>{html.escape(value)}</b>{html.escape(name)}</div>' for name, value in found
    )
    picture(place, f'<div class="numbers">{inner}</div>')


def table(head: Sequence[str], rows: Sequence[Sequence[str]], title: str, classes: str = "") -> str:
    """A table as HTML; all texts are shown as they are.

    >>> table(["a"], [["<b>"]], "one").count("&lt;b&gt;")
    1
    """
    cells = "".join(f'<th scope="col">{text_of(cell)}</th>' for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{text_of(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="scrolls {classes}" tabindex="0" role="region" aria-label="{text_of(title)}">'
        f"<table><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table></div>"
    )


def text_of(text: str) -> str:
    """Text from outside as it may stand in a page."""
    return html.escape(visible(text))


def choice(name: str, options: Sequence[str] | Mapping[str, str], value: str, change: Callable[[str], None]) -> Any:
    """The browser's own list to choose from; of a mapping, the values are shown and the keys are what is chosen."""
    shown = options if isinstance(options, Mapping) else {option: option for option in options}
    with ui.element("select").classes("choice") as made:
        for option, words in shown.items():
            item = ui.element("option")
            item.props["value"] = option
            if option == value:
                item.props("selected")
            with item:
                ui.html(html.escape(words), tag="span")
    made.props["aria-label"] = name
    made.on("change", lambda event: change(str(event.args)), js_handler="(e) => emit(e.target.value)")
    return made


def progress(browser: Browser, page: str, counted: str, finished: Callable[[Job], None]) -> None:
    """How far the page's work is, and a button that stops it; there again after a reload.

    Args:
        browser: whose work it is.
        page: under which its jobs are kept.
        counted: what its progress counts.
        finished: called once with a job that has ended.
    """
    seen: list[Job | None] = [None]
    job = browser.jobs.get(page)
    if job is not None and not job.running:
        seen[0] = job
    with ui.row().classes("items-center progress") as row:
        bar = ui.element("progress").props('max=1 aria-label="Progress"')
        told = said("")
        ui.button("Stop", on_click=lambda: browser.jobs[page].stop(), icon="stop").props(
            "outline no-caps color=negative"
        )
    row.visible = False

    def look() -> None:
        now = browser.jobs.get(page)
        if now is None or now is seen[0]:
            return
        row.visible = True
        if now.total:
            bar.props["value"] = min(1.0, now.done / now.total)
            told.text = f"{now.done:,.0f} of {now.total:,.0f} {counted}"
        else:
            told.text = f"{now.done:,.0f} {counted}" if now.done else "working"
        if not now.running:
            seen[0] = now
            row.visible = False
            finished(now)

    ui.timer(0.15, look)
