"""Estimate and audit: what a released table says, and broken mechanisms with the events that betray them."""

from __future__ import annotations

import math
from typing import Any

from nicegui import ui

from metricdp.audit.gallery import broken
from metricdp.estimates import estimate
from metricdp.mechanisms.picture import short_number
from metricdp.policies.policy import Policy
from metricdp.studio.browsers import Browser
from metricdp.studio.controls import choice, panel, progress, said, table, text_of
from metricdp.studio.files import GivenFile, file_input, text_in
from metricdp.studio.jobs import Job

__all__ = ["build"]

_PAGE, _AUDIT = "estimate", "audit"
_QUESTION = "select count(*), avg(income) group by health"
_MOST_SAMPLES = 400_000


def build(browser: Browser) -> None:
    """The page."""
    _Estimate(browser)


class _Estimate:
    """The page's parts, and how one follows the other."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.exhibits = {one.name: one for one in broken() if one.samples <= _MOST_SAMPLES}
        with panel("What a released table says"):
            ui.label(
                "Taken at face value, a sanitized table misleads. Its noise is known, so it can be corrected, for free."
            )
            with ui.element("div").classes("columns"):
                file_input(browser, "A released table", ".parquet,.arrow,.feather,.csv", self._given)
                file_input(browser, "Its policy (for CSV)", ".toml", self._given_policy)
            ui.button("Use what the page Sanitize released", on_click=self._own).props("outline no-caps")
            self.chosen = said("")
            ui.textarea("SQL", value=self.inputs["question"]).props(
                "outlined autogrow debounce=300 spellcheck=false"
            ).on_value_change(lambda event: browser.change(_PAGE, question=event.value))
            ui.button("Estimate", on_click=self._run).props("no-caps")
            progress(browser, _PAGE, "steps", self._estimated)
            self.problem = said("problem")
            self.answers = ui.element("div").classes("panel-inner")
        with panel("A gallery of broken mechanisms"):
            ui.label(
                "Each of these claims a promise that it does not keep. Audit one from outside, by its releases alone."
            )
            choice("A broken mechanism", list(self.exhibits), self.inputs["exhibit"], self._choose)
            self.about = said()
            ui.button("Audit it", on_click=self._audit).props("no-caps")
            progress(browser, _AUDIT, "releases", self._audited)
            self.evidence = said("sentence")
        self._describe(self.inputs["exhibit"])
        self._show_choice()
        self._show_answers()
        self._show_evidence()

    @property
    def inputs(self) -> dict[str, Any]:
        return self.browser.inputs(_PAGE, question=_QUESTION, exhibit="rounded before noise")

    # Estimates

    def _given(self, file: GivenFile) -> None:
        self.browser.made["released file"] = file
        self.browser.made.pop("released policy", None)  # it was of another table
        self._show_choice()

    def _given_policy(self, file: GivenFile) -> None:
        self.browser.made["released policy"] = (file.shown, Policy.parse(text_in(file)))
        self._show_choice()

    def _own(self) -> None:
        found = self.browser.made.get("released")
        if found is None or found.release.path is None:
            ui.notify("Nothing has been released there yet.")
            return
        self._given(GivenFile("what the page Sanitize released", found.release.path))

    def _show_choice(self) -> None:
        file = self.browser.made.get("released file")
        policy = self.browser.made.get("released policy")
        self.chosen.text = ("No released table yet." if file is None else f"Released table: {file.shown}.") + (
            "" if policy is None else f" Policy: {policy[0]}."
        )

    def _run(self) -> None:
        file, policy = self.browser.made.get("released file"), self.browser.made.get("released policy")
        running = self.browser.jobs.get(_PAGE)
        if file is None or (running is not None and running.running):
            ui.notify("Give a released table first." if file is None else "It is running already.")
            return
        self.problem.text, question = "", self.inputs["question"]

        def work(job: Job) -> Any:
            job.refuse_if_stopped()
            return estimate(file.path, question, policy=None if policy is None else policy[1])

        self.browser.jobs[_PAGE] = Job(work)

    def _estimated(self, job: Job) -> None:
        self.problem.text = job.problem
        if job.result is not None:
            self.browser.made["estimates"] = job.result
        self._show_answers()

    def _show_answers(self) -> None:
        self.answers.clear()
        found = self.browser.made.get("estimates")
        if found is None:
            return
        rows = [
            [", ".join(group) or "all", name, _number(one.value), " to ".join(map(_number, one.interval)),
             "" if one.naive is None else _number(one.naive)]
            for group, row in zip(found.groups, found.found, strict=True)
            for name, one in zip(found.names, row, strict=True)
        ]  # fmt: skip
        with self.answers:
            ui.label(f"{found.question}; {found.rows:,} rows were released.").props('role="status"')
            head = ["group", "asked", "corrected", "95% interval", "at face value"]
            ui.html(table(head, rows, "Estimates"), sanitize=False)
            for note in found.notes:
                ui.html(f"<p>{text_of(note)}</p>", sanitize=False)

    # The gallery

    def _choose(self, name: str) -> None:
        if name in self.exhibits:
            self.browser.change(_PAGE, exhibit=name)
            self._describe(name)

    def _describe(self, name: str) -> None:
        exhibit = self.exhibits[name]
        self.about.text = (
            f"It claims to be {exhibit.claim}. What is wrong with it: {exhibit.fault}. Seen in: {exhibit.seen}."
        )

    def _audit(self) -> None:
        running = self.browser.jobs.get(_AUDIT)
        if running is not None and running.running:
            ui.notify("It is running already.")
            return
        exhibit = self.exhibits[self.inputs["exhibit"]]
        self.evidence.text = ""

        def work(job: Job) -> Any:
            def tell(done: int, planned: int | None, _: float) -> bool:
                job.done, job.total = done, planned
                return job.stopping  # the evidence so far is good

            return exhibit.name, exhibit.audit(progress=tell)

        self.browser.jobs[_AUDIT] = Job(work)

    def _audited(self, job: Job) -> None:
        if job.result is not None:
            self.browser.made["evidence"] = job.result
        self._show_evidence(job.problem)

    def _show_evidence(self, problem: str = "") -> None:
        found = self.browser.made.get("evidence")
        self.evidence.text = problem or ("" if found is None else str(found[1]))


def _number(value: Any) -> str:
    if isinstance(value, int | float):
        return short_number(float(value)) if math.isfinite(value) else "unknown"
    return str(value)
