"""The mechanism of least expected, or least largest, loss for a prior and a loss."""

from metricdp.design.optimal._optimal import optimal
from metricdp.design.optimal._result import Optimal

__all__ = ["Optimal", "optimal"]


def __dir__() -> list[str]:
    return __all__
