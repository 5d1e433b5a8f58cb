"""What all plots share: a figure at column width, colours that everybody can tell apart, words and data for each panel.

Every function of this folder draws into ``ax``, or into a figure of its own, and returns the figure. What it drew is
kept beside the panel twice more: in words for those who do not see it (`words_of`), and as data (`data_of`).
"""

from __future__ import annotations

import functools
import io
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from metricdp.errors import ArgumentError, MissingExtraError
from metricdp.plots.arguments import as_figure, as_panel
from metricdp.plots.grounds import readable
from metricdp.plots.svg import INK, literal, quietly
from metricdp.visible import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "DASHES",
    "FAINT",
    "MARKERS",
    "TEXT",
    "canvas",
    "data_of",
    "dress",
    "legend",
    "named",
    "noted",
    "put_title",
    "require_matplotlib",
    "shortened",
    "style",
    "words_of",
]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5c5c5c")
"""Of lines, points and areas, in this order; they differ for all common kinds of colour blindness (Okabe and Ito)."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Of points, in the same order, so that colour is never all that tells them apart."""

DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.5)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (8, 2)),
    (0, (3, 1)),
    (0, (2, 3)),
)
"""Of lines, likewise."""

FAINT = "#8a9099"
TEXT = 8.0
_WIDTH = 3.5  # inches: a column of a paper with two
_DOTS = 160
_FEW_NAMES, _SHORT_NAME = 3, 22
_ACROSS, _UPWARDS = 60, 44
"""Letters of a label that find room beside a panel of a column's width; longer ones go over several lines."""

_LINE = 0.16  # inches: a line of a legend

_WORDS: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
_DATA: WeakKeyDictionary[Any, dict[str, Any]] = WeakKeyDictionary()


def require_matplotlib() -> type[Figure]:
    """The class of our figures, which a notebook shows, where matplotlib can be imported.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    try:
        return _figure_class()
    except ImportError:
        raise MissingExtraError("matplotlib", "plots") from None


@functools.cache
def _figure_class() -> type[Figure]:
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure that shows itself in a notebook, whatever the backend, with words for those who do not see it.

        It is white, whatever style is in use: its ink is black.
        """

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **({"facecolor": "white"} | options))

        def add_subplot(self, *arguments: Any, **options: Any) -> Any:
            """As matplotlib does, on white."""
            axes = super().add_subplot(*arguments, **options)
            axes.set_facecolor("white")
            return axes

        def savefig(self, *arguments: Any, **options: Any) -> None:
            """As matplotlib does, without a warning for every sign that the font does not have."""
            with quietly():
                super().savefig(*arguments, **options)

        def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
            image = io.BytesIO()
            self.savefig(image, format="png", dpi=_DOTS, facecolor="white")
            words = words_of(self)
            return {"image/png": image.getvalue(), "text/plain": words}, {"image/png": {"alt": words}}

    return ShownFigure


def canvas(
    ax: Axes | None, height: float = 2.5, *, width: float = _WIDTH, projection: str | None = None
) -> tuple[Figure, Axes]:
    """The panel to draw into, and its figure: the one that was given, or a new one at column width.

    Args:
        ax: given by the caller; None for a new figure.
        height: of a new figure, in inches.
        width: likewise.
        projection: of a new panel; one that was given has to have it already.

    Raises:
        ArgumentError: the panel has another projection.
        MissingExtraError: matplotlib is not installed.
    """
    figure_class = require_matplotlib()
    if projection == "ternary":
        try:
            import mpltern  # noqa: F401  # registers the projection
        except ImportError:
            raise MissingExtraError("mpltern", "plots") from None
    if ax is None:
        figure = figure_class(figsize=(width, height), layout="constrained")
        return figure, figure.add_subplot(projection=projection)
    wanted = projection or "rectilinear"
    ax = as_panel(ax)
    if ax.name != wanted:
        raise ArgumentError(f"this plot needs a panel made with projection={wanted!r}, and ax has {ax.name!r}")
    found = ax.get_figure(root=True)
    assert found is not None
    return found, ax


def dress(axes: Axes, x: str = "", y: str = "", title: str = "") -> None:
    """Labels, a title and thin lines, all in small type."""
    for label, put, most in ((x, axes.set_xlabel, _ACROSS), (y, axes.set_ylabel, _UPWARDS)):
        if label:
            text = label if len(label) <= most else textwrap.fill(label, most)
            put("\n".join(map(literal, text.split("\n"))), color=INK, fontsize=TEXT)
    put_title(axes, title)
    for place, spine in axes.spines.items():
        spine.set_visible(place in ("left", "bottom"))
        spine.set(color=INK, linewidth=0.6)
    axes.tick_params(colors=INK, labelsize=TEXT - 1, width=0.6, length=2.5)


def put_title(axes: Axes, title: str, size: float = TEXT + 1, *, wrap: bool = True) -> None:
    """A title over a panel, from its left edge: in its own lines, or wrapped where the figure is too narrow for one."""
    if title:
        text = literal(title) if wrap else "\n".join(map(literal, title.split("\n")))
        axes.set_title(text, fontsize=size, color=INK, loc="left", wrap=wrap)


def legend(axes: Axes, **options: Any) -> None:
    """The names of what was drawn, if there are several or one that says something.

    In a figure of our own many names, or long ones, stand below the panel, where they hide nothing.
    """
    names = [name for name in axes.get_legend_handles_labels()[1] if name]
    if not options and (len(names) > _FEW_NAMES or max(map(len, names), default=0) > _SHORT_NAME):
        figure = axes.get_figure(root=True)
        if figure is not None and figure.get_layout_engine() is not None and len(figure.axes) == 1:
            columns = 2 if max(map(len, names)) <= _SHORT_NAME else 1
            figure.legend(
                *axes.get_legend_handles_labels(), loc="outside lower left", ncols=columns, frameon=False,
                fontsize=TEXT - 1, handlelength=2.2, labelcolor=INK,
            )  # fmt: skip
            width, height = figure.get_size_inches()
            figure.set_size_inches(width, height + _LINE * -(-len(names) // columns))
            return
    if names:
        look = {"frameon": False, "fontsize": TEXT - 1, "handlelength": 2.2, "borderaxespad": 0.3, "labelcolor": INK}
        axes.legend(**(look | options))


def style(place: int, marker: bool = False) -> dict[str, Any]:
    """How the line, or the points, at some place of a list are drawn."""
    look: dict[str, Any] = {"color": COLOURS[place % len(COLOURS)]}
    if marker:
        return look | {"marker": MARKERS[place % len(MARKERS)]}
    return look | {"linestyle": DASHES[(place + place // len(COLOURS)) % len(DASHES)]}


def shortened(name: Any, most: int = 24) -> str:
    """A name from outside for matplotlib: visible, not too long, and no formula."""
    text = visible(str(name)[: most + 1])
    return literal(text if len(text) <= most else f"{text[: most - 1]}…")


def noted(figure: Figure, axes: Axes, words: str, data: Mapping[str, Any]) -> Figure:
    """The figure, after keeping what one of its panels shows: in words, and as plain values for JSON."""
    readable(axes)
    _WORDS[axes], _DATA[axes] = words, dict(data)
    return figure


def words_of(figure: Figure) -> str:
    """What a figure shows, in words: a sentence or two for each of its panels.

    >>> from metricdp.plots import curves
    >>> words_of(curves({"rising": [1, 2]}, [0, 1], x="ε", y="bits"))
    'Curves of bits over ε from 0 to 1: rising, from 1 to 2.'
    """
    figure = as_figure(figure, "words_of")
    told = [_WORDS.get(axes) or _by_its_labels(axes) for axes in figure.axes if axes.get_label() != "<colorbar>"]
    title = figure.get_suptitle()
    return visible(" ".join(part for part in [f"{title}." if title else "", *told] if part))


def _by_its_labels(axes: Axes) -> str:
    """For a panel that no function of ours has drawn."""
    parts = [axes.get_title(loc="left") or axes.get_title(), axes.get_xlabel(), axes.get_ylabel()]
    said = "; ".join(part.replace("\n", ", ") for part in parts if part)
    return f"{said}." if said else ""


def data_of(figure: Figure) -> list[dict[str, Any]]:
    """What a figure shows as plain values for JSON: an object for each panel that a function of this folder has drawn.

    >>> from metricdp.plots import curves
    >>> data_of(curves({"rising": [1, 2]}, [0, 1], x="ε", y="bits"))[0]["lines"]
    [{'name': 'rising', 'x': [0.0, 1.0], 'y': [1.0, 2.0]}]
    """
    return [_DATA[axes] for axes in as_figure(figure, "data_of").axes if axes in _DATA]


def named(things: Mapping[str, Any] | Sequence[Any], what: str) -> dict[str, Any]:
    """Things with their names: a mapping as it is, others are counted."""
    if isinstance(things, Mapping):
        return {str(name): thing for name, thing in things.items()}
    listed = list(things)
    return {what if len(listed) == 1 else f"{what} {place}": thing for place, thing in enumerate(listed, start=1)}
