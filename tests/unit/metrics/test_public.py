import inspect
import subprocess
import sys

import metricdp.metrics as metrics


def test_the_names_that_stay():
    lower_case = [name for name in metrics.__all__ if name.islower()]
    assert lower_case == [
        "absolute",
        "add_remove",
        "attributes",
        "blowfish",
        "capped",
        "chebyshev",
        "dates",
        "discrete",
        "euclidean",
        "graph",
        "graph_of",
        "great_circle",
        "hamming",
        "individuals",
        "manhattan",
        "matrix",
        "maximum",
        "normalized_manhattan",
        "nullable",
        "records",
        "smooth",
        "spanning_tree",
        "square_integrable",
        "supremum",
        "symmetric_difference",
        "taxonomy",
        "unprotected",
        "value_budgets",
    ]
    for name in metrics.__all__:
        assert getattr(metrics, name).__doc__


def test_every_kind_names_its_constructor():
    made = {cls for _, cls in inspect.getmembers(metrics, inspect.isclass) if issubclass(cls, metrics.Metric)}
    for cls in made:
        if not inspect.isabstract(cls) and hasattr(cls, "kind"):
            assert cls.kind in {*metrics.__all__, "scaled", "sum", "closure", "normalized"}, cls


def test_nothing_heavy_is_imported():
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, metricdp.metrics; print([m for m in ('scipy', 'networkx', 'pandas') if m in sys.modules])",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.strip() == "[]"
