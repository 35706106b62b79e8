# SPDX-License-Identifier: Apache-2.0
"""What every supporting operator must not take, whatever it computes."""

import ctypes

import driver
import numpy as np
import pytest
import records

from openaclnn import dtypes
from openaclnn.native import meta
from openaclnn.native.call import Call
from openaclnn.errors import AclError
from openaclnn.operators.operator import View

RECORDS = records.load()
NULL, INVALID, DATA = 161001, 161002, 507035
UINT64, COMPLEX64, COMPLEX32 = 10, 16, 33
FOREIGN = ctypes.c_void_p(0x1234560)
ADDRESS = 4096  # of memory that phase 1 does not look at
FAR = 10**6  # beyond any dimension
SKIP_NEGATIVE = {"KvRmsNormRopeCache", "KvRmsNormRopeCacheV2", "QkvRmsNormRopeCache"}  # such a place is none
PLACES = {"index", "indices"}  # tensors of places in another; a target is if some are ignored

every_record = pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)


def taken(record, fits=lambda prepared: True):
    """A case that the operator takes, with elements in all of its tensors."""
    for number in range(driver.count_of(record)):
        prepared = driver.prepare(record, number)
        tensors = [view for _, _, view in tensors_of(record, prepared)]
        if not prepared.refused and all(each.array.size for each in tensors) and fits(prepared):
            return prepared
    return None


def tensors_of(record, prepared):
    """Places among the arguments, parameters and views of the tensors that are no members."""
    for i, each in enumerate(record.parameters):
        view = (prepared.problem.inputs | prepared.problem.outputs).get(each.name)
        if isinstance(view, View):
            yield i, each, view


def refused(call: Call, place: int | None, value, code: int) -> str:
    """What phase 1 says with one argument replaced by another."""
    before = list(call.arguments)
    if place is not None:
        call.arguments[place] = value
    with pytest.raises(AclError) as raised:
        call.check()
    call.arguments[:] = before
    assert raised.value.code == code, f"{raised.value.code}: {raised.value}"
    return str(raised.value)


def open_call(device, record, prepared) -> Call:
    return Call(device[0], record.function, prepared.problem, device[1])


@every_record
def test_null_and_foreign_handles(device, record):
    """Each handle is null, then no handle at all; so is where phase 1 writes."""
    with open_call(device, record, driver.prepare(record, 0)) as call:
        for i, each in enumerate(record.parameters):
            if not each.is_handle:
                continue
            if not each.optional:
                assert each.name in refused(call, i, ctypes.c_void_p(), NULL)
            assert each.name in refused(call, i, FOREIGN, INVALID)
        phase_1, size = f"{record.api}GetWorkspaceSize", ctypes.byref(ctypes.c_uint64())
        for given in ((size, None), (None, ctypes.byref(ctypes.c_void_p()))):
            assert device[0].kit.function(phase_1)(*call.arguments, *given) == NULL


def tensor_like(kit, view: View, address, dtype=None, **changes) -> ctypes.c_void_p:
    """The tensor of a view, but for what is given."""
    storage = view.storage.shape
    arguments = {"shape": view.array.shape, "strides": view.strides, "offset": view.offset,
                 "storage_shape": storage, "dtype": dtype or dtypes.of(view.array.dtype).number,
                 "address": address, **changes}  # fmt: skip
    return meta.create_tensor(kit, **arguments)


@every_record
def test_tensors_that_no_operator_takes(device, record):
    """A type, a rank, a view beyond its storage; an output with elements in one place."""
    prepared, kit = taken(record) or driver.prepare(record, 0), device[0].kit
    with open_call(device, record, prepared) as call:
        for i, each, view in tensors_of(record, prepared):
            ranks = {"shape": (1,) * 9, "strides": (1,) * 9, "offset": 0}
            held = record.types_of(each.name)
            lacked = {UINT64: np.uint64, COMPLEX64: np.complex64, COMPLEX32: None}
            changes = [{"dtype": number} for number, own in lacked.items() if own not in held]
            changes.append(ranks)
            if view.array.size > 1:
                if view.storage.size > 1:  # one element holds a view whose steps are all 0
                    changes.append({"storage_shape": (1,)})
                if each.is_output and not record.one_value:
                    changes.append({"strides": [0] * view.array.ndim})
            for change in changes:
                handle = tensor_like(kit, view, ADDRESS, **change)
                assert each.name in refused(call, i, handle, INVALID), change
                kit.call("aclDestroyTensor", handle)


@every_record
def test_outputs_of_another_shape(device, record):
    prepared = taken(record) or driver.prepare(record, 0)
    with open_call(device, record, prepared) as call:
        for i, each, view in tensors_of(record, prepared):
            if not each.is_output or record.in_place or each.optional:
                continue
            if each.name in prepared.case.shapes:
                continue  # it may be of others
            shape = (*view.array.shape, 7)
            strides = np.cumprod((1, *shape[:0:-1]))[::-1].tolist()
            count = int(np.prod(shape))
            handle = tensor_like(device[0].kit, view, ADDRESS, shape=shape, strides=strides,
                                 offset=0, storage_shape=(count,))  # fmt: skip
            refused(call, i, handle, INVALID)
            device[0].kit.call("aclDestroyTensor", handle)


def odd(shape) -> list[tuple[int, ...]]:
    """Shapes with other dimensions than one."""
    rests, fronts = (shape, shape[1:], shape[:-1]), ((), (1,), (2,), (0,))
    shapes = {(*front, *rest) for rest in rests for front in fronts}
    shapes |= {(*shape, more) for more in (0, 1, 2)} | {(), (0,), (2, 0), (1,) * 8, (2,) * 8}
    return sorted(each for each in shapes - {shape} if len(each) <= 8)


@every_record
def test_tensors_of_odd_ranks(device, record):
    """Each is refused as an argument, or taken; phase 1 survives them all."""
    prepared, kit = taken(record) or driver.prepare(record, 0), device[0].kit
    with open_call(device, record, prepared) as call:
        for i, each, view in tensors_of(record, prepared):
            before = call.arguments[i]
            for shape in odd(view.array.shape):
                strides = np.cumprod((1, *shape[:0:-1]))[::-1].tolist() if shape else []
                call.arguments[i] = tensor_like(
                    kit, view, ADDRESS, shape=shape, strides=strides, offset=0,
                    storage_shape=(int(np.prod(shape)),))  # fmt: skip
                try:
                    call.check()
                except AclError as error:
                    assert error.code == INVALID, f"{each.name} {shape}: {error}"
                kit.call("aclDestroyTensor", call.arguments[i])
            call.arguments[i] = before


def no_modes(record):
    """(place, parameter, what names no mode or no type of it)"""
    for i, each in enumerate(record.parameters):
        modes = record.modes.get(each.name, [])
        if each.kind == "string":
            strings = {"another", modes[0].lower() + "x", modes[0].swapcase(), *([""], [])["" in modes]}
            values = [value.encode() for value in strings - set(modes)]
            values += [] if "" in modes else [None]
            yield from ((i, each, ctypes.c_char_p(value)) for value in values)
            continue
        values = [99, -2] if each.kind == "dtype" else []
        if modes:
            last = modes[-1] if isinstance(modes[-1], int) else len(modes) - 1
            values = [-1, last + 1, {"int8": -128, "int": -(2**31)}.get(each.kind, 2**32 + last)]
            values = [value for value in values if value not in modes]  # -1 may be one
        yield from ((i, each, each.argument.ctype(value)) for value in values)


@pytest.mark.parametrize(
    "record",
    [each for each in RECORDS if each.modes or each.plain("dtype", "string")],
    ids=lambda record: record.name,
)
def test_what_names_no_mode(device, record):
    """Of a reduction, an approximation, a layout, a type, …: refused by name."""
    prepared = taken(record) or driver.prepare(record, 0)
    with open_call(device, record, prepared) as call:
        for i, each, value in no_modes(record):
            assert f"{each.name} value is " in refused(call, i, value, INVALID), value


def places(record) -> list[str]:
    """Parameters that say places in another tensor."""
    if not {"int32", "int64"} & {each.name for each in record.types}:  # masks of places
        return []
    if record.name == "CoalesceSparse":  # its indices are only moved
        return ["uniqueIndices"]
    given = {p.name for p in record.parameters}
    names = PLACES | ({"target"} if "ignoreIndex" in given else set())
    names = names - ({"indices"} if "numOutTokens" in given else set())  # experts: no upper bound
    return [p.name for p in record.plain("in", "in[]") if p.name in names]


@pytest.mark.parametrize("record", list(filter(places, RECORDS)), ids=lambda record: record.name)
def test_places_out_of_range_fail_the_task(device, record):
    """Before anything is written."""
    (name,) = places(record)

    def views(prepared):
        given = prepared.problem.inputs[name]
        return [each for each in (given if isinstance(given, list) else [given]) if each.array.size]

    prepared = taken(record, views)
    for place in (FAR,) if record.name in SKIP_NEGATIVE else (FAR, -FAR):
        views(prepared)[-1].array[(-1,) * views(prepared)[-1].array.ndim] = place
        with open_call(device, record, prepared) as call:
            with pytest.raises(AclError) as raised:
                call.run()
            assert raised.value.code == DATA
            after = call.storages()
        for output, view in prepared.problem.outputs.items():
            if view is not None:  # null has no memory
                assert after[output].tobytes() == view.storage.tobytes(), f"{output} is written"


def broken(record) -> tuple[str, int] | None:
    """A parameter and a value that no element of it may have."""
    names = {each.name for each in record.plain("in")}
    if "repeats" in names:
        return "repeats", -1
    return ("self", -1) if "numsamples" in {p.name for p in record.parameters} else None


@pytest.mark.parametrize("record", list(filter(broken, RECORDS)), ids=lambda record: record.name)
def test_values_that_mean_nothing_fail_the_task(device, record):
    name, value = broken(record)
    prepared = taken(record)
    prepared.problem.inputs[name].array[...] = value
    with open_call(device, record, prepared) as call, pytest.raises(AclError) as raised:
        call.run()
    assert raised.value.code == DATA


def test_a_mask_that_asks_for_more_than_there_is(device):
    record = next(each for each in RECORDS if each.name == "InplaceMaskedScatter")
    prepared = taken(record)
    inputs = prepared.problem.inputs
    inputs["mask"].array[...] = True
    inputs["source"] = View(inputs["source"].storage, inputs["source"].array[:0])
    with open_call(device, record, prepared) as call, pytest.raises(AclError) as raised:
        call.run()
    assert raised.value.code == DATA
