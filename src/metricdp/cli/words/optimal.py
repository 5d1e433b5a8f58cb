"""What `metricdp optimal` found, in words and as JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metricdp.visible import visible, visible_name

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from metricdp.adversaries import Loss, Prior
    from metricdp.cli.options.points import Points
    from metricdp.design import Optimal
    from metricdp.metrics import Space, Verdict

__all__ = ["OptimalResult", "in_words", "losses_of"]

_WIDTH = 80
_HARDLY_HIDDEN = 50.0
"""Where all points are farther apart than this, they are told apart but for one time in 10^21."""


@dataclass(frozen=True)
class OptimalResult:
    """What was asked, and what was found.

    Attributes:
        points: of the file.
        others: points to release, where they are others.
        space: the points with the metric.
        prior: how likely each is.
        prior_words: how to call the prior.
        loss: how to call the loss.
        losses: of the outputs by the points.
        channel: the best that was found.
        verdict: on its promise.
        seconds: how long the search took.
        gap: the largest gap that is accepted.
        worst: whether the largest loss was minimised, rather than the expected one.
    """

    points: Points
    others: Points | None
    space: Space
    prior: Prior
    prior_words: str
    loss: str
    losses: NDArray[np.float64]
    channel: Optimal
    verdict: Verdict
    seconds: float
    gap: float
    worst: bool = False

    def overall(self, losses: NDArray[np.float64]) -> NDArray[np.float64]:
        """What counts of losses by points, in the last axis: their average by the prior, or the largest."""
        counted: NDArray[np.float64] = losses.max(axis=-1) if self.worst else losses @ self.prior.floats
        return counted

    @property
    def names(self) -> dict[Any, str]:
        """What to call inputs and outputs; of those that nobody named, their labels."""
        from metricdp.channels.cells import label_text

        called: dict[Any, str] = {label: label_text(label) for label in self.channel.outputs}
        if self.others is not None:
            called |= dict(zip(self.channel.outputs, self.others.names, strict=True))
        called |= dict(zip(self.space.points, self.points.names, strict=True))
        return {label: visible_name(name) for label, name in called.items()}

    @property
    def named(self) -> bool:
        """Whether the points have names beside their coordinates."""
        return self.points.name is not None and self.points.coordinates is not None

    @property
    def places(self) -> dict[Any, Any]:
        """Coordinates of inputs and outputs, where they are known."""
        known: dict[Any, Any] = {}
        if self.others is not None and self.others.coordinates is not None:
            known |= dict(zip(self.channel.outputs, self.others.coordinates, strict=True))
        if self.points.coordinates is not None:
            known |= dict(zip(self.space.points, self.points.coordinates, strict=True))
        return known

    @property
    def reached(self) -> bool:
        """Whether the gap is what was wanted, or next to nothing beside the largest loss."""
        best = self.channel
        enough = max(self.gap * abs(best.loss), 1e-11 * float(abs(self.losses).max()))
        return best.finished and best.loss - best.bound <= enough

    @property
    def released(self) -> int:
        """How many outputs are ever released."""
        return int((self.channel.matrix > 0).any(axis=0).sum())

    def to_json(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        from metricdp.channels.serialize import label_document

        best = self.channel
        return {
            "file": self.points.file,
            "points": len(self.points),
            "outputs": len(best.outputs),
            "released": self.released,
            "prior": self.prior_words,
            "loss_by": self.loss,
            "loss": best.loss,
            "bound": best.bound,
            "gap": None if math.isinf(best.gap) else best.gap,
            "wanted_gap": self.gap,
            "finished": self.reached,
            "rounds": best.rounds,
            "seconds": round(self.seconds, 3),
            "merged": [[label_document(point) for point in group] for group in best.merged],
            "verdict": self.verdict.to_json(),
        }


def in_words(found: OptimalResult, loss: str | Loss, out: Path | None, picture: Path | None) -> str:
    """The result for the terminal, with the files that were written."""
    import textwrap

    from metricdp.cli.words.numbers import rounded

    best, points = found.channel, found.points
    unit = f" {found.space.metric.unit.unit_name}".rstrip() if loss == "distance" else ""
    what = {"distance": "from a point to its release, on average", "bin": "the probability of releasing another point"}
    where = ", for the point where it is largest" if found.worst else ""
    lines = [
        (
            "loss",
            rounded(best.loss, up=True) + unit,
            what.get(found.loss, f"on average, by {visible_name(found.loss)}") + where,
        ),
        ("bound", rounded(best.bound, up=False) + unit, "no private mechanism loses less: proved"),
        ("gap", *_gap(found)),
        *(("instead", rounded(number) + unit, words) for number, words in _others(found)),
        ("released", f"{found.released:,} of {len(best.outputs):,}", _unused(found)),
        *(("merged", _group([found.names[point] for point in group])) for group in best.merged),
        ("promise", f"{best.promise}, verified"),
        ("time", f"{found.seconds:.1f} s, {best.rounds:,} round{'' if best.rounds == 1 else 's'}"),
    ]
    width = max(len(line[1]) for line in lines if len(line) > 2)
    head = f"{points.heading}; prior: {visible(found.prior_words)}"
    table, before = [], ""
    for key, *cells in lines:
        line = f"{cells[0]:<{width}}  {cells[1]}" if len(cells) > 1 and cells[1] else cells[0]
        table.append(f"  {'' if key == before else key:<10}{line}")
        before = key
    parts = [head, "\n".join(table), textwrap.fill(_tightest(found), _WIDTH, break_long_words=False)]
    parts += [textwrap.fill(_too_far(found), _WIDTH)] if _nearest(found.space) > _HARDLY_HIDDEN else []
    ends = []
    if out is None:
        ends.append("Nothing was written: -o channel.json keeps the channel.")
    elif str(out) == "-":
        ends.append("To prove it again: metricdp verify - on what was printed.")
    elif out.suffix.lower() == ".csv":
        ends.append(f"Written to {visible(str(out))}. CSV has no room for the promise: .json and .parquet have.")
    else:
        ends.append("Written to {0}. To prove it again: metricdp verify {0}".format(visible(str(out))))
    if picture is not None:
        ends.append(f"The picture is in {visible(str(picture))}.")
    return "\n\n".join([*parts, "\n".join(ends)])


def _gap(found: OptimalResult) -> tuple[str, str]:
    from metricdp.cli.words.numbers import rounded

    best = found.channel
    reached = f"{rounded(100 * best.gap, up=True, digits=2)}%" if math.isfinite(best.gap) else "all of it"
    if found.reached:
        return reached, ""
    ended = "rounding to integers leaves more than" if best.finished else "ended before"
    return reached, f"{ended} the {100 * found.gap:.2g}% that was wanted"


def _unused(found: OptimalResult) -> str:
    if found.released == 1 < len(found.channel.inputs):
        return "always the same output: so strict a promise leaves no better"
    return "" if found.released == len(found.channel.outputs) else "the other outputs never are"


def losses_of(space: Space, loss: str | Loss, channel: Optimal) -> NDArray[np.float64]:
    """The losses of the outputs by the points."""
    from metricdp.adversaries import as_loss

    if loss == "distance":
        return space.metric.unit.pairwise(list(channel.outputs), list(space.points))
    read = as_loss(loss, space.points, space)
    return read.matrix[[read.actions.index(z) for z in channel.outputs]]


def _others(found: OptimalResult) -> list[tuple[float, str]]:
    """What other private mechanisms would lose, about."""
    import numpy as np

    space, best, table = found.space, found.channel, found.losses
    names = found.names
    blind = found.overall(table)
    place = int(blind.argmin())
    others = [(float(blind[place]), f"by releasing {names[best.outputs[place]]}, whatever the secret")]
    if best.outputs == space.points:
        likely = np.exp(-space.distances / 2)
        likely /= likely.sum(axis=1, keepdims=True)
        others.insert(0, (float(found.overall((likely * table.T).sum(axis=1))), "by the exponential mechanism"))
    return others


def _tightest(found: OptimalResult) -> str:
    """The tightest case, told by the names of the points."""
    from metricdp.cli.words.verdict import case_of, in_words, named

    case = case_of(found.channel, found.verdict)
    return in_words("", found.channel, named(found.verdict, found.names if found.named else {}), case).split("\n\n")[1]


def _nearest(space: Space) -> float:
    """The least distance between two points."""
    import numpy as np

    apart = space.distances[~np.eye(len(space), dtype=bool)]
    return float(apart.min()) if len(apart) else 0.0


def _too_far(found: OptimalResult) -> str:
    return (
        f"Such a promise hides next to nothing: even the nearest two points are {_nearest(found.space):,.4g} apart, so "
        "that an adversary's odds between them may move by the exponential of that. Was the level left out? It stands "
        "before the metric, as in 'ln 2/200 great_circle'."
    )


def _group(names: list[str]) -> str:
    return f"{', '.join(names)}: too near to each other, so they are released alike"
