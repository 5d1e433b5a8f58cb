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
sys.modules[{library!r}] = None
import metricdp as mdp
assert {library!r} not in [name for name in sys.modules if sys.modules[name] is not None]
try:
    {call}
except ImportError as error:
    assert isinstance(error, mdp.errors.MissingExtraError)
    print(error)
"""


@pytest.mark.parametrize(
    ("library", "call", "extra"),
    [
        ("pandas", "mdp.integrations.enable('pandas')", "tables"),
        ("polars", "mdp.integrations.enable('polars')", "polars"),
        ("geopandas", "mdp.integrations.enable('geopandas')", "geopandas"),
        ("sklearn", "mdp.integrations.PrivateTransformer", "sklearn"),
        ("duckdb", "mdp.integrations.register_duckdb(None, {})", "tables"),
    ],
)
def test_a_library_that_is_missing_is_named_with_what_installs_it(library, call, extra):
    program = PROGRAM.format(library=library, call=call)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith(f"is not installed; run: pip install 'metricdp[{extra}]'")
