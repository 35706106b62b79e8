# SPDX-License-Identifier: Apache-2.0
"""Watches what OPENACLNN_CHECK=full asks of operands, and whether their contents matter.

`python uses.py TOPIC` makes, in cases of each record, one operand after the other as new memory is,
by a copy within the device, and prints what is wrong, a line each:

- the contents matter, and nothing is said (but where the record says `part` or `copied`)
- something is said, and the contents never matter, with any arguments or with one value of one
- one argument decides whether they matter, and the record says `part`
"""

import ctypes
import itertools
import json
import os
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import driver
import numpy as np
import records

from openaclnn.native import libraries
from openaclnn.native.call import Call
from openaclnn.errors import AclError
from openaclnn.operators.operator import View
from openaclnn.native.runtime import DeviceArray, Runtime, Stream

WITHIN_DEVICE = 3
NEW = 0xFF  # each byte of new memory
OTHERS = (0x00, 0x3C)  # what else contents may be
FEW = 4  # trials that say nothing yet
MOST = 24  # cases of a record
TOLD = 90  # at most 100 are told until a runtime is begun anew
# Asked for though not read here: a device reads them.
ON_A_DEVICE = {"softmaxMaxOptional", "softmaxSumOptional", "mmWeightRef"}
# The result is the same whatever there is, x^0, or what there is, as of x xor 0 in place.
BY_ARITHMETIC = {
    ("ForeachPowScalarV2", "x", "scalar", 0),
    ("InplaceBitwiseXorScalar", "selfRef", "other", 0),
    ("IndexAddV2", "source", "alpha", 0),
}
# What a record cannot say: a condition knows neither texts nor shapes. One row reads a mask that does
# not have the shape of a sparse mode's, in every mode.
UNSAID = {
    ("actualSeqQlenOptional", "inputLayoutOptional"),
    ("actualSeqQlenOptional", "inputSoftmaxLayout"),
    ("attenMask", "sparseMode"),
    ("attenMaskOptional", "sparseMode"),
    ("out", "groupListType"),  # rows of no group are left alone; the list's numbers say which
}


@dataclass(frozen=True)
class Trial:
    """One operand without contents, in one call."""

    arguments: dict
    told: bool
    matters: bool
    plain: bool  # the results are not NaN whatever there is


def views_of(prepared) -> list[tuple[str, View]]:
    """Operands by name, of lists each member."""
    problem = prepared.problem
    named = itertools.chain(problem.inputs.items(), problem.outputs.items())
    pairs = ((name, each if isinstance(each, list) else [each]) for name, each in named)
    return [(name, view) for name, views in pairs for view in views if view is not None]


def span(view: View) -> int:
    steps = zip(view.array.shape, view.array.strides, strict=True)
    return sum((n - 1) * abs(step) for n, step in steps) + view.array.itemsize


class Watch:
    """A runtime that is begun anew for each record: what is told once, and at most so often."""

    def __init__(self, reports: Path):
        self._reports = reports
        self.count = 0  # of reports since it was begun
        self.runtime = Runtime(libraries.load())
        self.stream = Stream(self.runtime)

    def begin_anew(self) -> None:
        kit = self.runtime.kit
        self.stream.close()
        kit.call("aclFinalize")
        kit.call("aclInit", None)
        kit.call("aclrtSetDevice", ctypes.c_int32(0))
        self.stream = Stream(self.runtime)
        self._reports.write_text("")
        self.count = 0

    def told(self, operand: str) -> bool:
        """Of an operand, since the last time."""
        lines = self._reports.read_text().splitlines() if self._reports.exists() else []
        self._reports.write_text("")
        self.count += len(lines)
        return any(f" reads {operand};" in json.loads(line).get("what", "") for line in lines)

    def run(self, record, prepared, changed: View | None = None, byte: int = NEW):
        """What outputs hold afterwards, or the error's code."""
        try:
            with Call(self.runtime, record.function, prepared.problem, self.stream) as call:
                if changed is not None:
                    memory = call._memory[id(changed.storage)]
                    self._spoil(memory) if byte == NEW else memory.fill_bytes(byte)
                call.run()
                return call.outputs()
        except AclError as error:
            return error.code

    def _spoil(self, memory: DeviceArray) -> None:
        fresh = DeviceArray(self.runtime, memory.shape, memory.dtype)
        fresh._copy(memory.address, fresh.address, WITHIN_DEVICE)
        fresh.close()


def bits(array) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


def same(a, b) -> bool:
    if isinstance(a, list):
        return all(map(same, a, b))
    return np.array_equal(bits(a), bits(b))


def differ(base, got, changed: View, byte: int, prepared) -> bool:
    """Whether the results are others. An output that is as it was changed was left alone."""
    if isinstance(base, int) or isinstance(got, int):
        return not (isinstance(base, int) and isinstance(got, int) and base == got)
    for name, before in base.items():
        view = prepared.problem.outputs[name]
        befores, afters, views = (
            each if isinstance(view, list) else [each] for each in (before, got[name], view)
        )
        for one, other, place in zip(befores, afters, views, strict=True):
            left = place is changed and (bits(other) == byte).all()
            if not left and not same(one, other):
                return True
    return False


def is_plain(base) -> bool:
    if isinstance(base, int):
        return False
    arrays = [each for one in base.values() for each in (one if isinstance(one, list) else [one])]
    return any(bool(np.any(each == each)) for each in arrays)


def trials(watch: Watch, record) -> dict[str, list[Trial]]:
    """By operand; those of which nothing can be told again are left out."""
    found, known = defaultdict(list), set()
    cases = range(driver.count_of(record))
    for number in cases[:: max(len(cases) // MOST, 1)]:
        prepared = driver.prepare(record, number)
        views = views_of(prepared)
        storages = [id(view.storage) for _, view in views]
        if prepared.refused or not all(view.array.size for _, view in views):
            continue
        base = watch.run(record, prepared)
        watch.told("")
        for name, view in views:
            if storages.count(id(view.storage)) > 1:
                continue
            got = watch.run(record, prepared, view)
            told, other = watch.told(name), differ(base, got, view, NEW, prepared)
            if not told and (name, span(view)) in known:
                continue
            if told:
                known.add((name, span(view)))
            if watch.count >= TOLD:
                watch.begin_anew()
                known = set()
            for byte in OTHERS:
                if not other:
                    got = watch.run(record, prepared, view, byte)
                    other = differ(base, got, view, byte, prepared)
            found[name].append(Trial(prepared.case.arguments, told, other, is_plain(base)))
    return found


def settings(record, arguments: dict):
    """(parameter, value) of flags, modes and scalars that are 0, and of each flag of a list."""
    for name, value in arguments.items():
        if isinstance(value, bool) or name in record.modes:
            yield name, value
        elif isinstance(value, float | np.generic) and value == 0:
            yield name, 0
        elif isinstance(value, list) and value and isinstance(value[0], bool):
            yield from ((f"{name}[{i}]", flag) for i, flag in enumerate(value))


def groups(record, tried: list[Trial]):
    """{(parameter, value): its trials}"""
    found = defaultdict(list)
    for trial in tried:
        for setting in settings(record, trial.arguments):
            found[setting].append(trial)
    return found


def faults_of(record, name: str, tried: list[Trial]):
    uses = record.uses[name]
    for each in tried:
        if each.matters and not each.told and not {"part", "copied"}.intersection(uses):
            given = dict(settings(record, each.arguments))
            yield f"{name} matters and is not asked for, with {given}"
    if name not in ON_A_DEVICE:
        by_setting = groups(record, [each for each in tried if each.plain])
        by_setting["", "any arguments"] = tried
        for (parameter, value), some in by_setting.items():
            if (record.name, name, parameter, value) in BY_ARITHMETIC:
                continue
            asked = [each for each in some if each.told]
            if len(asked) >= FEW and not any(each.matters for each in some):
                yield f"{name} is asked for and never matters with {parameter} {value}"
    if uses == ["part"]:
        for setting, some in groups(record, tried).items():
            if (name, setting[0]) in UNSAID:
                continue
            rest = [each for each in tried if setting not in settings(record, each.arguments)]
            for never, mostly in ((some, rest), (rest, some)):
                enough = min(len(never), len(mostly)) >= FEW
                share = sum(each.matters for each in mostly) / max(len(mostly), 1)
                if enough and share > 0.5 and not any(each.matters for each in never):
                    yield f"{name} is part, but {' '.join(map(str, setting))} decides"


def main(topic: str) -> None:
    watch = Watch(Path(os.environ["OPENACLNN_CHECK_JSON"]))
    for record in records.load():
        if record.topic != topic:
            continue
        watch.begin_anew()
        for name, tried in trials(watch, record).items():
            for fault in sorted(set(faults_of(record, name, tried))):
                print(f"{record.api}: {fault}")


if __name__ == "__main__":
    main(sys.argv[1])
