"""``metricdp optimal``: the best private mechanism for the points of a file, certified."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metricdp.cli.points_argument import AtOption, MetricOption, NameOption, PointsArgument

if TYPE_CHECKING:
    from metricdp.cli.optimal_words import Found
    from metricdp.cli.points_argument import Points
    from metricdp.metrics import Space

__all__ = ["optimal"]

Progress = Callable[[int, float, float, float], object]


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
    worst_case: Annotated[
        bool,
        typer.Option(
            "--worst-case",
            help="Minimise the loss of the point for which it is largest, rather than the average over a prior.",
        ),
    ] = False,
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

    - the least loss at the worst of the points: `metricdp optimal towns.csv --metric '0.1 euclidean' --worst-case`

    - other columns: `metricdp optimal sites.csv --metric '0.1 euclidean' --at easting,northing --prior staff`

    Leaves with 0 where the gap was reached, with 1 where it was not (the channel is written all the same), and with 2
    where something is wrong with the file, the metric, the loss or the prior.
    """
    from metricdp.cli.channel_argument import mistakes, printable
    from metricdp.cli.optimal_words import Found, in_words, losses_of
    from metricdp.cli.output_files import CHANNELS, check_output
    from metricdp.cli.points_argument import read_loss, read_space
    from metricdp.cli.reports import print_json, print_text
    from metricdp.errors import InputError, LevelError
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
    with mistakes("--worst-case"):
        if worst_case and prior is not None:
            raise InputError("the worst case is the same for every prior: leave --prior out")
    points, space = read_space(file, metric, name, at)
    with mistakes(file):
        belief, called = points.prior("uniform" if worst_case else prior, space.points)
        if secret is not None:
            points.index(secret)
    with mistakes("--outputs"):
        others = None if outputs is None else _outputs(outputs, points, space)
    with mistakes("--loss"):
        cost, costs = read_loss(loss, points, space)
    with mistakes(file), _bar(gap) as progress:
        from metricdp.channels import verify
        from metricdp.design import optimal as search

        releases = None if others is None else others.space(space.metric).points
        begun = time.monotonic()
        best = search(space, "worst" if worst_case else belief, cost, releases, gap, time_limit, progress)
        seconds = time.monotonic() - begun
        verdict = verify(best, space)
    losses, words = losses_of(space, cost, best), "none, the worst case counts" if worst_case else called
    found = Found(points, others, space, belief, words, costs, losses, best, verdict, seconds, gap, worst_case)
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
        print_text(printable(in_words(found, cost, out, picture)))
    if not found.reached:
        raise typer.Exit(1)


# What is read


def _outputs(file: Path, points: Points, space: Space) -> Points:
    from metricdp.cli.points_argument import read_points

    others = read_points(file, None, ",".join(points.at) if points.at else None)
    others.space(space.metric)
    return others


# What is written


def _draw(found: Found, secret: str | None, path: Path, overwrite: bool) -> None:
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


def _likeliest(found: Found) -> int:
    """The point of the largest prior; of several, the one in their midst."""
    import numpy as np

    shares = found.prior.floats
    far = np.where(np.isfinite(found.space.distances), found.space.distances, 0.0).sum(axis=1)
    return int(np.where(shares >= shares.max() * (1 - 1e-12), far, np.inf).argmin())


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
