"""What text means where a policy declares the type: numbers, whole numbers, dates, moments, true and false, exactly.

Nothing is rounded and nothing is guessed: what has no place in the declared type is refused with its row, and the
error never holds the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from metricdp.errors import KindError, OutOfDomainError
from metricdp.sources.dialect import Dialect

__all__ = [
    "DIGITS",
    "FLOAT",
    "booleans",
    "days",
    "fractions",
    "integers",
    "moments",
    "numbers",
    "times_of_day",
    "typed",
]

DIGITS = 38
"""Of a number before its point, and after it; more are refused."""
FLOAT = "\0"
"""Begins a float in base 16, which a column of Python objects holds. In text a null byte is refused."""

_WANTED = "a value is not of the type that the policy declares: {} is wanted"
_WORDS = '; where values are words, declare type = "category"'
_NUMBER = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?$"
_WHOLE = r"^[+-]?[0-9]+$"


def typed(text: pa.Array, arrow: pa.DataType, dialect: Dialect, column: str) -> pa.Array:
    """Text in the Arrow type that is declared for its column, exactly or, as floats are, to the nearest.

    Args:
        text: the column.
        arrow: text, integers of 64 bits, floats of 64 bits, decimals, dates, moments or booleans.
        dialect: how it is written.
        column: its name, by which the dialect may know how its dates are written.

    >>> typed(pa.array(["12", None]), pa.int64(), Dialect(), "age").to_pylist()
    [12, None]
    """
    if pa.types.is_string(arrow):
        return text
    if pa.types.is_floating(arrow):
        return floats(text, dialect)
    if pa.types.is_decimal(arrow):
        return decimals(text, dialect, arrow)
    if pa.types.is_boolean(arrow):
        return booleans(text, dialect)
    if pa.types.is_date(arrow):
        return days(text, dialect, column)
    return moments(text, dialect, column) if pa.types.is_timestamp(arrow) else integers(text)


def floats(text: pa.Array, dialect: Dialect) -> pa.Array:
    """Numbers as the nearest floats of 64 bits."""
    found = numbers(text, dialect)
    if pa.types.is_string(found.type):
        if pc.any(pc.starts_with(found, FLOAT), min_count=0).as_py():
            return pa.array([None if number is None else float(number) for number in fractions(found)], pa.float64())
        return pc.replace_substring_regex(found, r"^\+", "").cast(pa.float64())
    return found.cast(pa.string()).cast(pa.float64())  # by its text: of a decimal, Arrow takes not always the nearest


def decimals(text: pa.Array, dialect: Dialect, arrow: pa.DataType) -> pa.Array:
    """Numbers as decimals of a declared number of places, exactly."""
    found = numbers(text, dialect)
    if pa.types.is_decimal(found.type):
        exact = _cast(found, arrow)
        if exact is not None:
            return exact
    ten = 10**arrow.scale
    for row, number in enumerate(fractions(found.cast(pa.string()))):
        if number is not None and ((number * ten).denominator != 1 or abs(number * ten) >= 10**arrow.precision):
            raise OutOfDomainError(_WANTED.format(f"a number with at most {arrow.scale} decimals"), row)
    return pa.array([None if word is None else Decimal(word) for word in found.cast(pa.string()).to_pylist()], arrow)


def numbers(text: pa.Array, dialect: Dialect) -> pa.Array:
    """Numbers as decimals, exactly; or, where they are long or have exponents, as the text that `fractions` reads.

    Arrow's own parser is exact as long as neither the text nor the decimal has more than 38 digits, and is asked for
    no more: beyond that it was seen to round in silence (1e-77 became 0.00).
    """
    if dialect.decimal == ",":
        _refuse(pc.match_substring(text, "."), 'a number with a decimal comma is wanted, as [csv] decimal = "," says')
        text = pc.replace_substring(text, ",", ".")
    length = pc.max(pc.binary_length(text)).as_py() or 0
    if length <= _SHORT and not _has_exponents(text):
        point = pc.find_substring(text, ".")
        decimals = pc.max(pc.if_else(pc.equal(point, -1), 0, pc.subtract(pc.binary_length(text), point))).as_py() or 1
        quick = _cast(text, pa.decimal128(38, max(0, decimals - 1)))
        if quick is not None:
            return quick
    text = _trimmed(text)
    good = pc.or_(pc.match_substring_regex(text, _NUMBER), pc.starts_with(text, FLOAT))
    _refuse(pc.invert(good), f"{_WANTED.format('a number')}{_WORDS}")
    return text


_SHORT = 19
"""Characters of a number that is read by Arrow: with as many decimals again, its digits fit 128 bits."""


def _has_exponents(text: pa.Array) -> bool:
    """Whether there is an e, of either case, anywhere in the text."""
    _, offsets, data = text.buffers()
    if data is None or not len(text):
        return False
    ends = np.frombuffer(offsets, np.int32)[[text.offset, text.offset + len(text)]]
    letters = np.frombuffer(data, np.uint8)[ends[0] : ends[1]]
    return bool(((letters | 32) == ord("e")).any())


def fractions(text: pa.Array) -> list[Fraction | None]:
    """The same numbers as fractions.

    Raises:
        OutOfDomainError: with the row of a number of more than `DIGITS` digits before or after its point.
    """
    found: list[Fraction | None] = []
    for row, word in enumerate(text.to_pylist()):
        if word is None:
            found.append(None)
        elif word.startswith(FLOAT):
            found.append(Fraction(float.fromhex(word[1:])))
        else:
            number = Decimal(word)
            if not _fits(number):
                rule = f"a number of more than {DIGITS} digits before or after its point"
                raise OutOfDomainError(rule, row)
            found.append(Fraction(number))
    return found


def _cast(text: pa.Array, arrow: pa.DataType) -> pa.Array | None:
    """The text in a type; None where it is not text of that type."""
    try:
        return text.cast(arrow)
    except pa.ArrowException:  # whose message holds the value
        return None


def _fits(number: Decimal) -> bool:
    _, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    written = "".join(map(str, digits)).lstrip("0")
    kept = written.rstrip("0")
    return not kept or (exponent + len(written) - len(kept) >= -DIGITS and exponent + len(written) <= DIGITS)


def integers(text: pa.Array) -> pa.Array:
    """Whole numbers of 64 bits."""
    quick = _cast(text, pa.int64())
    if quick is not None and not pc.any(pc.match_substring(text, "x", ignore_case=True), min_count=0).as_py():
        return quick  # which is not in base 16
    text = _trimmed(text)
    good = pc.match_substring_regex(text, _WHOLE)
    if not pc.all(good, min_count=0).as_py():
        pointed = pc.and_(pc.invert(good), pc.match_substring_regex(text, _NUMBER.replace(r"\.", "[.,]")))
        row = int(np.argmin(_filled(good, True)))
        if pointed[row].as_py():
            rule = 'where numbers have a decimal point or an exponent, declare type = "number"'
            raise OutOfDomainError(f"{_WANTED.format('a whole number')}; {rule}", row)
        raise KindError(f"{_WANTED.format('a whole number')}{_WORDS}", row)
    if pc.any(pc.starts_with(text, "+"), min_count=0).as_py():
        text = pc.replace_substring_regex(text, r"^\+", "")
    found = _cast(text, pa.int64())
    if found is not None:
        return found
    row = next(row for row, word in enumerate(text.to_pylist()) if word is not None and _is_wide(word))
    raise OutOfDomainError("a whole number of more than 64 bits", row)


def _is_wide(word: str) -> bool:
    digits = word.lstrip("+-").lstrip("0")
    return len(digits) > 19 or not -(2**63) <= int(word) < 2**63


def booleans(text: pa.Array, dialect: Dialect) -> pa.Array:
    """True and false, in the words that the dialect has for them."""
    text = _trimmed(text)
    words = pa.array([*dialect.true, *dialect.false], text.type)
    places = pc.index_in(text, value_set=words, skip_nulls=True)
    _refuse(pc.and_(places.is_null(), text.is_valid()), _WANTED.format("a word for true or for false"))
    return pc.less(places, len(dialect.true))


def days(text: pa.Array, dialect: Dialect, column: str) -> pa.Array:
    """Dates."""
    written = dialect.date_format(column)
    quick = _cast(text, pa.date32()) if written is None else None
    if quick is not None:
        return quick
    text = _trimmed(text)
    wanted = _WANTED.format(
        "a date" + (" such as 2024-01-31" if written is None else ", written as [csv] date_format says")
    )
    parts = _parts(text, _ISO_DATE if written is None else _pattern(written), wanted)
    if any(parts[name].any() for name in "HMSf"):
        row = int(np.argmax(np.logical_or.reduce([parts[name] != 0 for name in "HMSf"])))
        raise OutOfDomainError(
            'a date with a time of day; declare type = "time" and a resolution finer than a day', row
        )
    return pa.array(_day_numbers(parts, wanted), pa.int32(), mask=parts["absent"]).view(pa.date32())


def moments(text: pa.Array, dialect: Dialect, column: str) -> pa.Array:
    """Moments to the microsecond; instants of UTC where the dialect says that they carry an offset."""
    written, zoned = dialect.date_format(column), dialect.is_zoned(column)
    arrow = pa.timestamp("us", "UTC" if zoned else None)
    quick = _cast(text, arrow) if written is None else None
    if quick is not None:
        return quick
    text = _trimmed(text)
    wanted = _WANTED.format(
        "a moment" + (" such as 2024-01-31T12:00:00" if written is None else ", written as [csv] date_format says")
    )
    parts = _parts(text, _ISO_MOMENT if written is None else _pattern(written), wanted)
    offset = parts["zoned"] & ~parts["absent"]
    if not zoned and offset.any():
        row = int(np.argmax(offset))
        raise OutOfDomainError("a moment with an offset from UTC; declare [csv] zoned = true to read it as one", row)
    if zoned and not (offset | parts["absent"]).all():
        row = int(np.argmin(offset | parts["absent"]))
        raise OutOfDomainError("a moment without the offset from UTC that [csv] zoned declares", row)
    seconds = parts["H"] * 3600 + parts["M"] * 60 + parts["S"] - parts["z"] * 60
    ticks = (_day_numbers(parts, wanted) * 86_400 + seconds) * 10**6 + parts["f"]
    return pa.array(ticks, pa.int64(), mask=parts["absent"]).view(arrow)


def times_of_day(text: pa.Array) -> pa.Array:
    """Times of day to the microsecond, such as 08:30 or 08:30:15.5."""
    text = _trimmed(text)
    wanted = _WANTED.format("a time of day such as 08:30:00")
    pattern = r"(?P<H>\d\d?):(?P<M>\d\d)(?::(?P<S>\d\d)(?:\.(?P<f>\d{1,6}))?)?"
    parts = _parts(text, pattern, wanted)
    ticks = (parts["H"] * 3600 + parts["M"] * 60 + parts["S"]) * 10**6 + parts["f"]
    return pa.array(ticks, pa.int64(), mask=parts["absent"]).view(pa.time64("us"))


_ISO_DATE = r"(?P<Y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)"
_ISO_MOMENT = (
    _ISO_DATE
    + r"(?:[T ](?P<H>\d\d)(?::(?P<M>\d\d)(?::(?P<S>\d\d)(?:[.,](?P<f>\d{1,6})0{0,3})?)?)?)?"
    + r"(?P<z>Z|[+-]\d\d(?::?\d\d)?)?"
)
"""Of nanoseconds, as Arrow writes them, the last three digits have to be 0."""
_MONTHS = ["January", "February", "March", "April", "May", "June"]
_MONTHS += ["July", "August", "September", "October", "November", "December"]
_GROUPS = {
    "Y": r"(?P<Y>\d{4})",
    "y": r"(?P<y>\d\d)",
    "m": r"(?P<m>\d\d?)",
    "d": r"(?P<d>\d\d?)",
    "H": r"(?P<H>\d\d?)",
    "M": r"(?P<M>\d\d?)",
    "S": r"(?P<S>\d\d?)",
    "f": r"(?P<f>\d{1,6})",
    "z": r"(?P<z>Z|[+-]\d\d(?::?\d\d)?)",
    "b": f"(?P<b>{'|'.join(month[:3] for month in _MONTHS)})",
    "B": f"(?P<B>{'|'.join(_MONTHS)})",
    "%": "%",
}


def _pattern(written: str) -> str:
    """A format of strptime as a regular expression."""
    parts = re.split(r"%(.)", written)
    return "".join(_GROUPS[part] if place % 2 else re.escape(part) for place, part in enumerate(parts))


def _parts(text: pa.Array, pattern: str, wanted: str) -> dict[str, NDArray[Any]]:
    """Year, month, day and so on of each row, as numbers; 0 where the text does not say."""
    found = pc.extract_regex(text, f"^(?:{pattern})$")
    _refuse(pc.and_(found.is_null(), text.is_valid()), wanted)
    absent = np.asarray(text.is_null())
    parts: dict[str, NDArray[Any]] = dict.fromkeys("YymdHMSfzbB", np.zeros(len(text), dtype=np.int64))
    parts["absent"], parts["zoned"] = absent, np.zeros(len(text), dtype=bool)
    for field in found.type:
        words = pc.struct_field(found, field.name).fill_null("")
        parts[field.name] = _READ[field.name](words) if field.name in _READ else _whole(words)
        if field.name == "z":
            parts["zoned"] = np.asarray(pc.not_equal(words, ""))
    if "y" in found.type.names:
        parts["Y"] = parts["y"] + np.where(parts["y"] < 69, 2000, 1900)
    for name in "bB":
        if name in found.type.names:
            parts["m"] = parts[name]
    times = (parts["H"] > 23) | (parts["M"] > 59) | (parts["S"] > 59)
    if times.any():
        raise OutOfDomainError(wanted, int(np.argmax(times)))
    return parts


def _whole(words: pa.Array) -> NDArray[np.int64]:
    return np.asarray(pc.if_else(pc.equal(words, ""), "0", words).cast(pa.int64()))


def _micros(words: pa.Array) -> NDArray[np.int64]:
    return _whole(pc.utf8_rpad(words, 6, "0"))


def _offset(words: pa.Array) -> NDArray[np.int64]:
    """Minutes east of UTC."""
    plain = pc.if_else(pc.or_(pc.equal(words, ""), pc.equal(words, "Z")), "+0000", pc.replace_substring(words, ":", ""))
    plain = pc.utf8_rpad(plain, 5, "0")
    hours, minutes = (_whole(pc.utf8_slice_codeunits(plain, start, start + 2)) for start in (1, 3))
    if ((hours > 23) | (minutes > 59)).any():
        row = int(np.argmax((hours > 23) | (minutes > 59)))
        raise OutOfDomainError("an offset from UTC that no clock has", row)
    sign: NDArray[np.int64] = np.where(np.asarray(pc.starts_with(plain, "-")), -1, 1)
    return sign * (hours * 60 + minutes)


def _month(words: pa.Array) -> NDArray[np.int64]:
    shortened = pc.utf8_slice_codeunits(words, 0, 3)
    places = pc.index_in(shortened, value_set=pa.array([month[:3] for month in _MONTHS]))
    return np.asarray(places.fill_null(0)).astype(np.int64) + 1


_READ: dict[str, Callable[[pa.Array], NDArray[np.int64]]] = {"f": _micros, "z": _offset, "b": _month, "B": _month}


def _day_numbers(parts: dict[str, NDArray[Any]], wanted: str) -> NDArray[np.int64]:
    """Days since 1970 in the Gregorian calendar, which a date of no calendar does not have."""
    absent = parts["absent"]
    year, month, day = (np.where(absent, start, parts[name]) for name, start in (("Y", 1970), ("m", 1), ("d", 1)))
    good = (month >= 1) & (month <= 12)
    first = np.where(good, (year - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    length = ((first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")).astype(np.int64)
    good &= (day >= 1) & (day <= length)
    if not good.all():
        raise OutOfDomainError(wanted, int(np.argmin(good)))
    numbers: NDArray[np.int64] = first.astype("datetime64[D]").astype(np.int64) + day - 1
    return numbers


def _trimmed(text: pa.Array) -> pa.Array:
    return pc.ascii_trim(text, " \t")


def _filled(found: pa.Array, value: bool) -> NDArray[np.bool_]:
    return np.asarray(found.fill_null(value))


def _refuse(found: pa.Array, rule: str) -> None:
    """Raise for the first row for which it is true."""
    bad = _filled(found, False)
    if bad.any():
        raise KindError(rule, int(np.argmax(bad)))
