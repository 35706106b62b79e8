# SPDX-License-Identifier: Apache-2.0
"""Tensors whose numbers stand on the command line: [[1, 2], [3, 4]], or 2.5; [0, 1]:bool with a type.

They are those of JSON. Without a type whole numbers are INT64, others FLOAT; `true` and `false` are BOOL.
"""

import json
import re
from collections.abc import Iterable

import numpy as np

from .. import dtypes
from ..errors import InputError, quoted

_FORM = re.compile(r"(\[(?:.*\])?[^:]*|[-+]?\d[\d.eE+-]*|true|false)(?::(.*))?", re.S)


def is_one(text: str) -> bool:
    """Whether a text is numbers, where others would be the name of a file."""
    return _FORM.fullmatch(text) is not None


def read(text: str, operand: str) -> np.ndarray:
    numbers, dtype = _FORM.fullmatch(text).groups()
    try:
        return _array(np.array(json.loads(numbers)), dtype)
    except (ValueError, TypeError, OverflowError, RecursionError):
        form = "NUMBERS[:DTYPE], such as [[1, 2], [3, 4]]:float32"
        raise InputError(f"--{operand} is {quoted(text)}, expected {form}") from None


def hint(text: str, array: np.ndarray, allowed: Iterable[str]) -> str:
    """How whole numbers are typed for an operand of floating types, as the end of a message."""
    floats = [each for each in allowed if dtypes.parse(each).kind not in "biu"]
    if array.dtype.kind not in "iu" or not floats or not is_one(text):
        return ""
    name = "float32" if "float32" in floats else floats[0]
    numbers, _ = _FORM.fullmatch(text).groups()
    return f"; give '{quoted(numbers)}:{name}' or 1.0 for 1"


def _array(given: np.ndarray, name: str | None) -> np.ndarray:
    """The numbers in the type of that name, which has to hold them."""
    if given.dtype.kind not in "biuf":
        raise TypeError(given.dtype)
    dtype = np.dtype(np.float32) if given.dtype.kind == "f" else given.dtype
    dtype = dtypes.parse(name) if name is not None else dtype
    dtypes.of(dtype)
    rounds = dtypes.FLOAT_FORMATS.get(dtype)
    with np.errstate(all="ignore"):
        made = (rounds.round(given) if rounds else given).astype(dtype)
    held = made == given if dtype.kind in "biu" else np.isinf(made) == np.isinf(given)
    if not np.all(held):
        raise OverflowError(name)
    return made
