# SPDX-License-Identifier: Apache-2.0
"""PyTorch's counterpart of a record: one of its operators whose name and arguments are alike.

The API is PyTorch's in other letters: aclnnGeluBackward(gradOutput, self, approximate) is
aten::gelu_backward(grad_output, self, approximate). What is not alike is in counterparts.py. That a
counterpart computes the same is not believed: its result is compared.
"""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from ... import dtypes
from .counterparts import COUNTERPARTS

# Words at the end of a name that say what its operands are.
_OPERANDS = ("V2", "V3", "V4", "Tensor", "Scalar", "List", "And", "Self", "Other", "Dim", "Correction", "Float")
_FITTING = {  # what aten may have for a parameter of a record
    "in": ("Tensor",), "in[]": ("List[Tensor]",), "scalar": ("number",), "scalar[]": ("List[number]",),
    "ints": ("List[int]", "int"), "bools": ("List[bool]",), "bool": ("bool",), "string": ("str",),
    "float": ("float", "number"), "double": ("float", "number"), "dtype": ("int",),
}  # fmt: skip
_WHOLE = ("int", "bool", "number")  # for the others, which are integers
# Parameters that only one of the two has, and that decide nothing here.
_OURS_ALONE = re.compile(r"cubeMathType|buffer|seed|offset|.*[tT]ensor|implMode|idx|N|C|HxW|outputSize|dtype", re.X)
_ALIKE = {"selfref": "self", "x": "self", "x1": "self", "x2": "other", "dims": "dim", "keepdims": "keepdim"}


class Functions:
    """aten's operators by their names in small letters alone."""

    def __init__(self, torch):
        self._torch = torch
        self._known: dict[str, list[str]] = {}
        self._read: set[int] = set()  # where the tensors are that a function reads
        for name in sorted({each.name for each in torch._C._jit_get_all_schemas()}):
            if name.startswith("aten::"):
                plain = name.removeprefix("aten::")
                self._known.setdefault(_plain(plain), []).append(plain)

    def ways(self, record, arguments: dict, outputs: dict) -> Iterator[tuple[str, Any]]:
        """Functions that may compute the same, by what they are; each returns tensors. Outputs are what
        says their shapes."""
        tensors = {name: self._tensor(value) for name, value in arguments.items()}
        read = [tensors.get(each.name) for each in record.parameters if not each.is_output]
        self._read = {each.data_ptr() for each in flat(read) if hasattr(each, "data_ptr")}
        if record.name in COUNTERPARTS:
            given = COUNTERPARTS[record.name]
            *first, expression = (given,) if isinstance(given, str) else given
            yield expression, self._evaluated(first, expression, {**outputs, **tensors})
            return
        for name in dict.fromkeys(self._candidates(record)):
            packet = getattr(self._torch.ops.aten, name)
            for overload in [getattr(packet, each) for each in packet.overloads()]:
                bound = self._bound(overload._schema, record, tensors)
                if bound is not None:
                    yield str(overload), _called(overload, bound)
                    yield from self._with_output(packet, overload, bound)

    def is_view(self, made) -> bool:
        """Whether a result is a view of what the function reads: then PyTorch has moved nothing
        yet."""
        return hasattr(made, "untyped_storage") and made.untyped_storage().data_ptr() in self._read

    def _evaluated(self, first: list[str], expression: str, tensors: dict):
        torch = self._torch
        names = {"torch": torch, "F": torch.nn.functional, "aten": torch.ops.aten, **tensors}
        with torch.enable_grad():
            for each in first:
                names["made"] = eval(each, names)
        code = compile(expression, expression, "eval")
        return lambda: eval(code, names)

    def _candidates(self, record) -> Iterator[str]:
        words = re.findall(r"[A-Z][a-z0-9]*|\d+[a-z]?", record.name)
        in_place = words[0] == "Inplace"
        words = words[in_place:]
        while words:
            plain = "".join(words).lower()
            for each in (plain, f"native{plain}", f"{plain}data", plain.removesuffix("s")):
                yield from self._known.get(each + "_" * in_place, [])
            if words[-1] not in _OPERANDS:
                return
            words = words[:-1]

    def _with_output(self, packet, overload, bound: dict):
        """Writes into memory that is there; which of the two is faster differs."""
        wanted = [(each.name, str(each.type)) for each in overload._schema.arguments]
        for each in (getattr(packet, name) for name in packet.overloads()):
            schema = each._schema.arguments
            outputs = [argument.name for argument in schema if argument.is_out]
            if outputs and [(given.name, str(given.type)) for given in schema if not given.is_out] == wanted:
                try:
                    made = flat(_called(overload, bound)())
                except Exception:  # of any kind: it is no counterpart then
                    return
                if len(made) == len(outputs):
                    memory = {name: self._torch.empty_like(one) for name, one in zip(outputs, made, strict=True)}
                    yield str(each), _called(each, {**bound, **memory})
                return

    def _bound(self, schema, record, tensors: dict) -> dict | None:
        """Its arguments by name, or nothing: those of like names, then those of fitting types."""
        if any(each.is_out for each in schema.arguments):
            return None
        left = [each for each in record.parameters if not each.is_output or each.name == "selfRef"]
        left = [each for each in left if tensors.get(each.name) is not None]
        found: dict[str, Any] = {}
        for alike in (lambda a, p: _name(a.name) == _name(p.name), lambda a, p: True):
            for argument in schema.arguments:
                if argument.name in found:
                    continue
                of = next((p for p in left if alike(argument, p) and _fits(p, argument)), None)
                if of is not None:
                    found[argument.name] = _value(self._torch, of, tensors[of.name], argument)
                    left.remove(of)
        missing = [each for each in schema.arguments if each.name not in found and not each.has_default_value()]
        for each in missing:
            if not str(each.type).startswith("Optional"):
                if each.name != "input_dtype":
                    return None
                found[each.name] = next(v for v in tensors.values() if hasattr(v, "dtype")).dtype
            else:
                found[each.name] = None
        return None if any(not _OURS_ALONE.fullmatch(each.name) for each in left) else found

    def _tensor(self, value):
        """Turns arrays into tensors, and NumPy's numbers into Python's; the rest stays as it is."""
        if isinstance(value, list):
            return [self._tensor(each) for each in value]
        if isinstance(value, np.ndarray):
            if value.dtype == dtypes.parse("bfloat16"):
                return self._torch.from_numpy(value.view(np.int16).copy()).view(self._torch.bfloat16)
            return self._torch.from_numpy(value.copy())
        return value.item() if isinstance(value, np.generic) else value


def flat(made) -> list:
    """The tensors that a function returned, in lists or not."""
    return [one for each in made for one in flat(each)] if isinstance(made, (list, tuple)) else [made]


def _plain(name: str) -> str:
    small = name.replace("_", "").lower()
    return small + "_" if name.endswith("_") and not name.endswith("__") else small


def _name(name: str) -> str:
    plain = re.sub(r"optional$|ref$", "", name.replace("_", "").lower())
    return _ALIKE.get(plain, plain).replace("gradoutput", "gradout")


def _fits(parameter, argument) -> bool:
    kind = re.sub(r"Optional\[(.*)\]", r"\1", str(argument.type))
    kind = kind.replace("List[Optional[Tensor]]", "List[Tensor]")
    if parameter.name == "selfRef":
        return kind == "Tensor"
    return kind in _FITTING.get(parameter.kind, _WHOLE)


def _value(torch, parameter, value, argument):
    """As the schema has it."""
    if parameter.kind == "dtype":
        return torch.float32
    if parameter.name == "divisorOverride" and not value:  # which PyTorch has as none
        return None
    if parameter.kind == "ints" and "List" not in str(argument.type):
        return value[0]
    return bool(value) if str(argument.type) == "bool" else value


def _called(overload, bound: dict):
    schema = overload._schema.arguments
    positional = [bound[each.name] for each in schema if not each.kwarg_only and each.name in bound]
    # A default in between would shift those behind it.
    full = all(each.name in bound for each in schema if not each.kwarg_only)
    if not full:
        positional = []
    named = {name: value for name, value in bound.items() if not positional or _is_named(schema, name)}
    return lambda: overload(*positional, **named)


def _is_named(schema, name: str) -> bool:
    return next(each for each in schema if each.name == name).kwarg_only
