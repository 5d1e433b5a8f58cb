"""Figures as files, the same bytes for the same figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from metricdp.errors import ArgumentError
from metricdp.plots.arguments import as_figure
from metricdp.plots.canvas import words_of
from metricdp.plots.svg import quietly
from metricdp.sources.whole_files import appearing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PICTURES", "save"]

PICTURES = (".svg", ".png", ".pdf")
"""Endings of the files that pictures are written to."""

_UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}

_WORDS_IN = {"svg": "Description", "pdf": "Subject", "png": "Description"}
"""Where each kind of file holds words about what it shows."""


def save(figure: Figure, path: str | Path, form: str | None = None, *, overwrite: bool = False) -> None:
    """Write a figure to a file, on white and without a date in it. The file appears whole or not at all.

    What the figure shows is in the file in words, too, for those who do not see it; see `metricdp.plots.words_of`.

    Args:
        figure: what was drawn.
        path: of the file to make.
        form: "svg", "png" or "pdf"; None for what the ending of the path says.
        overwrite: whether a file of that name may be replaced.

    Raises:
        ArgumentError: pictures are not written in that form.
        FileError: the file exists already, or cannot be written.

    >>> import tempfile
    >>> import metricdp as mdp
    >>> figure = mdp.plots.noise_figure(mdp.laplace(mdp.metrics.absolute().within(5)), "euros")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(figure, Path(folder, "noise.svg"))
    ...     [file.name for file in Path(folder).iterdir()]
    ['noise.svg']
    """
    figure = as_figure(figure, "save")
    if not isinstance(path, str | Path):
        raise ArgumentError(f"save takes the path of a file, not {type(path).__name__}")
    place = Path(path)
    wanted = place.suffix.lower()[1:] if form is None else form
    if wanted not in _UNDATED:
        raise ArgumentError(f"a picture is written to a file that ends in {', '.join(PICTURES)}; {place.name} does not")
    import matplotlib

    with (
        appearing(place, overwrite) as temporary,
        quietly(),
        matplotlib.rc_context({"svg.hashsalt": "metricdp"}),
    ):
        about = _UNDATED[wanted] | {_WORDS_IN[wanted]: words_of(figure)}
        figure.savefig(temporary, format=wanted, dpi=150, facecolor="white", metadata=about)
