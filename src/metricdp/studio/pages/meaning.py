"""What does it mean?: two secrets, a promise, and what somebody could conclude from a release."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from nicegui import ui

from metricdp.mechanisms.picture import short_number
from metricdp.metrics.words import factor_words
from metricdp.plots import noise_svg
from metricdp.studio.browsers import Browser
from metricdp.studio.controls import Range, Slider, drawn, numbers, panel, picture, pointed, said
from metricdp.studio.drawing import ACCENT, FAINT, MARK, SECOND, Chart, bars, legend, svg, words
from metricdp.studio.example import Example
from metricdp.studio.files import own_lines_input
from metricdp.studio.maps import MapView, map_of

__all__ = ["build"]

_PAGE = "meaning"
_ENDS = (-25.0, 125.0)
_METRES = [number * 10**power for power in range(1, 7) for number in (1, 2, 5)]
_WIDTHS = [number * 10**power for power in range(2, 8) for number in (1, 2, 4)][1:]
_LINE = {"first": 40.0, "second": 50.0, "seen": 47.0, "radius": 10}
_MAP = {"first": (48.8566, 2.3522), "second": (48.8606, 2.3376), "seen": (48.8575, 2.3470), "radius": 4}
_COLOURS = {"first": ACCENT, "second": SECOND, "seen": MARK}
_NAMES = {"first": "first secret", "second": "second secret", "seen": "released"}
_CORNERS = ("north-west", "north", "north-east", "west", "middle", "east", "south-west", "south", "south-east")
_SHORT = ("NW", "N", "NE", "W", "mid", "E", "SW", "S", "SE")


def build(browser: Browser) -> None:
    """The page."""
    _Meaning(browser)


class _Meaning:
    """The page's controls and pictures, and how one follows the other."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.picked, self.gesture = "first", 0
        self.sliders: dict[str, Slider] = {}
        self.fields: dict[str, tuple[Any, Any]] = {}
        self.kind: str = browser.inputs(_PAGE, kind="line")["kind"]
        with ui.element("div").classes("columns wide"):
            with panel("The promise"):
                self._promise()
            with panel("The secrets and the noise"):
                self._place()
        with ui.element("div").classes("columns wide"):
            with panel("What is promised"):
                self.sentence = said()
                self.numbers = drawn()
                self.noise = drawn().classes("noise")
            with panel("What an adversary believes"):
                self._adversary()
        self.refresh()

    # Inputs

    @property
    def inputs(self) -> dict[str, Any]:
        own = _LINE if self.kind == "line" else _MAP
        found = self.browser.inputs(
            _PAGE, factor=2.0, prior=[5.0] * 9, zoom=4, centre=_MAP["first"],
            **{f"{self.kind}_{name}": value for name, value in own.items()},
        )  # fmt: skip
        return found

    def get(self, name: str) -> Any:
        return self.inputs[f"{self.kind}_{name}"]

    def change(self, name: str, value: Any, gesture: int | None = None) -> None:
        self.browser.change(_PAGE, gesture, **{f"{self.kind}_{name}": value})
        self.refresh()

    def change_shared(self, name: str, value: Any) -> None:
        self.browser.change(_PAGE, **{name: value})
        self.refresh()

    @property
    def view(self) -> MapView:
        latitude, longitude = self.inputs["centre"]
        return MapView(latitude, longitude, _WIDTHS[int(self.inputs["zoom"])])

    @property
    def example(self) -> Example:
        on_map = self.kind == "map"
        radius = Fraction(_METRES[int(self.get("radius"))]) if on_map else Fraction(str(self.get("radius")))
        candidates: tuple[Any, ...] = tuple(12.5 * step for step in range(9))
        if on_map:
            candidates = tuple(self.view.place(x, y) for y in (0.2, 0.5, 0.8) for x in (0.2, 0.5, 0.8))
        return Example(
            self.get("first"),
            self.get("second"),
            self.get("seen"),
            radius,
            Fraction(str(self.inputs["factor"])),
            candidates,
            self.inputs["prior"],
        )

    # Controls

    def _promise(self) -> None:
        def turn(event: Any) -> None:
            self.browser.change(_PAGE, kind=event.value)
            ui.navigate.reload()

        ui.toggle({"line": "Numbers", "map": "Places on a map"}, value=self.kind, on_change=turn).props(
            'no-caps aria-label="What the secrets are"'
        )
        Slider(
            "Factor", (1.1, 10), self.inputs["factor"], lambda value: self.change_shared("factor", round(value, 1)),
            lambda value: f"{value:.3g}", 0.1,
        )  # fmt: skip
        if self.kind == "line":
            Slider("at a distance of", (1, 50), self.get("radius"), lambda value: self.change("radius", value), _plain)
        else:
            Slider(
                "at a distance of", (0, len(_METRES) - 1), self.get("radius"),
                lambda value: self.change("radius", value), lambda value: _metres(_METRES[int(value)]),
            )  # fmt: skip
        self.level = said()
        for name in ("first", "second", "seen"):
            self._secret(name)
        if self.kind == "map":
            self._map_controls()

    def _secret(self, name: str) -> None:
        title = _NAMES[name].capitalize()
        if self.kind == "line":
            ends = (0.0, 100.0) if name != "seen" else _ENDS
            self.sliders[name] = Slider(
                title, ends, self.get(name), lambda value: self.change(name, value), _plain, 0.5
            )
            return
        with ui.element("div").classes("fields"):
            both = [
                ui.number(f"{title}: {axis}", value=self.get(name)[row], format="%.5f", step=0.001, min=-end, max=end)
                for row, (axis, end) in enumerate((("latitude", 90), ("longitude", 180)))
            ]
        for field in both:
            field.props("dense outlined")
            field.on_value_change(lambda _: self._typed(name))
        self.fields[name] = (both[0], both[1])

    def _typed(self, name: str) -> None:
        typed = tuple(field.value for field in self.fields[name])
        if None not in typed and abs(typed[0]) <= 90 and abs(typed[1]) <= 180 and self.get(name) != typed:
            self.change(name, typed)

    def _map_controls(self) -> None:
        Slider(
            "Width of the map", (0, len(_WIDTHS) - 1), self.inputs["zoom"],
            lambda value: self.change_shared("zoom", value), lambda value: _metres(_WIDTHS[int(value)]),
        )  # fmt: skip
        ui.button("Centre on the first secret", on_click=self._centre).props("outline no-caps")
        ui.label("The map has coasts and borders. Streets or districts come from a file of yours.")
        own_lines_input(self.browser, self.refresh)

    def _centre(self) -> None:
        self.change_shared("centre", self.get("first"))

    def _place(self) -> None:
        ui.label("Drag the dots, or use the controls.")
        with ui.element("div").classes("layers"):
            if self.kind == "map":
                self.base = drawn()
            self.picture = drawn()
        pointed(self.picture, self._drag)

    def _adversary(self) -> None:
        ui.label("Draw what they believe before the release: how likely each secret is.")
        with ui.element("div").classes("sliders"):
            for place in range(9):
                with ui.element("div"):
                    name = f"{12.5 * place:g}" if self.kind == "line" else _CORNERS[place]
                    Range(
                        f"How likely: {name}", (0, 10), self.inputs["prior"][place],
                        partial(self._believe, place), 0.5,
                    ).element.classes("upright")  # fmt: skip
                    ui.label(name if self.kind == "line" else _SHORT[place])
        colours = ((FAINT, "before the release, in percent"), (MARK, "after it"))
        ui.html(legend(colours), sanitize=False)
        self.beliefs = drawn()
        self.conclusion = said()
        ui.button("Release the first secret once", on_click=self._release).props("no-caps")

    def _believe(self, place: int, value: float) -> None:
        prior = list(self.inputs["prior"])
        prior[place] = value
        self.change_shared("prior", prior)

    def _release(self) -> None:
        found = self.example.mechanism.release([self.get("first")])[0]
        if self.kind == "line":
            self.change("seen", min(max(round(float(found), 1), _ENDS[0]), _ENDS[1]))
        else:
            self.change("seen", (float(found[0]), float(found[1])))

    def _drag(self, x: float, y: float, begin: bool) -> None:
        self.gesture += begin
        if self.kind == "line":
            at: Any = round(2 * self._chart(1.0).back(x)) / 2
            if begin:
                self.picked = min(_NAMES, key=lambda name: abs(self.get(name) - at))
            low, high = _ENDS if self.picked == "seen" else (0.0, 100.0)
            at = min(max(at, low), high)
        else:
            view = self.view
            at = tuple(round(part, 6) for part in view.place(x, y))
            if begin:
                there = (x * view.width, y * view.height)
                away = {name: view.at(*self.get(name)) for name in _NAMES}
                self.picked = min(
                    away, key=lambda name: (away[name][0] - there[0]) ** 2 + (away[name][1] - there[1]) ** 2
                )
        self.change(self.picked, at, self.gesture)

    # Pictures

    def refresh(self) -> None:
        """Show what follows from the inputs."""
        example = self.example
        for name, slider in self.sliders.items():
            slider.show(self.get(name))
        for name, fields in self.fields.items():
            for field, value in zip(fields, self.get(name), strict=True):
                if field.value != value:
                    field.value = value
        factor, apart = f"{float(example.factor):.3g}", example.measure.say(example.radius)
        self.level.text = (
            f"A factor {factor} at {apart}: of two secrets that far apart, whatever is released is at most {factor} "
            "times as likely from one as from the other."
        )
        formula, *sentences = example.sentence.splitlines()
        self.sentence.text = "\n".join([*sentences, f"As a formula: {formula[0].lower()}{formula[1:]}"])
        half, most = (example.measure.say(radius) for radius in example.radii)
        numbers(
            self.numbers,
            [
                ("between the two secrets", example.measure.say(example.distance)),
                ("the odds move by at most this factor", factor_words(example.odds)),
                ("half of all releases are nearer", half),
                ("95% of all releases are nearer", most),
            ],
        )
        picture(self.noise, noise_svg(example.mechanism, title="How likely each error is"))
        if self.kind == "line":
            picture(self.picture, self._line(example))
        else:
            picture(self.base, map_of(self.view, self.browser.made.get("lines")))
            picture(self.picture, self._map(example))
        self._show_beliefs(example)

    def _chart(self, top: float) -> Chart:
        return Chart(*_ENDS, top)

    def _line(self, example: Example) -> str:
        ends = [_ENDS[0] + step * (_ENDS[1] - _ENDS[0]) / 300 for step in range(301)]
        chart = self._chart(example.mechanism.density(0, 0)).axis()
        for name in ("first", "second"):
            secret = self.get(name)
            places = sorted([*ends, secret])
            chart.curve(places, [example.mechanism.density(secret, place) for place in places], _COLOURS[name])
        left, right = sorted(("first", "second"), key=self.get)
        for name, anchor in ((left, "end"), (right, "start")):  # away from each other
            chart.stem(self.get(name), _NAMES[name], _COLOURS[name], 1, anchor)
        chart.stem(self.get("seen"), _NAMES["seen"], _COLOURS["seen"], 0, "middle", dashed=True)
        reach = example.radii[1]
        chart.span(example.first - reach, example.first + reach, "95% of the first's releases", FAINT)  # type: ignore[operator]
        return chart.text(
            f"The noise around two secrets, {short_number(self.get('first'))} and {short_number(self.get('second'))}; "
            f"{short_number(self.get('seen'))} was released"
        )

    def _map(self, example: Example) -> str:
        view, parts = self.view, []
        for place, share in zip(example.candidates, example.posterior, strict=True):
            x, y = view.at(*place)  # type: ignore[misc]
            wide, high = 0.3 * view.width, 0.3 * view.height
            parts.append(
                f'<rect x="{x - wide / 2:.1f}" y="{y - high / 2:.1f}" width="{wide:.1f}" height="{high:.1f}" '
                f'style="fill: {MARK}" fill-opacity="{0.45 * share:.3f}"/>'
            )
            parts.append(words(f"{100 * share:.0f}%", x, y + high / 2 - 5))
        x, y = view.at(*self.get("first"))
        for radius, dashes in zip(example.radii, ("", "5 4"), strict=True):
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{min(radius * view.scale, 1e5):.1f}" style="stroke: {ACCENT}; '
                f'fill: {ACCENT}" fill-opacity=".07" stroke-dasharray="{dashes}" stroke-width="1.5"/>'
            )
        for row, name in enumerate(_NAMES):
            x, y = view.at(*self.get(name))
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" style="fill: {_COLOURS[name]}"/>')
            parts.append(words(_NAMES[name], x + 10, y + 4 + 18 * (row - 1), "start", _COLOURS[name]))
        title = "Two secret places, circles with half and 95% of the releases of the first, and what was released"
        return svg(view.width, view.height, title, parts)

    def _show_beliefs(self, example: Example) -> None:
        before, after = example.before, example.posterior
        names = [f"{12.5 * step:g}" for step in range(9)] if self.kind == "line" else list(_SHORT)
        told = "; ".join(f"{name} {b:.0%} to {a:.0%}" for name, b, a in zip(names, before, after, strict=True))
        picture(self.beliefs, bars([before, after], names, [FAINT, MARK], f"Percent before and after: {told}"))
        best = max(range(9), key=after.__getitem__)
        title = names[best] if self.kind == "line" else _CORNERS[best]
        self.conclusion.text = (
            f"After the release they find {title} most likely: {after[best]:.0%}, and it was {before[best]:.0%}. "
            f"Their odds between the two secrets moved by a factor {factor_words(example.moved_either_way)}; "
            f"the promise allows {factor_words(example.odds)}."
        )


def _plain(value: float) -> str:
    return f"{value:g}"


def _metres(value: float) -> str:
    return f"{value / 1000:,g} km" if value >= 1000 else f"{value:g} m"
