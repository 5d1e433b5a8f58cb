"""The laws that every metric, mechanism, channel and column type keeps, to be checked for those of your own.

>>> import metricdp as mdp
>>> from metricdp.testing import check_metric
>>> print(check_metric(mdp.metrics.absolute(), [0, 1, 2.5]))
absolute() keeps 10 laws: axioms, views, enclosures, equality, toml, scaling, algebra, shortcuts, answers, refusals

Each function raises `metricdp.errors.ConformanceError`, an ``AssertionError`` that names the broken law, or returns
what was checked. Secrets and points are yours, and public: messages show them. `docs/extending.md` has examples.
"""

from metricdp.lazy import listing
from metricdp.testing.channels import check_channel
from metricdp.testing.checked import Checked
from metricdp.testing.column_types import check_column_type
from metricdp.testing.mechanisms import check_mechanism
from metricdp.testing.metrics import check_metric

__all__ = ["Checked", "check_channel", "check_column_type", "check_mechanism", "check_metric"]

__dir__ = listing(__all__)
