"""The report on the papers as one HTML page: its own style, light and dark, pictures inside, nothing loaded."""

from __future__ import annotations

import html

from metricdp.errors import MissingExtraError
from metricdp.papers.item import TITLES, PaperClaim
from metricdp.papers.running import Outcome, PaperReport

__all__ = ["page"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --ground: #ffffff; --card: #f6f8fa; --rule: #d8dee4;
  --good: #0a6640; --bad: #b3400a; --accent: #1d6fb8; --mark: #c2410c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --ground: #0d1117; --card: #161b22;
  --rule: #30363d; --good: #56d39b; --bad: #ffa657; } figure svg { background: #f4f6f8; border-radius: 6px; } }
body { margin: 0 auto; max-width: 62rem; padding: 2rem 1.25rem 4rem; color: var(--ink); background: var(--ground);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, Arial, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .3rem; } h2 { font-size: 1.15rem; margin: 2.6rem 0 .6rem; }
h3 { font-size: 1rem; margin: 0 0 .4rem; } .soft { color: var(--soft); font-weight: normal; font-size: .9rem; }
section { border: 1px solid var(--rule); border-radius: 8px; padding: .9rem 1.1rem; margin: 0 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; } .wide { overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0; border-bottom: 1px solid var(--rule); }
.yes { color: var(--good); font-weight: 600; } .no { color: var(--bad); font-weight: 600; }
figure { display: inline-block; margin: .8rem 1rem 0 0; max-width: 24rem; width: 100%; color: #0a0b0c; }
figure svg { width: 100%; height: auto; }
ul { margin: .2rem 0 0 1rem; padding: 0; color: var(--soft); font-size: .88rem; }
h3, p { overflow-wrap: anywhere; }
@media (max-width: 36rem) { th, td { border: 0; padding-right: .5rem; overflow-wrap: anywhere; min-width: 0; }
  tr { display: grid; grid-template-columns: 1fr 1fr 4.6rem; border-bottom: 1px solid var(--rule); }
  tr > :first-child { grid-column: 1 / -1; } }
"""


def page(report: PaperReport, pictures: bool = True) -> str:
    """The page as text; without pictures where matplotlib is not installed, or they are not wanted."""
    counts = report.counts
    size = "with reduced sizes (--quick)" if report.quick else "at the papers' sizes"
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'><title>The papers, re-run</title>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<style>{_STYLE}</style></head><body><h1>The papers, re-run</h1>",
        f"<p class='soft'>metricdp {html.escape(report.version)}, {report.day.isoformat()}, {size}; "
        f"{report.seconds:.0f} s of processor time. {counts['agree']} claims agree, {counts['differ']} differ, for "
        f"{counts['not printed']} nothing is printed.</p>",
        "<p>Where they differ, exact arithmetic stands, and each claim of that carries independent computations that "
        "were run for this page.</p>",
    ]
    for number, title in TITLES.items():
        outcomes = [outcome for outcome in report.outcomes if outcome.item.paper == number]
        if outcomes:
            parts.append(f"<h2>Paper {number}: {html.escape(title)}</h2>")
            parts += [_section(outcome, pictures) for outcome in outcomes]
    return "\n".join([*parts, "</body></html>\n"])


def _section(outcome: Outcome, pictures: bool) -> str:
    item = outcome.item
    lines = [
        f"<section id='paper-{item.paper}-{item.name}'><h3>{html.escape(item.title)} "
        f"<span class='soft'>{html.escape(item.source)} · <code>{item.paper} --item {item.name}</code></span></h3>",
        "<div class='wide'><table><tr><th></th><th>printed</th><th>ours</th><th></th></tr>",
        *(_row(claim) for claim in outcome.claims),
        "</table></div>",
    ]
    if outcome.found.note:
        lines.append(f"<p class='soft'>{html.escape(outcome.found.note)}</p>")
    if pictures:
        lines += _figures(outcome)
    size = html.escape(outcome.found.size or "size of the paper")
    lines.append(f"<p class='soft'>{size}; {outcome.seconds:.1f} s</p></section>")
    return "\n".join(lines)


def _row(claim: PaperClaim) -> str:
    told = {True: "<span class='yes'>agrees</span>", False: "<span class='no'>differs</span>", None: ""}[claim.agrees]
    ways = "".join(f"<li>{html.escape(name)}: {html.escape(value)}</li>" for name, value in claim.ways)
    below = f"<ul>{ways}</ul>" if ways else ""
    cells = (html.escape(claim.what) + below, html.escape(claim.printed) or "–", html.escape(claim.ours), told)
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _figures(outcome: Outcome) -> list[str]:
    from metricdp.plots import to_svg, words_of

    try:
        figures = outcome.figures()
    except MissingExtraError as error:
        return [f"<p class='soft'>No picture: {html.escape(str(error))}</p>"] if outcome.found.figures else []
    return [f"<figure>{to_svg(figure, words_of(figure))}</figure>" for figure in figures.values()]
