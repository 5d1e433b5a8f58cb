"""Every mechanism passes the suite, and the suite is not passed by just anything."""

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import metricdp as mdp
from metricdp.errors import InputError, MetricDPError
from metricdp.mechanisms import Mechanism
from metricdp.mechanisms.containers import NotPrivate
from metricdp.metrics import Guarantee
from tests.conformance import suite
from tests.mechanisms_to_test import CASES

m = mdp.metrics


@pytest.mark.parametrize("check", suite.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_conformance(case, check):
    check(case.make(), case.secrets)


LINE = mdp.laplace(m.absolute().within(5))
# These return something of their own, so the forms are left out.
OTHERS = {
    "expansion": (mdp.function_expansion(m.square_integrable(), length=24, terms=2), [[1.0, 2.0], [0.0, -1.0]]),
    "composed": (mdp.compose(LINE, mdp.geometric(mdp.ln(2) * m.absolute())), [1, 2, -3]),
    "postprocessed": (mdp.postprocess(LINE, np.abs), [1.0, 2.0, -3.0]),
}
FORMLESS = (
    suite.check_guarantee,
    suite.check_pickling,
    suite.check_words,
    suite.check_probability,
    suite.check_radius,
    suite.check_empty_is_refused,
)


@pytest.mark.parametrize("check", FORMLESS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", OTHERS)
def test_mechanisms_with_forms_of_their_own(name, check):
    check(*OTHERS[name])


def test_no_secret_in_any_word():
    """With secrets that would be recognised."""
    number, text = suite.SECRET_NUMBER, suite.SECRET_TEXT
    records = mdp.independent(LINE, mdp.set_response([text, "b"], 1))
    for mechanism, secret in [
        (LINE, number),
        (mdp.laplace(m.absolute().within(5), bounds=(0, 10**6)), [number, number]),
        (mdp.laplace(m.euclidean(), dim=2), np.array([[number, number]])),
        (mdp.function_samples(m.supremum(), [0, 1]), lambda time: number),
        (mdp.function_expansion(m.square_integrable(), 1, 2), [number, number]),
        (mdp.compose(LINE, LINE), number),
        (mdp.independent(LINE, LINE), (number, number)),
        (mdp.geometric(m.absolute(), snap=True), number),
    ]:
        mechanism.release(secret)
        told = [*suite.words(mechanism), repr(vars(mechanism)), str(mechanism.guarantee.to_json())]
        assert not [trace for trace in suite.TRACES for words in told if trace in words]
    before = suite.words(records)  # the declared universe is public, which element was there is not
    records.release([(number, {text})])
    assert suite.words(records) == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_grid_is_a_function_of_the_scale_alone(case):
    """Two mechanisms that were made alike have one grid, whatever was released through either."""
    one, two = case.make(), case.make()
    one.release(case.secrets[:1] * 3)
    two.release(case.secrets[1:] * 3)
    assert one.resolution == two.resolution == case.make().resolution
    assert one == two
    assert hash(one) == hash(two)


def test_one_level_one_grid():
    for level in (0.001, 1, 7, mdp.ln(2), mdp.ln(2) / 50):
        width = mdp.laplace(level * m.absolute()).resolution
        assert width.numerator == 1 or width.denominator == 1
        assert 2**19 <= 1 / (float(width) * float(mdp.exact.Level.of(level))) <= 2**21
        assert mdp.laplace(level * m.absolute(), bounds=(0, 10**9)).resolution == width
        assert mdp.laplace(level * m.euclidean()).resolution == width
        assert mdp.laplace(level * m.euclidean(), dim=9).resolution == width


# A mechanism of a user's own


@dataclass(frozen=True)
class Own(Mechanism):
    """A mechanism as somebody else would write one."""

    width: float = 5.0

    @property
    def _line(self) -> Mechanism:
        return mdp.laplace(m.absolute().within(self.width))

    @property
    def guarantee(self) -> Guarantee:
        return self._line.guarantee

    @property
    def resolution(self) -> Any:
        return self._line.resolution

    def release(self, secrets):
        return self._line.release(secrets)

    def probability_within(self, distance):
        return self._line.probability_within(distance)


def test_a_users_own_mechanism_passes():
    suite.check_mechanism(Own(), [0.0, 3.7, -1e6])


def broken(**overrides):
    """The same mechanism with something wrong in it."""
    made = dataclass(frozen=True)(type("Broken", (Own,), {"__module__": __name__, **overrides}))
    globals()["Broken"] = made  # where pickle looks for it
    return made()


def stateful_release(self, secrets):
    object.__setattr__(self, "last", secrets)
    return Own.release(self, secrets)


def everything(self):
    return dict(vars(self))


def repeating_release(self, secrets):
    with mdp.seeded(1):
        released = Own.release(self, secrets)
    return np.asarray(released) if isinstance(released, NotPrivate) else released


def overwriting_release(self, secrets):
    released = Own.release(self, secrets)
    if isinstance(secrets, (list, np.ndarray)):
        secrets[0] = released[0]
    return released


def telling_release(self, secrets):
    try:
        return Own.release(self, secrets)
    except InputError as error:
        raise type(error)(f"{error.rule}: {secrets!r}", error.row) from None


def chaining_release(self, secrets):
    try:
        return Own.release(self, secrets)
    except InputError as error:
        kind, rule, row = type(error), error.rule, error.row
    try:
        raise KeyError(secrets)
    except KeyError:
        raise kind(rule, row) from None


def unnumbered_release(self, secrets):
    try:
        return Own.release(self, secrets)
    except InputError as error:
        raise type(error)(error.rule) from None


def list_release(self, secrets):
    released = Own.release(self, secrets)
    return released.tolist() if isinstance(released, np.ndarray) else released


def nameless_release(self, secrets):
    released = Own.release(self, secrets)
    return released.reset_index(drop=True) if isinstance(released, pd.Series) else released


def short_release(self, secrets):
    released = Own.release(self, secrets)
    return released[:-1] if isinstance(released, list) and len(released) > 20_000 else released


def off_grid_release(self, secrets):
    released = Own.release(self, secrets)
    return released + 0.1 if isinstance(released, np.ndarray) else released


def unmarked_release(self, secrets):
    released = Own.release(self, secrets)
    return np.asarray(released) if isinstance(released, np.ndarray) else released


def lenient_release(self, secrets):
    if isinstance(secrets, list):
        secrets = [0.0 if isinstance(secret, bool) else secret for secret in secrets]
    return Own.release(self, secrets)


def generous_release(self, secrets):
    return [] if isinstance(secrets, list) and not secrets else Own.release(self, secrets)


def falling(self, distance):
    return 0.75 if distance > 20 else Own.probability_within(self, distance)


_count = itertools.count()

BROKEN = {
    "keeps the last secrets": ({"release": stateful_release, "__getstate__": everything}, suite.check_pickling),
    "names a secret": (
        {"release": stateful_release, "__repr__": lambda self: f"Own({getattr(self, 'last', None)})"},
        suite.check_words,
    ),
    "says nothing of the error": ({"_explain_error": lambda self: ""}, suite.check_words),
    "repeats its noise": ({"release": repeating_release}, suite.check_randomness),
    "writes to its input": ({"release": overwriting_release}, suite.check_inputs_are_left_alone),
    "tells what was wrong": ({"release": telling_release}, suite.check_bad_secrets_are_refused),
    "hides what was wrong behind": ({"release": chaining_release}, suite.check_bad_secrets_are_refused),
    "does not say which row": ({"release": unnumbered_release}, suite.check_bad_secrets_are_refused),
    "takes a bool for a number": ({"release": lenient_release}, suite.check_bad_secrets_are_refused),
    "takes nothing": ({"release": generous_release}, suite.check_empty_is_refused),
    "turns arrays into lists": ({"release": list_release}, suite.check_forms),
    "loses the index": ({"release": nameless_release}, suite.check_forms),
    "loses a row": ({"release": short_release}, suite.check_rows),
    "leaves the grid": ({"release": off_grid_release}, suite.check_resolution),
    "has a grid that moves": (
        {"resolution": property(lambda self: Fraction(1, 2 ** (20 + next(_count))))},
        suite.check_resolution,
    ),
    "does not mark what is seeded": ({"release": unmarked_release}, suite.check_seeded),
    "promises more and more": (
        {"guarantee": property(lambda self: Guarantee((1 + next(_count)) * m.absolute()))},
        suite.check_guarantee,
    ),
    "has a chance above one": (
        {"probability_within": lambda self, distance: 2 * Own.probability_within(self, distance)},
        suite.check_probability,
    ),
    "has a chance that falls": ({"probability_within": falling}, suite.check_probability),
    "has a careless radius": (
        {"radius": lambda self, confidence=0.95: 2 * Own.radius(self, confidence)},
        suite.check_radius,
    ),
    "has a short radius": (
        {"radius": lambda self, confidence=0.95: Own.radius(self, confidence) / 2},
        suite.check_radius,
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_mechanism_is_caught(name):
    overrides, check = BROKEN[name]
    with pytest.raises((AssertionError, pytest.fail.Exception, MetricDPError)):
        check(broken(**overrides), [0.0, 3.7, -1e6])


@pytest.mark.parametrize("check", suite.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_every_check_has_a_mechanism_that_fails_it(check):
    assert check in {check for _, check in BROKEN.values()}
