# SPDX-License-Identifier: Apache-2.0
"""Runs a captured call again and compares what came of it, here and there."""

import ctypes
import os
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from .. import accuracy
from ..native import libraries, meta, runtime
from ..accuracy import Accuracy
from ..dtypes import FLOAT_FORMATS
from ..errors import Error, InputError
from ..operators import OPERATORS
from ..operators.operator import Attribute, Input, IntArray, Output, Problem, Reference, String
from ..native.runtime import DeviceArray, Runtime, Stream
from .capture import SCALAR_BYTES, STEPS, Argument, Capture, Contents, Outcome, Scalar, Tensor
from .signature import check

_DOUBLE_THRESHOLD = 2.0**-40  # relative to what was captured
_C_TYPES = {
    "bool": ctypes.c_bool,
    "int8": ctypes.c_int8,
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "uint64": ctypes.c_uint64,
    "float": ctypes.c_float,
    "double": ctypes.c_double,
}
_ARRAYS = {  # the values' C type, and the name of the object
    "int_array": (ctypes.c_int64, "IntArray"),
    "float_array": (ctypes.c_float, "FloatArray"),
    "bool_array": (ctypes.c_bool, "BoolArray"),
    "scalar_list": (ctypes.c_void_p, "ScalarList"),
    "tensor_list": (ctypes.c_void_p, "TensorList"),
}


@dataclass(frozen=True)
class Step:
    """A step of the call and what it returned, there and here; None: not reached."""

    name: str
    captured: Outcome | None
    here: Outcome | None

    @property
    def same(self) -> bool:
        return (self.captured and self.captured.code) == (self.here and self.here.code)


@dataclass(frozen=True)
class Comparison:
    """An output: here against there, and both against the reference if the operator has one."""

    name: str
    elements: int
    different: int  # elements whose bits differ
    largest_difference: float | None  # between numbers; None: not of numbers
    reference: Accuracy | None  # here against the reference
    captured_reference: Accuracy | None
    captured: Accuracy | None  # here against there, where there is no reference
    close: bool | None = None  # doubles here and there, which no standard judges
    compared: bool = True  # False: what the call left there could not be read

    @property
    def ok(self) -> bool:
        """Both within the bound of the reference; without one, close by the vendor's standard."""
        if not self.compared:
            return False
        if self.reference and self.captured_reference:
            return self.reference.ok and self.captured_reference.ok
        if self.captured:
            return self.different == 0 or self.captured.vendor.met
        return self.different == 0 or bool(self.close)


@dataclass(frozen=True)
class Result:
    """The result of running a captured call again."""

    capture: Capture
    product: str  # that it ran on
    steps: tuple[Step, ...]
    outputs: tuple[Comparison, ...]

    @property
    def ok(self) -> bool:
        return all(step.same for step in self.steps) and all(each.ok for each in self.outputs)


def select_product(captures: list[Capture]) -> None:
    """Acts as the product that the calls were captured on, unless OPENACLNN_SOC names another."""
    if os.environ.get("OPENACLNN_SOC"):
        return
    products = sorted({capture.product for capture in captures if capture.product})
    if len(products) > 1:
        raise InputError(
            f"the calls are of {', '.join(products)}: replay one product's calls at a time, "
            "or name the product with --soc"
        )
    if products:
        os.environ["OPENACLNN_SOC"] = products[0]


def replay(capture: Capture) -> Result:
    """Runs the call on this process's product."""
    check(capture, libraries.find() / "include")
    contents = capture.load()
    started = runtime.start()
    try:
        with _Run(started, capture, contents) as run:
            here = run.run()
            left = run.memory()
        steps = tuple(Step(name, capture.steps[name], here.get(name)) for name in STEPS)
        finished = all(step.here and step.here.code == 0 and step.same for step in steps)
        outputs = tuple(_compare(started, capture, contents, left)) if finished else ()
    except Error as error:
        error.args = (f"{capture.folder}: {error}",)
        raise
    product = started.kit.function("aclrtGetSocName", ctypes.c_char_p)() or b""
    return Result(capture, product.decode(), steps, outputs)


class _Run:
    """The call's memory and objects on this device."""

    def __init__(self, started: Runtime, capture: Capture, contents: list[Contents]):
        self._runtime, self._kit, self._capture = started, started.kit, capture
        self._contents = contents
        self._owned = ExitStack()
        self._memory: list[DeviceArray] = []

    def __enter__(self) -> "_Run":
        try:
            self._runtime.use_device()
            for number in range(len(self._contents)):
                array = self._upload(number)
                self._owned.callback(array.close)
                self._memory.append(array)
            self._arguments = [self._argument(each) for each in self._capture.arguments]
        except BaseException:
            self._owned.close()
            raise
        return self

    def __exit__(self, *_) -> None:
        self._owned.close()

    def run(self) -> dict[str, Outcome]:
        """Each step that was reached."""
        api, size, executor = self._capture.api, ctypes.c_uint64(), ctypes.c_void_p()
        outputs = (ctypes.byref(size), ctypes.byref(executor))
        found = {"phase_1": self._step(f"{api}GetWorkspaceSize", *self._arguments, *outputs)}
        if found["phase_1"].code != 0:
            return found
        stream = Stream(self._runtime)
        self._owned.callback(stream.close)
        workspace = DeviceArray(self._runtime, (size.value,), np.uint8)
        self._owned.callback(workspace.close)
        found["phase_2"] = self._step(api, workspace.address, size, executor, stream.handle)
        if found["phase_2"].code == 0:
            found["synchronize"] = self._step("aclrtSynchronizeStream", stream.handle)
        return found

    def _upload(self, number: int) -> DeviceArray:
        """A piece of memory; zeros, or none if phase 1 refused the call, where it was not read."""
        before = self._contents[number].before
        if before is not None:
            return DeviceArray.upload(self._runtime, np.frombuffer(before, np.uint8))
        phase_1 = self._capture.steps["phase_1"]
        size = 0 if phase_1 and phase_1.code else self._capture.memory[number].size
        array = DeviceArray(self._runtime, (size,), np.uint8)
        array.fill_bytes(0)
        return array

    def memory(self) -> list[bytes]:
        return [array.download().tobytes() for array in self._memory]

    def _step(self, name: str, *arguments) -> Outcome:
        code = self._kit.function(name)(*arguments)
        return Outcome(code, self._kit.recent_message() if code else "")

    def _argument(self, argument: Argument):
        kind, value = argument.kind, argument.value
        if kind == "string":
            return ctypes.c_char_p(None if value is None else value.encode())
        if kind in _C_TYPES:
            return _C_TYPES[kind](value)
        if value is None:
            return ctypes.c_void_p()
        match kind:
            case "tensor":
                return self._own("Tensor", self._tensor(value))
            case "scalar":
                return self._own("Scalar", self._scalar(value))
            case "tensor_list":
                value = [each and self._tensor(each).value for each in value]
            case "scalar_list":
                value = [each and self._scalar(each).value for each in value]
            case _ if kind not in _ARRAYS:
                raise Error(f"{argument.name} kind is {kind}, which this version does not know")
        ctype, name = _ARRAYS[kind]
        create = self._kit.function(f"aclCreate{name}", ctypes.c_void_p)
        values = (ctype * len(value))(*value)
        return self._own(name, ctypes.c_void_p(create(values, ctypes.c_uint64(len(value)))))

    def _tensor(self, tensor: Tensor) -> ctypes.c_void_p:
        address = None if tensor.memory is None else self._memory[tensor.memory].address.value
        return meta.create_tensor(
            self._kit,
            shape=tensor.shape,
            strides=tensor.strides,
            offset=tensor.offset,
            storage_shape=tensor.storage_shape,
            dtype=tensor.dtype,
            address=address and address + tensor.byte,
            format=tensor.format,
        )

    def _scalar(self, scalar: Scalar) -> ctypes.c_void_p:
        create = self._kit.function("aclCreateScalar", ctypes.c_void_p)
        contents = ctypes.create_string_buffer(scalar.contents, SCALAR_BYTES)
        return ctypes.c_void_p(create(contents, ctypes.c_int(scalar.dtype)))

    def _own(self, name: str, handle: ctypes.c_void_p) -> ctypes.c_void_p:
        if not handle:
            raise Error(self._kit.recent_message() or f"aclCreate{name} returned null")
        self._owned.callback(self._kit.function(f"aclDestroy{name}"), handle)
        return handle


def _compare(started: Runtime, capture: Capture, contents: list[Contents], left: list[bytes]):
    references = _references(started.kit, capture, contents)
    for argument in capture.arguments:
        if not argument.output:
            continue
        for number, tensor in enumerate(argument.tensors):
            name = f"{argument.name}[{number}]" if argument.kind == "tensor_list" else argument.name
            there = _after(tensor, contents)
            if there is None:
                yield Comparison(name, tensor.elements, 0, None, None, None, None, compared=False)
                continue
            here = b"" if tensor.memory is None else left[tensor.memory]
            arrays = (np.array(tensor.view(each)) for each in (here, there))
            yield _compare_output(name, *arrays, references.get(argument.name))


def _before(tensor: Tensor, contents: list[Contents]) -> bytes | None:
    """The bytes of its memory; none: it could not be read."""
    if tensor.memory is None:
        return b"" if tensor.elements == 0 else None
    return contents[tensor.memory].before


def _after(tensor: Tensor, contents: list[Contents]) -> bytes | None:
    return _before(tensor, contents) if tensor.memory is None else contents[tensor.memory].after


def _compare_output(name, here, there, reference: Reference | None) -> Comparison:
    different = _bits(here) != _bits(there)
    largest = None
    if not _raw(here):
        with np.errstate(invalid="ignore", over="ignore"):
            wide = np.complex128 if here.dtype.kind == "c" else np.float64
            distances = np.abs(here.astype(wide) - there.astype(wide))
        distances = np.where(different.reshape(distances.shape), distances, 0.0)
        largest = float(distances.max(initial=0.0))
    judged = reference if here.dtype in FLOAT_FORMATS else None
    return Comparison(
        name=name,
        elements=here.size,
        different=int(np.count_nonzero(different)),
        largest_difference=largest,
        reference=accuracy.compare(name, here, judged) if judged else None,
        captured_reference=accuracy.compare(name, there, judged) if judged else None,
        captured=None if judged else _against(name, here, there),
        close=_close(here, there) if here.dtype in (np.float64, np.complex128) else None,
    )


def _against(name: str, here: np.ndarray, there: np.ndarray) -> Accuracy | None:
    """Floats here against those there, a complex number as two; None for other types."""
    if here.dtype == np.complex64:
        here, there = (np.ascontiguousarray(each).view(np.float32) for each in (here, there))
    if here.dtype not in FLOAT_FORMATS:
        return None
    value = there.astype(np.float64)
    return accuracy.compare(name, here, Reference(value, np.abs(value), np.full((), 1)))


def _close(here: np.ndarray, there: np.ndarray) -> bool:
    """Whether doubles are the same but for roundings."""
    with np.errstate(invalid="ignore", over="ignore"):
        near = np.isfinite(there) & (np.abs(here - there) <= _DOUBLE_THRESHOLD * np.abs(there))
    return bool(np.all(near | (here == there) | (np.isnan(here) & np.isnan(there))))


def _bits(array: np.ndarray) -> np.ndarray:
    """A row of bytes as one value for each element."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.dtype(f"V{array.dtype.itemsize}"))


def _raw(array: np.ndarray) -> bool:
    """Whether NumPy has no type for the elements; its kind says V of BFLOAT16 too."""
    return array.dtype.type is np.void


def _references(
    kit: libraries.Toolkit, capture: Capture, contents: list[Contents]
) -> dict[str, Reference]:
    """The float64 results by output, for the operators that have a reference."""
    operator = next((each for each in OPERATORS if each.function.api == capture.api), None)
    if operator is None:
        return {}
    values = {argument.name: argument.value for argument in capture.arguments}
    inputs, outputs, attributes = {}, {}, {}
    for parameter in operator.function.parameters:
        value = values[parameter.name]
        match parameter:
            case Input(name):
                if value is None:
                    continue
                before = _before(value, contents)
                if before is None:
                    return {}  # of what could not be read there is none
                inputs[name] = np.array(value.view(before))
                if _raw(inputs[name]) or inputs[name].shape != value.shape:
                    return {}
            case Output(name):
                outputs[name] = (value.shape, value.numpy)
            case Attribute(name, ctypes.c_uint64):
                attributes[name] = ctypes.c_int64(value).value  # -1 is what programs mean
            case Attribute(name) | IntArray(name) | String(name):
                attributes[name] = value
    return operator.reference(kit, Problem(inputs, attributes, outputs))
