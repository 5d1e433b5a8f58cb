"""What each browser has typed and made: kept over a reload, apart from other browsers, and gone with the process."""

from __future__ import annotations

import time
from collections import OrderedDict
from pathlib import Path
from typing import Any

from metricdp.exact.bits import secure
from metricdp.studio.jobs import Job

__all__ = ["Browser", "Browsers"]

_MOST_BROWSERS = 64
_MOST_PAST = 200
_TOGETHER = 1.0
"""Seconds within which changes of one thing are undone as one: a drag is many changes."""


class Browser:
    """The inputs of one browser, with a way back.

    Attributes:
        folder: where its uploaded and released files are, until the studio stops.
        jobs: what runs for it, by page.
        expected: files that its pages ask for, by key; None for those that have not come.
        made: results that are too large to be typed again, by name; not undone.
        received: the number of what a page sent last when it was left; empty until then.

    Args:
        folder: for its files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: dict[str, Job] = {}
        self.made: dict[str, Any] = {}
        self.expected: dict[str, Any] = {}
        self.received = ""
        self._values: dict[str, dict[str, Any]] = {}
        self._past: dict[str, list[tuple[float, str, dict[str, Any]]]] = {}

    def inputs(self, page: str, **defaults: Any) -> dict[str, Any]:
        """The inputs of a page; what was never set is as the defaults say."""
        return defaults | self._values.get(page, {})

    def change(self, page: str, gesture: int | None = None, **values: Any) -> None:
        """Set some inputs, which can be undone.

        Args:
            page: whose inputs they are.
            gesture: the number of a drag: what one drag changes is undone as one, however long it takes.
            values: by name.
        """
        before = self._values.get(page, {})
        if all(name in before and before[name] == value for name, value in values.items()):
            return
        past, what, now = self._past.setdefault(page, []), ",".join(sorted(values)), time.monotonic()
        what += "" if gesture is None else f" {gesture}"
        if past and past[-1][1] == what and (gesture is not None or now - past[-1][0] < _TOGETHER):
            past[-1] = (now, what, past[-1][2])
        else:
            past.append((now, what, dict(before)))
            del past[:-_MOST_PAST]
        self._values[page] = before | values

    def undo(self, page: str) -> bool:
        """Take back the last change of a page's inputs; False where there is none.

        >>> browser = Browser(Path("."))
        >>> browser.change("ask", question="select 1")
        >>> browser.change("ask", question="select count(*)", within=5)
        >>> browser.undo("ask"), browser.inputs("ask")
        (True, {'question': 'select 1'})
        """
        past = self._past.get(page)
        if not past:
            return False
        self._values[page] = past.pop()[2]
        return True

    def can_undo(self, page: str) -> bool:
        """Whether there is something to take back."""
        return bool(self._past.get(page))

    def new_file(self, ending: str) -> Path:
        """A path in its folder that nothing has yet; its name says nothing."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        return self.folder / f"{secure().integer(64):016x}{ending}"

    def new_folder(self) -> Path:
        """An empty folder in its folder, for a file whose name is shown."""
        folder = self.new_file("")
        folder.mkdir(mode=0o700)
        return folder


class Browsers:
    """All browsers of this run.

    Args:
        folder: for their files.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: OrderedDict[str, Browser] = OrderedDict()

    def of(self, name: str) -> Browser:
        """The browser of this cookie; the one that was away the longest is forgotten where there are too many."""
        if name not in self._known:
            self._known[name] = Browser(self._folder / name)
            while len(self._known) > _MOST_BROWSERS:
                _, gone = self._known.popitem(last=False)
                _stop(gone)
        self._known.move_to_end(name)
        return self._known[name]

    def stop(self) -> None:
        """Stop everything that runs."""
        for browser in self._known.values():
            _stop(browser)


def _stop(browser: Browser) -> None:
    for job in browser.jobs.values():
        job.stop()
