"""Sanitize: a file, what is done with each of its columns, and the private table that comes out."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import ui

import metricdp
from metricdp.errors import DataError, FileError, MetricDPError
from metricdp.exact.bits import secure
from metricdp.ledger import Ledger
from metricdp.policies.draft import Draft
from metricdp.policies.policy import Policy
from metricdp.sources import open_table
from metricdp.sources.table import Declared
from metricdp.studio.browsers import Browser
from metricdp.studio.column_forms import ColumnForms
from metricdp.studio.controls import choice, drawn, panel, picture, progress, said, table, text_of
from metricdp.studio.files import GivenFile, file_input
from metricdp.studio.handover import RELEASED, HandedOver, command_text, notebook_text
from metricdp.studio.jobs import Job
from metricdp.studio.policy_text import PolicyText, shortened
from metricdp.studio.shipped import shipped_policy, shipped_table
from metricdp.studio.table_form import table_form
from metricdp.visible import visible_name

__all__ = ["build"]

_PAGE = "sanitize"
_FIRST_ROWS = 5
_UTF_8 = "UTF-8"
_ENCODINGS = {_UTF_8: None, "Windows (cp1252)": "cp1252", "Latin-1": "latin-1", "UTF-16": "utf-16"}
_ACCOUNTING = (
    ("ledger", "Ledger, a file on this machine", "Empty: no account is kept of this release."),
    ("account", "Account", "Empty: the only one."),
)


def build(browser: Browser) -> None:
    """The page."""
    _Sanitize(browser)


class _Sanitize:
    """The page's parts, and how one follows the other."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self._read = browser, PolicyText("")
        with panel("1. The table"):
            with ui.element("div").classes("columns"):
                self.refused = file_input(browser, "A table", ".csv,.csv.gz,.parquet,.arrow,.feather", self._given)
                ui.button("Use the table that comes with the package", on_click=self._shipped).props("outline no-caps")
            with ui.row().classes("items-center"):
                ui.label("Text of a CSV file is written in")
                choice("Encoding of a CSV file", list(_ENCODINGS), self._encoding, self._decode)
            self.schema = ui.element("div")
        with ui.element("div").classes("columns wide"):
            with panel("2. Columns"):
                self.forms = ui.element("div").classes("forms")
                with self.forms:
                    ui.label("They are listed here when there is a table: your own, or the one that comes along.")
            with panel("3. The policy"):
                ui.label("The same as text. Change either; the other follows.")
                self.editor = ui.textarea("Policy", value=self.policy.text, on_change=self._typed).props(
                    'outlined autogrow debounce=400 spellcheck=false input-style="max-height: 34rem; min-height: 12rem"'
                )
                self.problems = said("problem")
        with panel("4. Release"):
            with ui.element("div").classes("columns"):
                for name, label, hint in _ACCOUNTING:
                    ui.input(label, value=self.accounting[name], on_change=partial(self._charge_to, name)).props(
                        f'dense outlined debounce=400 hint="{hint}"'
                    )
            with ui.row():
                ui.button("Dry run", on_click=partial(self._run, True)).props("outline no-caps")
                ui.button("Sanitize", on_click=partial(self._run, False)).props("no-caps")
            progress(browser, _PAGE, "rows", self._finished)
            self.result = ui.element("div").classes("panel-inner")
        self._show_table()
        self._show_policy()
        self._show_result()

    # What there is

    @property
    def file(self) -> GivenFile | None:
        found: GivenFile | None = self.browser.inputs(_PAGE, table=None)["table"]
        return found

    @property
    def _encoding(self) -> str:
        name: str = self.browser.inputs(_PAGE, encoding=_UTF_8)["encoding"]
        return name

    @property
    def policy(self) -> PolicyText:
        text = self.browser.inputs(_PAGE, policy="")["policy"]
        if self._read.text != text:  # to read it takes long where there are many columns
            self._read = PolicyText(text)
        return self._read

    @property
    def accounting(self) -> dict[str, Any]:
        """The ledger and the account that a release is charged to."""
        return self.browser.inputs(_PAGE, ledger="", account="")

    # The table

    def _given(self, file: GivenFile) -> None:
        self.browser.made["last table"] = file
        file = replace(file, encoding=_ENCODINGS[self._encoding])
        try:
            draft = _draft(file)
        except DataError as error:
            if "not UTF-8" not in error.rule:
                raise
            hint = "choose below what its text is written in, if it is text"
            raise FileError(f"{error.rule.partition(';')[0]}; {hint}") from None
        self._take(file, draft.text())

    def _decode(self, name: str) -> None:
        """Take the last file again, in another encoding."""
        self.browser.change(_PAGE, encoding=name)
        file = self.browser.made.get("last table")
        if file is not None:
            self.refused.text = ""
            try:
                self._given(file)
            except MetricDPError as error:
                self.refused.text = f"{file.shown} was not taken: {error}"

    def _shipped(self) -> None:
        self._take(shipped_table(), shipped_policy())

    def _take(self, file: GivenFile, text: str) -> None:
        self.browser.made.pop("released", None)
        self.browser.change(_PAGE, policy=text, table=file)
        self._show_table()
        self._show_policy()
        self._show_result()

    def _show_table(self) -> None:
        self.schema.clear()
        if self.file is None:
            return
        try:
            draft = _draft(self.file)
        except MetricDPError as error:  # given on the page Ask, with a policy that says how it is written
            with self.schema:
                ui.label(f"{self.file.shown}: {error}").classes("problem")
            return
        rows = [[visible_name(one.name), one.holds or "text, as in every CSV file"] for one in draft.columns]
        with self.schema:
            ui.label(f"{self.file.shown}: {_in_words(len(rows), 'column')}. No value has been read.")
            with ui.expansion("Columns and types").classes("w-full"):
                ui.html(table(["column", "holds"], rows, "Columns"), sanitize=False)
            first = drawn()
            ui.button("Show the first rows (secret)", on_click=lambda: picture(first, self._first_rows())).props(
                "flat no-caps"
            )

    def _first_rows(self) -> str:
        """The first rows, marked as what they are."""
        assert self.file is not None
        with open_table(self.file.path, Declared(dialect=_draft(self.file).dialect)) as opened:
            batch = next(iter(opened.batches()), None)
        found = [] if batch is None else batch.slice(0, _FIRST_ROWS).to_pylist()
        if not found:
            return "<p>The table has no rows.</p>"
        names = list(found[0])
        cells = [["missing" if row[name] is None else str(row[name])[:60] for name in names] for row in found]
        return (
            '<div class="secret"><b>Secret: these are values of the table. Decide nothing by them.</b>'
            f"{table([visible_name(name) for name in names], cells, 'The first rows, secret')}</div>"
        )

    # The policy

    def _typed(self, event: Any) -> None:
        if event.value != self.policy.text:
            self.browser.change(_PAGE, policy=event.value or "")
            self._show_policy()

    def _write(self, policy: PolicyText, anew: bool = False) -> None:
        """Take a policy that a form made."""
        self.browser.change(_PAGE, policy=policy.text)
        self.editor.value = policy.text
        self._show_policy(anew)

    def _write_whole(self, policy: PolicyText, again: bool = False) -> None:
        """Take what was said of the whole table."""
        self._write(policy)
        if again:
            self._show_whole()

    def _show_policy(self, anew: bool = True) -> None:
        policy = self.policy
        if self.editor.value != policy.text:
            self.editor.value = policy.text
        self.problems.text = "" if self.file is None else policy.summary
        if self.file is None or policy.tree is None:
            return
        if anew:
            self.forms.clear()
            with self.forms:
                self.whole = ui.element("div")
                self.rest = ui.button(on_click=self._drop_rest).props("outline no-caps").classes("self-start")
                self.columns = ColumnForms(lambda: self.policy, self._write)
            self._show_whole()
        self.columns.follow()
        undecided = len(policy.undecided)
        self.rest.visible = undecided > 1
        self.rest.text = f"Leave out all {undecided:,} that are undecided"

    def _show_whole(self) -> None:
        self.whole.clear()
        with self.whole:
            table_form(lambda: self.policy, self._columns(), self._write_whole)

    def _drop_rest(self) -> None:
        self._write(self.policy.with_undecided_dropped(), anew=True)

    def _columns(self) -> list[str]:
        try:
            return [] if self.file is None else [one.name for one in _draft(self.file).columns]
        except MetricDPError:
            return []

    # The release

    def _run(self, dry: bool) -> None:
        running = self.browser.jobs.get(_PAGE)
        if self.file is None or (running is not None and running.running):
            ui.notify("Give a table first." if self.file is None else "It is running already.")
            return
        if self.policy.problems:
            self._show_result(self.policy.summary)
            return
        file, text, out = self.file, self.policy.text, self.browser.new_folder() / RELEASED
        ledger, account = self.accounting["ledger"].strip(), self.accounting["account"].strip()
        charged = bool(ledger) and not dry
        key = self._key() if charged else None

        def work(job: Job) -> Any:
            policy = Policy.parse(text)
            with Ledger(Path(ledger)) if charged else nullcontext() as book:
                release = metricdp.tables.sanitize(
                    file.path,
                    policy,
                    None if dry else out,
                    ledger=book,
                    account=(account or None) if charged else None,
                    by="studio" if charged else None,
                    key=key,
                    dry_run=dry,
                    progress=job.report,
                    check_first=dry,
                )
            return HandedOver(release, text, file.name, ledger, account)

        self.browser.made.pop("released", None)
        self._show_result()
        self.browser.jobs[_PAGE] = Job(work)

    def _key(self) -> str:
        """Of this release: one that was charged and then stopped is taken up again, and not charged twice."""
        assert self.file is not None
        about = (self.file.path, self.policy.text, self.accounting["ledger"], self.accounting["account"])
        known = self.browser.made.get("request")
        if known is None or known[0] != about:
            known = self.browser.made["request"] = (about, f"studio {secure().integer(64):016x}")
        return str(known[1])

    def _charge_to(self, name: str, event: Any) -> None:
        self.browser.change(_PAGE, None, **{name: event.value or ""})

    def _finished(self, job: Job) -> None:
        if job.result is not None:
            self.browser.made["released"] = job.result
            if job.result.release.checked is None:
                self.browser.made.pop("request", None)
        self._show_result("\n".join(shortened(job.problem.splitlines())))

    def _show_result(self, problem: str = "") -> None:
        self.result.clear()
        with self.result:
            if problem:
                ui.label(problem).classes("problem").props('role="alert"')
            found: HandedOver | None = self.browser.made.get("released")
            if found is None:
                return
            release = found.release
            if release.checked is not None:
                ui.label(f"Nothing was released: {release.check_words}.").props('role="status"')
                return
            ui.label(f"Released: {_in_words(release.report.rows, 'row')}. From {visible_name(found.name)}.").props(
                'role="status"'
            )
            if found.ledger:
                ui.label(found.left)
            notebook = notebook_text(found.name, found.policy, found.ledger, found.account)
            with ui.row():
                for label, give in (
                    ("Table", lambda: ui.download.file(release.path, RELEASED)),
                    ("Report", lambda: ui.download.content(release.report.html(), "report.html")),
                    ("Policy", lambda: ui.download.content(found.policy, "policy.toml")),
                    ("Notebook", lambda: ui.download.content(notebook, "sanitize.ipynb")),
                ):
                    ui.button(f"Download: {label}", on_click=give, icon="download").props("outline no-caps")
            ui.label("The same as a command:")
            command = command_text(found.name, found.ledger, found.account)
            ui.html(f'<pre class="text">{text_of(command)}</pre>', sanitize=False)
            report_box = '<pre class="text report" tabindex="0" role="region" aria-label="Report">'
            ui.html(f"{report_box}{_lines(release.report.text())}</pre>", sanitize=False)


def _in_words(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"


def _draft(file: GivenFile) -> Draft:
    """The questions about a table, which is opened and not read."""
    return Draft.of_table(file.path, file.name, file.encoding)


def _lines(text: str) -> str:
    return "\n".join(text_of(line) for line in text.splitlines())
