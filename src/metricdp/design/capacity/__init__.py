"""The capacities of a space: the most that any private mechanism can tell anybody."""

from metricdp.design.capacity._capacity import SpaceCapacity, capacity

__all__ = ["SpaceCapacity", "capacity"]


def __dir__() -> list[str]:
    return __all__
