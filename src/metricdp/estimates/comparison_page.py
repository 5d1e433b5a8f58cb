"""A comparison as one HTML page, marked as not to be released; nothing is loaded from anywhere."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from metricdp.errors import MissingExtraError

if TYPE_CHECKING:
    from metricdp.estimates.comparison import ReleaseComparison

__all__ = ["page"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e; --accent: #1d6fb8; --mark: #c2410c;
  --rule: #d8dee4; --alarm: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9da7b3; --accent: #6cb6ff; --mark: #ffa657;
  --rule: #30363d; --alarm: #ff6b6b; } body { background: #0d1117; } }
body { margin: 0 auto; max-width: 66rem; padding: 2rem 1.25rem; color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
.alarm { border: 3px solid var(--alarm); color: var(--alarm); border-radius: 8px; padding: .8rem 1.1rem;
  font-weight: 700; font-size: 1.1rem; }
table { border-collapse: collapse; margin: 1rem 0; } th { text-align: left; }
th, td { padding: .25rem 1.1rem .25rem 0; border-bottom: 1px solid var(--rule); }
td:nth-child(n+3), th:nth-child(n+3) { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font-size: .86em; } .no { color: var(--alarm); font-weight: 700; } .soft { color: var(--soft); }
.pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(26rem, 1fr)); gap: 1rem; }
figure { margin: 0; } figure svg { width: 100%; height: auto; }
"""


def page(found: ReleaseComparison) -> str:
    """The whole page."""
    from metricdp.estimates.comparison import WARNING

    alarm = f'<p class="alarm">{html.escape(WARNING)}</p>'
    head, *rows = found.table()
    heads = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body, before = [], ""
    for row in rows:
        asked = "" if row[0] == before else f"<code>{html.escape(row[0])}</code>"
        cells = "".join(f"<td>{html.escape(cell)}</td>" for cell in row[1:-1])
        body.append(f'<tr><td>{asked}</td>{cells}<td class="{row[-1]}">{row[-1]}</td></tr>')
        before = row[0]
    held = sum(one.held for one in found.answers)
    moved = "".join(
        f"<li><strong>{html.escape(one.name)}</strong>: {html.escape(one.words)}.</li>" for one in found.moved
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>NOT TO BE RELEASED: secrets and release compared</title>
<style>{_STYLE}</style>
</head>
<body>
{alarm}
<h1>Secrets and release compared</h1>
<p class="soft">{found.rows:,} rows. Of {len(found.answers)} intervals, {held} hold the truth.</p>
<h2>Questions</h2>
<table><tr>{heads}</tr>
{"".join(body)}
</table>
<h2>How far rows moved</h2>
<ul>{moved}</ul>
{_pictures(found)}
{alarm}
</body>
</html>
"""


def _pictures(found: ReleaseComparison) -> str:
    from metricdp.plots.svg import to_svg

    try:
        drawn = [(one.name, to_svg(one.figure(), f"{one.name} before, after and corrected")) for one in found.pictures]
    except MissingExtraError:
        return '<p class="soft">Pictures want matplotlib: install metricdp[plots].</p>'
    figures = "".join(f"<figure>{svg}</figure>" for _, svg in drawn)
    return f'<h2>Before, after and corrected</h2>\n<div class="pictures">{figures}</div>' if drawn else ""
