# SPDX-License-Identifier: Apache-2.0
"""Runs a captured call again and compares what came of it, here and there."""

import ctypes
import os
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from .. import accuracy, libraries, meta, runtime
from ..accuracy import Accuracy
from ..dtypes import FLOAT_FORMATS
from ..errors import Error
from ..operators import OPERATORS
from ..operators.operator import Attribute, Input, IntArray, Output, Problem, Reference, String
from ..runtime import DeviceArray, Runtime, Stream
from .capture import STEPS, Argument, Capture, Outcome, Scalar, Tensor

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

    @property
    def ok(self) -> bool:
        """Both within the bound of the reference; without one, close by the vendor's standard."""
        if self.reference and self.captured_reference:
            return self.reference.ok and self.captured_reference.ok
        return self.different == 0 or (self.captured is not None and self.captured.vendor.met)


@dataclass(frozen=True)
class Result:
    """What running a captured call again gave."""

    capture: Capture
    steps: tuple[Step, ...]
    outputs: tuple[Comparison, ...]

    @property
    def ok(self) -> bool:
        return all(step.same for step in self.steps) and all(each.ok for each in self.outputs)


def replay(capture: Capture) -> Result:
    """Runs the call, on the product it was captured on unless OPENACLNN_SOC names another."""
    if capture.product:
        os.environ.setdefault("OPENACLNN_SOC", capture.product)
    started = runtime.start()
    with _Run(started, capture) as run:
        here = run.run()
        contents = run.memory()
    steps = tuple(Step(name, capture.steps[name], here.get(name)) for name in STEPS)
    finished = all(step.here and step.here.code == 0 and step.same for step in steps)
    outputs = _compare(started, capture, contents) if finished else ()
    return Result(capture, steps, tuple(outputs))


class _Run:
    """The call's memory and objects on this device."""

    def __init__(self, started: Runtime, capture: Capture):
        self._runtime, self._kit, self._capture = started, started.kit, capture
        self._owned = ExitStack()
        self._memory: list[DeviceArray] = []

    def __enter__(self) -> "_Run":
        try:
            self._runtime.use_device()
            for piece in self._capture.memory:
                before = piece.before if piece.before is not None else bytes(piece.size)
                array = DeviceArray.upload(self._runtime, np.frombuffer(before, np.uint8))
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
        address = None
        if tensor.memory is not None:
            address = self._memory[tensor.memory].address.value + tensor.byte
        return meta.create_tensor(
            self._kit,
            shape=tensor.shape,
            strides=tensor.strides,
            offset=tensor.offset,
            storage_shape=tensor.storage_shape,
            dtype=tensor.dtype,
            address=address,
            format=tensor.format,
        )

    def _scalar(self, scalar: Scalar) -> ctypes.c_void_p:
        create = self._kit.function("aclCreateScalar", ctypes.c_void_p)
        contents = ctypes.create_string_buffer(scalar.contents, len(scalar.contents))
        return ctypes.c_void_p(create(contents, ctypes.c_int(scalar.dtype)))

    def _own(self, name: str, handle: ctypes.c_void_p) -> ctypes.c_void_p:
        if not handle:
            raise Error(self._kit.recent_message() or f"aclCreate{name} returned null")
        self._owned.callback(self._kit.function(f"aclDestroy{name}"), handle)
        return handle


def _compare(started: Runtime, capture: Capture, contents: list[bytes]):
    references = _references(started.kit, capture)
    for argument in capture.arguments:
        if not argument.output:
            continue
        for number, tensor in enumerate(argument.tensors):
            there = capture.output_bytes(tensor)
            if there is None:
                continue  # it could not be read
            name = f"{argument.name}[{number}]" if argument.kind == "tensor_list" else argument.name
            here = b"" if tensor.memory is None else contents[tensor.memory]
            arrays = (np.array(tensor.view(each)) for each in (here, there))
            yield _compare_output(name, *arrays, references.get(argument.name))


def _compare_output(name, here, there, reference: Reference | None) -> Comparison:
    different = _bits(here) != _bits(there)
    numbers = here.dtype.kind != "V"
    largest = None
    if numbers:
        with np.errstate(invalid="ignore", over="ignore"):
            wide = np.complex128 if here.dtype.kind == "c" else np.float64
            distances = np.abs(here.astype(wide) - there.astype(wide))
        distances = np.where(different.reshape(distances.shape), distances, 0.0)
        largest = float(distances.max(initial=0.0))
    judged = here.dtype in FLOAT_FORMATS
    against_there = None
    if judged and reference is None:
        value = there.astype(np.float64)
        against_there = accuracy.compare(
            name, here, Reference(value, np.abs(value), np.full((), 1))
        )
    return Comparison(
        name=name,
        elements=here.size,
        different=int(np.count_nonzero(different)),
        largest_difference=largest,
        reference=accuracy.compare(name, here, reference) if judged and reference else None,
        captured_reference=accuracy.compare(name, there, reference)
        if judged and reference
        else None,
        captured=against_there,
    )


def _bits(array: np.ndarray) -> np.ndarray:
    """A row of bytes as one value for each element."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.dtype(f"V{array.dtype.itemsize}"))


def _references(kit: libraries.Toolkit, capture: Capture) -> dict[str, Reference]:
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
                if value is not None:
                    inputs[name] = np.array(value.view(capture.input_bytes(value)))
            case Output(name):
                outputs[name] = (value.shape, value.view(capture.output_bytes(value)).dtype)
            case Attribute(name, ctypes.c_uint64):
                attributes[name] = ctypes.c_int64(value).value  # -1 is what programs mean
            case Attribute(name) | IntArray(name) | String(name):
                attributes[name] = value
    if any(array.dtype.kind == "V" for array in inputs.values()):
        return {}
    return operator.reference(kit, Problem(inputs, attributes, outputs))
