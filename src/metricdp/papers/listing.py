"""The page docs/papers.md: what the papers print beside what exact arithmetic gives, and how to see it."""

from __future__ import annotations

from metricdp.papers.item import TITLES, PaperClaim
from metricdp.papers.running import Outcome, PaperReport

__all__ = ["markdown"]


def markdown(report: PaperReport, gallery: str = "gallery") -> str:
    """The report as Markdown; pictures are those of a folder beside it."""
    counts = report.counts
    size = "reduced sizes" if report.quick else "the papers' sizes"
    parts = [
        "# Published, ours, evidence",
        "What the papers print, what exact arithmetic gives, and how to see it. This page is made by `metricdp papers "
        f"--out DIR`: metricdp {report.version}, {report.day.isoformat()}, {size}, {report.seconds:.0f} s of processor "
        f"time. {counts['agree']} claims agree, {counts['differ']} differ, for {counts['not printed']} nothing is "
        "printed to compare with. Where they differ, exact arithmetic stands, and the claim carries independent "
        "computations that the command re-runs. `metricdp papers 3 --item fig6a` runs one item; tests assert the "
        "numbers.",
        "\n".join(f"{number}. {title}" for number, title in TITLES.items()),
    ]
    for number in TITLES:
        outcomes = [outcome for outcome in report.outcomes if outcome.item.paper == number]
        if not outcomes:
            continue
        parts.append(f"## Paper {number}")
        parts += [_section(outcome, gallery) for outcome in outcomes]
    return "\n\n".join(parts) + "\n"


def _section(outcome: Outcome, gallery: str) -> str:
    item = outcome.item
    lines = [
        f"### {item.paper} `{item.name}`: {item.title}",
        f"{item.source}; {outcome.seconds:.1f} s{'; ' + outcome.found.size if outcome.found.size else ''}.",
        "\n".join(["| | published | ours | |", "| --- | --- | --- | --- |", *map(_row, outcome.claims)]),
    ]
    ways = [f"- {_cell(c.what)}: {_ways(c)}." for c in outcome.claims if c.ways]
    if ways:
        lines.append("\n".join(ways))
    if outcome.found.note:
        lines.append(outcome.found.note)
    pictures = [f"![{item.title}]({gallery}/{item.paper}-{name}.png)" for name in outcome.found.figures]
    return "\n\n".join([*lines, *([" ".join(pictures)] if pictures else [])])


def _row(claim: PaperClaim) -> str:
    told = {True: "agrees", False: "**differs**", None: ""}[claim.agrees]
    return f"| {_cell(claim.what)} | {_cell(claim.printed)} | {_cell(claim.ours)} | {told} |"


def _ways(claim: PaperClaim) -> str:
    return "; ".join(f"{_cell(name)}: {_cell(value)}" for name, value in claim.ways)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;") or "–"
