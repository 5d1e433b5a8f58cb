"""How many processors may be used, on systems that say so and on others."""

import os

import numpy as np

import metricdp as mdp
from metricdp.channels import _logarithms
from metricdp.exact.processors import processors


def test_those_of_the_process_where_the_system_says_so(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {3, 5, 8}, raising=False)
    assert processors() == 3


def test_all_of_them_elsewhere(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert processors() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processors() == 1


def test_searches_and_proofs_run_where_the_system_does_not_say(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(_logarithms, "_LARGE", 0)
    points = np.random.default_rng(5).random((70, 2)).round(3).tolist()
    space = mdp.Space([tuple(point) for point in points], mdp.metrics.euclidean().within(0.2))
    channel = mdp.design.optimal(space, time_limit=2)
    assert mdp.channels.verify(channel, space)
