# SPDX-License-Identifier: Apache-2.0
"""GroupedBiasAddGrad and its V2: out[j, :] = sum of grad_y[i, :] over the rows i of group j."""

import ctypes
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

import numpy as np

from .. import dtypes
from ..errors import InputError
from ..files.text import Text
from ..native import libraries
from . import options
from .operator import (
    Attribute,
    Demo,
    Derivative,
    Example,
    Function,
    Input,
    Operator,
    Output,
    Point,
    Problem,
    Random,
    Reference,
)
from .reference import compute, doubles, empty, whole

_TENSORS = (Input("gradY"), Input("groupIdxOptional"))
FUNCTION = Function("aclnnGroupedBiasAddGrad", (*_TENSORS, Output("out")))
FUNCTION_V2 = Function(
    "aclnnGroupedBiasAddGradV2",
    (*_TENSORS, Attribute("groupIdxType", ctypes.c_int64), Output("out")),
)
_MOST_GROUPS = 2048


class GroupIdxType(StrEnum):
    """Contents of a list of groups."""

    ENDS = "ends"
    SIZES = "sizes"


def problem(
    grad_y: np.ndarray,
    group_idx: np.ndarray | None = None,
    group_idx_type: str | None = None,
) -> Problem:
    """The gradient of a bias that is added to groups of rows: (groups, width).

    With group_idx, int32 or int64, grad_y is (rows, width); the list holds the end of each group,
    or with group_idx_type "sizes" their sizes. Without it grad_y is (groups, rows, width). With a
    group_idx_type ("ends" or "sizes") the second version of the operator runs.
    """
    wanted = 3 if group_idx is None else 2
    if grad_y.ndim != wanted:
        with_list = "without" if group_idx is None else "with"
        raise InputError(
            f"gradY shape is {grad_y.shape}, expected {wanted} dimensions {with_list}"
            " groupIdxOptional"
        )
    if group_idx is not None and group_idx.ndim != 1:
        raise InputError(f"groupIdxOptional shape is {group_idx.shape}, expected one dimension")
    groups = grad_y.shape[0] if group_idx is None else group_idx.size
    attributes = {}
    if group_idx_type is not None:
        attributes["groupIdxType"] = list(GroupIdxType).index(GroupIdxType(group_idx_type))
    return Problem(
        inputs={"gradY": grad_y} | ({} if group_idx is None else {"groupIdxOptional": group_idx}),
        attributes=attributes,
        outputs={"out": ((groups, grad_y.shape[-1]), grad_y.dtype)},
    )


_GradY = options.file(
    "Gradient of the output, rows x width, or without --group-idx groups x rows x width"
)
_Shape = options.shape("R,H", "rows and width of gradY")
_Groups = Annotated[
    int | None,
    options.Option(
        min=1, max=options.MOST, help="With --shape: this many groups of random sizes (8)."
    ),
]


@dataclass(frozen=True)
class _Source:
    """The options that say where gradY and its list come from."""

    grad_y: str | None
    group_idx: str | None
    shape: str | None
    groups: int | None
    text: str | None
    width: int | None
    dtype: str | None
    seed: int


def read(
    *,
    grad_y: _GradY = None,
    group_idx: options.file("End of each group, int32 or int64") = None,
    shape: _Shape = None,
    groups: _Groups = None,
    text: options.TextFile = None,
    width: options.Width = None,
    dtype: options.dtype(options.FLOATS) = None,
    seed: options.Seed = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    source = _Source(grad_y, group_idx, shape, groups, text, width, dtype, seed)
    return problem(*_arrays(source, GroupIdxType.ENDS, FUNCTION.api))


def read_v2(
    *,
    grad_y: _GradY = None,
    group_idx: options.file("End or size of each group, int32 or int64") = None,
    group_idx_type: Annotated[
        GroupIdxType, options.Option(help="What --group-idx holds.")
    ] = GroupIdxType.ENDS,
    shape: _Shape = None,
    groups: _Groups = None,
    text: options.TextFile = None,
    width: options.Width = None,
    dtype: options.dtype(options.FLOATS) = None,
    seed: options.Seed = 0,
) -> Problem:
    """Reads the arguments that the command line names."""
    source = _Source(grad_y, group_idx, shape, groups, text, width, dtype, seed)
    return problem(*_arrays(source, group_idx_type, FUNCTION_V2.api), group_idx_type)


def _arrays(
    source: _Source, group_idx_type: GroupIdxType, api: str
) -> tuple[np.ndarray, np.ndarray | None]:
    """gradY and its list from the options."""
    options.check_dtype(source.dtype, options.FLOATS)
    files = {"grad-y": source.grad_y, "group-idx": source.group_idx}
    options.check_source(files, ["grad-y"], text=source.text, shape=source.shape)
    options.check_companions("text", source.text is not None, width=source.width)
    options.check_companions("shape", source.shape is not None, groups=source.groups)
    if source.grad_y is not None:
        gradient = options.load_floats(api, {"gradY": source.grad_y}, source.dtype)["gradY"]
        if source.group_idx is None:
            return gradient, None
        return gradient, options.load(api, "groupIdxOptional", source.group_idx)
    if source.shape is not None:
        rows, columns = options.extents(source.shape, "R,H")
        random = np.random.default_rng(source.seed)
        ends = _random_ends(random, rows, source.groups or 8)
        values = options.normal(random, (rows, columns), source.dtype)
        return values, _listed(ends, group_idx_type)
    text = Text.read(source.text)
    return _from_text(text, source.width or 256, source.dtype or "float32", group_idx_type)


def _random_ends(random: np.random.Generator, rows: int, groups: int) -> np.ndarray:
    return np.append(np.sort(random.integers(0, rows + 1, groups - 1)), rows)


def _listed(ends: np.ndarray, group_idx_type: GroupIdxType) -> np.ndarray:
    return np.diff(ends, prepend=0) if group_idx_type == GroupIdxType.SIZES else ends


def _from_text(text: Text, width: int, dtype: str, group_idx_type: GroupIdxType):
    """The words' vectors as rows, a group for each paragraph; the last one takes the rest."""
    ends = text.paragraph_ends
    ends = np.append(ends[:-1][: _MOST_GROUPS - 1], ends[-1])
    rows = text.embedded(width).astype(dtypes.parse(dtype))
    return rows, _listed(ends, group_idx_type)


def _ends(arguments: Problem) -> np.ndarray:
    """The end of each group, in a list that keeps the rules."""
    grad_y = arguments.inputs["gradY"]
    group_idx = arguments.inputs.get("groupIdxOptional")
    if group_idx is None:
        return (1 + np.arange(grad_y.shape[0])) * grad_y.shape[1]
    if grad_y.size == 0 or group_idx.size == 0:
        return np.zeros(group_idx.size, np.int64)  # nothing to add: the list is not read
    given = whole(group_idx)
    of_sizes = arguments.attributes.get("groupIdxType") == 1
    ends = np.cumsum(given) if of_sizes else given
    falls = np.flatnonzero(np.diff(ends, prepend=0) < 0)
    if falls.size:
        at = falls[0]
        least = 0 if of_sizes or at == 0 else ends[at - 1]
        raise InputError(f"groupIdxOptional value {at} is {given[at]}, expected at least {least}")
    if ends[-1] != grad_y.shape[0]:
        expected = f"expected {grad_y.shape[0]}, the rows of gradY"
        raise InputError(f"groupIdxOptional ends at {ends[-1]}, {expected}")
    return ends


def reference(kit: libraries.Toolkit, arguments: Problem) -> dict[str, Reference]:
    """The sums in float64, from the inputs as stored."""
    shape, _ = arguments.outputs["out"]
    ends = np.require(_ends(arguments), np.int64, "C")
    value, magnitude = empty(shape), empty(shape)
    grad_y = doubles(arguments.inputs["gradY"])
    compute(kit, "grouped_bias_add_grad", grad_y, ends, *shape, value, magnitude)
    return {"out": Reference(value, magnitude, np.diff(ends, prepend=0)[:, np.newaxis])}


def point(kit: libraries.Toolkit, arguments: Problem) -> Point:
    """The forward adds row j of a bias to every row of group j."""
    shape, _ = arguments.outputs["out"]
    sizes = np.diff(_ends(arguments), prepend=0)
    grad_y = doubles(arguments.inputs["gradY"])
    return Point(
        variables={"out": np.random.default_rng(1).standard_normal(shape)},
        forward=lambda variables: np.repeat(variables["out"], sizes, axis=0),
        upstream=grad_y.reshape(math.prod(grad_y.shape[:-1]), shape[-1]),
        exact=arguments,
    )


def _small(group_idx_type: GroupIdxType | None) -> Iterable[Problem]:
    for name in options.FLOATS:
        random = np.random.default_rng(0)
        ends = np.array([0, 5, 15, 15, 40])
        rows = options.normal(random, (40, 10), name)
        yield problem(rows, _listed(ends, group_idx_type), group_idx_type)
    yield problem(
        options.normal(np.random.default_rng(0), (3, 7, 5), "float32"), None, group_idx_type
    )


def demo(text: Text, width: int) -> Iterable[Problem]:
    """The gradient of a bias for each paragraph, in every dtype."""
    for name in options.FLOATS:
        yield problem(*_from_text(text, width, name, GroupIdxType.ENDS))


def demo_v2(text: Text, width: int) -> Iterable[Problem]:
    """The demonstration from the sizes of the paragraphs."""
    arrays = _from_text(text, width, "float32", GroupIdxType.SIZES)
    yield replace(problem(*arrays, GroupIdxType.SIZES), note="sizes")


def example() -> Example:
    """Groups of 5, 10, 15 and 10 rows of ones, by their ends."""
    return _example(np.array([5, 15, 30, 40], np.int32))


def example_v2() -> Example:
    """The example by the sizes of groups."""
    return _example(np.array([5, 10, 15, 10]), group_idx_type="sizes")


def _example(group_idx: np.ndarray, **attributes: str) -> Example:
    return Example(
        arrays={"grad_y": np.ones((40, 10), np.float32), "group_idx": group_idx},
        attributes=attributes,
        outputs={"out": np.repeat([[5.0], [10], [15], [10]], 10, axis=1)},
    )


_FIRST = Operator(
    name="grouped_bias_add_grad",
    function=FUNCTION,
    summary="Gradient of a bias that is added to groups of rows.",
    usage="--grad-y g.npy --group-idx ends.npy",
    problem=problem,
    read=read,
    reference=reference,
    example=example,
    demo=Demo(options.FLOATS, demo),
    random=Random("--shape 131,17 --groups 5", options.FLOATS),
    derivative=Derivative(point, lambda: _small(None)),
)
_SECOND = Operator(
    name="grouped_bias_add_grad_v2",
    function=FUNCTION_V2,
    summary="Gradient of a bias, with a list of the groups' ends or sizes.",
    usage="--grad-y g.npy --group-idx sizes.npy --group-idx-type sizes",
    problem=problem,
    read=read_v2,
    reference=reference,
    example=example_v2,
    demo=Demo(("float32",), demo_v2),
    random=Random("--shape 131,17 --groups 5 --group-idx-type sizes", options.FLOATS),
    derivative=Derivative(point, lambda: _small(GroupIdxType.SIZES)),
)

OPERATORS = (_FIRST, _SECOND)
