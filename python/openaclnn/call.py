# SPDX-License-Identifier: Apache-2.0
"""One call of an operator: phase 1, workspace, phase 2, synchronise."""

import ctypes
from contextlib import ExitStack

import numpy as np

from . import meta
from .operators.operator import (
    Attribute,
    Function,
    Input,
    IntArray,
    Output,
    Parameter,
    Problem,
    String,
)
from .runtime import DeviceArray, Runtime, Stream


class Call:
    """A function with its arguments on the device; may run any number of times."""

    def __init__(self, runtime: Runtime, function: Function, problem: Problem):
        self._runtime = runtime
        self._kit = runtime.kit
        self._api = function.api
        self._outputs: dict[str, DeviceArray] = {}
        self._workspace: DeviceArray | None = None
        self._owned = ExitStack()
        try:
            self._stream = self._own(Stream(runtime))
            self._arguments = [self._argument(each, problem) for each in function.parameters]
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

    def check(self) -> None:
        """Phase 1 alone: raises what the operator refuses before it has looked at values."""
        _, executor = self._plan()
        self._kit.call("aclDestroyAclOpExecutor", executor)

    def outputs(self) -> dict[str, np.ndarray]:
        return {name: array.download() for name, array in self._outputs.items()}

    def fill_outputs(self, byte: int) -> None:
        """Sets every byte of the outputs."""
        for array in self._outputs.values():
            array.fill_bytes(byte)

    def _plan(self) -> tuple[ctypes.c_uint64, ctypes.c_void_p]:
        """The size of the workspace and the executor."""
        size, executor = ctypes.c_uint64(), ctypes.c_void_p()
        phase_1 = f"{self._api}GetWorkspaceSize"
        self._kit.call(phase_1, *self._arguments, ctypes.byref(size), ctypes.byref(executor))
        return size, executor

    def _argument(self, parameter: Parameter, problem: Problem):
        match parameter:
            case Input(name):
                return self._input(problem.inputs.get(name))
            case Output(name):
                array = self._own(DeviceArray(self._runtime, *problem.outputs[name]))
                self._outputs[name] = array
                return self._own(meta.Tensor(self._kit, array)).handle
            case IntArray(name):
                values = problem.attributes[name]
                if values is None:
                    return ctypes.c_void_p()
                return self._own(meta.IntArray(self._kit, values)).handle
            case String(name):
                text = problem.attributes[name]
                return ctypes.c_char_p(None if text is None else text.encode())
            case Attribute(name, ctype):
                return ctype(problem.attributes[name])

    def _input(self, array: np.ndarray | None):
        if array is None:
            return ctypes.c_void_p()
        device = self._own(DeviceArray.upload(self._runtime, array))
        return self._own(meta.Tensor(self._kit, device)).handle

    def _own(self, resource):
        self._owned.callback(resource.close)
        return resource

    def _reserve(self, size: int) -> ctypes.c_void_p:
        if size and (self._workspace is None or self._workspace.nbytes < size):
            if self._workspace:
                self._workspace.close()
            self._workspace = DeviceArray(self._runtime, (size,), np.uint8)
        return self._workspace.address if size else ctypes.c_void_p()


def run(runtime: Runtime, function: Function, problem: Problem) -> dict[str, np.ndarray]:
    """Runs an operator once and returns its outputs."""
    with Call(runtime, function, problem) as call:
        call.run()
        return call.outputs()


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
