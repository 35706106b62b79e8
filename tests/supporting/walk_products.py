# SPDX-License-Identifier: Apache-2.0
"""Walks each operator's tensors and all types on the product that OPENACLNN_SOC names.

walk_products.py FAMILY prints a line for each fault: a product that is not refused, a type that the
record does not list and that is not refused by the list, or one that it lists and that no case is
taken with. Where OPENACLNN_PRODUCTS is lenient it walks those whose pages do not list the family,
which must be taken as elsewhere.
"""

import ctypes
import os
import re
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "scripts/operators")]

import conftest  # noqa: F401  checked mode, as in the tests
import driver
import numpy as np
import records
from check_records import FAMILIES

from openaclnn import dtypes
from openaclnn.native import meta, runtime
from openaclnn.native.call import Call
from openaclnn.errors import AclError
from openaclnn.operators.operator import View

INVALID, NO_KERNEL = 161002, 561003
ADDRESS = 4096  # of memory that phase 1 does not look at
# All that a tensor can be made of, by the names of aclDataType.
NUMBERS = {each.acl_name.replace("BFLOAT16", "BF16"): each.number for each in dtypes.all_types()}
NAMES = {each.numpy: each.acl_name.replace("BFLOAT16", "BF16") for each in dtypes.all_types()}
NUMBERS |= {"COMPLEX32": 33, "INT4": 29}
LENIENT = os.environ.get("OPENACLNN_PRODUCTS") == "lenient"
# Of packed sequences: shifts by numbers are refused, and slopes are FLOAT.
SHIFTS = {"realShiftOptional", "pseShiftOptional"}
# Outputs and inputs of a z-loss, which is refused by name.
OF_Z_LOSS = {"lseForZlossOut", "zlossOut", "lseForZlossOptional", "gradZlossOptional"}
# Factors of rows need a scale of floats beside them, which 310P does not have.
BESIDE_FLOATS = {"310P": {"pertokenScaleOptional", "x1Scale"}}
# Types that go with complex ones alone, which no case draws.
BY_OTHERS = {("Complex", each, dtype) for each in ("real", "imag") for dtype in ("DOUBLE", "FLOAT16")}
BY_OTHERS |= {("Complex", "out", dtype) for dtype in ("COMPLEX128", "COMPLEX32")}


def tensor(kit, view: View, number: int) -> ctypes.c_void_p:
    """A tensor like the view, of another type; of INT4, which has two in a byte, a dense one."""
    if number == NUMBERS["INT4"]:
        dense = [int(np.prod(view.array.shape[i + 1 :])) for i in range(view.array.ndim)]
        return meta.create_tensor(kit, shape=view.array.shape, strides=dense, offset=0,
                                  storage_shape=view.array.shape, dtype=number, address=ADDRESS)  # fmt: skip
    return meta.create_tensor(
        kit, shape=view.array.shape, strides=view.strides, offset=view.offset,
        storage_shape=view.storage.shape, dtype=number, address=ADDRESS,
    )  # fmt: skip


@contextmanager
def argument(kit, given, number: int):
    """A tensor of another type, or a list whose first member is one."""
    if isinstance(given, View):
        made = tensor(kit, given, number)
        yield made
        kit.call("aclDestroyTensor", made)
        return
    first, *rest = given
    members = [tensor(kit, first, number)]
    members += [tensor(kit, each, dtypes.of(each.array.dtype).number) for each in rest]
    array = (ctypes.c_void_p * len(members))(*[each.value for each in members])
    made = kit.function("aclCreateTensorList", ctypes.c_void_p)(array, ctypes.c_uint64(len(members)))
    yield ctypes.c_void_p(made)
    kit.call("aclDestroyTensorList", ctypes.c_void_p(made))  # and its members


def said(call: Call) -> AclError | None:
    try:
        call.check()
    except AclError as error:
        return error
    return None


@contextmanager
def scalar(kit, value):
    made = meta.Scalar(kit, value)
    yield made.handle
    made.close()


def product_faults(call: Call, record, family: str):
    """Of one that lacks the operator, whatever the scalars are."""
    errors = [said(call)]
    for place, each in enumerate(record.parameters):
        before = call.arguments[place]
        if each.kind == "scalar" and before:
            with scalar(call._kit, np.complex64(1)) as call.arguments[place]:
                errors.append(said(call))
            call.arguments[place] = before
    for error in errors:
        if error is None or error.code != NO_KERNEL or f"family is {family}, " not in str(error):
            yield f"is taken on {family}, expected {NO_KERNEL}: {error}"


class Walk:
    """The tensors and types of a record that are still to be seen, case after case."""

    def __init__(self, record):
        self.record = record
        self.refused = set(record.listed)  # tensors whose other types no case has had yet
        self.taken = {
            (name, each)
            for name, listed in record.listed.items()
            for each in listed
        }

    def over(self) -> bool:
        return not self.refused and not self.taken

    def faults(self, call: Call, prepared):
        views = prepared.problem.inputs | prepared.problem.outputs
        given = {
            place: (each.name, views[each.name])
            for place, each in enumerate(self.record.parameters)
            if each.name in self.record.listed and views.get(each.name)
        }
        for name, view in given.values():
            self.taken.discard((name, NAMES[_first(view).array.dtype]))
        for place, (name, view) in given.items():
            for dtype in NUMBERS if name in self.refused else self._left(name):
                error = self._said(call, {place: view}, dtype)
                if error is None:
                    self.taken.discard((name, dtype))
                if dtype not in self.record.listed[name]:
                    yield from type_faults(self.record, name, dtype, error)
            self.refused.discard(name)
        others = {
            place: views[each.name]
            for place, each in enumerate(self.record.parameters)
            if each.name not in self.record.listed and views.get(each.name)
        }
        for dtype in {each for _, each in self.taken}:  # of all tensors at once
            fit = {p: v for p, (name, v) in given.items() if dtype in self.record.listed[name]}
            held = dtype in map(NAMES.get, self.record.types)
            # With those that the page does not list, and without.
            if any(self._said(call, fit | more, dtype) is None for more in ({}, others if held else {})):
                self.taken -= {(given[place][0], dtype) for place in fit}

    def _left(self, name: str) -> list[str]:
        return [dtype for tensor_name, dtype in self.taken if tensor_name == name]

    def _said(self, call: Call, views: dict, dtype: str) -> AclError | None:
        """Without a refusal where a number beside the tensors names the type that they have."""
        error = self._said_of(call, views, dtype)
        named = re.search(rf"\b(\w+) value is \d+, expected {NUMBERS[dtype]}, the number of", str(error))
        places = [i for i, each in enumerate(self.record.parameters) if named and each.name == named[1]]
        if not places:
            eighth = re.search(r"^\S+ \S+ (\w+) shape is \(.*?\), expected \(([\d, ]+)\)$", str(error))
            if eighth and dtype == "INT32" and len(views) == 1:  # of elements of eight INT4
                shape = tuple(map(int, eighth[2].split(", ")))
                packed = np.zeros(shape, np.int32)
                return self._said_of(call, {next(iter(views)): View(packed.reshape(-1), packed)}, dtype)
            return error
        return self._said_of(call, views, dtype, {places[0]: NUMBERS[dtype]})

    @staticmethod
    def _said_of(call: Call, views: dict, dtype: str, numbers=None) -> AclError | None:
        before = list(call.arguments)
        for place, number in (numbers or {}).items():
            call.arguments[place] = type(before[place])(number)
        with ExitStack() as made:
            for place, view in views.items():
                other = argument(call._kit, view, NUMBERS[dtype])
                call.arguments[place] = made.enter_context(other)
            error = said(call)
        call.arguments[:] = before
        return error


def type_faults(record, name: str, dtype: str, error: AclError | None):
    """The refusal of a type that is not listed names the tensor, the type and those that are."""
    told = re.search(rf"\b{name} dtype is (\w+), expected ([A-Z0-9, ]+)", str(error))
    names = told and set(told[2].replace("BFLOAT16", "BF16").split(", "))
    refused = told and told[1].replace("BFLOAT16", "BF16") == dtype and names == record.listed[name]
    if error is None or error.code != INVALID or not refused:
        listed = ", ".join(sorted(record.listed[name]))
        yield f"{name} of {dtype}: {error or 'taken'}, expected {INVALID} with {listed}"


def record_faults(device, record, family: str):
    walk = Walk(record)
    for number in range(driver.count_of(record)):
        prepared = driver.prepare(record, number)
        if prepared.refused or not _has_elements(prepared):
            continue
        with Call(device[0], record.function, prepared.problem, device[1]) as call:
            if family not in record.families and not LENIENT:
                yield from product_faults(call, record, family)
                return
            if (error := said(call)) is not None:
                yield f"case {number} is refused: {error}"
                return
            yield from walk.faults(call, prepared)
        if walk.over():
            return
    shifts = SHIFTS if record.cases.startswith("packed_attention") else set()
    lacked = {name for name, listed in record.listed.items() if not listed}  # no type here
    for name in sorted(walk.refused - shifts - lacked - OF_Z_LOSS - BESIDE_FLOATS.get(family, set())):
        yield f"{name}: no case has it"
    for name, dtype in sorted(walk.taken):
        if name in shifts and dtype != "FLOAT":
            continue
        if name not in walk.refused and (record.name, name, dtype) not in BY_OTHERS:
            yield f"{name} of {dtype} is listed, and no case is taken with it"


def _first(given) -> View:
    return given if isinstance(given, View) else given[0]


def _has_elements(prepared) -> bool:
    views = (prepared.problem.inputs | prepared.problem.outputs).values()
    flat = [one for each in views for one in (each if isinstance(each, list) else [each])]
    return all(np.size(one.array) for one in flat if isinstance(one, View))


def main(family: str) -> int:
    started = runtime.start()
    device = (started, runtime.Stream(started))
    found = walked = 0
    for record in records.load(family):
        there = family in record.families
        if there and (LENIENT or (len(record.families) == len(FAMILIES) and not record.listed)):
            continue
        walked += 1
        for fault in record_faults(device, record, family):
            print(f"{record.name}: {fault}")
            found += 1
    print(f"{walked} operators on {family}, {found} faults")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
