"""Promises of channels are verified before they are believed."""

import copy
import importlib
import pickle
from dataclasses import replace

import numpy as np
import pytest

import metricdp as mdp
from metricdp.channels import Channel, certify, verify
from metricdp.channels.certified import Certified
from metricdp.channels.proved import Proved, known_verdict
from metricdp.errors import ArgumentError
from metricdp.metrics import Guarantee, Space, absolute, discrete

WEIGHTS = np.array([[4, 1, 1], [2, 2, 2], [1, 1, 4]], dtype=object)
KEPT, BROKEN = Guarantee(mdp.ln(2) * absolute()), Guarantee(absolute() / 2)


def test_a_promise_that_is_kept():
    channel = Channel((0, 1, 2), "abc", WEIGHTS, 6, KEPT)
    assert channel.promise == channel.guarantee == KEPT
    assert type(channel.promise) is Guarantee
    for same in (pickle.loads(pickle.dumps(channel)), copy.deepcopy(channel), replace(channel)):
        assert same.promise == KEPT


@pytest.mark.parametrize("kind", [Channel, Certified])
def test_a_promise_that_is_not_kept_is_refused(kind):
    with pytest.raises(ArgumentError, match="does not keep its promise"):
        kind((0, 1, 2), "abc", WEIGHTS, 6, BROKEN)
    with pytest.raises(ArgumentError, match="does not keep its promise"):
        Channel((0, 1, 2), "abc", WEIGHTS, 6).promising(BROKEN)
    with pytest.raises(ArgumentError, match="does not keep its promise"):
        Channel((0, 1, 2), "abc", WEIGHTS, 6, Guarantee(discrete(), "1/1000"))


def test_a_promise_about_other_secrets_cannot_be_verified():
    with pytest.raises(ArgumentError, match="cannot be verified"):
        Channel(("x", "y", "z"), "abc", WEIGHTS, 6, KEPT)


def test_what_was_just_verified_is_not_verified_again(monkeypatch):
    plain = Channel((0, 1, 2), "abc", WEIGHTS, 6)
    space = Space.line(3, KEPT.metric)
    verdict = verify(plain, space)
    assert known_verdict(plain, KEPT.metric, KEPT.delta) is verdict
    assert known_verdict(plain, mdp.ln(7) * absolute(), KEPT.delta) is None
    assert known_verdict(Channel((0.0, 1, 2), "abc", WEIGHTS, 6), KEPT.metric, KEPT.delta) is None, "another label"

    def refuse(*_):
        raise AssertionError("verified again")

    monkeypatch.setattr(importlib.import_module("metricdp.channels.verify"), "_verdict", refuse)
    assert plain.promising(KEPT).promise == KEPT
    assert certify(plain, space).promise == KEPT
    assert Channel((0, 1, 2), "abc", WEIGHTS, 6, Proved.of(BROKEN)).promise == BROKEN, "on the caller's word"
