"""Libraries that are there, are not, or that nobody knows."""

import subprocess
import sys

import pytest

from metricdp.errors import ArgumentError
from metricdp.integrations import enable


def test_a_library_that_nobody_knows():
    with pytest.raises(ArgumentError, match="There are: pandas, polars, geopandas"):
        enable("excel")
    with pytest.raises(ArgumentError, match="which library"):
        enable()


PROGRAM = """
import sys
for library in ("pandas", "polars", "geopandas", "sklearn", "duckdb"):
    sys.modules[library] = None
import metricdp as mdp
for call in (
    lambda: mdp.integrations.enable("pandas"),
    lambda: mdp.integrations.enable("polars"),
    lambda: mdp.integrations.enable("geopandas"),
    lambda: mdp.integrations.PrivateTransformer,
    lambda: mdp.integrations.register_duckdb(None, {}),
):
    try:
        call()
    except mdp.errors.MissingExtraError as error:
        print(error)
"""


def test_a_library_that_is_missing_is_named_with_what_installs_it():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    extras = ("tables", "polars", "geopandas", "sklearn", "tables")
    assert [line.rpartition("[")[2] for line in done.stdout.splitlines()] == [f"{extra}]'" for extra in extras]
