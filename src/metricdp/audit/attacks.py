"""Attacks with names: a second voice beside the bound, which says how somebody would use what was found.

An attack knows what it looks for, so it needs few releases. It gives no confidence: `audit` does. Each takes a box
and a pair of secrets, and says whether it succeeded, in words, with the numbers of a picture.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from metricdp.audit.boxes.box import Box, Failure, Rows
from metricdp.audit.boxes.followed import Followed
from metricdp.audit.coins import WHOLE, coins
from metricdp.audit.events.machine import lowest_bit
from metricdp.audit.events.points import as_points
from metricdp.exact.arrays import Floats

__all__ = ["ATTACKS", "Attack", "attack"]

_SURELY = 6.0  # standard errors, which chance gives once in 10^9 times


@dataclass(frozen=True)
class Attack:
    """What one attack found.

    Attributes:
        name: of the attack.
        paper: where such an attack is described; empty where no paper is named.
        succeeded: whether it tells the secrets apart in a way that noise should not allow.
        words: what was seen.
        picture: two columns of numbers to draw, one for each secret; empty where there is nothing to draw.
    """

    name: str
    paper: str
    succeeded: bool
    words: str
    picture: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())


def attack(box: Box, pair: tuple[Any, Any], draws: int = 2000) -> tuple[Attack, ...]:
    """Every attack that applies to releases of this kind, on some releases of each secret."""
    found = []
    samples = tuple(_drawn(box, secret, draws) for secret in pair)
    for name, (paper, function) in ATTACKS.items():
        outcome = function(box, pair, samples)
        if outcome is not None:
            succeeded, words, picture = outcome
            found.append(Attack(name, paper, succeeded, words, tuple(tuple(part[:400]) for part in picture)))  # type: ignore[arg-type]
    return tuple(found)


Found = tuple[bool, str, tuple[list[float], list[float]]] | None


def _drawn(box: Box, secret: Any, draws: int) -> list[Any]:
    releases: list[Any] = []
    while len(releases) < draws:
        batch = box.draw((secret, secret), np.ones(min(box.block, draws - len(releases)), dtype=bool))
        if not len(batch):
            break
        releases.extend(batch.releases)
    return releases


def _columns(samples: tuple[list[Any], ...]) -> tuple[Floats, Floats] | None:
    points = [as_points([z for z in sample if not isinstance(z, Failure)]) for sample in samples]
    if any(point is None or len(point) < 50 for point in points):
        return None
    first, second = points
    assert first is not None
    assert second is not None
    return (first, second) if first.shape[1] == second.shape[1] else None


def _number(pair: tuple[Any, Any]) -> tuple[float, float] | None:
    if all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in pair):
        return float(pair[0]), float(pair[1])
    return None


def low_bits(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """Whether one secret reaches finer bits than the other."""
    columns = _columns(samples)
    if columns is None:
        return None
    first, second = (np.asarray(lowest_bit(column)).min(axis=1) for column in columns)
    cut = max(np.quantile(first, 0.001), np.quantile(second, 0.001))
    shares = [float((each < cut).mean()) for each in (first, second)]
    seen = max(shares) > 0.005 and min(shares) == 0
    words = f"bits below 2^{cut:.0f} are set in {shares[0]:.1%} of the releases of x and in {shares[1]:.1%} of x'"
    return seen, words, (first.tolist(), second.tolist())


def precision(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """Whether releases lie on a grid that is shifted by the secret."""
    columns, numbers = _columns(samples), _number(pair)
    if columns is None or numbers is None or columns[0].shape[1] != 1:
        return None
    shifted = []
    for column, secret in zip(columns, numbers, strict=True):
        bits = np.asarray(lowest_bit(column[:, 0]))
        own = np.asarray(lowest_bit(column[:, 0] - secret))
        shifted.append(float((own > bits + 8).mean()))
    seen = max(shifted) > 0.5
    return seen, f"without the secret, {max(shifted):.0%} of the releases need 8 bits fewer", ([], [])


def averaging(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """How many repeated releases tell the secrets apart by their mean."""
    columns = _columns(samples)
    if columns is None:
        return None
    first, second = (column[:, 0] for column in columns)
    gap, spread = abs(np.nanmean(first) - np.nanmean(second)), max(np.nanstd(first), np.nanstd(second))
    if not gap > 4 * spread / math.sqrt(len(first)):
        return False, "the means of both secrets are the same, as far as these releases say", ([], [])
    needed = max(1, math.ceil((4 * spread / gap) ** 2)) if spread else 1
    words = f"the mean of {needed} releases of one secret tells it: charge every release of it"
    return needed <= 2, words, (first.tolist(), second.tolist())


def repeated_seed(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """Whether releases repeat: a seed in every call, a seed from the clock, memoised noise."""
    texts = [[repr(z) for z in sample] for sample in samples]
    shares = [1 - len(set(text)) / max(len(text), 1) for text in texts]
    columns = _columns(samples)
    if columns is None or not all(isinstance(z, (float, np.floating)) for z in samples[0][:50]):
        return None
    fine = np.asarray(lowest_bit(columns[0])).min() < -30
    return (
        bool(fine and max(shares) > 0.05),
        f"{max(shares):.1%} of the releases came before, to the last bit",
        ([], []),
    )


def reused_noise(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """Whether two rows of one call have the same noise."""
    numbers = _number(pair)
    if not isinstance(box, Rows) or numbers is None:
        return None
    same = 0
    for _ in range(20):
        released = as_points(list(box.function(np.array(numbers, dtype=float))))
        if released is None or len(released) != 2:
            return None
        noise = released[:, 0] - np.array(numbers)
        same += bool(abs(noise[0] - noise[1]) < 1e-9 * (1 + abs(noise[0])))
    return same > 10, f"two rows of a call had the same noise in {same} of 20 calls", ([], [])


def cut_or_resampled(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """Whether noise was cut off, or drawn again until it fell inside: hard edges without a heap of releases on them."""
    columns = _columns(samples)
    if columns is None or columns[0].shape[1] != 1:
        return None
    edges = []
    for column in columns:
        values = np.sort(column[~np.isnan(column[:, 0]), 0])
        spread = np.subtract(*np.quantile(values, [0.75, 0.25])) or 1.0
        heap = float((values == values[0]).mean())
        near = float((values < values[0] + 0.02 * spread).mean())
        edges.append(near > 0.005 and heap < 0.2 * near)
    words = "releases crowd at an edge without lying on it" if any(edges) else "no hard edge was seen"
    return any(edges), words, (columns[0][:, 0].tolist(), columns[1][:, 0].tolist())


def rounded_first(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """Whether secrets near by have the same law and those across a rounding edge do not."""
    numbers = _number(pair)
    if numbers is None:
        return None
    inside = [_drawn(box, secret, 400) for secret in (0.51, 0.99)]
    across = [_drawn(box, secret, 400) for secret in (0.49, 0.51)]
    columns = [_columns(tuple(each)) for each in (inside, across)]
    if any(each is None for each in columns):
        return None
    gaps = [abs(np.nanmedian(each[0]) - np.nanmedian(each[1])) for each in columns if each is not None]
    spread = float(np.nanstd(np.concatenate([each[0] for each in columns if each is not None])))
    seen = gaps[1] > 0.5 and gaps[1] > 5 * gaps[0] and gaps[1] > 4 * spread / 20
    return bool(seen), f"medians move by {gaps[1]:.3g} across 0.5 and by {gaps[0]:.3g} elsewhere", ([], [])


def own_epsilon(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """Whether the spread of the noise depends on the secret."""
    columns = _columns(samples)
    if columns is None:
        return None
    spreads = [float(np.nanmedian(np.abs(column - np.nanmedian(column, axis=0)))) for column in columns]
    if min(spreads) <= 0:
        return max(spreads) > 0, f"the spreads are {spreads[0]:.3g} and {spreads[1]:.3g}", ([], [])
    ratio = max(spreads) / min(spreads)
    seen = ratio > 1 + 8 / math.sqrt(len(columns[0]))
    return (
        seen,
        f"the noise of one secret is {ratio:.3g} times as wide",
        (columns[0][:, 0].tolist(), columns[1][:, 0].tolist()),
    )


def north_south(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """Whether noise on a map is a circle in degrees instead of metres."""
    columns = _columns(samples)
    secret = pair[0]
    if columns is None or columns[0].shape[1] != 2 or not hasattr(secret, "__len__"):
        return None
    latitude = float(secret[0])
    if not 40 <= abs(latitude) <= 80 or abs(float(secret[1])) > 180:
        return None
    spread = np.median(np.abs(columns[0] - np.asarray(secret, dtype=float)), axis=0)
    ratio = float(spread[1] / spread[0]) if spread[0] else math.inf
    wanted = 1 / math.cos(math.radians(latitude))
    words = f"east and west are {ratio:.3g} times as wide in degrees as north and south; "
    words += f"at {latitude:.3g}° it takes {wanted:.3g}"
    seen = 0 < ratio < math.inf and 2 * abs(math.log(ratio)) < abs(math.log(wanted / ratio))
    return seen, words, (columns[0][:, 0].tolist(), columns[0][:, 1].tolist())


def told_later(box: Box, pair: tuple[Any, Any], samples: tuple[list[Any], ...]) -> Found:
    """Whether the release after a secret tells it, though its own secret is always the same."""
    size = min(len(sample) for sample in samples)
    labels = coins(size, WHOLE // 2)
    batch = Followed(box).draw(pair, labels)
    labels = labels[: len(batch)]
    points = as_points(batch.releases)
    if points is None or min(np.count_nonzero(labels), np.count_nonzero(~labels)) < 50:
        return None
    later = points[:, points.shape[1] // 2 :]
    # ranks: how often a release after x exceeds one after x', in standard errors of what it is by chance
    more, less = int(np.count_nonzero(labels)), int(np.count_nonzero(~labels))
    errors = [
        abs(_ranks(column)[labels].sum() - more * (more + less + 1) / 2)
        / math.sqrt(more * less * (more + less + 1) / 12)
        for column in later.T
    ]
    words = f"the next release, of one and the same secret, differs by {max(errors):.1f} standard errors"
    return max(errors) > _SURELY, words, (later[labels, 0].tolist(), later[~labels, 0].tolist())


def _ranks(column: Floats) -> Floats:
    """Places in order, and for equal numbers the middle of theirs."""
    _, places, counts = np.unique(column, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places])


ATTACKS: dict[str, tuple[str, Callable[[Box, tuple[Any, Any], tuple[list[Any], ...]], Found]]] = {
    "low bits": ("Mironov, On significance of the least significant bits for differential privacy, CCS 2012", low_bits),
    "precision": (
        "Haney, Desfontaines, Hartman, Shrestha, Hay, Precision-based attacks and interval refining, 2022",
        precision,
    ),
    "averaging": ("Holohan, Leith, Mason, Differential privacy in metric spaces (paper 2), after Theorem 4", averaging),
    "repeated seed": (
        "Garfinkel, Leclerc, Randomness concerns when deploying differential privacy, 2020",
        repeated_seed,
    ),
    "noise reused between rows": ("", reused_noise),
    "cut off or drawn again": ("", cut_or_resampled),
    "rounded before noise": (
        "Casacuberta, Shoemate, Vadhan, Wagaman, Widespread underestimation of sensitivity, 2022",
        rounded_first,
    ),
    "an epsilon of the secret's own": ("", own_epsilon),
    "north-south shrinkage": ("", north_south),
    "told by the next release": ("", told_later),
}
"""By name: a paper that describes such an attack, empty where none is named, and the attack."""
