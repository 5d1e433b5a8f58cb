"""``metricdp optimal``: the best private mechanism for the points of a file, certified."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from metricdp.cli.points_argument import AtOption, MetricOption, NameOption, PointsArgument

if TYPE_CHECKING:
    from metricdp.adversaries import Loss, Prior
    from metricdp.cli.points_argument import Points
    from metricdp.design.optimal_channel import Optimal
    from metricdp.metrics import Space, Verdict

__all__ = ["optimal"]

Progress = Callable[[int, float, float, float], object]


_WIDTH = 80


def optimal(
    file: PointsArgument,
    metric: MetricOption,
    loss: Annotated[
        str,
        typer.Option(
            "--loss",
            "-l",
            metavar="LOSS",
            help="What a release costs: `distance` between it and the secret; `bin`, 1 for any other point; or a .csv "
            "file laid out as a channel, with a row for each point and a column for each release.",
        ),
    ] = "distance",
    prior: Annotated[
        str | None,
        typer.Option(
            "--prior",
            "-p",
            metavar="PRIOR",
            help="How likely each point is: `uniform`; `weights`, the column called weight, population or visits; or "
            "another column. Without it: the weights if the file has them.",
        ),
    ] = None,
    outputs: Annotated[
        Path | None,
        typer.Option(
            "--outputs",
            metavar="FILE",
            exists=True,
            dir_okay=False,
            help="Points to release, if not those of POINTS: a .csv file with the same columns.",
        ),
    ] = None,
    gap: Annotated[
        float, typer.Option("--gap", "-g", metavar="G", help="Stop when the best can be better by this part at most.")
    ] = 1e-4,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", "-t", metavar="S", help="Stop after so many seconds, with the best so far."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="OUT", help="The channel to write: .json, .csv, .parquet or .arrow."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="A picture of it: .svg, .png or .pdf.")
    ] = None,
    secret: Annotated[
        str | None,
        typer.Option(
            "--secret", metavar="NAME", help="The point whose releases the picture shows; else the likeliest."
        ),
    ] = None,
    name: NameOption = None,
    at: AtOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace OUT and the picture if they exist.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Find the private mechanism that loses least, for the points of a file; certified, with a proof of how good it is.

    POINTS is a CSV file whose first line names its columns. The points are where the columns `lat` and `lon`, `x` and
    `y`, or `value` say; a column `name` calls them something, and `weight`, `population` or `visits` says how likely
    each is. Other columns are told with --at, --name and --prior.

    Of all mechanisms that keep the promise --metric, the one of least expected loss is sought. It comes with a bound
    that no private mechanism can pass, and is verified exactly, as by `metricdp verify`. Ctrl-C and --time-limit end
    the search with the best one so far: private all the same, and with its gap.

    To begin with:

    - places on a map, within a factor 2 at 200 m:
      `metricdp optimal places.csv --metric 'ln 2/200 great_circle' -o channel.json --picture map.svg`

    - numbers: `metricdp optimal ages.csv --metric 'ln 2/5 absolute' -o channel.csv --picture matrix.png`

    - names, all alike: `metricdp optimal teas.csv --metric '0.5 discrete' --loss bin`

    - the best that is found in a minute: `metricdp optimal towns.csv --metric '0.1 euclidean' --time-limit 60`

    - other columns: `metricdp optimal sites.csv --metric '0.1 euclidean' --at easting,northing --prior staff`

    Leaves with 0 where the gap was reached, with 1 where it was not (the channel is written all the same), and with 2
    where something is wrong with the file, the metric, the loss or the prior.
    """
    from metricdp.cli.channel_argument import mistakes, printable
    from metricdp.cli.output_files import CHANNELS, check_output
    from metricdp.cli.points_argument import read_loss, read_space
    from metricdp.cli.reports import print_json, print_text
    from metricdp.errors import LevelError
    from metricdp.plots.channel_maps import require_matplotlib
    from metricdp.plots.saving import PICTURES

    check_output("--out", out, CHANNELS, overwrite, file, outputs)
    check_output("--picture", picture, PICTURES, overwrite, file, outputs, out)
    with mistakes("--picture"):
        if picture is not None:
            require_matplotlib()
    with mistakes("--gap"):
        if not gap > 0:
            raise LevelError("a gap is positive")
    with mistakes("--time-limit"):
        if time_limit is not None and not time_limit > 0:
            raise LevelError("a time limit is positive")
    points, space = read_space(file, metric, name, at)
    with mistakes(file):
        belief, called = points.prior(prior, space.points)
        if secret is not None:
            points.index(secret)
    with mistakes("--outputs"):
        others = None if outputs is None else _outputs(outputs, points, space)
    with mistakes("--loss"):
        cost, costs = read_loss(loss, points, space)
    with mistakes(file), _bar(gap) as progress:
        from metricdp.channels import verify
        from metricdp.design.synthesis import optimal as search

        releases = None if others is None else others.space(space.metric).points
        begun = time.monotonic()
        best = search(space, belief, cost, releases, gap, time_limit, progress)
        seconds = time.monotonic() - begun
        verdict = verify(best, space)
    found = _Found(points, others, space, belief, called, costs, best, verdict, seconds, gap)
    with mistakes("--out"):
        if out is not None:
            from metricdp.tables.channel_files import write_channel

            write_channel(best, out, overwrite)
    with mistakes("--picture"):
        if picture is not None:
            _draw(found, secret, picture, overwrite)
    if json:
        print_json(found.to_json() | {"out": out and str(out), "picture": picture and str(picture)})
    else:
        print_text(printable(_text(found, cost, out, picture)))
    if not best.finished:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Found:
    """What was asked, and what was found."""

    points: Points
    others: Points | None
    space: Space
    prior: Prior
    prior_words: str
    loss: str
    channel: Optimal
    verdict: Verdict
    seconds: float
    gap: float

    @property
    def names(self) -> dict[Any, str]:
        """What to call inputs and outputs; of those that nobody named, their labels."""
        from metricdp.channels.cells import label_text

        called: dict[Any, str] = {label: label_text(label) for label in self.channel.outputs}
        if self.others is not None:
            called |= dict(zip(self.channel.outputs, self.others.names, strict=True))
        return called | dict(zip(self.space.points, self.points.names, strict=True))

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
    def released(self) -> int:
        """How many outputs are ever released."""
        return int((self.channel.matrix > 0).any(axis=0).sum())

    def to_json(self) -> dict[str, Any]:
        from metricdp.channels.forms import label_document

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
            "finished": best.finished,
            "rounds": best.rounds,
            "seconds": round(self.seconds, 3),
            "merged": [[label_document(point) for point in group] for group in best.merged],
            "guarantee": self.verdict.to_json(),
        }


# What is read


def _outputs(file: Path, points: Points, space: Space) -> Points:
    from metricdp.cli.points_argument import read_points

    others = read_points(file, None, ",".join(points.at) if points.at else None)
    others.space(space.metric)
    return others


# What is written


def _draw(found: _Found, secret: str | None, path: Path, overwrite: bool) -> None:
    """The map where the points lie in the plane or on the globe, otherwise the matrix."""
    from metricdp.plots.channel_maps import channel_map, channel_shades
    from metricdp.plots.saving import save
    from metricdp.tables.whole_files import appearing

    best, places = found.channel, found.places
    flat = all(
        isinstance(places.get(label), tuple) and len(places[label]) == 2 for label in (*best.inputs, *best.outputs)
    )
    if flat:
        row = found.points.index(secret) if secret is not None else _likeliest(found)
        figure = channel_map(best, best.inputs[row], places, found.names, found.prior.floats)
    else:
        figure = channel_shades(best, found.names)
    with appearing(path, overwrite) as temporary:
        save(figure, temporary, path.suffix.lower()[1:])


def _likeliest(found: _Found) -> int:
    """The point of the largest prior; of several, the one in their midst."""
    import numpy as np

    shares = found.prior.floats
    far = np.where(np.isfinite(found.space.distances), found.space.distances, 0.0).sum(axis=1)
    return int(np.where(shares >= shares.max() * (1 - 1e-12), far, np.inf).argmin())


# What is said


def _text(found: _Found, loss: str | Loss, out: Path | None, picture: Path | None) -> str:
    import textwrap

    from metricdp.cli.rounding import rounded

    best, points = found.channel, found.points
    unit = f" {found.space.metric.unit.unit_name}".rstrip() if loss == "distance" else ""
    what = {"distance": "from a point to its release, on average", "bin": "the probability of releasing another point"}
    lines = [
        ("loss", rounded(best.loss, up=True) + unit, what.get(found.loss, f"on average, by {found.loss}")),
        ("bound", rounded(best.bound, up=False) + unit, "no private mechanism loses less: proved"),
        ("gap", *_gap(found)),
        *(("instead", rounded(number) + unit, words) for number, words in _others(found, loss)),
        ("released", f"{found.released:,} of {len(best.outputs):,}", _unused(found)),
        *(("merged", _group([found.names[point] for point in group])) for group in best.merged),
        ("promise", f"{best.promise}, verified"),
        ("time", f"{found.seconds:.1f} s, {best.rounds:,} round{'' if best.rounds == 1 else 's'}"),
    ]
    width = max(len(line[1]) for line in lines if len(line) > 2)
    head = f"{points.file}: {len(points):,} points by {points.kinds}; prior: {found.prior_words}"
    table, before = [], ""
    for key, *cells in lines:
        told = f"{cells[0]:<{width}}  {cells[1]}" if len(cells) > 1 and cells[1] else cells[0]
        table.append(f"  {'' if key == before else key:<10}{told}")
        before = key
    parts = [head, "\n".join(table), textwrap.fill(_tightest(found), _WIDTH, break_long_words=False)]
    ends = []
    if out is None:
        ends.append("Nothing was written: -o channel.json keeps the channel.")
    elif out.suffix.lower() == ".csv":
        ends.append(f"Written to {out}. CSV has no room for the promise: .json and .parquet have.")
    else:
        ends.append(f"Written to {out}. To prove it again: metricdp verify {out}")
    if picture is not None:
        ends.append(f"The picture is in {picture}.")
    return "\n\n".join([*parts, "\n".join(ends)])


def _gap(found: _Found) -> tuple[str, str]:
    from metricdp.cli.rounding import rounded

    best = found.channel
    reached = f"{rounded(100 * best.gap, up=True, digits=2)}%" if math.isfinite(best.gap) else "all of it"
    return reached, "" if best.finished else f"ended before the {100 * found.gap:.2g}% that was wanted"


def _unused(found: _Found) -> str:
    if found.released == 1 < len(found.channel.inputs):
        return "always the same output: a promise as strict as this leaves no better"
    return "" if found.released == len(found.channel.outputs) else "the other outputs never are"


def _others(found: _Found, loss: str | Loss) -> list[tuple[float, str]]:
    """What other private mechanisms would lose, about."""
    import numpy as np

    from metricdp.adversaries import as_loss

    space, best = found.space, found.channel
    if loss == "distance":
        table = space.metric.unit.pairwise(list(best.outputs), list(space.points))
    else:
        read = as_loss(loss, space.points, space)
        table = read.matrix[[read.actions.index(z) for z in best.outputs]]
    shares, names = found.prior.floats, found.names
    blind = table @ shares
    place = int(blind.argmin())
    told = [(float(blind[place]), f"by releasing {names[best.outputs[place]]}, whatever the secret")]
    if best.outputs == space.points:
        likely = np.exp(-space.distances / 2)
        likely /= likely.sum(axis=1, keepdims=True)
        told.insert(0, (float((shares[:, None] * likely * table.T).sum()), "by the exponential mechanism"))
    return told


def _tightest(found: _Found) -> str:
    """The tightest case, told by the names of the points."""
    from metricdp.cli.verdict_words import case_of, in_words

    case = case_of(found.channel, found.verdict)
    verdict = found.verdict
    if verdict.witness is not None:
        x, other, z = (found.names[label] for label in verdict.witness)
        verdict = replace(verdict, witness=(x, other, z))
    return in_words(found.points.file, found.channel, verdict, case).split("\n\n")[1]


def _group(names: list[str]) -> str:
    return f"{', '.join(names)}: too near to be told apart, so they are not"


@contextmanager
def _bar(gap: float) -> Iterator[Progress | None]:
    """On a terminal a bar that fills as the gap closes, by its logarithm; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = BarColumn(30), TextColumn("{task.description}"), TimeElapsedColumn()
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("first columns", total=1.0)

        def tell(rounds: int, loss: float, bound: float, apart: float) -> None:
            part = 1.0 if apart <= gap else max(0.0, math.log(min(apart, 1.0)) / math.log(min(gap, 0.5)))
            words = f"round {rounds}  loss {loss:.6g}  bound {bound:.6g}  gap {100 * max(apart, 0):.2g}%"
            bar.update(task, completed=part, description=words)

        yield tell
