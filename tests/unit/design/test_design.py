"""The folder itself: functions go before the folders of their names, in every order of imports."""

import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import metricdp as mdp
from metricdp.errors import ArgumentError

FOLDERS = ("capacity", "kernels", "optimal", "tight", "universal")
LONG = (
    "capacity",
    "compare",
    "decompose",
    "kernels",
    "least_scale",
    "optimal",
    "tight_constraints",
    "universal_mechanism",
    "universally_optimal",
    "vertices",
)
FIRST = (
    "import metricdp.design.optimal",
    "from metricdp.design.optimal import optimal",
    "import metricdp.design.capacity._columns",
    "from metricdp.design.kernels._kernels import kernels",
    "import metricdp.design.universal, metricdp.design.kernels, metricdp.design.capacity",
    "import metricdp.design.optimal as optimal; assert callable(optimal)",
    "import importlib; importlib.import_module('metricdp.design.capacity')",
    "import metricdp; metricdp.design.tight",
)


def fresh(program):
    environment = os.environ | {"PYTHONPATH": str(Path(mdp.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("first", FIRST)
def test_functions_go_before_folders(first):
    program = f"""
{first}
import importlib, pickle
import metricdp as mdp
import metricdp.design.optimal, metricdp.design.kernels, metricdp.design.capacity
for name in ("optimal", "kernels", "capacity"):
    function = getattr(mdp.design, name)
    assert callable(function), name
    assert pickle.loads(pickle.dumps(function)) is function
    folder = importlib.import_module("metricdp.design." + name)
    assert getattr(folder, name) is function
    assert getattr(mdp.design, name) is function
best = mdp.design.optimal(mdp.Space.line(3, mdp.ln(2) * mdp.metrics.absolute()))
assert pickle.loads(pickle.dumps(best)) == best
print("fine")
"""
    assert fresh(program) == "fine\n"


def test_only_public_names_are_listed():
    for folder in FOLDERS:
        module = importlib.import_module(f"metricdp.design.{folder}")
        assert dir(module) == sorted(module.__all__)
        assert set(module.__all__) <= set(mdp.design.__all__)
        assert all(getattr(mdp.design, name) is getattr(module, name) for name in module.__all__)
    assert dir(mdp.design) == sorted(mdp.design.__all__)


def test_a_question_of_a_space_does_not_load_the_solver():
    assert fresh("import sys, metricdp.design; print('highspy' in sys.modules)") == "False\n"
    assert fresh("import sys, metricdp.queries as q; q.Count; print('highspy' in sys.modules)") == "False\n"


def test_every_long_function_can_be_stopped_and_watched():
    for name in LONG:
        parameters = inspect.signature(getattr(mdp.design, name)).parameters
        for option in ("time_limit", "progress"):
            assert parameters[option].kind is inspect.Parameter.KEYWORD_ONLY, (name, option)
            assert parameters[option].default is None
    for name in ("capacity", "least_scale", "optimal"):
        assert inspect.signature(getattr(mdp.design, name)).parameters["gap"].kind is inspect.Parameter.KEYWORD_ONLY


def test_what_is_beyond_floats_or_of_another_kind_is_refused_in_plain_words():
    """Each of these ended in an error of Python's or numpy's."""
    space = mdp.Space.line(2, mdp.ln(2) * mdp.metrics.absolute())
    channel = mdp.design.optimal(space, time_limit=10**400)
    assert channel.finished
    for wrong in (10**400, -(10**5000)):
        with pytest.raises(ArgumentError, match="gap must be a positive number"):
            mdp.design.optimal(space, gap=wrong)
    with pytest.raises(ArgumentError, match="time_limit must be a positive number"):
        mdp.design.optimal(space, time_limit=-1)
    with pytest.raises(ArgumentError, match="the weight is beyond floats"):
        mdp.design.most_entropy(space, weight=10**400)
    with pytest.raises(ArgumentError, match='method must be "choose" or "program"'):
        mdp.design.capacity(space, method=np.array([]))
    with pytest.raises(ArgumentError, match="certify takes a matrix of numbers"):
        mdp.channels.certify([[10**400, 0], [0, 1]], space)
    with pytest.raises(ArgumentError, match="a list of outputs is needed"):
        mdp.channels.certify([[0.6, 0.4], [0.4, 0.6]], space, 0)
    with pytest.raises(ArgumentError, match="a list of rows of probabilities is needed"):
        mdp.Channel.from_matrix("ab", "yz", None)
    with pytest.raises(ArgumentError, match="a list of probabilities is needed"):
        mdp.Channel.from_matrix("ab", "yz", [0.5, 0.5])
    with pytest.raises(ArgumentError, match="a Guarantee is wanted here"):
        mdp.Channel("ab", "yz", [[1, 0], [0, 1]], 1, 0)
    with pytest.raises(ArgumentError, match="a metric is wanted here"):
        channel.extended(metric=0)
