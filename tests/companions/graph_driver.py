# SPDX-License-Identifier: Apache-2.0
"""Calls operators by their graph names, through ctypes."""

import ctypes
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TYPES = {"float32": 0, "float16": 1, "int8": 2, "int32": 3, "uint8": 4, "int64": 9, "float64": 11,
         "bool": 12}  # fmt: skip
ND = 2


def load():
    home = Path(os.environ.get("OPENACLNN_HOME", ROOT / "build/install")) / "lib64"
    runtime = ctypes.CDLL(str(home / "libascendcl.so"), mode=ctypes.RTLD_GLOBAL)
    compiler = ctypes.CDLL(str(home / "libacl_op_compiler.so"))
    for name in ("aclCreateTensorDesc", "aclCreateDataBuffer", "aclopCreateAttr"):
        getattr(runtime, name).restype = ctypes.c_void_p
    runtime.aclGetRecentErrMsg.restype = ctypes.c_char_p
    return runtime, compiler


def _pointers(values):
    return (ctypes.c_void_p * max(len(values), 1))(*values)


class Host:
    """An input whose values the host knows, in its memory."""

    def __init__(self, values, dtype=np.int64):
        self.array = np.array(values, dtype)


@dataclass
class Called:
    code: int
    message: str
    inputs: list
    outputs: list
    held: list = field(default_factory=list, repr=False)


class Device:
    def __init__(self):
        self.runtime, self.compiler = load()
        self.ok(self.runtime.aclInit(None))
        self.ok(self.runtime.aclrtSetDevice(0))

    def ok(self, code):
        if code:
            raise RuntimeError(f"{code}: {self.message()}")

    def message(self):
        return (self.runtime.aclGetRecentErrMsg() or b"").decode()

    def _memory(self, array, held):
        address = ctypes.c_void_p()
        self.ok(self.runtime.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(max(array.nbytes, 1)), 0))
        held.append(address)
        if array.nbytes:
            self.ok(self.runtime.aclrtMemcpy(
                address, ctypes.c_size_t(array.nbytes), array.ctypes.data_as(ctypes.c_void_p),
                ctypes.c_size_t(array.nbytes), 1))  # fmt: skip
        return address

    def _operand(self, array, address):
        if array is None:
            desc = self.runtime.aclCreateTensorDesc(-1, 0, None, ND)
            return desc, self.runtime.aclCreateDataBuffer(None, ctypes.c_size_t(0))
        dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        desc = self.runtime.aclCreateTensorDesc(TYPES[str(array.dtype)], array.ndim, dims, ND)
        return desc, self.runtime.aclCreateDataBuffer(address, ctypes.c_size_t(array.nbytes))

    def _set(self, attr, name, value):
        name = name.encode()
        if isinstance(value, bool):
            self.ok(self.runtime.aclopSetAttrBool(attr, name, ctypes.c_uint8(value)))
        elif isinstance(value, float):
            self.ok(self.runtime.aclopSetAttrFloat(attr, name, ctypes.c_float(value)))
        elif isinstance(value, str):
            self.ok(self.runtime.aclopSetAttrString(attr, name, value.encode()))
        elif isinstance(value, int):
            self.ok(self.runtime.aclopSetAttrInt(attr, name, ctypes.c_int64(value)))
        elif value and isinstance(value[0], float):
            values = (ctypes.c_float * len(value))(*value)
            self.ok(self.runtime.aclopSetAttrListFloat(attr, name, len(value), values))
        else:
            values = (ctypes.c_int64 * max(len(value), 1))(*value)
            self.ok(self.runtime.aclopSetAttrListInt(attr, name, len(value), values))

    def _read(self, array, address, code):
        """The elements afterwards; those of before if the call was refused."""
        if array is None or code:
            return array
        made = np.empty_like(array)
        if array.nbytes:
            self.ok(self.runtime.aclrtMemcpy(
                made.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes), address,
                ctypes.c_size_t(array.nbytes), 2))  # fmt: skip
        return made

    def call(self, name, inputs, outputs, attributes, same=()):
        """inputs are arrays, Hosts or None; outputs arrays of a shape and a type, and of same[i] the
        place of the input whose memory output i has."""
        held, arrays, places, descs, buffers = [], [], [], [], []
        for each in inputs:
            array = each.array if isinstance(each, Host) else each
            array = None if array is None else np.asarray(array, order="C")
            if isinstance(each, Host):
                address = array.ctypes.data_as(ctypes.c_void_p)
            else:
                address = None if array is None else self._memory(array, held)
            arrays.append(array)
            places.append(address)
            desc, buffer = self._operand(array, address)
            descs.append(desc)
            buffers.append(buffer)
        out_descs, out_buffers, out_places = [], [], []
        for i, each in enumerate(outputs):
            shared = dict(same).get(i)
            address = self._memory(each, held) if shared is None else places[shared]
            out_places.append(address)
            desc, buffer = self._operand(each, address)
            out_descs.append(desc)
            out_buffers.append(buffer)
        attr = ctypes.c_void_p(self.runtime.aclopCreateAttr())
        for key, value in attributes.items():
            self._set(attr, key, value)

        code = self.compiler.aclopCompileAndExecute(
            name.encode(), len(descs), _pointers(descs), _pointers(buffers), len(out_descs),
            _pointers(out_descs), _pointers(out_buffers), attr, 0, 0, None, None)  # fmt: skip
        message = self.message() if code else ""
        if code == 0:
            self.ok(self.runtime.aclrtSynchronizeStream(None))

        given = [
            array if isinstance(each, Host) else self._read(array, place, code)
            for each, array, place in zip(inputs, arrays, places, strict=True)
        ]
        made = [self._read(each, place, code) for each, place in zip(outputs, out_places, strict=True)]
        for desc in (*descs, *out_descs):
            self.runtime.aclDestroyTensorDesc(ctypes.c_void_p(desc))
        for buffer in (*buffers, *out_buffers):
            self.runtime.aclDestroyDataBuffer(ctypes.c_void_p(buffer))
        self.runtime.aclopDestroyAttr(attr)
        for each in held:
            self.ok(self.runtime.aclrtFree(each))
        return Called(code, re.sub(r"\s+", " ", message), given, made)
