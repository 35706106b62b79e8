#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""npu-smi: describes the emulated NPUs in the forms that programs read.

Names, memory and counts come from the runtime. What an emulated NPU has not, such as a temperature,
is NA. An installation has this file as bin/npu-smi.
"""

import argparse
import ctypes
import os
import sys
from pathlib import Path

# In an installation the module acl is at PREFIX/python/site-packages, in the source tree it is here.
sys.path.insert(1, str(Path(__file__).resolve().parent.parent / "python" / "site-packages"))

_MIB = 1 << 20
_TYPES = ("board", "health", "memory", "topo", "usages")
_NOT_HERE = "NA"
_WHERE = "emulated"  # in place of an address on a bus


class Failure(Exception):
    """A reason, in one line, why there is nothing to print."""


class Device:
    """An emulated NPU, as the runtime describes it."""

    def __init__(self, acl, number):
        ret = acl.rt.set_device(number)
        self.number = number
        self.name = acl.get_soc_name()
        memory = [acl.rt.get_mem_info(each) for each in (acl.ACL_DDR_MEM, acl.ACL_HBM_MEM)]
        for code in (ret, *(each[-1] for each in memory)):
            if code != 0:
                raise Failure(f"NPU {number}: {acl.get_recent_err_msg()}")
        # Used and total, in MiB: one pool stands for both kinds of memory.
        self.ddr, self.hbm = [((total - free) // _MIB, total // _MIB) for free, total, _ in memory]

    @property
    def short_name(self):
        """The name in tables: 910B1 for Ascend910B1."""
        return self.name.removeprefix("Ascend")


def _devices():
    # A trace or checks that the variables ask for are those of the program, not of this one. All
    # NPUs are described, also those that the program does not see.
    for name in ("OPENACLNN_TRACE", "OPENACLNN_CHECK", "ASCEND_RT_VISIBLE_DEVICES"):
        os.environ.pop(name, None)
    try:
        import acl
    except ImportError as error:
        raise Failure(str(error)) from None
    if acl.init() != 0:
        raise Failure(acl.get_recent_err_msg())
    count, ret = acl.rt.get_device_count()
    if ret != 0:
        raise Failure(acl.get_recent_err_msg())
    return [Device(acl, number) for number in range(count)]


def _version():
    from acl import _library

    get = _library.load(_library.ASCENDCL).openaclnnGetVersion
    get.restype = ctypes.c_char_p
    return get().decode()


def _fields(*rows):
    """Returns lines of a name and a value each; an empty row is an empty line."""
    return [f"\t{name:<30} : {value}" if name else "" for name, value in rows]


_WIDTHS = (27, 15, 52)


def _row(*cells):
    widths = iter(_WIDTHS)
    return "|".join(["", *(f" {cell}".ljust(next(widths)) for cell in cells), ""])


def _rule(sign):
    return f"+{'+'.join(sign * width for width in _WIDTHS)}+"


def _pair(used_and_total):
    used, total = used_and_total
    return f"{used:<5}/ {total}"


def table(devices):
    """npu-smi info: all NPUs, and the processes that use them."""
    version = _version()
    title = f"| npu-smi {version:<24} Version: {version} (openaclnn, {_WHERE})".ljust(97)
    lines = [f"+{'-' * 96}+", f"{title}|", _rule("-")]
    lines.append(
        _row("NPU   Name", "Health", "Power(W)    Temp(C)           Hugepages-Usage(page)")
    )
    lines.append(_row("Chip", "Bus-Id", "AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)"))
    for each in devices:
        first = f"{_NOT_HERE:<12}{_NOT_HERE:<18}0    / 0"
        second = f"{0:<12}{_pair(each.ddr):<18}{_pair(each.hbm)}"
        lines += [
            _rule("="),
            _row(f"{each.number:<6}{each.short_name}", "OK", first),
            _row("0", _WHERE, second),
        ]
    lines += [_rule("="), _rule("-")]
    lines.append(
        _row("NPU     Chip", "Process id", "Process name             | Process memory(MB)")
    )
    for each in devices:
        # A process has NPUs of its own, so that none uses those of this process.
        lines += [_rule("="), f"| No running processes found in NPU {each.number}".ljust(97) + "|"]
    return [*lines, _rule("=")]


def listing(devices):
    """npu-smi info -l: a block for each NPU."""
    lines = _fields(("Total Count", len(devices)))
    for each in devices:
        lines += _fields(("", ""), ("NPU ID", each.number), ("Chip Count", 1))
    return lines


def mapping(devices):
    """npu-smi info -m: the number that programs give to each chip."""
    header = ("NPU ID", "Chip ID", "Chip Logic ID", "Chip Name")
    rows = [(each.number, 0, each.number, f"Ascend {each.short_name}") for each in devices]
    return ["\t" + "".join(f"{cell!s:<31}" for cell in row).rstrip() for row in (header, *rows)]


def board(device, chip):
    """npu-smi info -t board: the name of the chip, or of the card that has it."""
    if chip is None:
        return _fields(
            ("NPU ID", device.number),
            ("Product Name", "openaclnn"),
            ("Model", _NOT_HERE),
            ("Manufacturer", _NOT_HERE),
            ("Serial Number", _NOT_HERE),
            ("Software Version", f"{_version()}-{_WHERE}"),
            ("Firmware Version", _NOT_HERE),
            ("PCIe Bus Info", _WHERE),
            ("Chip Count", 1),
        )
    # Programs join these to the name for which they build: Ascend and 910B1, Ascend910 and 9391.
    name, _, variant = device.name.partition("_")
    parts = [("Chip Type", "Ascend"), ("Chip Name", device.short_name)]
    if variant:
        parts = [("Chip Name", name), ("NPU Name", variant)]
    return _fields(
        ("NPU ID", device.number),
        ("Chip ID", chip),
        *parts,
        ("Chip Version", _NOT_HERE),
        ("PCIe Bus Info", _WHERE),
    )


def usages(device, _):
    """npu-smi info -t usages: memory and shares of it in use."""
    return _chip_fields(device, *_memory_rows(device, True), ("Aicore Usage Rate(%)", 0))


def memory(device, _):
    """npu-smi info -t memory: the size of the memory."""
    return _chip_fields(
        device,
        *_memory_rows(device, False),
        ("HBM Clock Speed(MHz)", _NOT_HERE),
        ("HBM Temperature(C)", _NOT_HERE),
    )


def health(device, _):
    """npu-smi info -t health: OK, since the runtime answers for the NPU."""
    return _fields(("Health Status", "OK"), ("Error Code", _NOT_HERE))


def _chip_fields(device, *rows):
    return _fields(("NPU ID", device.number), ("Chip Count", 1), ("", ""), *rows, ("Chip ID", 0))


def _memory_rows(device, with_rates):
    for kind, (used, total) in (("DDR", device.ddr), ("HBM", device.hbm)):
        yield f"{kind} Capacity(MB)", total
        if with_rates:
            yield f"{kind} Usage Rate(%)", round(100 * used / total) if total else 0


def topology(devices):
    """npu-smi info -t topo: what connects the NPUs, and the processors that compute for them."""
    names = [f"NPU{each.number}" for each in devices]
    lines = ["".join(f"{cell:<11}" for cell in ("", *names, "CPU Affinity")).rstrip()]
    for name in names:
        links = ["X" if other == name else "MEM" for other in names]
        cells = (name, *links, _ranges(sorted(os.sched_getaffinity(0))))
        lines.append("".join(f"{cell:<11}" for cell in cells).rstrip())
    return [
        *lines,
        "",
        "Legend:",
        "",
        "  X    = Self",
        "  MEM  = Memory of this machine (emulated)",
    ]


def _ranges(numbers):
    """Returns 0-3,8 for 0, 1, 2, 3 and 8."""
    found = []
    for each in numbers:
        if found and each == found[-1][1] + 1:
            found[-1][1] = each
        else:
            found.append([each, each])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in found)


def _described(arguments):
    """The lines of `npu-smi info` with these options."""
    devices = _devices()
    if arguments.list:
        return listing(devices)
    if arguments.mapping:
        return mapping(devices)
    if arguments.type == "topo":
        return topology(devices)
    if arguments.type is None:
        return table(devices)
    number = 0 if arguments.npu is None else arguments.npu
    if number not in range(len(devices)):
        raise Failure(f"NPU ID is {number}, expected 0 to {len(devices) - 1}")
    if arguments.chip not in (None, 0):
        raise Failure(f"chip ID is {arguments.chip}, expected 0")
    describe = {"board": board, "health": health, "memory": memory, "usages": usages}
    return describe[arguments.type](devices[number], arguments.chip)


def _parser():
    parser = argparse.ArgumentParser(prog="npu-smi", description="Describes the emulated NPUs.")
    parser.add_argument("-v", action="store_true", dest="version", help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="info")
    info = commands.add_parser("info", help="print what the runtime says of the NPUs")
    info.add_argument("-l", action="store_true", dest="list", help="list the NPUs")
    info.add_argument("-m", action="store_true", dest="mapping", help="print the chips' numbers")
    info.add_argument("-t", choices=_TYPES, dest="type", help="print facts of this kind")
    info.add_argument("-i", type=int, dest="npu", metavar="NPU", help="the NPU's number")
    info.add_argument("-c", type=int, dest="chip", metavar="CHIP", help="the chip's number, 0")
    return parser


def main():
    parser = _parser()
    arguments = parser.parse_args()
    try:
        if arguments.version:
            lines = [f"npu-smi version: {_version()} (openaclnn, {_WHERE})"]
        elif arguments.command is None:
            parser.error("expected info")
        else:
            lines = _described(arguments)
    except (Failure, ImportError) as failure:
        sys.exit(f"npu-smi: {failure}")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
