"""The tour as pages of text: tables and short paragraphs, for a terminal or a pipe."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from metricdp.cli.demo.people import INDEX_METRIC, People
from metricdp.cli.demo.places import Place, Places
from metricdp.cli.demo.table import SanitizedTable
from metricdp.cli.demo.tour import Tour
from metricdp.visible import visible

if TYPE_CHECKING:
    from metricdp.estimates.comparison import ComparedAnswer

__all__ = ["show"]

_WIDEST = 100


def show(tour: Tour, console: Console) -> None:
    """Print the tour, at most 100 columns wide: longer lines are hard to read."""
    console.width = min(console.width, _WIDEST)
    page = _Page(console)
    if tour.private:
        page.say(f"[bold]metricdp {tour.version}[/]: a tour in three parts. Each run draws new noise.")
    else:
        page.say(f"[bold]metricdp {tour.version}[/]: a tour in three parts.")
        page.warn(tour)
    _show_places(page, tour.places)
    _show_people(page, tour.people)
    _show_table(page, tour.table)
    page.title("What was proved is what was drawn")
    page.say(
        f"{tour.draws:,} noisy numbers were drawn just now. Each is the exact rounding of an ideal real number: "
        f"{_refined(tour)}. So no float stands between the theorem and a release. docs/exact-release.md says how."
    )
    if not tour.private:
        page.warn(tour)


def _refined(tour: Tour) -> str:
    settled = "float64 with a proved error radius settled "
    if tour.refined == 0:
        return (
            f"{settled}all of them; one in about 100,000 lies too near the edge of a cell and goes to ball arithmetic"
        )
    return f"{settled}all but {tour.refined:,}, which lay too near the edge of a cell and went to ball arithmetic"


class _Page:
    """A console with the few shapes that the tour is made of."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def title(self, words: str) -> None:
        self._console.print()
        self._console.rule(f"[bold cyan]{words}", align="left", style="cyan")

    def say(self, words: str) -> None:
        self._console.print()
        self._console.print(words)

    def quote(self, *lines: str) -> None:
        """Code or a formula, indented, never read as markup."""
        self._console.print()
        for line in lines:
            self._console.print(Padding(Text(line, style="green"), (0, 0, 0, 4), expand=False))

    def plain(self, words: str) -> None:
        """Text that is laid out already."""
        self._console.print()
        for line in words.splitlines():
            self._console.print(Text(line))

    def table(self, heads: Iterable[str], rows: Iterable[Iterable[str]], left: int = 1) -> None:
        """A table whose first ``left`` columns are words and the others numbers."""
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, header_style="bold")
        for number, head in enumerate(heads):
            table.add_column(head, justify="left" if number < left else "right")
        for row in rows:
            table.add_row(*row)
        self._console.print(Padding(table, (1, 0, 0, 2), expand=False))

    def warn(self, tour: Tour) -> None:
        self._console.print()
        self._console.print(Panel(Text(tour.note), title="NOT PRIVATE", style="bold red", box=box.HEAVY, expand=False))


def _show_table(page: _Page, table: SanitizedTable | None) -> None:
    page.title("3. A table")
    if table is None:
        page.say("A policy sanitizes a whole table, once the libraries for it are installed:")
        page.quote("pip install 'metricdp[tables,plots]'")
        return
    page.say(f"The whole table, {table.rows:,} people, sanitized as a policy says, and the report that goes with it:")
    page.plain(table.summary)
    page.plain("Open them: " + ", ".join(visible(path) for path in (table.table, table.report, table.picture) if path))


def _show_places(page: _Page, places: Places) -> None:
    page.title("1. Places")
    page.say("You say how far apart two secrets are. Here: on the map, 5 km apart means a factor 2.")
    page.quote(f"K = {places.call}", f"K.guarantee  # {places.guarantee}")
    page.say(
        "Whatever is released, and whatever an adversary knew before, the odds between two places move by a limited "
        "factor. The nearer the places, the less there is to learn:"
    )
    page.table(
        ["two places", "odds move at most", "even odds end between"],
        (
            [f"{odds.metres / 1000:g} km apart", f"× {_up(odds.factor)}", _between(odds.least, odds.most)]
            for odds in places.odds
        ),
    )
    page.say("Five cities, and where they were released to. On the globe itself: no projection, no seam.")
    page.table(
        ["city", "secret", "released", "moved"],
        (
            [moved.name, _place(moved.secret), _place(moved.released), f"{moved.metres / 1000:.1f} km"]
            for moved in places.moved
        ),
    )
    page.say(
        f"Expect an error within {places.radius_50 / 1000:.1f} km half of the time, within "
        f"{places.radius_95 / 1000:.1f} km in 95 of 100."
    )
    _show_adversary(page, places)


def _show_adversary(page: _Page, places: Places) -> None:
    adversary = places.adversary
    page.say(
        f"[bold]An adversary[/] knows that somebody lives in one of {len(adversary.candidates)} places near New York, "
        f"the likelier the more people live there. The truth is {adversary.secret}; they see a release at "
        f"{_place(adversary.released)}. By the rule of Bayes, each place is weighed with exp(-d(place, release)):"
    )
    page.table(
        ["place", "before", "after", f"odds against {adversary.secret}", "promised"],
        (
            [
                candidate.name,
                f"{candidate.prior:.1%}",
                f"{candidate.posterior:.1%}",
                *(("the secret", "") if candidate.name == adversary.secret else _odds(candidate.odds, candidate.bound)),
            ]
            for candidate in adversary.candidates
        ),
    )
    page.say(
        f"In {adversary.kept} of {adversary.pairs} pairs of places the odds moved no further than promised; the "
        f"tightest pair used {min(1.0, adversary.most_used):.0%} of its allowance."
    )


def _show_people(page: _Page, people: People) -> None:
    page.title("2. People")
    page.say(
        f"{people.rows:,} people of the RAND Health Insurance Experiment. Every column holds its own kind of secret, "
        "and so has its own distance and mechanism:"
    )
    width = max(len(column.call) for column in people.columns) + 1
    page.quote(
        f"index = {INDEX_METRIC}",
        "record = independent(",
        *(f"    {column.call + ',':{width}}" for column in people.columns),
        ")",
    )
    page.table(
        ["column", "two secrets", "odds move at most", "releases"],
        (
            [column.name if error == column.errors[0] else "", words, f"× {_up(factor)}", error]
            for column in people.columns
            for (words, factor), error in zip(column.promises, column.errors, strict=True)
        ),
        left=2,
    )
    page.say("Released together, as one record for each person, the distances add up and the factors multiply:")
    page.quote("record.guarantee", people.guarantee)
    page.table(
        ["two people who differ by", "odds move at most"],
        ([pair.words, f"× {_up(pair.factor)}"] for pair in people.pairs),
    )
    page.say("Three people, before and after:")
    page.table(
        ["", "income", "visits", "health", "therapy", "general health"],
        (
            [words, *(_cell(value) for value in record)]
            for number, pair in enumerate(people.sample, start=1)
            for words, record in zip((f"{number}  secret", "   released"), pair, strict=True)
        ),
    )
    if people.estimates is None:
        page.say("What all of it together is still good for is worked out once the libraries for tables are there.")
        return
    page.say("What all of it together is still good for:")
    page.table(
        ["in the whole table", "secret", "as released", "corrected", "95% interval"],
        ([one.label, *_figures(one)] for one in people.estimates),
    )
    page.say(
        "A release taken at face value is biased: randomized response evens out shares, clamping shifts means. The "
        "mechanism is public, so the bias is known and is taken away again. That is post-processing, which costs no "
        "privacy. The interval holds the secret figure in 95 of 100 runs."
    )


def _figures(one: ComparedAnswer) -> list[str]:
    numbers = (one.truth, one.found.naive, one.found.value)
    write = _dollars if "income" in one.label else _count if one.question.startswith("select count") else _mean
    low, high = (write(end) for end in one.found.interval)
    return [*(write(number) for number in numbers), f"{low} to {high}"]


def _dollars(number: Any) -> str:
    return f"${number:,.0f}"


def _count(number: Any) -> str:
    return f"{number:,.0f}"


def _mean(number: Any) -> str:
    return f"{number:.2f}"


def _odds(factor: float, bound: float) -> tuple[str, str]:
    moved = f"× {factor:.2f}" if factor >= 1 else f"÷ {1 / factor:.2f}"
    return moved, f"at most {_up(bound)}"


def _between(least: float, most: float) -> str:
    """Two probabilities, rounded outwards."""
    return f"{math.floor(1000 * least + 1e-9) / 10:.1f}% and {math.ceil(1000 * most - 1e-9) / 10:.1f}%"


def _up(factor: float) -> str:
    """A factor, rounded up so that nothing is promised that does not hold."""
    digits = 2 if factor < 100 else 0
    shown = round(factor, digits)
    if shown < factor * (1 - 1e-12):
        shown += 10.0**-digits
    return f"{shown:,.{digits}f}"


def _place(place: Place) -> str:
    latitude, longitude = place
    return f"{latitude:.4f}, {longitude:.4f}"


def _cell(value: object) -> str:
    if value is None:
        return "missing"
    return f"{value:,}" if isinstance(value, int) else str(value)
