# SPDX-License-Identifier: Apache-2.0
"""All roofs of the machine for a number of threads."""

import ctypes
from dataclasses import dataclass, fields

from .. import roof
from ..errors import Error
from ..libraries import Toolkit

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

    def roof(self, dtype: str) -> roof.Roof:
        """What a least time is computed from: the better way of writing, and of multiplying."""
        dots = self.dot_product_bfloat16 if dtype == "bfloat16" else None
        write = max(self.write, self.write_streaming or 0)
        return roof.Roof(self.read, write, max(self.multiply_add, dots or 0))


def measure(kit: Toolkit, size: int, threads: int) -> Roofs:
    """Measures over `size` bytes; the process is bound to as many processors."""
    plain = roof.measure(kit, size, threads)
    streams = {}
    for kind, name in enumerate(_KINDS):
        streams[name] = _stream(kit, kind, 0, size, threads)
        streams[f"{name}_streaming"] = _stream(kit, kind, 1, size, threads) or None
    dots = kit.function("openaclnn_measure_dot_product", ctypes.c_double)(ctypes.c_int(threads))
    return Roofs(
        threads=threads,
        read=plain.read,
        multiply_add=plain.multiply_add,
        dot_product_bfloat16=_checked(dots) or None,
        **streams,
    )


def best(found: list[Roofs]) -> Roofs:
    """The most of each figure."""

    def most(name: str) -> float | None:
        figures = (getattr(each, name) for each in found)
        return max((each for each in figures if each is not None), default=None)

    return Roofs(**{each.name: most(each.name) for each in fields(Roofs)})


def small(kit: Toolkit, size: int, threads: int) -> float:
    """GB/s read: quick enough to stand beside each row."""
    return roof.measure(kit, size, threads).read


def _stream(kit: Toolkit, kind: int, streaming: int, size: int, threads: int) -> float:
    function = kit.function("openaclnn_measure_stream", ctypes.c_double)
    numbers = (ctypes.c_int(kind), ctypes.c_int(streaming), ctypes.c_uint64(size))
    return _checked(function(*numbers, ctypes.c_int(threads)))


def _checked(figure: float) -> float:
    if figure < 0:
        raise Error("the speed of this machine could not be measured, expected memory for it")
    return figure
