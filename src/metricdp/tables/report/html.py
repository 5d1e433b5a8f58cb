"""The report as one HTML page: its own style, light and dark, nothing loaded from anywhere."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from metricdp.metrics.words import factor_words, odds_range
from metricdp.tables.report.plain import first_paragraph, origin_facts, whole_facts
from metricdp.tables.report.shown import shown
from metricdp.tables.report.text import person_words, row_words, rows_words

if TYPE_CHECKING:
    from metricdp.tables.report.columns import ColumnReport
    from metricdp.tables.report.report import Report

__all__ = ["page"]

_TIMES = re.compile(r"(?<= )x (?=\d|more than )")
"""A factor in words, "x 3,072", which keeps to one line here."""

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --ground: #ffffff; --card: #f6f8fa;
  --rule: #d8dee4; --accent: #1d6fb8; --mark: #c2410c; --alarm: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --ground: #0d1117; --card: #161b22;
  --rule: #30363d; --accent: #6cb6ff; --mark: #ffa657; --alarm: #ff6b6b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; color: var(--ink); background: var(--ground);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1.05rem; margin: 0; } h3 small, .soft { color: var(--soft); font-weight: normal; }
code, .formula { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: .86em; }
.formula { border-left: 3px solid var(--accent); margin: 1rem 0; padding: .25rem 0 .25rem 1rem; overflow-x: auto; }
.formula td { padding: .1rem .9rem .1rem 0; white-space: nowrap; border: 0; }
.formula td:first-child { text-align: right; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 1rem 1.1rem;
  margin: 0 0 1rem; break-inside: avoid; }
.two { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 22rem); gap: 1rem 1.5rem; margin-top: .6rem; }
.two > .alone { grid-column: 1 / -1; }
@media (max-width: 46rem) { .two { grid-template-columns: minmax(0, 1fr); } }
figure { margin: 0; } figure svg { width: 100%; height: auto; display: block; }
dl { display: grid; grid-template-columns: 6.2rem 1fr; gap: .25rem .75rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 30rem) { dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dt { margin-top: .4rem; } }
table { border-collapse: collapse; } .views { margin-top: .9rem; font-size: .92rem; }
.views th { text-align: left; font-weight: 600; } .views th, .views td { padding: .25rem 1.25rem .25rem 0;
  border-bottom: 1px solid var(--rule); } .views td:nth-child(n+2), .views th:nth-child(n+2) { text-align: right;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
.attention { border-left: 3px solid var(--mark); margin: .9rem 0 0; padding: .1rem 0 .1rem .8rem; }
.alarm { border: 3px solid var(--alarm); color: var(--alarm); border-radius: 8px; padding: .8rem 1.1rem; margin: 1rem 0;
  font-weight: 700; font-size: 1.1rem; }
.lead { font-size: 1.08rem; max-width: 46rem; } .origin dd { font-variant-numeric: tabular-nums; }
details { margin-top: 2rem; } summary { cursor: pointer; color: var(--accent); }
pre { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: 1rem 1.1rem;
  overflow-x: auto; font: .86rem/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.limits li { margin-bottom: .6rem; } .overflow { overflow-x: auto; }
footer { margin-top: 2.5rem; padding-top: 1rem; border-top: 1px solid var(--rule); color: var(--soft);
  font-size: .85rem; overflow-wrap: anywhere; }
@media (max-width: 30rem) { .formula tr { display: grid; grid-template-columns: max-content minmax(0, 1fr); }
  .formula td, .views td:nth-child(n), .views th:nth-child(n) { white-space: normal; }
  .formula td:first-child { width: 6.2rem; } .formula td:last-child { grid-column: 2; }
  .views { font-size: .85rem; } .views th, .views td { padding: .25rem .3rem .25rem 0; vertical-align: bottom; } }
@media print { body { max-width: none; padding: 0; } }
"""


def page(report: Report) -> str:
    """The whole page."""
    report = shown(report)
    pairs = zip(report.columns, _pictures(report), strict=True)
    cards = "\n".join(_card(column, report, picture) for column, picture in pairs)
    title, free = report.limits[-1]
    limits = "".join(f"<li><strong>{_e(head)}.</strong> {_e(words)}</li>" for head, words in report.limits[:-1])
    versions = ", ".join(f"{name} {version}" for name, version in report.versions)
    alarm = _alarm(report)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{"" if report.private else "NOT PRIVATE: "}metricdp report</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>What this table promises</h1>
<p class="soft">A report of metricdp, from the policy and public facts alone. {_e(rows_words(report))}</p>
{alarm}
<p class="lead">{_e(first_paragraph(report))}</p>
{_origin(report)}
<h2>The promise</h2>
<p>{_e(row_words(report))}</p>
{_formula(report)}
{_person(report)}
<div class="card whole"><dl>{_facts((head, [words]) for head, words in whole_facts(report))}</dl></div>
<h2>Column by column</h2>
{cards}
<h2>The rest of the table</h2>
<div class="card"><dl>{_rest(report)}</dl></div>
<h2>What is not promised</h2>
<ul class="limits">{limits}</ul>
<h2>{_e(title)}</h2>
<p>{_e(free)}</p>
{alarm}
{_policy(report)}
<footer>{_e(versions)}. Policy (SHA-256): <code>{_e(report.policy_sha256)}</code></footer>
</body>
</html>
"""


def _origin(report: Report) -> str:
    if report.origin is None:
        return ""
    facts = _facts((head, [words]) for head, words in origin_facts(report))
    return f'<h2>How it was made</h2>\n<div class="card origin"><dl>{facts}</dl></div>'


def _policy(report: Report) -> str:
    if report.policy_text is None:
        return ""
    return f"<details><summary>The policy, word for word</summary><pre>{_e(report.policy_text)}</pre></details>"


def _pictures(report: Report) -> list[str]:
    """A picture of the noise of each column; none where the report was read from a file."""
    if report._policy is None:
        return [""] * len(report.columns)
    from metricdp.plots.noise_svg import noise_svg
    from metricdp.tables.report.columns import mechanism_in

    protected = [item for item in report._policy.columns if item.release == "noise"]
    return [
        noise_svg(mechanism_in(item, report._schema), column.unit, f"The noise of {column.name}")
        for item, column in zip(protected, report.columns, strict=True)
    ]


def _formula(report: Report) -> str:
    rows = "".join(
        f"<tr><td>{'d(x, x′) =' if number == 0 else '+'}</td><td>{_e(column.formula)}</td>"
        f'<td class="soft">{_e(column.name)}</td></tr>'
        for number, column in enumerate(report.columns)
    )
    return f'<div class="formula"><table>{rows}</table></div>'


def _person(report: Report) -> str:
    if report.person is None:
        return ""
    return (
        f"<p>{_e(person_words(report))}</p>"
        f'<div class="formula">d(person, person′) = {report.person.rows}·d(x, x′)</div>'
    )


def _card(column: ColumnReport, report: Report, picture: str) -> str:
    names = "" if column.columns == (column.name,) else f" ({', '.join(column.columns)})"
    facts = [("Level", [column.level]), ("Mechanism", [column.mechanism]), ("Error", column.error)]
    facts.append(("Missing", [column.missing]))
    if column.outside is not None:
        facts.append(("Outside", [column.outside]))
    notes = "".join(f'<p class="attention">{_e(note)}</p>' for note in column.attention)
    return f"""<section class="card">
<h3>{_e(column.name)}{_e(names)} <small>{_e(column.kind)}</small></h3>
<div class="two"><div{"" if picture else ' class="alone"'}><dl>{_facts(facts)}</dl></div>
{f"<figure>{picture}</figure>" if picture else ""}</div>
{_views(column, report)}{notes}
</section>"""


def _views(column: ColumnReport, report: Report) -> str:
    together = report.person is not None
    heads = ["Two secrets", "distance d", "odds move at most", "from even odds, to"]
    if report.person is not None:
        heads.append(f"all {report.person.rows} rows of a person")
    rows = ""
    for view in column.views:
        low, high = odds_range(view.factor)
        cells = [view.secrets, f"{view.epsilon:.3g}", f"× {factor_words(view.factor)}", f"{low} – {high}"]
        if together:
            cells.append("" if view.person_factor is None else f"× {factor_words(view.person_factor)}")
        rows += f"<tr>{''.join(f'<td>{_e(cell)}</td>' for cell in cells)}</tr>"
    head = "".join(f"<th>{_e(words)}</th>" for words in heads)
    return f'<div class="overflow"><table class="views"><tr>{head}</tr>{rows}</table></div>'


def _rest(report: Report) -> str:
    kept = [f"{', '.join(report.kept)}: unchanged, NOT PROTECTED"] if report.kept else ["none"]
    dropped = ["whatever else the source had"] if report.dropped is None else [", ".join(report.dropped) or "none"]
    facts = [("Kept", kept), ("Dropped", dropped)]
    if report.person is not None:
        name = report.person.column or "the column that says whose row it is"
        done = "dropped" if report.person.release == "drop" else "given new keys at random"
        facts.append(("Person", [f"{name}: {done}"]))
    return _facts([*facts, ("Rows", [rows_words(report)])])


def _facts(facts: Iterable[tuple[str, Iterable[str]]]) -> str:
    return "".join(f"<dt>{_e(head)}</dt><dd>{'<br>'.join(map(_e, words))}</dd>" for head, words in facts)


def _alarm(report: Report) -> str:
    if report.private:
        return ""
    from metricdp.tables.report.report import NOT_PRIVATE

    return f'<p class="alarm" role="alert">{_e(NOT_PRIVATE)} Never publish it.</p>'


def _e(words: str) -> str:
    return _TIMES.sub("×&nbsp;", html.escape(words))
