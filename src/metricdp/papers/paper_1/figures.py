"""Paper 1: its figures, its examples, and the location service of section 6.2."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

import metricdp as mdp
from metricdp.channels import Channel, of, verify
from metricdp.exact.bits import seeded
from metricdp.metrics import Space, absolute, chebyshev, discrete, euclidean, manhattan, matrix
from metricdp.papers.item import Found, PaperClaim, Size, claim, register
from metricdp.papers.made_data import uniform
from metricdp.plots import mechanism_map, traces, usefulness
from metricdp.queries import FiniteFunction, uniformity

_SERVICE = Fraction(1, 200) * mdp.ln(2)
_CHANCE = 0.95


@register(1, "fig1", "The converse of Fact 5 fails without uniform sensitivity", "Fig. 1, Fact 5, Definition 5")
def fig1(size: Size) -> Found:
    """A mechanism H that is not private, though H after f is."""
    people = matrix("abc", [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    f = FiniteFunction({"a": "y1", "b": "y2", "c": "y3"}, Space("abc", people))
    proof = uniformity(f, people, discrete())
    H = Channel.from_matrix(["y1", "y2", "y3"], ["z1", "z2"], [["3/4", "1/4"], ["1/2", "1/2"], ["1/4", "3/4"]])
    after = verify(Channel.from_matrix("abc", H.outputs, H.matrix), Space("abc", mdp.ln(2) * people))
    alone = verify(H, Space(H.inputs, mdp.ln(2) * discrete()))
    ratio = H.probability("y1", "z1") / H.probability("y3", "z1")
    return Found(
        (
            claim("H(y1)(z1) <= 2 H(y3)(z1)", "no: 3/4 > 2/4", f"no: the ratio is {ratio}", ratio == 3, value=ratio),
            claim("H after f is ln 2-private", True, after.holds),
            claim("H is ln 2-private", False, alone.holds),
            claim("the scale that H needs", None, alone.scale, value=alone.scale),
            claim("f is 1-sensitive, and uniformly so", "yes, no", f"yes, {'yes' if proof.holds else 'no'}",
                  proof.sensitivity == 1 and proof.holds is False),
        ),
        {"fig1": lambda: mdp.plots.heat_map(H, title="Fig. 1: the mechanism H")},
        note="The table of the figure is lost in the scan; H(y2) = (1/2, 1/2) is a reconstruction.",
    )  # fmt: skip


def _constants() -> list[PaperClaim]:
    eps, step = 0.7, 0.001
    cells = np.exp(-eps * np.abs(np.arange(-60_000, 60_001) * step)).sum() * step
    along = np.linspace(0, 60, 600_001)
    polar = 2 * math.pi * float(np.trapezoid(along * np.exp(-eps * along), along))
    ways: list[tuple[str, str, float, float, float]] = [
        ("(i) line, eps/2", "eps / 2", eps / 2, 1 / float(cells), mdp.laplace(eps * absolute()).density(0.0, 0.0)),
        ("(ii) plane with d2, eps^2/(2 pi)", "eps^2 / (2 pi)", eps**2 / (2 * math.pi), 1 / polar,
         mdp.laplace(eps * euclidean(), dim=2).density((0, 0), (0, 0))),
        ("(iii) plane with d1, eps^2/4", "eps^2 / 4", eps**2 / 4, 1 / float(cells) ** 2,
         mdp.laplace(eps * manhattan(), dim=2).density((0, 0), (0, 0))),
    ]  # fmt: skip
    return [
        claim(f"{name}, at eps = 0.7", f"{formula} = {value:.6g}", f"{ours:.6g}",
              abs(summed - value) < 1e-6 and abs(ours - value) < 1e-12 * value,
              {"one over the integral, by sums": f"{summed:.8g}", "density(x, x)": f"{ours:.12g}"}, value=ours)
        for name, formula, value, summed, ours in ways
    ]  # fmt: skip


@register(1, "fig2", "The constants of four Laplace mechanisms, and their densities", "Fig. 2, Definition 6")
def fig2(size: Size) -> Found:
    """One over the integral of exp(-d), by sums and by `density`; the truncated geometric by its channel."""
    eps, step, k = Fraction(7, 10), Fraction(1, 2), 6
    channel = of(mdp.truncated_geometric(eps * absolute(), steps=k, step=step), [step * i for i in range(k + 1)])
    odds = math.exp(float(step * eps))
    printed = [odds / (odds + 1) if z in (0, k) else (odds - 1) / (odds + 1) for z in range(k + 1)]
    off = max(
        abs(printed[z] * math.exp(-float(eps * step) * abs(2 - z)) - float(channel.matrix[2, z])) for z in range(k + 1)
    )
    draws = size.pick(200_000, 20_000)
    with seeded(12):
        mechanism = mdp.truncated_geometric(eps * absolute(), steps=k, step=step)
        released = np.asarray(mechanism.release(np.full(draws, 1.0)))
    shares = [float((np.abs(released - float(step * z)) < 0.1).mean()) for z in range(k + 1)]
    far = max(abs(share - float(p)) for share, p in zip(shares, channel.matrix[2], strict=True))

    def draw() -> Any:
        decimals = {step * i: f"{float(step * i):g}" for i in range(k + 1)}
        return mdp.plots.heat_map(channel, names=decimals, title="Fig. 2 (iv): truncated geometric, ε = 0.7")

    return Found(
        (
            *_constants(),
            claim("(iv) truncated geometric", "by cases", f"the same within {off:.1e}", off < 1e-12, value=off),
            claim(f"{draws:,} draws from 1.0 beside it", None, f"within {far:.4f}", value=far),
        ),
        {"fig2": draw},
        size.reduced("20,000 draws in place of 200,000"),
    )


@register(1, "fig3", "How useful the earliest registration date is", "Example 1, Fig. 3")
def fig3(size: Size) -> Found:
    """Usefulness of Laplace noise for eps/5 d1 and for eps dh, where dates go from 0 to 5,000 days."""
    claims = []
    for eps in (Fraction(1), Fraction(1, 2), Fraction(1, 10)):
        near, far = (mdp.laplace(eps / scale * absolute()) for scale in (5, 5000))
        for alpha in (5, 50):
            by_formula = 1 - math.exp(-float(eps) * alpha / 5)
            ours = near.probability_within(alpha)
            claims.append(
                claim(f"eps/5 d1, eps = {float(eps)}: within {alpha} days", None, ours,
                      ways={"1 - exp(-eps alpha / 5)": by_formula}, value=ours)
            )  # fmt: skip
        good, bad = near.radius(_CHANCE), far.radius(_CHANCE)
        claims.append(
            claim(f"eps = {float(eps)}: 95% within", "acceptable for eps/5 d1, almost useless for eps dh",
                  f"{good:.1f} days and {bad:,.1f} days", good < 200 and bad > 5000, value=[good, bad])
        )  # fmt: skip

    def draw() -> Any:
        one = {"ε/5·d₁": mdp.laplace(Fraction(1, 5) * absolute()), "ε·dₕ": mdp.laplace(Fraction(1, 5000) * absolute())}
        return usefulness(one, np.linspace(0, 60, 121), unit="days", title="Fig. 3: usefulness, ε = 1")

    return Found(tuple(claims), {"fig3": draw})


def _signature() -> tuple[Any, Any]:
    """Five minutes of a television's power at every second: scenes of different brightness, and a little flicker."""
    seconds = np.arange(0, 301)
    scenes = uniform(404, 24)
    cuts = np.sort(np.floor(300 * uniform(405, 23)))
    power = 90 + 60 * scenes[np.searchsorted(cuts, seconds, side="right")]
    smooth = np.convolve(np.pad(power, 3, mode="edge"), np.full(7, 1 / 7), mode="valid")
    return seconds, smooth + 3 * (uniform(406, len(seconds)) - 0.5)


@register(1, "fig4", "A meter's signature, and its noisy readings", "Example 2, Fig. 4")
def fig4(size: Size) -> Found:
    """Readings every ten seconds with Laplace noise; both mechanisms that are d-infinity-private on ten readings."""
    seconds, power = _signature()
    readings = power[::10]
    with seeded(42):
        noisy = {
            f"ε = {eps}": np.asarray(mdp.laplace(Fraction(eps) * absolute()).release(readings))
            for eps in ("0.1", "0.5")
        }
        count, releases = 10, size.pick(20_000, 2_000)
        largest = np.abs(np.asarray(mdp.laplace(chebyshev(), dim=count).release(np.zeros((releases, count)))))
        apart = np.abs(np.asarray(mdp.laplace(manhattan() / count, dim=count).release(np.zeros((releases, count)))))
    errors = {name: float(np.abs(values - readings).mean()) for name, values in noisy.items()}
    one, two = float(largest.mean()), float(apart.mean())
    # Mean errors of so many releases lie within five times their spread of the truth, but for one run in a million.
    return Found(
        (
            claim("mean error of a reading at eps = 0.1 and 0.5", None,
                  f"{errors['ε = 0.1']:.2f} and {errors['ε = 0.5']:.2f} W", value=list(errors.values())),
            claim("independent noise of scale 1/eps on n readings is", "eps d-infinity-private",
                  "eps d1-private, so n eps d-infinity-private", False,
                  {"d1 <= n d-infinity, and reached": "noise on each reading spends eps for itself",
                   "log-densities at (1, .., 1) beyond 0 and 1, n = 10": f"{_loss(count):.6g} eps, not 1 eps"}),
            claim("mean error with Definition 6 for d-infinity, n = 10", None, one,
                  ways={"theory, (n + 1) / 2": 5.5}, value=one),
            claim("mean error with independent noise of scale n", None, two, ways={"theory, n": 10.0}, value=two),
        ),
        {"fig4": lambda: traces(readings, noisy, seconds[::10], whole=(seconds, power), x="time, s", y="power, W",
                                title="Fig. 4: a signature and its noisy readings")},
        size.reduced("2,000 releases in place of 20,000"),
        note="The signature of the film is not public; this one is made from a seed.",
    )  # fmt: skip


def _loss(count: int) -> float:
    """How far the log-density of independent noise moves when all readings do by one: at an output below them all."""
    one = mdp.laplace(manhattan(), dim=count)
    low, high, out = (tuple([value] * count) for value in (0.0, 1.0, -1.0))
    return math.log(one.density(low, out) / one.density(high, out))


@register(1, "location", "A location service as a whole story", "Section 6.2")
def location(size: Size) -> Found:
    """A noisy place, the radius to search so that the answer is inside with 95%, and what that costs."""
    wanted, restaurants = 300.0, 40_000
    mechanism = mdp.laplace(_SERVICE * euclidean(), dim=2)
    reach = mechanism.radius(_CHANCE)
    level = math.log(2) / 200

    def beyond(radius: float) -> float:
        return (1 + level * radius) * math.exp(-level * radius)

    low, high = 0.0, 20_000.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 1 - _CHANCE else (low, middle)
    search = wanted + reach
    overhead = (search / wanted) ** 2
    trials = size.pick(20_000, 3_000)
    with seeded(62):
        noise = np.asarray(mechanism.release(np.zeros((trials, 2))))
    angles = 2 * math.pi * uniform(63, trials)
    places = wanted * np.sqrt(uniform(64, trials))[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    inside = float((np.linalg.norm(places - noise, axis=1) <= search).mean())
    shown, where = noise[:60], np.array(noise[0])
    cafes = {f"café {i + 1}": tuple((places[i] * 0.9).tolist()) for i in range(3)}

    def draw() -> Any:
        return mechanism_map(
            mechanism, (0.0, 0.0), releases=shown, places=cafes, unit="m",
            circles={"wanted, 300 m": ((0.0, 0.0), wanted),
                     f"searched, {search:,.0f} m": (tuple(where.tolist()), search)},
            title="Section 6.2: a noisy place",
        )  # fmt: skip

    return Found(
        (
            claim("95% of noisy places within", None, f"{reach:.1f} m",
                  ways={"(1 + eps r) exp(-eps r) = 5%, solved": f"{high:.1f} m"}, value=reach),
            claim("to have all within 300 m in the answer with 95%, search", None, f"{search:.0f} m", value=search),
            claim("answers that were inside, of a simulation", None, f"{inside:.2%}", value=inside),
            claim("overhead: places sent for each one wanted", None, f"{overhead:.1f}",
                  ways={f"of {restaurants:,} on 10 km x 10 km": _sent(restaurants, search, wanted)}, value=overhead),
        ),
        {"location": draw},
        size.reduced("3,000 simulated requests in place of 20,000"),
        note="The paper describes the mechanism and refers for the service to its reference 18; ln 2 for 200 m here.",
    )  # fmt: skip


def _sent(places: int, search: float, wanted: float) -> str:
    """How many of uniform places lie in the circle that is searched, and in the one that is wanted."""
    at = 10_000 * (uniform(65, places, 2) - 0.5)
    far = np.linalg.norm(at, axis=1)
    sent, asked = int((far <= search).sum()), int((far <= wanted).sum())
    return f"{sent:,} sent, {asked:,} wanted"
