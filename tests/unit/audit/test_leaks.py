"""Secrets that show in the form of a release, in its bits, its text or its errors: each is found, and seen again."""

import datetime as dt
import enum
import math
import re
import struct
import time
import uuid
from collections import namedtuple
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.audit import audit, rows
from metricdp.audit.boxes.box import Batch
from metricdp.audit.events import machine, things
from metricdp.audit.events.batches import together
from metricdp.audit.events.smoothing import smoothed

m = mdp.metrics
generator = np.random.default_rng()
Pair = namedtuple("Pair", "value unit")
Colour = enum.Enum("Colour", "RED BLUE")


def wide():
    return float(generator.laplace(scale=9))


def steps(size):
    return size * int(generator.integers(-1000, 1000))


def near(x):
    return float(x + generator.laplace(scale=0.1))


def with_bit(x, place):
    (bits,) = struct.unpack("Q", struct.pack("d", wide()))
    return struct.unpack("d", struct.pack("Q", bits & ~(1 << place) | (x << place)))[0]


def failing(words):
    raise ValueError(words)


def failing_with(kind):
    raise kind("no")


def failing_after(kind):
    try:
        raise kind("no")
    except LookupError as error:
        raise ValueError("no") from error


def carrying(x):
    error = ValueError("no")
    error.value = x
    return error


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Text(str):
    """A text of a class of its own."""


class Guarded:
    """Says nothing of itself, and fails when it is asked."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        raise RuntimeError

    def __len__(self):
        raise RuntimeError

    def __getattr__(self, name):
        raise RuntimeError(name)


def waiting(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass
    return wide()


LEAKS = {
    "the sign of a zero": lambda x: math.copysign(0.0, 1 - 2 * x) if wide() > 0 else wide(),
    "the sign of a NaN": lambda x: math.copysign(math.nan, 1 - 2 * x) if wide() > 0 else wide(),
    "a bit in the middle": lambda x: with_bit(x, 12),
    "a remainder": lambda x: steps(3) + x,
    "a remainder of fractions": lambda x: (steps(7) + x) * 0.25,
    "a remainder of large integers": lambda x: 2**60 + steps(2) + x,
    "the order of keys": lambda x: dict.fromkeys("ab" if x else "ba", wide()),
    "a key": lambda x: {"a": wide(), "b" if x else "c": wide()},
    "the order of names": lambda x: ["a", "b", "c"] if x else ["b", "a", "c"],
    "a letter of a text that never comes again": lambda x: f"{uuid.uuid4()}{x}",
    "capitals": lambda x: str(uuid.uuid4()).upper() if x else str(uuid.uuid4()),
    "a number in a text": lambda x: f"value: {50 + near(x):.6f} kg",
    "a byte": lambda x: generator.bytes(3) + bytes([x]) + generator.bytes(8),
    "a text in a list": lambda x: [wide(), [str(uuid.uuid4()), "p" if x else "q"]],
    "what an error says": lambda x: wide() if wide() > 0 else failing(f"bad value {x}"),
    "which error": lambda x: wide() if wide() > 0 else failing_with(KeyError if x else IndexError),
    "a day": lambda x: dt.date(2024, 1, 1) + dt.timedelta(days=round(30 * near(x))),
    "a moment": lambda x: dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(days=near(x)),
    "a time of day": lambda x: dt.time(12 + round(near(x)), 30),
    "a numpy moment": lambda x: np.datetime64("2024-01-01", "s") + np.timedelta64(round(near(x) * 86400), "s"),
    "digits of a decimal": lambda x: Decimal(steps(1)).quantize(Decimal("1.0" if x else "1.00")),
    "a named tuple": lambda x: Pair(near(x), "m"),
    "an object": lambda x: SimpleNamespace(value=near(x)),
    "an enumeration": lambda x: Colour.RED if x else Colour.BLUE,
    "a type": lambda x: int if x else float,
    "a name of a column": lambda x: pd.DataFrame({"a": [wide()], "b" if x else "c": [wide()]}),
    "a label of a row": lambda x: pd.Series([wide()], index=[x]),
    "an object without a dictionary": lambda x: Slots(near(x)),
    "bytes that are only looked at": lambda x: memoryview(bytes([round(100 + 20 * near(x))])),
    "the last digit of a UUID": lambda x: uuid.UUID(int=(uuid.uuid4().int & ~1) | x),
    "what an error carries": lambda x: wide() if wide() > 0 else failing_with(lambda _: carrying(x)),
    "what an error came from": lambda x: wide() if wide() > 0 else failing_after(KeyError if x else IndexError),
    "an imaginary part of 32 bits": lambda x: np.complex64(complex(wide(), near(x))),
    "a text of another kind": lambda x: Text("p" if near(x) > 0.5 else "q"),
    "one number in a list": lambda x: [near(x)],
    "a number beside what is none": lambda x: {"value": round(near(x)), "unit": "m"},
    "a mask": lambda x: np.ma.masked_array(generator.laplace(size=2), mask=[bool(x), False]),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_a_leak_is_found_and_seen_again(leak, capsys):
    samples = 500 if "column" in leak or "row" in leak else 2000
    evidence = audit(LEAKS[leak], [(0, 1)], m.absolute(), samples=samples)
    assert not evidence.holds, evidence
    exec(re.sub("draws = .*", "draws = 200", evidence.code), {"release": LEAKS[leak]})
    first, second, _ = map(int, capsys.readouterr().out.split())
    assert first > 3 * second + 15, evidence.code


def test_an_object_that_fails_when_it_is_looked_at_ends_no_audit():
    evidence = audit(lambda x: Guarded(round(near(x) * 4)), [(0, 1)], m.absolute(), samples=2000)
    assert not evidence.holds, evidence


def test_secrets_that_cannot_be_written_down_are_a_comment():
    first, second = object(), object()
    evidence = audit(lambda x: near(x is first), [(first, second)], m.discrete(), samples=1000)
    assert "# x, y = the two secrets, <object" in evidence.code
    compile(evidence.code, "code", "exec")
    assert not audit(lambda x: near(x % 2), [(10**400, 10**400 + 1)], m.discrete(), samples=1000).holds


def test_a_text_of_any_length_is_looked_at_in_time():
    """At both ends: to go through millions of letters for each event took minutes."""
    long = [f"{'p' * 10**6}{x}" for x in (0, 1)]
    assert not audit(lambda x: long[x], [(0, 1)], m.absolute(), samples=400).holds
    assert len(things.texts(long[0])[0]) < 10**5


def test_a_rare_label_beside_a_common_one_is_not_taken_for_luck():
    """It came in a twentieth of the releases of one secret and never from the other; no more than that can be shown."""
    evidence = audit(lambda x: not x and wide() > 20.7, [(0, 1)], m.absolute(), samples=8000)
    assert evidence.scale_at_least > 2, evidence


def test_how_long_a_call_takes_is_seen_again(capsys):
    box = lambda x: waiting(4e-4 if x else 1e-4)  # noqa: E731
    evidence = audit(box, [(0, 1)], m.absolute(), samples=1500, events=["time"])
    assert "seconds" in evidence.event_code
    exec(re.sub("draws = .*", "draws = 200", evidence.code), {"release": box})
    first, second, _ = map(int, capsys.readouterr().out.split())
    assert first > 3 * second + 15, evidence.code


def test_secrets_of_any_kind_can_be_written_down(capsys):
    for pair in ((dt.date(2024, 1, 1), dt.date(2024, 1, 2)), (Decimal(0), Decimal(1)), (0.0, math.inf)):
        box = lambda x: str(x)  # noqa: E731
        program = audit(box, [pair], m.discrete(), samples=1000).code
        exec(re.sub("draws = .*", "draws = 20", program), {"release": box})
        assert capsys.readouterr().out.split()[0] != "0"


def test_remainders_and_bits_are_looked_at_only_where_the_number_does_not_tell_it():
    for noise in (mdp.laplace(m.absolute()), mdp.geometric(m.absolute())):
        evidence = audit(noise, [(0, 1)], samples=20_000)
        assert evidence.holds or evidence.scale_at_least < 1.2
        assert "remainder" not in evidence.event_code
        assert "m.bit" not in evidence.event_code


def test_rows_that_give_texts_or_things_in_an_array():
    def texts(secrets):
        return np.array([f"{uuid.uuid4()}{secret}" for secret in secrets])

    def things_in_an_array(secrets):
        return np.array([None if secret else wide() for secret in secrets], dtype=object)

    def arrow(secrets):
        return pa.array([near(secret) for secret in secrets])

    for box in (texts, things_in_an_array, arrow):
        assert not audit(rows(box), [(0, 1)], m.absolute(), samples=2000).holds


def test_batches_of_several_shapes_become_a_list():
    assert together([Batch(np.zeros((2, 2))), Batch(np.ones(1))]).releases == [[0.0, 0.0], [0.0, 0.0], 1.0]


def test_forms_and_keys():
    assert things.form((1, [2.0], Pair(1, "x"))) == "(int, [float], Pair(int, str))"
    assert things.form(np.ma.masked_array([1.0, 2.0], mask=[True, False])).endswith("mask [True, False]")
    assert things.key(np.array([1.0, math.nan])) == (1.0, "NaN")
    assert things.texts({"a": "x", "b": [b"y", 3]}) == ("x", "y")
    assert things.written_numbers("1e5, -2 and .5") == (1e5, -2.0, 0.5)
    assert machine.numbers(dt.timedelta(seconds=1)).tolist() == [1e6]
    assert machine.numbers(pd.NaT) is None
    assert machine.remainder(np.array([1.0, math.nan]), 0.5, 4)[0] == 2


def test_cells_that_lie_on_each_other_are_smoothed_as_far_as_they_can_be():
    more, less = np.zeros(18), np.zeros(18)
    more[[4, 12, 14]], less[[0, 13]] = (1, 1e5, 100), (1e4, 1e5)
    found = smoothed(more, less)
    assert np.isfinite(found).all()
    assert np.allclose(found[0] + found[1], more + less)
