"""Best mechanism: places, a promise and a purpose; the certified best, and somebody else's channel verified."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from nicegui import run, ui

from metricdp.channels import verify
from metricdp.channels.serialize import claimed
from metricdp.errors import ArgumentError, MetricDPError
from metricdp.metrics import Space
from metricdp.plots import simplex, to_svg
from metricdp.sources.channel_files import read_claim, write_channel
from metricdp.studio.browsers import Browser
from metricdp.studio.controls import Slider, choice, drawn, panel, picture, pointed, progress, said, table
from metricdp.studio.drawing import ACCENT, MARK, Chart, legend, svg, words
from metricdp.studio.files import GivenFile, file_input, own_lines_input
from metricdp.studio.jobs import Job
from metricdp.studio.maps import MapView, around, map_of
from metricdp.studio.placement import LOSSES, MOST_PLACES, Placement, read_places

__all__ = ["build"]

_PAGE = "best"
_METRES = [number * 10**power for power in range(1, 7) for number in (1, 2, 5)]
_WIDTHS = [number * 10**power for power in range(3, 8) for number in (1, 2, 4)]
_PLACES = [(48.8566, 2.3522), (48.8738, 2.2950), (48.8867, 2.3431), (48.8462, 2.3464)]
_GAP = 1e-3
_MOST_WEIGHT = 1e12


def build(browser: Browser) -> None:
    """The page."""
    _Best(browser)


class _Best:
    """The page's parts, and how one follows the other."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.history: list[tuple[float, float]] = []
        self.weighed: list[Any] = []
        with ui.element("div").classes("columns wide"):
            with panel("1. Places"):
                self._places()
            with ui.element("div").classes("stack"):
                with panel("2. The promise and the purpose"):
                    self._purpose()
                with panel("3. The best mechanism"):
                    ui.label("The one that costs least on these places while it keeps the promise, with a proof.")
                    ui.button("Find it", on_click=self._find).props("no-caps")
                    ui.label("Stop keeps the best so far, certified.")
                    progress(browser, _PAGE, "rounds", self._finished)
                    self.live = drawn()
                    self.problem = said("problem")
                    self.result = ui.element("div").classes("panel-inner")
                with panel("4. Verify somebody's channel"):
                    ui.label("A channel is a mechanism as a table: how likely each release is from each secret.")
                    file_input(browser, "A channel", ".json,.csv,.parquet,.arrow", self._verify)
                    ui.label("Against the promise that it carries; a CSV file, against the one above.")
                    self.verdict = said()
                    self.verdict.text = browser.made.get("verdict", "")
        ui.timer(0.2, self._watch)
        self.refresh()
        self._show_result()

    # Inputs

    @property
    def inputs(self) -> dict[str, Any]:
        return self.browser.inputs(
            _PAGE, places=_PLACES, weights=[1.0] * len(_PLACES), radius=7, factor=2.0, loss="distance", zoom=4,
            centre=_PLACES[0], secret=0,
        )  # fmt: skip

    @property
    def view(self) -> MapView:
        latitude, longitude = self.inputs["centre"]
        return MapView(latitude, longitude, _WIDTHS[int(self.inputs["zoom"])])

    @property
    def placement(self) -> Placement:
        found = self.inputs
        if len(found["places"]) < 2:
            raise ArgumentError("two places or more are needed: point into the map")
        return Placement(
            tuple(map(tuple, found["places"])),
            tuple(found["weights"]),
            Fraction(_METRES[int(found["radius"])]),
            Fraction(str(found["factor"])),
            found["loss"],
        )

    def change(self, **values: Any) -> None:
        self.browser.change(_PAGE, **values)
        self.refresh()

    def _places(self) -> None:
        ui.label("Point into the map to add a place, or give a file of places, with weights if you like.")
        with ui.element("div").classes("layers"):
            self.base = drawn()
            self.marks = drawn()
        pointed(self.marks, self._pointed, drag=False)
        with ui.row().classes("items-center"):
            self.latitude = ui.number("Latitude", value=None, min=-90, max=90).props("dense outlined")
            self.longitude = ui.number("Longitude", value=None, min=-180, max=180).props("dense outlined")
            ui.button("Add", on_click=self._typed).props("outline no-caps")
        with ui.row().classes("items-center"):
            ui.button("Remove the last", on_click=self._remove).props("outline no-caps")
            ui.button("Remove all", on_click=lambda: self.change(places=[], weights=[])).props("outline no-caps")
            ui.button("Show all places", on_click=self._show_all).props("outline no-caps")
        self.width = Slider(
            "Width of the map", (0, len(_WIDTHS) - 1), self.inputs["zoom"], lambda value: self.change(zoom=value),
            lambda value: _metres(_WIDTHS[int(value)]),
        )  # fmt: skip
        with ui.expansion("How likely each place is").classes("w-full"):
            self.weights = ui.element("div").classes("fields")
        file_input(self.browser, "Places of your own (CSV or GeoJSON)", ".csv,.geojson,.json", self._given)
        own_lines_input(self.browser, self.refresh)

    def _purpose(self) -> None:
        Slider(
            "Factor", (1.1, 10), self.inputs["factor"], lambda value: self.change(factor=round(value, 1)),
            lambda value: f"{value:.3g}", 0.1,
        )  # fmt: skip
        Slider(
            "at a distance of", (0, len(_METRES) - 1), self.inputs["radius"], lambda value: self.change(radius=value),
            lambda value: _metres(_METRES[int(value)]),
        )  # fmt: skip
        ui.label("A release costs")
        names = {words: name for name, words in LOSSES.items()}
        choice(
            "What a release costs", list(names), LOSSES[self.inputs["loss"]],
            lambda chosen: self.change(loss=names.get(chosen, "distance")),
        )  # fmt: skip
        self.told = said()

    def _pointed(self, x: float, y: float, begin: bool) -> None:
        if begin:
            latitude, longitude = self.view.place(x, y)
            self._add((round(latitude, 5), round(longitude, 5)))

    def _typed(self) -> None:
        typed = self.latitude.value, self.longitude.value
        if None in typed or not (abs(typed[0]) <= 90 and abs(typed[1]) <= 180):
            ui.notify("Give a latitude from -90 to 90 and a longitude from -180 to 180.")
            return
        place = float(typed[0]), float(typed[1])
        if self._add(place) and not self.view.shows(*place):
            self._show_all()

    def _add(self, place: tuple[float, float]) -> bool:
        found = self.inputs
        if place in found["places"] or len(found["places"]) >= MOST_PLACES:
            ui.notify(f"It is there already, or there are {MOST_PLACES} places.")
            return False
        self.change(places=[*found["places"], place], weights=[*found["weights"], 1.0])
        return True

    def _show_all(self) -> None:
        """Move the map to the places, and make it as wide as they need; without any, around the globe."""
        centre, width = around([tuple(place) for place in self.inputs["places"]])
        zoom = next((step for step, metres in enumerate(_WIDTHS) if metres >= width), len(_WIDTHS) - 1)
        self.change(centre=centre, zoom=zoom)

    def _weigh(self, row: int, event: Any) -> None:
        weights = list(self.inputs["weights"])
        good = event.value is not None and row < len(weights) and 0 <= event.value <= _MOST_WEIGHT
        if good and weights[row] != event.value:
            weights[row] = float(event.value)
            self.change(weights=weights)

    def _remove(self) -> None:
        found = self.inputs
        self.change(places=found["places"][:-1], weights=found["weights"][:-1])

    def _given(self, file: GivenFile) -> None:
        places, weights = read_places(file.path)
        self.change(places=places, weights=weights)
        self._show_all()

    # Pictures

    def refresh(self) -> None:
        """Show the inputs, and what was found for them."""
        found = self.inputs
        self.width.show(found["zoom"])
        self._show_weights(found["weights"])
        view, parts = self.view, []
        answer = self._answer()
        secret = min(int(found["secret"]), len(found["places"]) - 1)
        likely = None if answer is None else answer.matrix[answer.row(tuple(found["places"][secret]))]
        for row, place in enumerate(found["places"]):
            x, y = view.at(*place)
            if likely is not None and answer is not None:
                share = float(likely[answer.outputs.index(tuple(place))])
                parts.append(
                    f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{60 * share**0.5:.1f}" fill-opacity=".4" '
                    f'style="fill: {ACCENT}"/>'
                )
                parts.append(words(f"{100 * share:.0f}%", x, y - 9))
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" style="fill: {MARK if row == secret else ACCENT}"/>')
            parts.append(words(str(row + 1), x + 8, y + 12, "start"))
        picture(self.base, map_of(view, self.browser.made.get("lines")))
        title = f"{len(found['places'])} places" + (
            "" if likely is None else f", and where place {secret + 1} is released"
        )
        picture(self.marks, svg(view.width, view.height, title, parts))
        self.told.text = (
            f"Of two places {_metres(_METRES[int(found['radius'])])} apart, whatever is released is at most "
            f"{found['factor']:g} times as likely from one as from the other."
        )

    def _show_weights(self, weights: list[float]) -> None:
        if len(weights) != len(self.weighed):
            self.weights.clear()
            with self.weights:
                self.weighed = [
                    ui.number(f"Weight of place {row + 1}", value=weight, min=0, max=_MOST_WEIGHT)
                    .props("dense outlined debounce=400")
                    .on_value_change(partial(self._weigh, row))
                    for row, weight in enumerate(weights)
                ]
        for field, weight in zip(self.weighed, weights, strict=True):
            if field.value != weight:
                field.value = weight

    def _answer(self) -> Any:
        """The channel that was found, if it is for the places that are shown."""
        made = self.browser.made.get("best")
        places = tuple(map(tuple, self.inputs["places"]))
        return made["channel"] if made is not None and made["placement"].places == places else None

    # The search

    def _find(self) -> None:
        running = self.browser.jobs.get(_PAGE)
        if running is not None and running.running:
            ui.notify("It is running already.")
            return
        self.problem.text = ""
        try:
            placement = self.placement
        except MetricDPError as error:
            self.problem.text = str(error)
            return
        self.browser.made.pop("best", None)
        self._show_result()

        def work(job: Job) -> Any:
            history: list[tuple[float, float]] = []
            job.latest = placement, history

            def tell(update: Any) -> None:
                if update.best is not None and update.bound is not None:
                    history.append((update.best, update.bound))
                job.done = update.done
                if job.stopping:
                    raise KeyboardInterrupt  # which gives the best so far

            channel = placement.best(_GAP, tell)
            found = {"placement": placement, "channel": channel, "best": float(channel.loss)}
            found["exponential"] = placement.expected_loss(placement.exponential())
            found["laplace"] = placement.laplace()
            if len(channel.inputs) == 3:  # drawn here and not by the page, which would wait while matplotlib is loaded
                title = "What an adversary can believe afterwards, in the triangle of priors"
                found["simplex"] = to_svg(simplex(channel, prior=placement.prior), title)
            return found

        self.browser.jobs[_PAGE] = Job(work)

    def _watch(self) -> None:
        """The gap as it closes."""
        job = self.browser.jobs.get(_PAGE)
        if job is None or job.latest is None:
            return
        placement, seen = job.latest
        finite = [(best, bound) for best, bound in list(seen) if abs(best) < 1e300 and abs(bound) < 1e300]
        if len(finite) < 2 or finite == self.history:
            return
        self.history = finite
        last = len(finite) - 1
        chart = Chart(0, last, max(best for best, _ in finite), 640, 190).axis("rounds", min(8, last))
        chart.curve(range(len(finite)), [best for best, _ in finite], ACCENT, fill=False)
        chart.curve(range(len(finite)), [max(bound, 0.0) for _, bound in finite], MARK, fill=False)
        best, bound = finite[-1]
        told = f"The best so far costs {placement.cost(best)}; no mechanism costs less than {placement.cost(bound)}."
        lines = legend(((ACCENT, "what the best so far costs"), (MARK, "what none can be below")))
        drawing = chart.text(told) + lines if last > 1 else ""  # two points are no picture
        picture(self.live, f"{drawing}<p>{told}</p>")

    def _finished(self, job: Job) -> None:
        self.problem.text = job.problem
        if job.result is not None:
            self.browser.made["best"] = job.result
        self._show_result()
        self.refresh()

    def _show_result(self) -> None:
        self.result.clear()
        made = self.browser.made.get("best")
        if made is None:
            return
        channel = made["channel"]
        mean, error = made["laplace"]
        placement: Placement = made["placement"]
        rows = [
            ["the best", placement.cost(made["best"])],
            ["none can be below", placement.cost(float(channel.bound))],
            ["exponential mechanism", placement.cost(made["exponential"])],
            ["Laplace noise, moved to the nearest place", f"{placement.cost(mean)} ± {placement.cost(2 * error)}"],
        ]
        with self.result:
            proved = "proved" if channel.finished else f"not finished: {channel.reason}"
            gap = f"gap {100 * channel.gap:.2g}%" if channel.gap >= 1e-5 else "gap below 0.001%"
            ui.label(f"Certified; {gap}, {proved}.").props('role="status"')
            ui.label(f"Found for {placement.words}.")
            ui.html(table(["mechanism", "expected loss"], rows, "Expected losses"), sanitize=False)
            names = [f"place {row + 1}" for row in range(len(channel.inputs))]
            secret = min(int(self.inputs["secret"]), len(names) - 1)
            ui.label("The map shows where this place is released:")
            choice("Secret place", names, names[secret], lambda name: self.change(secret=names.index(name)))
            ui.button("Download: Channel", on_click=partial(self._download, channel), icon="download").props(
                "outline no-caps"
            )
            if "simplex" in made:
                ui.label(
                    "What an adversary can believe afterwards: each dot is a release, and the nearer it is to a "
                    "corner, the surer they are of that place."
                )
                ui.html(made["simplex"], sanitize=False).classes("light-picture")

    def _download(self, channel: Any) -> None:
        path = self.browser.new_file(".json")
        write_channel(channel, path)
        ui.download.file(path, "channel.json")

    # Somebody else's

    async def _verify(self, file: GivenFile) -> None:
        self.verdict.text = "verifying"
        self.browser.made["verdict"] = await run.io_bound(self._judged, file)  # beside the page, which goes on
        self.verdict.text = self.browser.made["verdict"]

    def _judged(self, file: GivenFile) -> str:
        try:
            channel, claim = read_claim(file.path)
            promise = claimed(claim)
            metric = self.placement.space.metric if promise is None else promise.metric
            delta = 0 if promise is None else promise.delta
            return f"{file.shown}: {verify(channel, Space(channel.inputs, metric), delta)}"
        except MetricDPError as error:
            return f"{file.shown}: {error}"


def _metres(value: float) -> str:
    return f"{value / 1000:,g} km" if value >= 1000 else f"{value:g} m"
