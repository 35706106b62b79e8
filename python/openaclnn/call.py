# SPDX-License-Identifier: Apache-2.0
"""One call of an operator: phase 1, workspace, phase 2, synchronise."""

import ctypes
from contextlib import ExitStack

import numpy as np

from .meta import Tensor
from .operators.operator import Attribute, Function, Output, Problem
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
        size = ctypes.c_uint64()
        executor = ctypes.c_void_p()
        self._kit.call(
            f"{self._api}GetWorkspaceSize",
            *self._arguments,
            ctypes.byref(size),
            ctypes.byref(executor),
        )
        workspace = self._reserve(size.value)
        self._kit.call(self._api, workspace, size, executor, self._stream.handle)
        self._stream.synchronize()

    def outputs(self) -> dict[str, np.ndarray]:
        return {name: array.download() for name, array in self._outputs.items()}

    def fill_outputs(self, byte: int) -> None:
        """Sets every byte of the outputs."""
        for array in self._outputs.values():
            array.fill_bytes(byte)

    def _argument(self, parameter, problem: Problem):
        if isinstance(parameter, Attribute):
            return parameter.ctype(problem.attributes[parameter.name])
        if isinstance(parameter, Output):
            array = self._own(DeviceArray(self._runtime, *problem.outputs[parameter.name]))
            self._outputs[parameter.name] = array
        else:
            array = self._own(DeviceArray.upload(self._runtime, problem.inputs[parameter.name]))
        return self._own(Tensor(self._kit, array)).handle

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
