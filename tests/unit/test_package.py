"""The package as a whole: its public names, what importing it costs, and where its noise comes from."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import metricdp

SOURCE = Path(metricdp.__file__).parent
FORBIDDEN = {"random", "secrets", "numpy.random", "scipy.stats", "uuid"}


def test_public_names():
    """Adding a name is a decision, removing one a break: both change this list."""
    assert metricdp.__all__ == [
        "Channel",
        "Guarantee",
        "Metric",
        "Session",
        "Space",
        "Verdict",
        "adversaries",
        "approximate_laplace",
        "audit",
        "channels",
        "compose",
        "design",
        "errors",
        "estimates",
        "exact",
        "exponential",
        "function_expansion",
        "function_samples",
        "geometric",
        "independent",
        "integrations",
        "laplace",
        "ledger",
        "ln",
        "mechanisms",
        "metrics",
        "papers",
        "plots",
        "policies",
        "postprocess",
        "queries",
        "randomized_response",
        "seeded",
        "sessions",
        "set_response",
        "sources",
        "tables",
        "testing",
        "truncated_geometric",
    ]
    assert metricdp.mechanisms.__all__ == [
        "Law",
        "Mechanism",
        "approximate_laplace",
        "compose",
        "exponential",
        "function_expansion",
        "function_samples",
        "geometric",
        "independent",
        "laplace",
        "postprocess",
        "randomized_response",
        "set_response",
        "truncated_geometric",
    ]
    assert metricdp.channels.__all__ == [
        "Certified",
        "Channel",
        "Refinement",
        "certify",
        "choice",
        "equivalent",
        "merged",
        "of",
        "parallel",
        "planar_geometric",
        "planar_laplace",
        "random_channel",
        "refines",
        "repeated",
        "restrict",
        "sequential",
        "verify",
    ]
    assert metricdp.exact.__all__ == [
        "Enclosure",
        "Level",
        "decide_all_by_balls",
        "exp_bounds",
        "ln",
        "log_bounds",
        "secure",
        "seeded",
        "tally",
    ]


def test_every_public_name_is_there():
    for name in metricdp.__all__:
        assert getattr(metricdp, name) is not None
    pure = (
        metricdp.exact,
        metricdp.metrics,
        metricdp.mechanisms,
        metricdp.channels,
        metricdp.adversaries,
        metricdp.design,
    )
    for folder in (metricdp.errors, *pure):
        for name in folder.__all__:
            assert getattr(folder, name).__doc__ or name.isupper(), f"{name} has no docstring"
    assert set(metricdp.__all__) <= set(dir(metricdp))
    with pytest.raises(AttributeError, match="no attribute 'sanitise_everything'"):
        metricdp.sanitise_everything  # noqa: B018


def modules_after(statement):
    environment = os.environ | {"PYTHONPATH": str(SOURCE.parent)}
    program = f"{statement}\nimport sys\nprint(*sorted(sys.modules), sep='\\n')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    return set(done.stdout.split())


HEAVY = {
    "scipy",
    "pandas",
    "networkx",
    "matplotlib",
    "pyarrow",
    "typer",
    "rich",
    "duckdb",
    "polars",
    "hypothesis",
    "pytest",
}


def test_importing_is_light():
    assert not modules_after("import metricdp") & HEAVY


def test_releasing_is_light():
    """Nor does a release need any of them."""
    used = modules_after("import metricdp as mdp\nmdp.laplace(mdp.metrics.euclidean(), dim=2).release([1.0, 2.0])")
    assert "flint" in used
    assert not used & HEAVY


def imported(path):
    """The modules a file imports, and the attributes of numpy, os and scipy that it names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}".replace("np.", "numpy.")


def test_noise_has_one_source():
    readers = set()
    for path in SOURCE.rglob("*.py"):
        names = set(imported(path))
        assert not names & FORBIDDEN, f"{path} draws noise of its own"
        if names & {"os.urandom", "os.getrandom"}:
            readers.add(path.relative_to(SOURCE).as_posix())
    assert readers == {"exact/bits.py"}


def test_the_search_finds_what_it_looks_for(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text("import numpy as np\nfrom random import choice\nnp.random.normal()\nimport os\nos.urandom(3)\n")
    assert {"random", "numpy.random", "os.urandom"} <= set(imported(bad))
    bad.write_text("from numpy import random\nimport secrets\n")
    assert {"numpy.random", "secrets"} <= set(imported(bad))


def test_the_error_tree_is_the_one_drawn():
    errors = metricdp.errors
    for name in errors.__all__:
        kind = getattr(errors, name)
        assert name in errors.__doc__, f"{name} is not drawn in the tree"
        assert issubclass(kind, errors.MetricDPError if name.endswith("Error") else UserWarning)
    assert issubclass(errors.KindError, (TypeError, ValueError))
    assert errors.NotFiniteError("a rule", 3).shifted(10).row == 13
    assert errors.ShapeError("a rule").shifted(10).row is None
