"""Releases of every kind are evidence, or the audit says why they are none."""

import asyncio
import contextlib
import gc
import json
import math
import re
import time
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import metricdp as mdp
from metricdp.audit import audit, rows
from metricdp.audit.boxes import box
from metricdp.audit.boxes.box import CALL_LIMIT
from metricdp.audit.boxes.time_out import TimedOut, Watch
from metricdp.errors import ArgumentError, FileError

m = mdp.metrics
generator = np.random.default_rng()


def near(secret):
    """Twenty times less noise than the metric asks for."""
    return float(secret + generator.laplace(scale=0.05))


class Named:
    """Two of them are never equal, and yet each says what it is."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Named({self.value})"


KINDS = {
    "complex": lambda x: complex(near(x), 1),
    "imaginary": lambda x: complex(1, near(x)),
    "table": lambda x: np.array([[1.0, near(x)], [3.0, 4.0]]),
    "array without axes": lambda x: np.array(near(x)),
    "nested": lambda x: [[near(x), 1.0], [2.0]],
    "complex in a tuple": lambda x: (complex(near(x), 0), 1.0),
    "dictionary": lambda x: {"value": near(x), "unit": "m"},
    "decimal": lambda x: Decimal(repr(near(x))),
    "fraction": lambda x: Fraction(near(x)),
    "named": lambda x: Named(round(near(x))),
    "lists of two lengths": lambda x: [1.0] * (1 + int(generator.random() < (0.9 if x else 0.01))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_of_any_kind_is_evidence(kind):
    evidence = audit(KINDS[kind], [(0, 1)], m.absolute(), samples=4000)
    assert evidence.scale_at_least > 1.5, evidence
    assert "m.numbers" in evidence.event_code or kind in ("named", "lists of two lengths")


@pytest.mark.parametrize("kind", ["complex", "table", "decimal", "dictionary"])
def test_the_code_that_shows_it_again_runs(kind, capsys):
    program = audit(KINDS[kind], [(0, 1)], m.absolute(), samples=4000).code
    program = re.sub("draws = .*", "draws = 300", program)
    exec(program, {"release": KINDS[kind]})
    first, second = map(int, capsys.readouterr().out.split()[:2])
    assert abs(first - second) > 150


def test_arrays_of_complex_numbers_tables_and_records_from_many_rows():
    def noise(secrets, *shape):
        return generator.laplace(scale=0.05, size=(len(secrets), *shape))

    def records(secrets):
        return np.array(list(zip(secrets + noise(secrets), "ab" * len(secrets), strict=False)), dtype="f8,U1")

    for release in (
        lambda secrets: 1j * secrets + 1j * noise(secrets),
        lambda secrets: secrets[:, None, None] + noise(secrets, 2, 2),
        records,
    ):
        assert audit(rows(release), [(0, 1)], m.absolute(), samples=4000).scale_at_least > 1.5


def test_a_sound_box_of_complex_numbers_is_not_accused():
    def release(secrets):
        return np.rint(1024 * (secrets + generator.laplace(size=len(secrets)))) / 1024 + 1j

    assert 0.5 < audit(rows(release), [(0, 1)], m.absolute(), samples=40_000, confidence=1 - 1e-9).scale_at_least <= 1


def test_releases_that_cannot_be_compared_are_named():
    evidence = audit(lambda _: object(), [(0, 1)], m.absolute(), samples=500)
    assert evidence.holds
    assert any("No two releases are equal" in note for note in evidence.notes)


def test_one_value_in_a_file_is_no_sample(tmp_path):
    for name in ("a.npy", "b.npy"):
        np.save(tmp_path / name, np.float64(1))
    with pytest.raises(FileError, match="holds one value"):
        audit((tmp_path / "a.npy", tmp_path / "b.npy"), [(0, 1)], m.absolute())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"events": ["z >"]}, "no expression in z"),
        ({"events": [3]}, "an event is an expression"),
        ({"samples": float("nan")}, "100 samples"),
        ({"samples": float("inf")}, "100 samples"),
        ({"samples": 200.5}, "100 samples"),
        ({"samples": "many"}, "100 samples"),
        ({"confidence": "0.9"}, "confidence"),
        ({"time_limit": "1 s"}, "time limit"),
        ({"time_limit": float("inf")}, "None where there is none"),
        ({"events": "z > 3"}, "events are several"),
        ({"events": 3}, "events are several"),
        ({"events": ["y > 3"]}, "speaks of y"),
        ({"progress": True}, "progress is a function"),
    ],
    ids=str,
)
def test_arguments_of_another_kind(options, words):
    with pytest.raises(ArgumentError, match=words):
        audit(near, [(0, 1)], m.absolute(), **options)


def test_a_whole_number_of_samples_may_be_a_float():
    assert audit(near, [(0, 1)], m.absolute(), samples=1e3).samples == 1000


def test_the_names_that_an_event_gives_itself_are_its_own():
    events = ["any(part > 3 for part in (z, z))", "(lambda a: a > 3)(z)", "(w := z) > 3 and math.sin(w) > 0"]
    assert audit(near, [(0, 1)], m.absolute(), samples=200, events=events).samples == 200


@pytest.mark.parametrize("confidence", [1e-9, 1 - 1e-15, math.nextafter(1, 0)])
def test_a_confidence_may_come_as_near_to_its_ends_as_floats_do(confidence):
    assert audit(near, [(0, 1)], m.absolute(), samples=4000, confidence=confidence).samples == 4000


def test_secrets_farther_apart_than_floats_go_are_left_out():
    with pytest.raises(ArgumentError, match="finite distance"):
        audit(near, [(0, 10**400)], m.absolute(), samples=200)


def test_what_is_no_row_for_each_secret_is_named():
    for release, kind in (
        (lambda secrets: np.array(5.0), "ndarray"),
        (lambda secrets: dict.fromkeys(range(len(secrets)), 1.0), "dict"),
        (lambda secrets: "a" * len(secrets), "str"),
        (lambda secrets: None, "NoneType"),
    ):
        with pytest.raises(ArgumentError, match=f"one in each row; {kind} is none"):
            audit(rows(release), [(0.0, 1.0)], m.absolute(), samples=200)
    for samples in ((1, 2), (np.array(1), np.array(2)), ({1: 2}, {2: 3})):
        with pytest.raises(ArgumentError, match="one in each row"):
            audit(samples, [(0.0, 1.0)], m.absolute(), samples=200)


@pytest.mark.parametrize("table", [pd.DataFrame, pl.DataFrame, pa.table], ids=lambda table: table.__module__)
def test_rows_and_samples_may_come_as_tables(table):
    def release(secrets):
        return table({"value": secrets + generator.laplace(scale=0.05, size=len(secrets)), "other": [1] * len(secrets)})

    assert audit(rows(release), [(0.0, 1.0)], m.absolute(), samples=4000).scale_at_least > 1.5
    samples = release(np.zeros(2000)), release(np.ones(2000))
    assert audit(samples, [(0.0, 1.0)], m.absolute()).scale_at_least > 1.5


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, asyncio.CancelledError])
def test_an_error_that_is_no_exception_is_a_release_like_any_other(error):
    def release(secret):
        if secret:
            raise error
        return 1

    assert audit(release, [(0, 1)], m.absolute(), samples=500).scale_at_least > 1
    assert (
        audit(rows(lambda secrets: [release(x) for x in secrets]), [(0, 1)], m.absolute(), samples=500).scale_at_least
        > 1
    )


def test_an_error_of_whoever_audits_is_none_of_the_box(recwarn):
    def release(secret):
        raise ValueError("no noise")

    try:
        raise KeyError("of somebody else")
    except KeyError:
        with pytest.raises(ArgumentError) as error:
            audit(release, [(0, 1)], m.absolute(), samples=200)
    assert "KeyError" not in str(error.value)


def test_an_asynchronous_function_is_no_box():
    async def release(secret):
        return secret

    with pytest.raises(ArgumentError, match="asynchronous"):
        audit(release, [(0, 1)], m.absolute(), samples=200)


def test_evidence_about_odd_secrets_is_json():
    for pair in ((np.datetime64("2024-01-01"), np.datetime64("2024-01-02")), (math.inf, 1.0)):
        evidence = audit(lambda _: round(near(0)), [pair], m.discrete(), samples=500)
        json.dumps(evidence.to_json(), allow_nan=False)


def test_why_it_ended():
    assert audit(lambda _: 7, [(0, 1)], m.absolute(), samples=1000).ended == "there was no event to test"
    assert audit(near, [(0, 1)], m.absolute(), samples=10**9, time_limit=0.3).ended == "the time was up"


def test_the_first_calls_that_hang_do_not_use_up_the_time():
    calls = []

    def release(secret):
        calls.append(secret)
        if len(calls) > 10 and secret:
            time.sleep(30)
        return float(generator.random())

    begin = time.perf_counter()
    assert audit(release, [(0, 1)], m.absolute(), samples=100).samples == 100
    assert time.perf_counter() - begin < 3 * CALL_LIMIT  # some 45 calls hang


@pytest.mark.long
def test_a_program_that_hangs_takes_no_longer_than_the_time_limit():
    with pytest.raises(ArgumentError, match="hung on every call"):
        audit("command:sleep 100", [(0, 1)], m.absolute(), time_limit=1)


def test_a_program_is_ended_where_there_are_no_groups_of_processes(monkeypatch):
    """As on Windows."""
    monkeypatch.delattr("os.killpg")
    with pytest.raises(ArgumentError, match="hung on every call"):
        audit("command:sleep 100", [(0, 1)], m.absolute(), time_limit=0.3)


def test_a_time_limit_that_comes_as_a_call_ends_does_not_end_the_audit(monkeypatch):
    class Late(Watch):
        ended = 0

        def end(self):
            super().end()
            Late.ended += 1
            if Late.ended == 3:
                raise TimedOut

    monkeypatch.setattr(box, "Watch", Late)
    batch = box.Calls(lambda secret: secret).draw((1, 0), np.ones(5, dtype=bool))
    assert batch.releases == [1, 1, box.Failure("hung"), 1, 1]


def test_control_c_between_two_calls_loses_no_release(monkeypatch):
    ticks = iter(range(100))

    def clock():
        now = next(ticks)
        if now == 6:  # two for each call
            raise KeyboardInterrupt
        return now

    monkeypatch.setattr(box, "time", SimpleNamespace(perf_counter=clock))
    batch = box.Calls(lambda secret: secret).draw((1, 0), np.ones(5, dtype=bool))
    assert batch.interrupted
    assert batch.releases == [1, 1, 1]
    assert batch.seconds.tolist() == [1, 1, 1]


def test_a_collection_of_garbage_is_not_broken_off():
    """What is raised inside one goes to nobody but the standard error, and pytest takes it for a failure."""
    slow = lambda phase, info: time.sleep(0.1) if phase == "stop" else None  # noqa: E731
    gc.callbacks.append(slow)
    try:
        with contextlib.suppress(TimedOut), Watch(0.02) as watch:
            watch.begin()
            gc.collect()
            time.sleep(1)
            pytest.fail("a call that goes on afterwards is broken off")
    finally:
        gc.callbacks.remove(slow)
