"""The report of an audit: one page that stands by itself."""

from __future__ import annotations

import html
from collections.abc import Sequence

from metricdp.audit.attacks import Attack
from metricdp.audit.evidence import Evidence

__all__ = ["page"]

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #8884; }
pre { background: #8881; padding: 1rem; overflow: auto; } .bad { color: #c2410c; }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e6e6e6; } }
"""


def page(evidence: Evidence, attacks: Sequence[Attack] = ()) -> str:
    """The evidence, its picture, what was tried, and the attacks, as HTML."""
    verdict = "No evidence against the claim" if evidence.holds else "Evidence against the claim"
    parts = [
        f"<h1{'' if evidence.holds else ' class=bad'}>{verdict}</h1>",
        *(f"<p>{_text(line)}</p>" for line in str(evidence).splitlines()),
        _picture(evidence),
        "<h2>See it again</h2>",
        f"<pre>{_text(evidence.code)}</pre>",
        "<h2>Tested, each on releases of its own</h2>",
        _table(
            ("secrets", "event", "releases", "hits", "scale at least"),
            [
                (
                    f"{t.pair[0]!r}, {t.pair[1]!r}",
                    t.event,
                    f"{t.calls:,}",
                    f"{t.hits[0]:,}, {t.hits[1]:,}",
                    f"{t.scale_at_least:.4g}",
                )
                for t in evidence.tested
            ],
        ),
        "<h2>Searched</h2>",
        _table(
            ("secrets", "distance", "releases", "events", "best event"),
            [
                (f"{s.pair[0]!r}, {s.pair[1]!r}", f"{s.distance:.4g}", f"{s.calls:,}", f"{s.events:,}", s.best or "")
                for s in evidence.searched
            ],
        ),
    ]
    if attacks:
        rows = [(a.name, "succeeds" if a.succeeded else "", a.words, a.paper) for a in attacks]
        parts += ["<h2>Attacks</h2>", _table(("attack", "", "what was seen", "paper"), rows)]
    title = f"Audit of {_text(evidence.box)}"
    body = "\n".join(parts)
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{_STYLE}</style>'
    return f"{head}<body>{body}</body></html>\n"


def _picture(evidence: Evidence) -> str:
    from metricdp.errors import MissingExtraError
    from metricdp.plots import bound_figure, to_svg

    test = evidence.best
    if test is None or not test.trace or not max(test.chances):
        return ""
    title = "The bound, and what the event's probabilities are"
    try:
        return to_svg(bound_figure(test.trace, test.chances, test.distance, title), title)
    except MissingExtraError as error:
        return f"<p>No picture: {_text(str(error))}</p>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _text(text: str) -> str:
    return html.escape(text)
