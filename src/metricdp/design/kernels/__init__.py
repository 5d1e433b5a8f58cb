"""Vertices and kernels: the finitely many parts that every private mechanism is made of."""

from metricdp.design.kernels._decompose import Decomposition, decompose
from metricdp.design.kernels._is_kernel import KernelCheck, is_kernel
from metricdp.design.kernels._kernels import Kernels, kernels
from metricdp.design.kernels._vertices import Vertex, Vertices, vertices

__all__ = [
    "Decomposition",
    "KernelCheck",
    "Kernels",
    "Vertex",
    "Vertices",
    "decompose",
    "is_kernel",
    "kernels",
    "vertices",
]


def __dir__() -> list[str]:
    return __all__
