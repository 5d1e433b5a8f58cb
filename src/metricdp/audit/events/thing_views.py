"""Views of releases that are no plain numbers: text, sets, records, objects, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metricdp.audit.boxes.box import Batch, Failure
from metricdp.audit.boxes.samples import WrittenNumber
from metricdp.audit.events import machine, things
from metricdp.audit.events.points import as_points
from metricdp.audit.events.threshold import FEW
from metricdp.audit.events.view import View, each

__all__ = ["label_views", "thing_views"]

_MOST_FIELDS = 64
_MOST_MEMBERS = 64
_LOOKED_AT = 500
_FIRST_CHARACTERS, _LAST_CHARACTERS = 12, 6
_MOST_TEXTS, _MOST_WRITTEN = 8, 8
_USUAL = 0.9
_SIZED = (str, bytes, list, tuple, set, frozenset, dict)


def thing_views(releases: Sequence[Any], alone: bool) -> list[View]:
    """Columns of numbers: lengths of text and of sets, members of sets, fields of records, numbers written in text.

    Args:
        releases: some of them.
        alone: whether releases are no points; otherwise their numbers are looked at elsewhere.
    """
    views: list[View] = []
    good = [release for release in releases if not isinstance(release, Failure)]
    if alone and any(isinstance(release, _SIZED) for release in good):
        views.append(View("its length", "len(z)", each(lambda z: float(len(z)) if hasattr(z, "__len__") else np.nan)))
    sets = [release for release in good if isinstance(release, (set, frozenset))]
    for member in sorted({member for release in sets for member in release}, key=repr)[:_MOST_MEMBERS]:
        code = f"({_plain(member)!r} in z)"
        views.append(View(f"whether {_plain(member)!r} is in it", code, each(partial(_holds, member)), near=True))
    if alone:
        for field in range(_width(good)):
            views.append(View(f"field {field}", f"z[{field}]", each(partial(_field, field)), near=True))
    return views + (_of_text(good[:_LOOKED_AT]) if good and any(map(_has_text, good[:_LOOKED_AT])) else [])


def _of_text(some: Sequence[Any]) -> list[View]:
    """Numbers that are written in text, and how many characters of a kind there are."""
    views = []
    sizes = Counter(len(things.written_numbers(release)) for release in some)
    size, often = sizes.most_common(1)[0]
    if 0 < size <= _MOST_WRITTEN and often >= _USUAL * len(some):
        for place in range(size):
            code = f"t.written_numbers(z)[{place}]"
            views.append(View(f"number {place} in its text", code, _written(place), near=True))
    for words, kind in (("capitals", "isupper"), ("digits", "isdigit"), ("spaces", "isspace")):
        count = partial(_count, kind)
        if len({count(release) for release in some}) > 1:
            code = f"sum(c.{kind}() for text in t.texts(z) for c in text)"
            views.append(View(f"how many {words} its text has", code, each(count)))
    return views


def _written(place: int) -> Callable[[Batch], NDArray[Any]]:
    def column(batch: Batch) -> NDArray[Any]:
        known = batch.__dict__.get("_written")
        if known is None:
            known = batch.__dict__["_written"] = [things.written_numbers(release) for release in batch.releases]
        return np.array([found[place] if len(found) > place else np.nan for found in known])

    return column


def _count(kind: str, release: Any) -> float:
    return float(sum(getattr(letter, kind)() for text in things.texts(release) for letter in text))


def label_views(batch: Batch) -> list[View]:
    """The columns of labels that such releases have."""
    releases = batch.releases
    if isinstance(releases, np.ndarray):
        if releases.dtype.kind in "biuf":
            return []
        return [View("the release", "t.key(z)", lambda batch: _array(batch.releases), number=False)]
    views = [View("its kind", "m.outcome(z)", each(machine.outcome, object), number=False)]
    some = releases[:_LOOKED_AT]
    if any(isinstance(release, Failure) and release.message for release in releases):
        views.append(View("what its error says", "t.message(z)", each(things.message, object), number=False))
    if any(not isinstance(release, (int, float, str, bytes, type(None), Failure)) for release in some):
        views.append(View("its form", "t.form(z)", each(things.form, object), number=False))
    if any(map(_has_text, some)):
        views += _text_labels(some)
    if as_points(releases) is None:
        plain = all(type(release) in (str, bytes, bool, type(None)) for release in releases)
        views.append(View("the release", "z" if plain else "t.key(z)", each(things.key, object), number=False))
        for field in range(_width(releases)):
            code = f"t.key(z[{field}])"
            views.append(View(f"field {field}", code, each(partial(_label_of_field, field), object), number=False))
    return views


def _text_labels(some: Sequence[Any]) -> list[View]:
    """The texts inside a release, and single characters where whole texts hardly come twice."""
    found = [things.texts(release) for release in some]
    views = []
    nested = any(texts and not isinstance(release, (str, bytes)) for texts, release in zip(found, some, strict=True))
    for place in range(min(max(map(len, found)), _MOST_TEXTS) if nested else 0):
        views.append(_label(f"text {place} in it", f"t.texts(z)[{place}]", partial(_text, place)))
    joined = ["".join(texts) for texts in found]
    if len(set(joined)) <= FEW:
        return views
    for place in (*range(_FIRST_CHARACTERS), *range(-_LAST_CHARACTERS, 0)):
        if len({text[place] if -len(text) <= place < len(text) else None for text in joined}) > 1:
            words = f"character {place} of its text" if place >= 0 else f"character {-place} from the end of its text"
            views.append(_label(words, f"t.character(z, {place})", partial(_character, place)))
    return views


def _label(words: str, code: str, function: Callable[[Any], Any]) -> View:
    return View(words, code, each(function, object), number=False)


def _character(place: int, release: Any) -> str | None:
    return things.character(release, place)


def _text(place: int, release: Any) -> str | None:
    found = things.texts(release)
    return found[place] if len(found) > place else None


def _has_text(release: Any) -> bool:
    return isinstance(release, (str, bytes, WrittenNumber)) or (
        not isinstance(release, (int, float)) and bool(things.texts(release))
    )


def _width(releases: Sequence[Any]) -> int:
    """How many fields the longest record has."""
    return min(max((len(z) for z in releases if isinstance(z, (tuple, list))), default=0), _MOST_FIELDS)


def _plain(member: Any) -> Any:
    return member.item() if isinstance(member, np.generic) else member


def _holds(member: Any, release: Any) -> float:
    return float(member in release) if isinstance(release, (set, frozenset)) else np.nan


def _label_of_field(field: int, release: Any) -> Any:
    return things.key(release[field]) if isinstance(release, (tuple, list)) and len(release) > field else None


def _field(field: int, release: Any) -> float:
    if isinstance(release, (tuple, list)) and len(release) > field:
        value = release[field]
        if isinstance(value, (int, float, np.number)):
            return float(value)
    return np.nan


def _array(releases: Any) -> NDArray[Any]:
    if releases.ndim == 1 and releases.dtype.kind in "US":
        return np.asarray(releases)
    found = np.empty(len(releases), dtype=object)
    for row, release in enumerate(releases):
        found[row] = things.key(release)
    return found
