# SPDX-License-Identifier: Apache-2.0
"""Walks each operator's tensors and all types on the product that OPENACLNN_SOC names.

walk_products.py FAMILY prints a line for each fault: a product that is not refused, a type that the
record lists and its refusal names, or one that it does not list and that is taken.
"""

import ctypes
import re
import sys
from contextlib import contextmanager
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[2] / "scripts")]

import conftest  # noqa: F401  checked mode, as in the tests
import driver
import numpy as np
import records

from openaclnn import dtypes, meta, runtime
from openaclnn.call import Call
from openaclnn.errors import AclError
from openaclnn.operators.operator import View

INVALID, NO_KERNEL = 161002, 561003
ADDRESS = 4096  # of memory that phase 1 does not look at
# All that a tensor can be made of, by the names of aclDataType.
NUMBERS = {each.acl_name.replace("BFLOAT16", "BF16"): each.number for each in dtypes.all_types()}
NUMBERS |= {"COMPLEX128": 17, "COMPLEX32": 33, "INT4": 29}


def tensor(kit, view: View, number: int) -> ctypes.c_void_p:
    """A tensor like the view, of another type."""
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


def faults_of(device, record, family: str, prepared):
    kit = device[0].kit
    with Call(device[0], record.function, prepared.problem, device[1]) as call:
        if family not in record.families:
            error = said(call)
            if error is None or error.code != NO_KERNEL or f"family is {family}, " not in str(error):
                yield f"is taken on {family}, expected {NO_KERNEL}: {error}"
            return
        if (error := said(call)) is not None:
            yield f"case is refused: {error}"
            return
        views = prepared.problem.inputs | prepared.problem.outputs
        for place, each in enumerate(record.parameters):
            given = views.get(each.name)
            if each.name not in record.listed or given is None or given == []:
                continue
            before = call.arguments[place]
            for name, number in NUMBERS.items():
                with argument(kit, given, number) as call.arguments[place]:
                    error = said(call)
                yield from type_faults(record, each.name, name, error)
            call.arguments[place] = before


def type_faults(record, name: str, dtype: str, error: AclError | None):
    """The refusal of a type that is not listed names the tensor, the type and those that are."""
    told = re.search(rf"\b{name} dtype is (\w+), expected ([A-Z0-9, ]+)", str(error))
    names = told and set(told[2].replace("BFLOAT16", "BF16").split(", "))
    refused = told and told[1].replace("BFLOAT16", "BF16") == dtype and names == record.listed[name]
    if dtype in record.listed[name]:
        if refused:
            yield f"{name} of {dtype}, which its page lists, is refused: {error}"
    elif error is None or error.code != INVALID or not refused:
        listed = ", ".join(sorted(record.listed[name]))
        yield f"{name} of {dtype}: {error or 'taken'}, expected {INVALID} with {listed}"


def main(family: str) -> int:
    started = runtime.start()
    device = (started, runtime.Stream(started))
    found = walked = 0
    for record in records.load(family):
        if len(record.families) == 6 and not record.listed:
            continue
        prepared = next(
            (
                each
                for number in range(driver.count_of(record))
                if not (each := driver.prepare(record, number)).refused and _has_elements(each)
            ),
            None,
        )
        if prepared is None:
            print(f"{record.name}: no case that it takes")
            found += 1
            continue
        walked += 1
        for fault in faults_of(device, record, family, prepared):
            print(f"{record.name}: {fault}")
            found += 1
    print(f"{walked} operators on {family}, {found} faults")
    return 1 if found else 0


def _has_elements(prepared) -> bool:
    views = (prepared.problem.inputs | prepared.problem.outputs).values()
    flat = [one for each in views for one in (each if isinstance(each, list) else [each])]
    return all(np.size(one.array) for one in flat if isinstance(one, View))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
