"""The mechanism of least expected loss on an interval or a rectangle, every point of it a secret."""

from metricdp.design.continuous._continuous import Continuous, continuous

__all__ = ["Continuous", "continuous"]


def __dir__() -> list[str]:
    return __all__
