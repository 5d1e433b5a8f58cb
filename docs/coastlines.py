"""Writes src/metricdp/studio/data/coastlines.json out of the npm package world-atlas, which is Natural Earth's data.

npm pack world-atlas && tar xzf world-atlas-*.tgz
python docs/coastlines.py package/countries-50m.json
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

OUT = Path(__file__).resolve().parent.parent / "src" / "metricdp" / "studio" / "data" / "coastlines.json"
SCALE = 100  # steps to a degree
TOLERANCE = 0.04  # degrees by which a line may be off

Line = list[tuple[float, float]]


def lines(topology: dict[str, Any]) -> list[Line]:
    """The arcs of a topology in degrees."""
    (across, up), (left, bottom) = topology["transform"]["scale"], topology["transform"]["translate"]
    found = []
    for arc in topology["arcs"]:
        x = y = 0
        line = []
        for dx, dy in arc:
            x, y = x + dx, y + dy
            line.append((left + x * across, bottom + y * up))
        found.append(line)
    return found


def uses(tree: Any) -> Iterator[int]:
    """The number of every arc that a geometry goes along."""
    if isinstance(tree, int):
        yield tree if tree >= 0 else ~tree
    elif isinstance(tree, list):
        for part in tree:
            yield from uses(part)
    elif isinstance(tree, dict):
        yield from uses(tree.get("geometries", tree.get("arcs", [])))


def simpler(line: Line) -> Line:
    """Fewer points, with the line nowhere off by more than the tolerance (Douglas and Peucker)."""
    if len(line) < 3:
        return line
    (x0, y0), (x1, y1) = line[0], line[-1]
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    off = [
        abs((x1 - x0) * (y0 - y) - (x0 - x) * (y1 - y0)) / length if length else ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5
        for x, y in line[1:-1]
    ]
    worst = max(range(len(off)), key=off.__getitem__)
    if off[worst] <= TOLERANCE:
        return [line[0], line[-1]]
    return simpler(line[: worst + 2])[:-1] + simpler(line[worst + 1 :])


def steps(line: Line) -> list[int]:
    """The first point and then differences, in whole steps."""
    grid = [(round(x * SCALE), round(y * SCALE)) for x, y in line]
    grid = [point for place, point in enumerate(grid) if place == 0 or point != grid[place - 1]]
    flat = list(grid[0])
    for (x0, y0), (x1, y1) in itertools.pairwise(grid):
        flat += [x1 - x0, y1 - y0]
    return flat


def main() -> None:
    topology = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    count = Counter(uses(topology["objects"]["countries"]))
    coasts, borders = [], []
    for number, line in enumerate(lines(topology)):
        short = steps(simpler(line))
        if len(short) > 2:
            (borders if count[number] > 1 else coasts).append(short)
    tree = {"scale": SCALE, "coasts": coasts, "borders": borders}
    OUT.write_text(json.dumps(tree, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{OUT.name}: {len(coasts)} coasts, {len(borders)} borders, {OUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
