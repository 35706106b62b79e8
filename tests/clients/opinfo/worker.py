# SPDX-License-Identifier: Apache-2.0
"""Runs what PyTorch's database says of an operator or a module, on the NPU and on the CPU.

A line of standard input names one of the database; a line of JSON answers: for each way of
calling it the worst that a type or a sample gave, and why. `opinfo.py` starts this, and starts it
again where an operator ended it.
"""

import json
import os
import re
import sys
import time
from unittest import mock

import torch
import torch_npu  # noqa: F401
from modules import MODULES, Module, Sample
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map

DTYPES = (torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.bool)
WAYS = ("forward", "noncontiguous", "inplace", "backward", "errors")
MODULE_WAYS = ("module", "module backward")
HALVES = (torch.float16, torch.bfloat16)
# From the best on; the worst of an operator's samples is its result.
RESULTS = ("native", "random", "accepts", "fallback", "unsupported", "refused", "missing", "wrong")
# Seconds for one way of calling an operator with one type: some have a thousand samples.
LIMIT_S = 5.0
# What their memory holds is nobody's.
EMPTY = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")
# Operands that are no longer contiguous have other memory around them, which these show.
MEMORY = ("as_strided", "as_strided_copy")
# PyTorch's own kernel for integers divides by zero.
NO_INPLACE = ("mvlgamma",)
# With what PyTorch documents as mistakes torch-npu ends the process before it calls the libraries: it
# reads an output size that is not there.
NO_ERRORS = ("nn.functional.adaptive_max_pool3d",)
# These name elements, of which some are equal.
TIES = ("argsort", "kthvalue", "median", "mode", "msort", "nanmedian", "sort", "topk")
# Of the largest element and one: what is near zero is what cancelled. 16-bit results are compared
# with those of FLOAT operands.
TOLERANCE = {
    torch.float16: 1e-2, torch.bfloat16: 6e-2, torch.float32: 2e-4, torch.complex64: 2e-4,
    torch.float64: 1e-6,
}  # fmt: skip

# Of torch-npu, which then tries an operator of the older interface; of that interface.
MISSING = re.compile(r"(acl\w+) or \w+ not in lib|opType value is '(\w+)'")
REFUSED = re.compile(r"^E[A-Z0-9]{5}: (.*)", re.MULTILINE)
CODE = re.compile(r"error code is (\d+)")


class Wrong(Exception):
    """A result that is not the CPU's."""


class Calls(TorchDispatchMode):
    """Sees which operators have no kernel for the NPU: torch-npu computes those on the CPU."""

    KEYS = ("PrivateUse1", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional",
            "CompositeImplicitAutograd")  # fmt: skip

    def __init__(self):
        super().__init__()
        self.fallen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
        on_npu = any(each.device.type == "npu" for each in tensors((args, kwargs)))
        if on_npu and not any(has_kernel(function.name(), key) for key in self.KEYS):
            self.fallen.append(function.name())
        return function(*args, **(kwargs or {}))


def copied(sample, device, widened=False):
    """The arguments of a sample on a device, laid out as they are; 16 bits widened to FLOAT."""

    def copy(value):
        if isinstance(value, torch.device):
            return torch.device(device)
        if isinstance(value, torch.dtype):
            return torch.float32 if widened and value in HALVES else value
        if not isinstance(value, torch.Tensor):
            return value
        dtype = torch.float32 if widened and value.dtype in HALVES else value.dtype
        if 0 in value.stride():  # elements in one place
            made = value.detach().clone().to(device, dtype)
        else:
            made = torch.empty_strided(value.shape, value.stride(), dtype=dtype, device=device)
            made.copy_(value.detach())
        return made.requires_grad_(value.requires_grad)

    return tree_map(copy, (sample.input, tuple(sample.args), dict(sample.kwargs)))


def call(function, arguments):
    first, args, kwargs = arguments
    return function(first, *args, **kwargs)


def tensors(values):
    return [each for each in tree_flatten(values)[0] if isinstance(each, torch.Tensor)]


def without_places(results, in_order):
    """Which of equal elements is named, and gets the gradient, is theirs to choose."""
    left = [each for each in results if each.dtype != torch.int64]
    return left if in_order else [each.flatten().sort().values for each in left]


def compare(found, expected, dtype, what, name):
    found, expected = tensors(found), tensors(expected)
    if name in TIES:
        in_order = what == "result"
        found, expected = without_places(found, in_order), without_places(expected, in_order)
    if len(found) != len(expected):
        raise Wrong(f"{what}: {len(found)} tensors, expected {len(expected)}")
    for ours, theirs in zip(found, expected, strict=True):
        ours = ours.detach().cpu()
        theirs = theirs.detach().to(ours.dtype)  # beyond its largest number is infinite
        if ours.shape != theirs.shape:
            raise Wrong(f"{what}: shape {tuple(ours.shape)}, expected {tuple(theirs.shape)}")
        if name in EMPTY:
            continue
        tolerance = max(TOLERANCE.get(dtype, 0), TOLERANCE.get(ours.dtype, 0))
        kind = torch.complex128 if theirs.is_complex() else torch.float64
        ours, theirs = ours.to(kind), theirs.to(kind)
        finite = theirs[torch.isfinite(theirs)].abs()
        largest = finite.max().item() if finite.numel() else 0.0
        near = torch.isclose(
            ours, theirs, rtol=tolerance, atol=tolerance * (largest + 1), equal_nan=True
        )
        if not near.all():
            at = int((~near).flatten().nonzero()[0])
            a, b = ours.flatten()[at].item(), theirs.flatten()[at].item()
            raise Wrong(f"{what}: element {at} is {a:.9g}, expected {b:.9g}")


def is_random(function, sample):
    """Whether the CPU itself gives other results with other seeds; the database sets its own."""
    runs = []
    for seed in range(8):
        torch.manual_seed(seed)
        with mock.patch.object(torch, "manual_seed"):
            runs.append(tensors(function(copied(sample, "cpu"))))
    return any(
        a.shape != b.shape or not torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
        for run in runs[1:]
        for a, b in zip(runs[0], run, strict=True)
    )


def said_by(error):
    """The result that an exception stands for, and the words of it that tell why."""
    text = str(error)
    if isinstance(error, Wrong):
        return "wrong", text
    if found := MISSING.search(text):
        return "missing", found[1] or found[2]
    if found := REFUSED.search(text) or CODE.search(text):
        return "refused", found[1]
    words = next((line for line in text.splitlines() if line.strip()), "")
    return "unsupported", f"{type(error).__name__}: {words}"


def gradients(function, arguments, dtype):
    """Of the sum of squares of what the function gives, by the leaves that want one."""
    results = [each for each in tensors(call(function, arguments)) if each.requires_grad]
    loss = sum((each.abs().to(torch.float32 if dtype.itemsize < 4 else each.abs().dtype) ** 2).sum()
               for each in results)  # fmt: skip
    leaves = [each for each in tensors(arguments) if each.requires_grad]
    return torch.autograd.grad(loss, leaves, allow_unused=True) if results and leaves else ()


def samples_of(op, way, dtype):
    """Each with the function that takes it."""
    if isinstance(op, Module):
        yield from op.samples(dtype, way == "module backward")
        return
    backward, name = way == "backward", op.name
    if backward and not (dtype.is_floating_point and op.supports_autograd):
        return
    if way == "noncontiguous" and name in MEMORY or way == "inplace" and name in NO_INPLACE:
        return
    function = op.get_inplace() if way == "inplace" else op.op
    for sample in op.sample_inputs("cpu", dtype, requires_grad=backward) if function else ():
        if way != "inplace" or not sample.broadcasts_input:
            yield sample.noncontiguous() if way == "noncontiguous" else sample, function


def run_sample(op, sample, function, backward, dtype):
    """The result of one sample and why; nothing where the CPU refuses it as well."""

    def run(arguments):
        if backward:
            return gradients(function, arguments, dtype)
        # Of factors whose signs are anybody's the database compares what is not.
        return sample.output_process_fn_grad(call(function, arguments))

    what = "gradient" if backward else "result"
    try:
        expected = run(copied(sample, "cpu", widened=True))
    except Exception:
        return None
    calls = Calls()
    try:
        arguments = copied(sample, "npu")
        with calls:
            ours = run(arguments)
        torch.npu.synchronize()
    except Exception as error:
        return said_by(error)
    try:
        compare(ours, expected, dtype, what, op.name)
    except Wrong as error:
        if is_random(run, sample):
            return "random", ""
        if not (dtype in HALVES and is_as_far(run, sample, ours, expected, dtype, what, op.name)):
            return "wrong", str(error)
    return ("fallback", " ".join(calls.fallen)) if calls.fallen else ("native", "")


def errors_of(op):
    """Whether each call that PyTorch documents as a mistake raises: the worst, why, and how many."""
    if op.name in NO_ERRORS:
        return {"result": "unsupported", "why": "torch-npu ends the process", "samples": 0}
    accepted, count = "", 0
    for each in op.error_inputs("cpu") if op.error_inputs_func else ():
        try:
            call(op.op, copied(each.sample_input, "cpu"))
        except Exception:
            count += 1
        else:
            continue  # the CPU's own kernel does not mind
        try:
            call(op.op, copied(each.sample_input, "npu"))
            torch.npu.synchronize()
            accepted = accepted or f"no exception, expected {each.error_type}: {each.error_regex}"
        except Exception:
            torch.npu.synchronize()
    result = ("accepts" if accepted else "native") if count else None
    return {"result": result, "why": accepted[:300], "samples": count}


def is_as_far(run, sample, ours, expected, *how):
    """Whether the CPU's own 16 bits are too far from what it computes in FLOAT; or, of a module, whose
    roundings add up and change the signs that a ReLU sees, at least half as far as the NPU's."""
    theirs = run(copied(sample, "cpu"))
    try:
        compare(theirs, expected, *how)
    except Wrong:
        return True

    def largest_error(results):
        pairs = zip(tensors(results), tensors(expected), strict=False)
        return max((a.detach().cpu().float() - b.float()).abs().max().item() for a, b in pairs)

    return isinstance(sample, Sample) and largest_error(ours) <= 2 * largest_error(theirs)


def worst(op, way):
    """The worst result of one way over all types, with the type and the words."""
    if way == "errors":
        return errors_of(op)
    result, why, samples = None, "", 0
    for dtype in DTYPES:
        if dtype not in op.dtypes:
            continue
        end = time.monotonic() + LIMIT_S
        try:
            for sample, function in samples_of(op, way, dtype):
                torch.manual_seed(1)
                got = run_sample(op, sample, function, way.endswith("backward"), dtype)
                if got is not None:
                    samples += 1
                    if result is None or RESULTS.index(got[0]) > RESULTS.index(result):
                        result, why = got[0], f"{str(dtype).removeprefix('torch.')}: {got[1]}"
                if time.monotonic() > end:
                    break
        except Exception as error:  # of the database's own samples
            why = why or f"no samples of {dtype}: {error}"
    return {"result": result, "why": why[:300] if result != "native" else "", "samples": samples}


def main():
    torch.set_num_threads(1)
    torch.npu.conv.allow_hf32 = torch.npu.matmul.allow_hf32 = False
    by_name = {op.full_name: op for op in [*op_db, *MODULES]}
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what libraries print is no answer
    if sys.argv[1:] == ["--list"]:
        print(json.dumps(list(by_name)), file=answers)
        return
    for line in sys.stdin:
        op = by_name[line.strip()]
        ways = {way: worst(op, way) for way in (MODULE_WAYS if isinstance(op, Module) else WAYS)}
        print(json.dumps({"name": op.full_name, "ways": ways}), file=answers)


if __name__ == "__main__":
    main()
