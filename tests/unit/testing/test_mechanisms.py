"""Every mechanism passes the suite, and the suite is not passed by just anything."""

import dataclasses
import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError, ConformanceError, DataError
from metricdp.mechanisms import Mechanism
from metricdp.mechanisms.containers import NotPrivate
from metricdp.metrics import Guarantee
from metricdp.testing import check_mechanism
from metricdp.testing._secrets import SECRET_NUMBER, SECRET_TEXT, TRACES
from metricdp.testing.mechanisms import LAWS, words
from tests.mechanisms_to_test import CASES

m = mdp.metrics


@pytest.mark.parametrize("law", [*LAWS, "audit"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_mechanism_keeps_every_law(case, law):
    checked = check_mechanism(case.make(), case.secrets, only=[law], samples=1000)
    assert checked.laws == (law,) or checked.left_out[0][0] == law
    if law not in ("resolution", "law", "audit", "picture"):
        assert checked.laws == (law,)


def test_laws_that_say_nothing_say_why():
    left_out = {
        case.name: dict(check_mechanism(case.make(), case.secrets, only=["law", "picture"]).left_out) for case in CASES
    }
    assert {name for name, out in left_out.items() if "law" not in out} >= {
        "truncated",
        "response",
        "response delta",
        "sets",
        "exponential",
        "channel",
    }
    assert {name for name, out in left_out.items() if "picture" in out} == {"records"}
    assert "finite" in left_out["laplace line"]["law"]


LINE = mdp.laplace(m.absolute().within(5))
# These return something of their own, so the forms are left out.
OTHERS = {
    "expansion": (mdp.function_expansion(m.square_integrable(), length=24, terms=2), [[1.0, 2.0], [0.0, -1.0]]),
    "composed": (mdp.compose(LINE, mdp.geometric(mdp.ln(2) * m.absolute())), [1, 2, -3]),
    "postprocessed": (mdp.postprocess(LINE, np.abs), [1.0, 2.0, -3.0]),
}
FORMLESS = ("guarantee", "copies", "words", "probability", "radius", "empty")


@pytest.mark.parametrize("name", OTHERS)
def test_mechanisms_with_forms_of_their_own(name):
    assert check_mechanism(*OTHERS[name], only=FORMLESS).laws == FORMLESS


def test_no_secret_in_any_word():
    """With secrets that would be recognised."""
    number, text = SECRET_NUMBER, SECRET_TEXT
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
        told = [*words(mechanism), repr(vars(mechanism)), str(mechanism.guarantee.to_json())]
        assert not [trace for trace in TRACES for said in told if trace in said]
    before = words(records)  # the declared universe is public, which element was there is not
    records.release([(number, {text})])
    assert words(records) == before


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
    checked = check_mechanism(Own(), [0.0, 3.7, -1e6])
    assert set(checked.laws) == {*LAWS, "audit"} - {"law"}
    assert "left out: law (" in str(checked)
    assert checked.to_json()["laws"] == list(checked.laws)
    assert "keeps" in checked._repr_html_()


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
    except DataError as error:
        raise type(error)(f"{error.rule}: {secrets!r}", error.row) from None


def chaining_release(self, secrets):
    try:
        return Own.release(self, secrets)
    except DataError as error:
        kind, rule, row = type(error), error.rule, error.row
    try:
        raise KeyError(secrets)
    except KeyError:
        raise kind(rule, row) from None


def unnumbered_release(self, secrets):
    try:
        return Own.release(self, secrets)
    except DataError as error:
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


def careless(inputs):
    """The law of a mechanism that nearly always tells the truth."""
    rows = tuple(inputs)
    return dataclasses.replace(mdp.randomized_response(rows, 20).law(rows), inputs=rows)


def honest_release(self, secrets):
    """No noise at all."""
    return np.round(np.asarray(secrets, dtype=float) / float(self.resolution)) * float(self.resolution)


class Negative:
    """A picture of nothing that can be."""

    places, heights = np.zeros(2), np.array([-1.0, 1.0])


_count = itertools.count()

BROKEN = {
    "has a law that breaks its promise": ({"law": lambda self, inputs: careless(inputs)}, "law"),
    "releases the truth": ({"release": honest_release}, "audit"),
    "draws what cannot be": ({"picture": lambda self, unit=None: Negative()}, "picture"),
    "keeps the last secrets": ({"release": stateful_release, "__getstate__": everything}, "copies"),
    "names a secret": (
        {"release": stateful_release, "__repr__": lambda self: f"Own({getattr(self, 'last', None)})"},
        "words",
    ),
    "says nothing of the error": ({"_explain_error": lambda self: ""}, "words"),
    "repeats its noise": ({"release": repeating_release}, "randomness"),
    "writes to its input": ({"release": overwriting_release}, "inputs"),
    "tells what was wrong": ({"release": telling_release}, "refusals"),
    "hides what was wrong behind": ({"release": chaining_release}, "refusals"),
    "does not say which row": ({"release": unnumbered_release}, "refusals"),
    "takes a bool for a number": ({"release": lenient_release}, "refusals"),
    "takes nothing": ({"release": generous_release}, "empty"),
    "turns arrays into lists": ({"release": list_release}, "forms"),
    "loses the index": ({"release": nameless_release}, "forms"),
    "loses a row": ({"release": short_release}, "rows"),
    "leaves the grid": ({"release": off_grid_release}, "resolution"),
    "has a grid that moves": (
        {"resolution": property(lambda self: Fraction(1, 2 ** (20 + next(_count))))},
        "resolution",
    ),
    "does not mark what is seeded": ({"release": unmarked_release}, "seeds"),
    "promises more and more": (
        {"guarantee": property(lambda self: Guarantee((1 + next(_count)) * m.absolute()))},
        "guarantee",
    ),
    "has a chance above one": (
        {"probability_within": lambda self, distance: 2 * Own.probability_within(self, distance)},
        "probability",
    ),
    "tells half of its error": (
        {"probability_within": lambda self, distance: Own.probability_within(self, 2 * distance)},
        "probability",
    ),
    "has a chance that falls": ({"probability_within": falling}, "probability"),
    "has a careless radius": (
        {"radius": lambda self, confidence=0.95: 2 * Own.radius(self, confidence)},
        "radius",
    ),
    "has a short radius": (
        {"radius": lambda self, confidence=0.95: Own.radius(self, confidence) / 2},
        "radius",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_mechanism_is_caught(name):
    overrides, law = BROKEN[name]
    with pytest.raises(ConformanceError) as caught:
        check_mechanism(broken(**overrides), [0.0, 3.7, -1e6], only=[law], samples=20_000)
    assert isinstance(caught.value, AssertionError)
    assert caught.value.law == law
    assert f"breaks the law {law!r}" in str(caught.value)


def test_every_law_has_a_mechanism_that_breaks_it():
    assert {law for _, law in BROKEN.values()} == {*LAWS, "audit"}


def test_laws_and_secrets_that_cannot_be():
    with pytest.raises(ArgumentError, match="there is no law 'gravity'"):
        check_mechanism(Own(), [0.0, 1.0], only=["gravity"])
    with pytest.raises(ArgumentError, match="at least two secrets"):
        check_mechanism(Own(), [0.0])
    with pytest.raises(ArgumentError, match="a mechanism is wanted"):
        check_mechanism(round, [0.0, 1.0])
