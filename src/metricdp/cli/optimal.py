"""``metricdp optimal``: the best private mechanism for the points of a file, certified."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metricdp.cli.options.points import AtOption, MetricOption, NameOption, PointsArgument
from metricdp.cli.options.streams import existing_file

if TYPE_CHECKING:
    from metricdp.cli.options.points import Points
    from metricdp.cli.words.optimal import OptimalResult
    from metricdp.exact.progress import Progress, Update
    from metricdp.metrics import Space

__all__ = ["optimal"]


def optimal(
    file: PointsArgument,
    metric: MetricOption,
    loss: Annotated[
        str,
        typer.Option(
            "--loss",
            metavar="LOSS",
            help="What a release costs: `distance` between it and the secret; `bin`, 1 for any other point; or a .csv "
            "file laid out as a channel, with a row for each point and a column for each release.",
        ),
    ] = "distance",
    prior: Annotated[
        str | None,
        typer.Option(
            "--prior",
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
            callback=existing_file,
            help="Points to release, if not those of POINTS: a .csv or .geojson file with the same columns.",
        ),
    ] = None,
    gap: Annotated[
        float, typer.Option("--gap", "-g", metavar="G", help="Stop when none can be better by more than this part.")
    ] = 1e-4,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", metavar="SECONDS", help="Stop after so many seconds, with the best so far."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="OUT", help="The channel to write: .json, .csv, .parquet or .arrow; - prints JSON."
        ),
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
    """Find the private mechanism with the least loss for the points of a file: certified, with a proved gap.

    POINTS is a CSV file whose first line names its columns. The points are where the columns `lat` and `lon`, `x` and
    `y`, or `value` say; a column `name` calls them something, and `weight`, `population` or `visits` says how likely
    each is. Name other columns with --at, --name and --prior. In a .geojson file geometries say where the points are,
    and properties are the other columns.

    Of all mechanisms that keep the guarantee --metric, the one of least expected loss is searched. It comes with a
    bound that no private mechanism can pass, and is verified exactly, as by `metricdp verify`. Ctrl-C and --time-limit
    end the search with the best one so far: private all the same, and with its gap.

    To begin with:

    - places on a map, within a factor 2 at 200 m:
      `metricdp optimal places.csv --metric 'ln 2/200 great_circle' -o channel.json --picture map.svg`

    - numbers: `metricdp optimal ages.csv --metric 'ln 2/5 absolute' -o channel.csv --picture matrix.png`

    - names, all alike: `metricdp optimal teas.csv --metric '0.5 discrete' --loss bin`

    - the best that is found in a minute: `metricdp optimal towns.csv --metric '0.1 euclidean' --time-limit 60`

    - the least loss at the worst of the points: `metricdp optimal towns.csv --metric '0.1 euclidean' --worst-case`

    - other columns: `metricdp optimal sites.csv --metric '0.1 euclidean' --at easting,northing --prior staff`

    Exit status: 0 if the gap was reached; 1 if it was not (the channel is written all the same); 2 if the command, the
    metric, the loss, the prior or a file is at fault.
    """
    from metricdp.cli.console import REFUSED, mistakes, print_result
    from metricdp.cli.options.loss import read_loss
    from metricdp.cli.options.output import CHANNELS, check_output, refuse_two_on_one
    from metricdp.cli.options.points import read_space
    from metricdp.cli.options.streams import delivered, say
    from metricdp.cli.words.optimal import OptimalResult, in_words, losses_of
    from metricdp.errors import ArgumentError
    from metricdp.plots.canvas import require_matplotlib
    from metricdp.plots.saving import PICTURES

    refuse_two_on_one(json, out=out)
    check_output("--out", out, CHANNELS, overwrite, file, outputs)
    check_output("--picture", picture, PICTURES, overwrite, file, outputs, out)
    with mistakes("--picture"):
        if picture is not None:
            require_matplotlib()
    with mistakes("--gap"):
        if not gap > 0:
            raise ArgumentError("the gap must be positive")
    with mistakes("--time-limit"):
        if time_limit is not None and not time_limit > 0:
            raise ArgumentError("the time limit must be positive")
    with mistakes("--worst-case"):
        if worst_case and prior is not None:
            raise ArgumentError("the worst case is the same for every prior: leave --prior out")
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
        wanted = "worst" if worst_case else belief
        best = search(space, wanted, cost, releases, gap=gap, time_limit=time_limit, progress=progress)
        seconds = time.monotonic() - begun
        verdict = verify(best, space)
    losses, words = losses_of(space, cost, best), "none, the worst case counts" if worst_case else called
    found = OptimalResult(points, others, space, belief, words, costs, losses, best, verdict, seconds, gap, worst_case)
    with mistakes("--out"):
        if out is not None:
            from metricdp.sources.channel_files import write_channel

            with delivered(out, ".json") as place:
                write_channel(best, place, overwrite, names=found.names if found.named else None)
    with mistakes("--picture"):
        if picture is not None:
            _draw(found, secret, picture, overwrite)
    if json:
        tree = found.to_json() | {"out": out and str(out), "picture": picture and str(picture)}
        print_result(tree, best.guarantee.to_json())
    else:
        say(in_words(found, cost, out, picture), out)
    if not found.reached:
        raise typer.Exit(REFUSED)


# What is read


def _outputs(file: Path, points: Points, space: Space) -> Points:
    from metricdp.cli.options.points import read_points

    others = read_points(file, None, ",".join(points.at) if points.at else None)
    others.space(space.metric)
    return others


# What is written


def _draw(found: OptimalResult, secret: str | None, path: Path, overwrite: bool) -> None:
    """The map where the points lie in the plane or on the globe, otherwise the matrix."""
    from metricdp.plots.channel_maps import channel_map
    from metricdp.plots.heat_maps import channel_shades
    from metricdp.plots.saving import save

    best, places = found.channel, found.places
    flat = all(
        isinstance(places.get(label), tuple) and len(places[label]) == 2 for label in (*best.inputs, *best.outputs)
    )
    if flat:
        row = found.points.index(secret) if secret is not None else _likeliest(found)
        figure = channel_map(best, best.inputs[row], places, found.names, found.prior.floats)
    else:
        figure = channel_shades(best, found.names)
    save(figure, path, overwrite=overwrite)


def _likeliest(found: OptimalResult) -> int:
    """The point of the largest prior; of several, the one nearest to all the others."""
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

        def tell(update: Update) -> None:
            apart = 1.0 if update.gap is None else update.gap
            part = 1.0 if apart <= gap else max(0.0, math.log(min(apart, 1.0)) / math.log(min(gap, 0.5)))
            words = f"round {update.done}  loss {update.best:.6g}  bound {update.bound:.6g}  gap {100 * apart:.2g}%"
            bar.update(task, completed=part, description=words)

        yield tell
