# SPDX-License-Identifier: Apache-2.0
"""All roofs of the machine for a number of threads."""

import ctypes
from dataclasses import dataclass, fields

from ..errors import Error
from ..native.libraries import Toolkit
from ..tool import roof
from ..tool.roof import Statistic

_KINDS = ("write", "copy", "triad")  # in the order of src/tool/streams.cc


@dataclass(frozen=True)
class Roofs:
    """GB/s and GFLOP/s; None where the machine has no such stores or instructions."""

    threads: int
    read: float
    write: float
    write_streaming: float | None
    copy: float
    copy_streaming: float | None
    triad: float
    triad_streaming: float | None
    multiply_add: float
    dot_product_bfloat16: float | None


def measure(kit: Toolkit, size: int, threads: int) -> Roofs:
    """Measures over `size` bytes; the process is bound to as many processors."""
    plain = roof.measure(kit, size, threads)
    streams = {}
    for kind, name in enumerate(_KINDS):
        streams[name] = _stream(kit, kind, 0, size, threads)
        streams[f"{name}_streaming"] = _stream(kit, kind, 1, size, threads) or None
    return Roofs(
        threads=threads,
        read=plain.read,
        multiply_add=plain.multiply_add,
        dot_product_bfloat16=_dot_products(kit, threads) or None,
        **streams,
    )


def best(found: list[Roofs]) -> Roofs:
    """The most of each figure."""

    def most(name: str) -> float | None:
        figures = (getattr(each, name) for each in found)
        return max((each for each in figures if each is not None), default=None)

    return Roofs(**{each.name: most(each.name) for each in fields(Roofs)})


def beside(kit: Toolkit, size: int, threads: int, dtype: str) -> roof.Roof:
    """The roof that a type's least time is computed from, by the better way of writing and of
    multiplying; quick enough to be measured in each round of a row, and like the row's times a
    median."""
    of = Statistic.MEDIAN
    plain = roof.measure(kit, size, threads, of)
    write = max(plain.write, _stream(kit, _KINDS.index("write"), 0, size, threads, of))
    dots = _dot_products(kit, threads, of) if dtype == "bfloat16" else 0.0
    return roof.Roof(plain.read, write, max(plain.multiply_add, dots))


def _stream(
    kit: Toolkit, kind: int, streaming: int, size: int, threads: int, of: Statistic = Statistic.BEST
) -> float:
    function = kit.function("openaclnn_measure_stream", ctypes.c_double)
    numbers = (ctypes.c_int(kind), ctypes.c_int(streaming), ctypes.c_uint64(size))
    return _checked(function(*numbers, ctypes.c_int(threads), ctypes.c_int(of)))


def _dot_products(kit: Toolkit, threads: int, of: Statistic = Statistic.BEST) -> float:
    function = kit.function("openaclnn_measure_dot_product", ctypes.c_double)
    return _checked(function(ctypes.c_int(threads), ctypes.c_int(of)))


def _checked(figure: float) -> float:
    if figure < 0:
        raise Error("the speed of this machine could not be measured, expected memory for it")
    return figure
