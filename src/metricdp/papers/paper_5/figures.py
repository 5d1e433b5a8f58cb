"""Paper 5: its figures."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import metricdp as mdp
from metricdp.adversaries import Hyper, Prior, as_loss, hyper, is_trivial, lifted, uncertainty
from metricdp.channels import Channel, equivalent, of, restrict, verify
from metricdp.design import is_kernel, kernels, universally_optimal, vertices
from metricdp.metrics import Space, absolute, discrete, euclidean, hamming
from metricdp.papers.item import Found, Size, claim, register
from metricdp.plots import graph, simplex, surface

LN2 = mdp.ln(2)
_C = [["2/3", "1/6", "1/6"], ["1/3", "1/3", "1/3"], ["1/6", "1/6", "2/3"]]
_PATH = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1)]


def _fractions(priors: Any) -> str:
    return "; ".join(", ".join(map(str, prior.fractions)) for prior in priors)


@register(5, "fig1", "A channel and its hyper", "Fig. 1, Lemma 1")
def fig1(size: Size) -> Found:
    """Exactly; and back from the hyper to the channel."""
    channel = Channel.from_matrix(["x0", "x1", "x2"], ["y0", "y1", "y2"], _C)
    found = hyper("uniform", channel)
    columns = [["4/7", "2/7", "1/7"], ["1/4", "1/2", "1/4"], ["1/7", "2/7", "4/7"]]
    typed = Hyper.of(channel.inputs, list(zip(["7/18", "2/9", "7/18"], columns, strict=True)))
    outers = (Fraction(7, 18), Fraction(2, 9), Fraction(7, 18))
    return Found(
        (
            claim("posteriors", "; ".join(", ".join(column) for column in columns), _fractions(found.inners),
                  [inner.fractions for inner in found.inners] == [[Fraction(v) for v in c] for c in columns]),
            claim("their probabilities", "7/18, 2/9, 7/18", ", ".join(map(str, found.outers)), found.outers == outers,
                  value=list(found.outers)),
            claim("they average to the prior (Lemma 1)", True, found.prior == Prior.uniform(channel.inputs)),
            claim("the hyper typed in gives the channel back", None, bool(equivalent(typed.channel, channel))),
        ),
        {
            "fig1": lambda: simplex({"posteriors": found, "prior": found.prior}, title="Fig. 1: the hyper of C"),
            "fig1-channel": lambda: mdp.plots.heat_map(channel, title="Fig. 1: the channel C"),
        },
    )  # fmt: skip


def _line() -> Space:
    return Space(["x1", "x2", "x3"], LN2 * mdp.metrics.matrix(["x1", "x2", "x3"], [[0, 1, 2], [1, 0, 1], [2, 1, 0]]))


@register(5, "fig2", "The space of private hypers on three secrets in a row", "Fig. 2, Lemma 2")
def fig2(size: Size) -> Found:
    """Its corners, by enumeration and as intersections of tight constraints by hand."""
    space = _line()
    found = sorted(vertex.exact for vertex in vertices(space) if vertex.exact is not None)
    by_hand = []
    for rise in ((2, 1), (2, -1), (-2, 1), (-2, -1)):
        steps = [Fraction(1)]
        for sign in (rise[0] > 0, rise[1] > 0):
            steps.append(steps[-1] * (Fraction(1, 2) if sign else 2))
        by_hand.append(tuple(step / sum(steps) for step in steps))
    return Found(
        (
            claim("corners", None, "; ".join(", ".join(map(str, v)) for v in found),
                  ways={"tight steps up or down, by hand": "; ".join(", ".join(map(str, v)) for v in sorted(by_hand))},
                  value=[list(v) for v in found]),
            claim("both ways agree", True, sorted(by_hand) == found),
        ),
        {"fig2": lambda: simplex(vertices(space), {"uniform": Prior.uniform(space.points)}, title="Fig. 2: hypers")},
    )  # fmt: skip


@register(5, "fig3", "The uncertainty of nib as a surface", "Fig. 3, Eq. 11")
def fig3(size: Size) -> Found:
    """Three planes: not trivial, and greatest at the uniform prior."""
    loss = as_loss("nib", ["x1", "x2", "x3"])
    top = uncertainty("uniform", None, loss, exact=True)
    return Found(
        (
            claim("nib is trivial", False, is_trivial(loss)),
            claim("greatest, at the uniform prior", None, top, ways={"1 / 3, by hand": Fraction(1, 3)}, value=top),
            claim("at a corner", None, uncertainty([1, 0, 0], None, loss, exact=True), value=0),
        ),
        {"fig3": lambda: surface(loss, title="Fig. 3: U of nib")},
    )


def _kernel_figure(space: Space, marked: dict[str, Any], title: str) -> Any:
    return simplex(vertices(space), marked, title=title)


@register(5, "fig4b", "Private hypers of three numbers, with the geometric mechanism", "Fig. 4b, Lemma 19")
def fig4b(size: Size) -> Found:
    """Four vertices, of which the geometric mechanism has three; and the other kernel."""
    space = Space.line(3, LN2 * absolute())
    geometric = of(mdp.truncated_geometric(space.metric, steps=2), range(3))
    known = {vertex.exact for vertex in vertices(space)}
    used = [tuple(inner.fractions) for inner in hyper("uniform", geometric).inners]
    others = [kernel for kernel in kernels(space) if not equivalent(kernel, geometric)]
    return Found(
        (
            claim("vertices", 4, len(known)),
            claim("of which the geometric mechanism has", 3, sum(point in known for point in used)),
            claim("the geometric mechanism is a kernel", True, bool(is_kernel(geometric, space))),
            claim("kernels besides it", 1, len(others)),
        ),
        {"fig4b": lambda: _kernel_figure(space, {"geometric (B, C, D)": geometric, "the other kernel": others[0]},
                                         "Fig. 4b: ln 2 · d₂")},
    )  # fmt: skip


def responses(count: int) -> tuple[Channel, Channel]:
    """Random response at ln 2, and its dual, which has its least entries on the diagonal."""
    one = [[Fraction(2 if i == j else 1, count + 1) for j in range(count)] for i in range(count)]
    dual = [[Fraction(1 if i == j else 2, 2 * count - 1) for j in range(count)] for i in range(count)]
    names = range(count)
    return Channel.from_matrix(names, names, one), Channel.from_matrix(names, names, dual)


@register(5, "fig5b", "Private hypers of three categories, with random response and its dual", "Fig. 5b, Lemma 21")
def fig5b(size: Size) -> Found:
    """Six vertices: three of random response, three of its dual."""
    space = Space(range(3), LN2 * discrete())
    response, dual = responses(3)
    known = {vertex.exact for vertex in vertices(space)}
    used = {tuple(inner.fractions) for channel in (response, dual) for inner in hyper("uniform", channel).inners}
    return Found(
        (
            claim("vertices", 6, len(known)),
            claim("all are posteriors of R or of its dual", True, used == known),
            claim("R and its dual are kernels", True,
                  bool(is_kernel(response, space)) and bool(is_kernel(dual, space))),
        ),
        {"fig5b": lambda: _kernel_figure(space, {"response": response, "its dual": dual}, "Fig. 5b: ln 2·discrete")},
    )  # fmt: skip


@register(5, "fig6b", "The Euclidean type on a grid of 2 x 2 points", "Fig. 6b")
def fig6b(size: Size) -> Found:
    """Its points and distances, and its vertices in space."""
    space = Space.grid(2, 2, LN2 * euclidean())
    count = vertices(space).count()
    return Found(
        (claim("vertices on 2 x 2 points", 18, count),),
        {
            "fig6b": lambda: graph(Space.grid(2, 2), title="Fig. 6b: a grid of 2 x 2 points"),
            "fig6b-simplex": lambda: simplex(vertices(space), title="Private posteriors of 2 x 2 points"),
        },
    )


@register(5, "fig7b", "The Hamming type on three bits, and a path on which it is a line", "Fig. 7b")
def fig7b(size: Size) -> Found:
    """The distances along 000, 100, 110, 111 are those of a line."""
    cube = Space.bits(3)
    line = all(hamming()(x, y) == abs(i - j) for i, x in enumerate(_PATH) for j, y in enumerate(_PATH))
    return Found(
        (claim("the metric is linear on the path", True, line),),
        {"fig7b": lambda: graph(cube, path=_PATH, title="Fig. 7b: three bits, and a path")},
    )


@register(5, "fig8", "A kernel on three bits, typed in as its hyper", "Fig. 8, Theorem 6(5)")
def fig8(size: Size) -> Found:
    """From the hyper to the channel: a kernel, the geometric mechanism on the path, optimal for a lifted loss."""
    space = Space.bits(3, LN2 * hamming())
    numerators = [(8, 2, 1, 1), (4, 4, 2, 2), (2, 2, 4, 4), (1, 1, 2, 8)]  # by the number of ones
    sums, outers = (27, 21, 21, 27), ["9/32", "7/32", "7/32", "9/32"]
    inners = [[Fraction(numerators[sum(x)][k], sums[k]) for x in space.points] for k in range(4)]
    typed = Hyper.of(space.points, list(zip(outers, inners, strict=True)))
    channel = typed.channel
    verdict = verify(channel, space)
    geometric = of(mdp.truncated_geometric(LN2 * absolute(), steps=3), range(4))
    on_path = restrict(channel, _PATH)
    loss = lifted(as_loss("bin", _PATH), space.points)
    by_hand = [[Fraction(2 if z in (0, 3) else 1, 3) / 2 ** abs(x - z) for z in range(4)] for x in range(4)]
    same = [[on_path.probability(x, z) for z in on_path.outputs] for x in _PATH] == by_hand
    return Found(
        (
            claim("the hyper averages to the uniform prior", True, typed.prior == Prior.uniform(space.points)),
            claim("K is ln 2 d_H-private, with scale", "1", verdict.scale, verdict.scale == verdict.scale_below == 1),
            claim("K is a kernel", True, bool(is_kernel(channel, space))),
            claim("on the path it is the geometric mechanism", True,
                  same and on_path.weights.tolist() == geometric.weights.tolist()),
            claim("universally optimal for bin lifted from the path", True,
                  bool(universally_optimal(channel, space, loss))),
            claim("and for bin on the whole cube", None, bool(universally_optimal(channel, space, "bin"))),
        ),
        {"fig8": lambda: mdp.plots.heat_map(channel, "uniform", title="Fig. 8: posteriors of K",
                                            names={x: "".join(map(str, x)) for x in space.points})},
        note="The print has ten rows for eight secrets; this is the only choice of its rows that is a private channel "
        "(test_no_other_choice_of_the_printed_rows_gives_figure_8).",
    )  # fmt: skip
