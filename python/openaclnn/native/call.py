# SPDX-License-Identifier: Apache-2.0
"""One call of an operator: phase 1, workspace, phase 2, synchronise."""

import ctypes
import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from ..operators.operator import (
    Attribute,
    BoolArray,
    Function,
    Input,
    InputList,
    IntArray,
    Output,
    OutputList,
    Parameter,
    Problem,
    Scalar,
    ScalarList,
    String,
    View,
)
from . import meta
from .runtime import DeviceArray, Runtime, Stream


class Call:
    """A function with its arguments on the device; may run any number of times."""

    def __init__(
        self,
        runtime: Runtime,
        function: Function,
        problem: Problem,
        stream: Stream | None = None,
    ):
        self._runtime = runtime
        self._kit = runtime.kit
        self._api = function.api
        self._memory: dict[int, DeviceArray] = {}  # by the storage that it holds
        self._outputs: dict[str, _Placed | list[_Placed]] = {}
        self._workspace: DeviceArray | None = None
        self._owned = ExitStack()
        try:
            self._stream = stream or self._own(Stream(runtime))
            self.arguments = [self._argument(each, problem) for each in function.parameters]
        except BaseException:
            self._owned.close()
            raise

    def __enter__(self) -> "Call":
        return self

    def __exit__(self, *_) -> None:
        if self._workspace:
            self._workspace.close()
        self._owned.close()

    def run(self) -> None:
        """Both phases, and waits for the result."""
        size, executor = self._plan()
        workspace = self._reserve(size.value)
        self._kit.call(self._api, workspace, size, executor, self._stream.handle)
        self._stream.synchronize()

    def second_phase(self) -> Callable[[], None]:
        """Phase 2 and the wait alone, of an executor that is kept for as long as the call."""
        size, executor = self._plan()
        self._kit.call("aclSetAclOpExecutorRepeatable", executor)
        self._owned.callback(self._kit.function("aclDestroyAclOpExecutor"), executor)
        workspace = self._reserve(size.value)

        def run() -> None:
            self._kit.call(self._api, workspace, size, executor, self._stream.handle)
            self._stream.synchronize()

        return run

    def workspace_bytes(self) -> int:
        """The bytes that phase 1 asks for."""
        size, executor = self._plan()
        self._kit.call("aclDestroyAclOpExecutor", executor)
        return size.value

    def check(self) -> None:
        """Phase 1 alone: raises what the operator refuses before it has looked at values."""
        _, executor = self._plan()
        self._kit.call("aclDestroyAclOpExecutor", executor)

    def outputs(self) -> dict[str, np.ndarray]:
        """The values of the outputs; for a list, those of each member."""
        return _each(self._outputs, _Placed.download)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The outputs' shapes as they are now: some operators tell how much they found."""
        return _each(self._outputs, _Placed.shape)

    def storages(self) -> dict[str, np.ndarray]:
        """All of the memory that outputs given as views lie in."""
        return _each(self._outputs, lambda placed: placed.memory.download())

    def fill_outputs(self, byte: int) -> None:
        """Sets every byte of the outputs."""
        _each(self._outputs, lambda placed: placed.memory.fill_bytes(byte))

    def _plan(self) -> tuple[ctypes.c_uint64, ctypes.c_void_p]:
        """The size of the workspace and the executor."""
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        phase_1 = f"{self._api}GetWorkspaceSize"
        self._kit.call(phase_1, *self.arguments, ctypes.byref(size), ctypes.byref(executor))
        return size, executor

    def _argument(self, parameter: Parameter, problem: Problem):
        match parameter:
            case Input(name):
                array = problem.inputs.get(name)
                if array is None:
                    return ctypes.c_void_p()
                return self._own(self._place(array).tensor).handle
            case InputList(name):
                if problem.inputs.get(name) is None:
                    return ctypes.c_void_p()
                return self._list([self._place(each) for each in problem.inputs[name]])
            case Output(name):
                given = problem.outputs.get(name)
                if given is None:
                    return ctypes.c_void_p()
                self._outputs[name] = self._place(given)
                return self._own(self._outputs[name].tensor).handle
            case OutputList(name):
                if problem.outputs.get(name) is None:
                    return ctypes.c_void_p()
                self._outputs[name] = [self._place(each) for each in problem.outputs[name]]
                return self._list(self._outputs[name])
        return self._attribute(parameter, problem.attributes[parameter.name])

    def _attribute(self, parameter: Parameter, value):
        match parameter:
            case String():
                return ctypes.c_char_p(None if value is None else encoded(value))
            case Attribute(_, ctype):
                return ctype(value)
        if value is None:
            return ctypes.c_void_p()
        match parameter:
            case IntArray():
                return self._own(meta.IntArray(self._kit, value)).handle
            case BoolArray():
                return self._own(meta.BoolArray(self._kit, value)).handle
            case Scalar():
                return self._own(meta.Scalar(self._kit, value)).handle
            case ScalarList():
                members = [meta.Scalar(self._kit, each) for each in value]
                return self._own(meta.ScalarList(self._kit, members)).handle

    def _list(self, members: list["_Placed"]):
        return self._own(meta.TensorList(self._kit, [each.tensor for each in members])).handle

    def _place(self, given: np.ndarray | View | tuple) -> "_Placed":
        """A tensor for an array, a view, or what a shape and a dtype ask for."""
        match given:
            case View():
                key = id(given.storage)
                if key not in self._memory:
                    upload = DeviceArray.upload(self._runtime, given.storage)
                    self._memory[key] = self._own(upload)
                memory = self._memory[key]
                layout = meta.Layout(given.array.shape, given.strides, given.offset)
            case np.ndarray():
                memory, layout = self._own(DeviceArray.upload(self._runtime, given)), None
            case _:
                memory, layout = self._own(DeviceArray(self._runtime, *given)), None
        view = given if isinstance(given, View) else None
        return _Placed(memory, view, meta.Tensor(self._kit, memory, layout))

    def _own(self, resource):
        self._owned.callback(resource.close)
        return resource

    def _reserve(self, size: int) -> ctypes.c_void_p:
        if size and (self._workspace is None or self._workspace.nbytes < size):
            if self._workspace:
                self._workspace.close()
            self._workspace = DeviceArray(self._runtime, (size,), np.uint8)
        return self._workspace.address if size else ctypes.c_void_p()


@dataclass(frozen=True)
class _Placed:
    """A tensor, and where it lies."""

    memory: DeviceArray
    view: View | None  # None: all of the memory
    tensor: meta.Tensor

    def shape(self) -> tuple[int, ...]:
        """As it is now; the members of a list, which owns them, have that which they began with."""
        if self.tensor.handle:
            return self.tensor.shape
        return self.memory.shape if self.view is None else self.view.array.shape

    def download(self) -> np.ndarray:
        contents = self.memory.download()
        return contents if self.view is None else self.view.of(contents)


def _each(outputs: dict[str, _Placed | list[_Placed]], of) -> dict:
    """Applies `of` to each output, or to each member of a list."""
    return {
        name: [of(each) for each in placed] if isinstance(placed, list) else of(placed)
        for name, placed in outputs.items()
    }


def encoded(text: str) -> bytes:
    """A text as C has it; bytes of a command line that are no UTF-8 as they were there."""
    if "\0" in text:
        raise ValueError(text)  # C would read what is in front of it alone
    return text.encode("utf-8", "surrogateescape")


def run(runtime: Runtime, function: Function, problem: Problem) -> dict[str, np.ndarray]:
    """Runs an operator once and returns its outputs, each as long as the operator found much."""
    with Call(runtime, function, problem) as call:
        call.run()
        shapes = call.shapes()
        return {name: _cut(array, shapes[name]) for name, array in call.outputs().items()}


def _cut(outputs, shapes):
    """Cuts outputs to their first elements; in a list, each member."""
    if isinstance(outputs, list):
        return list(map(_cut, outputs, shapes))
    if outputs.shape == tuple(shapes):
        return outputs
    return outputs.reshape(-1)[: math.prod(shapes)].reshape(shapes)


def run_over_nan(runtime: Runtime, function: Function, problem: Problem) -> dict[str, np.ndarray]:
    """Runs into outputs that are full of NaN, so that an element that is not written is seen."""
    with Call(runtime, function, problem) as call:
        call.fill_outputs(0xFF)
        call.run()
        return call.outputs()


def check(runtime: Runtime, function: Function, problem: Problem) -> None:
    """Raises what an operator says of its arguments, without running it."""
    with Call(runtime, function, problem) as call:
        call.check()
