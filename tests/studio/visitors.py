"""A studio in a process of its own, and somebody who looks at it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import metricdp

SOURCE = Path(metricdp.__file__).parents[1]
WAIT = int(os.environ.get("METRICDP_WAIT", "60000"))
"""Milliseconds that a browser waits for what it expects: only a machine that is stuck takes so long."""

START = "import typer; from metricdp.studio.command import studio; typer.run(studio)"


def launched(*options, folder=None, program=START):
    """A studio that runs, and its address."""
    environment = os.environ | {"PYTHONPATH": str(SOURCE)}
    process = subprocess.Popen(
        [sys.executable, "-c", program, "--no-browser", *options],
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment,
        cwd=folder,
    )
    line = process.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:\d+/[0-9a-f]{64}/", line)
    if found is None:
        process.kill()
        raise AssertionError(line + process.communicate()[1])
    return process, found[0]


class Visitor:
    """Somebody with a browser of their own, of whom everything is noted."""

    def __init__(self, browser, address, shots, **options):
        self.address, self.shots = address, shots
        self.context = browser.new_context(**({"viewport": {"width": 1024, "height": 900}} | options))
        self.context.set_default_timeout(WAIT)
        self.requests, self.sockets, self.problems = [], [], []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.page = self.context.new_page()
        self.page.on("websocket", lambda socket: self.sockets.append(socket.url))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda said: self.problems.append(said.text) if said.type == "error" else None)

    def goto(self, path=""):
        """A page of the studio, once it is alive."""
        self.page.goto(self.address + path)
        self.page.wait_for_function("window.socket && window.socket.connected")
        return self.page

    def slider(self, name):
        return self.page.get_by_role("slider", name=name, exact=True)

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)

    def shows(self, text):
        """Wait until some words are there."""
        self.page.get_by_text(text).first.wait_for()

    def until(self, holds):
        """Wait until something is so."""
        for _ in range(WAIT // 50):
            if holds():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError("it does not come to be so")

    def shot(self, name):
        self.page.screenshot(path=self.shots / f"{name}.png", full_page=True)

    def upload(self, label, path):
        """Give a file to the control of this name."""
        self.page.locator("label.file", has_text=label).locator("input").set_input_files(path)

    def fits(self):
        """Whether nothing has to be scrolled sideways."""
        return self.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1")

    def violations(self, axe):
        """What axe-core finds that is serious or worse."""
        self.page.evaluate(axe)
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']}: {node['html'][:200]}"
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]
