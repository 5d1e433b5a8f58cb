"""Ask: questions in SQL about a table, what they cost, answers with error bars, and what is left."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import run, ui

from metricdp.errors import ArgumentError, FileError, MetricDPError
from metricdp.ledger import Ledger
from metricdp.ledger.charging import policy_cap
from metricdp.policies.draft import Draft
from metricdp.policies.policy import Policy
from metricdp.sessions import Session
from metricdp.studio.answer_chart import answer_chart
from metricdp.studio.browsers import Browser
from metricdp.studio.controls import drawn, panel, picture, progress, said, table, text_of
from metricdp.studio.files import GivenFile, file_input, text_in
from metricdp.studio.jobs import Job
from metricdp.studio.policy_text import PolicyText
from metricdp.studio.shipped import shipped_policy, shipped_table

__all__ = ["build"]

_PAGE = "ask"
_QUESTION = "select count(*), avg(income) from people group by health"
_MOST_TIMES = 1000


def build(browser: Browser) -> None:
    """The page."""
    _Ask(browser)


class _Ask:
    """The page's parts, and how one follows the other."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        inputs = self.inputs
        with ui.element("div").classes("columns wide"):
            with panel("1. The table, its policy and a ledger"):
                file_input(browser, "A table", ".csv,.csv.gz,.parquet,.arrow,.feather", self._given)
                file_input(browser, "Its policy", ".toml", self._given_policy)
                ui.button("Use the table that comes with the package", on_click=self._shipped).props("outline no-caps")
                self.chosen = said("")
                ui.input("Ledger, a file on this machine", value=inputs["ledger"]).props(
                    'dense outlined debounce=400 hint="Empty: one for this run of the studio alone."'
                ).on_value_change(partial(self._typed, "ledger"))
                ui.input("Account", value=inputs["account"]).props(
                    'dense outlined debounce=400 hint="Empty: the only one."'
                ).on_value_change(partial(self._typed, "account"))
                ui.number(
                    "Promises that may be spent", value=inputs["times"], min=1, max=_MOST_TIMES, precision=0
                ).props(
                    'dense outlined debounce=400 hint="For this run of the studio; fixed by the first question."'
                ).on_value_change(partial(self._typed, "times"))
            with panel("2. What is left"):
                self.left = drawn()
                self.account_problem = said("problem")
        with panel("3. The question"):
            ui.textarea("SQL", value=inputs["question"]).props(
                "outlined autogrow debounce=300 spellcheck=false"
            ).on_value_change(partial(self._typed, "question"))
            ui.number("Error bar that is wanted", value=inputs["within"], min=0).props(
                'dense outlined clearable debounce=300 hint="Empty: the whole promise is spent."'
            ).on_value_change(partial(self._typed, "within"))
            with ui.row():
                ui.button("Preview", on_click=self._preview).props("outline no-caps")
                ui.button("Ask", on_click=self._ask).props("no-caps")
            self.previewed = said()
            progress(browser, _PAGE, "steps", self._finished)
            self.problem = said("problem")
        with panel("4. Answers"):
            self.answers = ui.element("div").classes("panel-inner")
        self._show_choice()
        self._show_left()
        self._show_answers()

    # What there is

    @property
    def inputs(self) -> dict[str, Any]:
        return self.browser.inputs(_PAGE, question=_QUESTION, within=None, ledger="", account="", times=3)

    @property
    def file(self) -> GivenFile | None:
        found: GivenFile | None = self.browser.inputs("sanitize", table=None)["table"]
        return found

    @property
    def policy(self) -> str:
        """The text, which the page Sanitize may have changed."""
        text: str = self.browser.inputs("sanitize", policy="")["policy"]
        return text

    def _typed(self, name: str, event: Any) -> None:
        self.browser.change(_PAGE, **{name: event.value})
        if name in ("ledger", "account", "times"):
            self._show_left()

    def _given(self, file: GivenFile) -> None:
        csv = (PolicyText(self.policy).tree or {}).get("csv")
        encoding = csv.get("encoding") if isinstance(csv, dict) else None
        Draft.of_table(file.path, file.name, encoding)  # refuses what is no table
        self.browser.change("sanitize", table=replace(file, encoding=encoding))
        self._changed()

    def _given_policy(self, file: GivenFile) -> None:
        text = text_in(file)
        if PolicyText(text).tree is None:
            raise FileError("a policy is TOML, and this is something else")
        self.browser.change("sanitize", policy=text)
        self._changed()

    def _shipped(self) -> None:
        self.browser.change("sanitize", policy=shipped_policy(), table=shipped_table())
        self._changed()

    def _changed(self) -> None:
        self.problem.text = self.previewed.text = ""
        self._show_choice()
        self._show_left()

    def _show_choice(self) -> None:
        name = "no table yet" if self.file is None else self.file.shown
        self.chosen.text = f"Table: {name}. Policy: {'none yet' if not self.policy else 'as on the page Sanitize'}."

    # The ledger

    def _open_ledger(self, policy: Policy) -> tuple[Ledger, str | None]:
        """The ledger that is charged, and the account, which for this run is opened by the first question."""
        inputs = self.inputs
        if inputs["ledger"]:
            return Ledger(Path(inputs["ledger"])), inputs["account"] or None
        place = self.browser.made.get("ledger")
        if place is None:
            place = self.browser.new_file(".db")
            Ledger.create(place).close()
            self.browser.made["ledger"] = place
        ledger, account = Ledger(place), self._own_account
        if account not in ledger.account_names():
            ledger.open_account(account, policy_cap(policy, self._times))
        return ledger, account

    @property
    def _times(self) -> int:
        """How many promises may be spent in this run."""
        return int(min(max(self.inputs["times"] or 1, 1), _MOST_TIMES))

    @property
    def _own_account(self) -> str:
        """One for each table, however its policy changes: a cap that begins anew would be none."""
        return "" if self.file is None else self.file.name

    def _is_new(self) -> bool:
        """Whether the account for this run is not open yet."""
        place = self.browser.made.get("ledger")
        if self.inputs["ledger"]:
            return False
        if place is None:
            return True
        with Ledger(place) as ledger:
            return self._own_account not in ledger.account_names()

    def _look_at(self, question: str, within: float | None) -> str:
        """What a question would cost; the account for this run is not opened by that."""
        if self._is_new():
            file, policy = self._given_both()
            return str(Session(file.path, policy).preview(question, within=within).words())
        session, ledger = self._session()
        with ledger:
            return str(session.preview(question, within=within).words())

    def _given_both(self) -> tuple[GivenFile, Policy]:
        if self.file is None or not self.policy:
            raise ArgumentError("give a table and a policy first")
        policy = Policy.parse(self.policy)
        policy.refuse_without_ledger(bool(self.inputs["ledger"]))  # one for this run alone forgets what was asked
        return self.file, policy

    def _session(self) -> tuple[Session, Ledger]:
        """A session on the table, and its ledger, which is open."""
        file, policy = self._given_both()
        ledger, account = self._open_ledger(policy)
        return Session(file.path, policy, ledger, account, who="studio"), ledger

    def _show_left(self) -> None:
        self.account_problem.text = ""
        picture(self.left, "")
        if self.file is None or not self.policy:
            picture(self.left, "<p>Give a table and a policy first.</p>")
            return
        try:
            if self._is_new():
                times = self._times
                told = (
                    f"0 charges so far. {times} times the policy's promise may be spent in all. A question spends it "
                    "once at most, and on the columns that it reads alone."
                )
                picture(self.left, f"<p>{text_of(told)}</p>")
                return
            session, ledger = self._session()
            with ledger:
                balance = session.balance
                assert balance is not None
                rows = [[f"{100 * part.share:.0f}%", part.words()] for part in balance.parts]
                head = f"{balance.counted} so far."
        except MetricDPError as error:
            self.account_problem.text = str(error)
            return
        picture(self.left, f"<p>{text_of(head)}</p>{table(['spent', 'what may still be told'], rows, 'Left', 'wraps')}")

    # The question

    async def _preview(self) -> None:
        self.problem.text = self.previewed.text = ""
        question, within = self.inputs["question"], self.inputs["within"]
        try:
            self.previewed.text = str(await run.io_bound(self._look_at, question, within))
        except MetricDPError as error:
            self.problem.text = str(error)

    def _ask(self) -> None:
        running = self.browser.jobs.get(_PAGE)
        if running is not None and running.running:
            ui.notify("It is running already.")
            return
        self.problem.text = self.previewed.text = ""
        question, within = self.inputs["question"], self.inputs["within"]
        name = "" if self.file is None else self.file.shown

        def work(job: Job) -> Any:
            session, ledger = self._session()
            with ledger:
                job.refuse_if_stopped()
                return name, session.ask(question, within=within)

        self.browser.jobs[_PAGE] = Job(work)

    def _finished(self, job: Job) -> None:
        self.problem.text = job.problem
        if job.result is not None:
            self.browser.made["answers"] = job.result
        self._show_left()
        self._show_answers()

    def _show_answers(self) -> None:
        self.answers.clear()
        made = self.browser.made.get("answers")
        with self.answers:
            if made is None:
                ui.label("Nothing has been asked yet.")
                return
            name, answers = made
            ui.label(f"About {name}: {answers.select.text}")  # another table may be above by now
            labels = [", ".join(group) or "all" for group in answers.groups]
            with ui.element("div").classes("columns"):
                for name in answers.names:
                    ui.html(answer_chart(name, labels, answers[name]), sanitize=False)
            found = zip(labels, answers.found, strict=True)
            rows = [
                [label, *(one.words + ("" if one.tells else " (says nothing)") for one in row)] for label, row in found
            ]
            ui.html(table(["group", *answers.names], rows, "Answers with their error bars at 95%"), sanitize=False)
            spent = "nothing: it was answered before" if answers.again else str(answers.guarantee or "nothing secret")
            ui.label(f"This spent {spent}.")
