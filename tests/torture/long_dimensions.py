# SPDX-License-Identifier: Apache-2.0
"""Phase 1 of each operator with dimensions that no memory is long enough for.

    long_dimensions.py [--cases N] [OPERATOR...]

Of the N calls with the most dimensions that an operator takes, each length is made a long one: wherever it stands, or in one
place of each shape alone, in plain arguments and lists of them as well or not; and each number of
those alone. What has to hold: phase 1 gives an executor or a refusal that says what it expected,
and does so within ROOM, since what it plans does not grow with the dimensions.
"""

import argparse
import contextlib
import ctypes
import faulthandler
import math
import os
import resource
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

os.environ.setdefault("OPENACLNN_SOC", "Ascend910B1")
os.environ.setdefault("ASCEND_GLOBAL_LOG_LEVEL", "4")

from subjects import Subject, subjects

import numpy as np
from openaclnn.native import meta, runtime
from openaclnn.native.call import Call
from openaclnn.errors import AclError
from openaclnn.operators.operator import Attribute, IntArray, Parameter, Problem, View

DRAWN = 24  # calls of which those with the most dimensions are taken
LENGTHS = (2**17 + 1, 2**31, 2**40)
LONGEST = 2**63  # bytes of a tensor: more have no steps
ROOM = 2**28  # bytes of addresses for all that a call plans
SECONDS = 120  # for all calls of an operator: any more is a hang
REFUSED = 161002
ADDRESS = 4096  # of memory that phase 1 does not look at
# Their tensors' lengths follow from scalars, are fixed, or are all the same.
RIGID = {"aclnnArange", "aclnnRange", "aclnnAmpUpdateScale", "aclnnInplaceFillDiagonal"}


@dataclass(frozen=True)
class Change:
    """Which lengths and numbers become which."""

    old: int
    new: int
    place: int | None = None  # in a shape, from its end where negative; None: any
    shapes: bool = True
    numbers: bool = False

    def shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if not self.shapes:
            return shape
        places = range(len(shape))
        if self.place is not None:
            places = [place for place in places if self.place in (place, place - len(shape))]
        return tuple(
            self.new if place in places and length == self.old else length
            for place, length in enumerate(shape)
        )

    def number(self, number):
        if isinstance(number, list):
            return [self.number(each) for each in number]
        return self.new if self.numbers and number == self.old else number


@dataclass(frozen=True)
class Nowhere:
    """An array on the device of which there is a description alone."""

    shape: tuple[int, ...]
    dtype: np.dtype
    address: ctypes.c_void_p = field(default_factory=lambda: ctypes.c_void_p(ADDRESS))


class TooLong(Exception):
    """More bytes than a tensor can have."""


@dataclass(frozen=True)
class Placed:
    tensor: meta.Tensor


class ChangedCall(Call):
    """Phase 1 of a call with other dimensions, all tensors dense."""

    def __init__(self, started, function, problem: Problem, stream, change: Change):
        self._change = change
        super().__init__(started, function, problem, stream)

    def _place(self, given) -> Placed:
        shape, dtype = _described(given)
        shape = self._change.shape(shape)
        if math.prod(shape) * dtype.itemsize >= LONGEST:
            raise TooLong
        return Placed(meta.Tensor(self._kit, Nowhere(shape, dtype)))

    def _attribute(self, parameter: Parameter, value):
        if isinstance(parameter, IntArray) or _is_number(parameter):
            value = self._change.number(value)
        return super()._attribute(parameter, value)


def _is_number(parameter: Parameter) -> bool:
    return isinstance(parameter, Attribute) and parameter.ctype is ctypes.c_int64


def _described(given: np.ndarray | View | tuple) -> tuple[tuple[int, ...], np.dtype]:
    match given:
        case View():
            return given.array.shape, given.array.dtype
        case np.ndarray():
            return given.shape, given.dtype
    return tuple(given[0]), np.dtype(given[1])


def changes(subject: Subject, problem: Problem) -> Iterator[Change]:
    """All of a call."""
    shapes = _shapes(problem)
    rank = _dimensions(problem)
    for new in LENGTHS:
        for old in sorted({length for shape in shapes for length in shape}):
            for place in (None, *range(-rank, rank)):
                for numbers in (False, True):
                    yield Change(old, new, place, numbers=numbers)
        for old in sorted(_numbers(subject, problem)):
            yield Change(old, new, shapes=False, numbers=True)


def _dimensions(problem: Problem) -> int:
    return max(map(len, _shapes(problem)))


def _shapes(problem: Problem) -> list[tuple[int, ...]]:
    """Of all tensors."""
    tensors = [*problem.inputs.values(), *problem.outputs.values()]
    tensors = [one for each in tensors for one in (each if isinstance(each, list) else [each])]
    return [_described(each)[0] for each in tensors if each is not None]


def _numbers(subject: Subject, problem: Problem) -> set[int]:
    found = set()
    for each in subject.function.parameters:
        if isinstance(each, IntArray):
            found |= set(problem.attributes[each.name] or ())
        elif _is_number(each):
            found.add(problem.attributes[each.name])
    return found


@contextlib.contextmanager
def little_room():
    """No more addresses than ROOM beside those that are in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + ROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def attack(started: runtime.Runtime, stream: runtime.Stream, subject: Subject, cases: int) -> bool:
    """Whether phase 1 of an operator does what it has to."""
    problems = sorted(islice(subject.problems(), DRAWN), key=_dimensions)[-cases:]
    calls = taken = 0
    faults: list[str] = []
    with little_room():
        for problem in problems:
            for change in changes(subject, problem):
                calls += 1
                try:
                    with ChangedCall(started, subject.function, problem, stream, change) as call:
                        call.check()
                    taken += 1
                except TooLong:
                    calls -= 1
                except AclError as error:
                    if error.code != REFUSED or ", expected " not in str(error):
                        faults.append(f"{_shapes(problem)}, {change}: {error.code}: {error}")
    if not taken and subject.function.api not in RIGID:
        faults.append("no change is taken")
    print(f"{subject.function.api}: {taken} taken of {calls} calls", *faults[:5], sep="\n  ", flush=True)
    return not faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("operators", nargs="*")
    parser.add_argument("--cases", type=int, default=1)
    options = parser.parse_args()
    faulthandler.enable()
    started = runtime.start()
    stream, right = runtime.Stream(started), True
    for subject in subjects():
        api = subject.function.api
        if not started.kit.has(api) or (options.operators and api not in options.operators):
            continue
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        right &= attack(started, stream, subject, options.cases)
    faulthandler.cancel_dump_traceback_later()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
