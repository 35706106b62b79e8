# SPDX-License-Identifier: Apache-2.0
"""The rooms of a library: which there are, and which of them may include which."""

from layout.includes import border
from layout.source import Violation

# A library's folder, its rooms, and what each room may include besides itself and the files beside
# the rooms.
ROOMS = {
    "ascendcl": {
        "watch": set(),  # what the runtime tells the checks: the order of tasks, unwritten bytes
        "process": {"watch"},  # configuration, handles, threads, fork
        "report": {"watch", "process"},  # errors, findings, the log, the trace
        "memory": {"watch", "process", "report"},  # allocations, places in them, canaries
        "check": {"watch", "process", "report", "memory"},  # mistakes of the program, in words
        "stream": {"watch", "process", "report", "memory", "check"},  # queues and their threads
        "graph": {"watch", "process", "report", "memory", "check", "stream"},  # captured tasks
        "api": {"watch", "process", "report", "memory", "check", "stream", "graph"},  # entry points
    },
    "nnopbase": {
        "operand": set(),  # the operands of a call, and the checks of what a task does to them
        "executor": {"operand"},  # what phase 1 decided, and phase 2
    },
    "hccl": {
        "plan": set(),  # steps of a collective, and the order of its sum
        "rendezvous": set(),  # how the ranks of a new communicator meet
        "engine": {"rendezvous"},  # how messages move, and who learns that a rank has left
        "communicator": {"plan", "engine"},  # operations on streams, by plans and an engine
        "api": {"plan", "rendezvous", "engine", "communicator"},  # entry points
    },
    "kernels": {
        "simd": set(),  # lanes, and functions of a number in them
        "work": set(),  # how work is cut and where it has room
        "number": {"simd"},  # conversions, roundings, random numbers
        "move": {"simd", "work"},  # copies, tiles, views that are broadcast or strided
        "index": {"simd", "work", "move"},  # indices, order, selection
        "rows": {"simd", "work", "number", "move", "index"},  # sums, softmax and norms of rows
        "gemm": {"simd", "work", "number", "move"},  # matrix products
        "attention": {"simd", "work", "number", "move", "rows", "gemm"},
        "window": {"simd", "work", "number", "move", "rows", "gemm"},  # depthwise products, pools
    },
}

# Files that stand beside the rooms, because every room may include them and they include no room.
BESIDE = {
    "ascendcl": {
        "data_type.h",
        "data_type.cc",
        "interface.h",
        "interface.cc",
        "message.h",
        "packed.h",
        "product.h",
        "product_table.cc",
        "refused_function.h",
        "unsupported.h",
    },
    "nnopbase": {
        "array.cc",
        "array.h",
        "dump.cc",
        "framework.cc",
        "handles.h",
        "init.cc",
        "interface.cc",
        "interface.h",
        "list.cc",
        "list.h",
        "tensor.cc",
        "tensor.h",
    },
    "hccl": {"interface.h"},  # libhcomm includes it
    "kernels": set(),
}

# The table behind a library's C border has functions of every room.
ABOVE_ALL = "interface.cc"


def room_of(source):
    """The room that a file of a library is in, "" beside the rooms; None elsewhere."""
    parts = source.path.split("/")
    if source.folder not in ROOMS or source.is_test:
        return None
    return parts[2] if len(parts) > 3 else ""


def check_library_rooms(sources):
    for source in sources:
        library, room = source.folder, room_of(source)
        if room is None or not source.is_code:
            continue
        if room == "" and source.name not in BESIDE[library]:
            what = f"a file of {library} stands in a room of src/{library}/"
            yield Violation(source.path, 1, what)
        if room != "" and room not in ROOMS[library]:
            yield Violation(source.path, 1, f"src/{library}/{room} is not in ROOMS of the check")


@border
def rooms(source, target):
    """From the entry points of a library down, never back."""
    if source.folder != target.folder or source.name == ABOVE_ALL:
        return None
    here, there = room_of(source), room_of(target)
    if not here or not there or here == there or there in ROOMS[source.folder].get(here, {there}):
        return None
    return f"{source.folder}/{here} includes {source.folder}/{there}, which stands above or beside it"


@border
def beside(source, target):
    """A file beside the rooms is one that every room may include."""
    alone = source.folder == target.folder and source.name != ABOVE_ALL
    if alone and room_of(source) == "" and room_of(target):
        return f"{source.name} stands beside the rooms and includes {target.path}, a room's"
    return None


RULES = (check_library_rooms, rooms, beside)
