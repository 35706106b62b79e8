# SPDX-License-Identifier: Apache-2.0
"""Files of a library that are in no room, and rooms that include one above them."""

from layout.libraries import BESIDE, ROOMS
from layout_faults.tree import CC, including


def _upward(library, below, above):
    """A file of the room `below` includes one of the room `above`."""
    files = {
        f"src/{library}/{below}/low.h": including(f"{library}/{above}/high.h"),
        f"src/{library}/{above}/high.h": CC,
    }
    return files, f"{below}/low.h:3: {library}/{below} includes {library}/{above}, which stands"


PLANTED = {
    "check_library_rooms": [
        ({"src/kernels/rows.h": CC}, "src/kernels/rows.h:1: a file of kernels stands in a room"),
        ({"src/kernels/others/rows.h": CC}, "rows.h:1: src/kernels/others is not in ROOMS"),
        ({"src/ascendcl/event.cc": CC}, "event.cc:1: a file of ascendcl stands in a room"),
        ({"src/nnopbase/turn.h": CC}, "turn.h:1: a file of nnopbase stands in a room"),
        ({"src/hccl/plan.cc": CC}, "plan.cc:1: a file of hccl stands in a room"),
        ({"src/ascendcl/others/event.cc": CC}, "event.cc:1: src/ascendcl/others is not in ROOMS"),
    ],
    # Each room includes each of those that it may not.
    "check_rooms": [
        _upward(library, below, above)
        for library, rooms in ROOMS.items()
        for below, allowed in rooms.items()
        for above in sorted(rooms.keys() - allowed - {below})
    ],
    "check_beside": [
        (
            {"src/ascendcl/message.h": including("ascendcl/stream/event.h")},
            "message.h:3: message.h stands beside the rooms and includes src/ascendcl/stream/event.h",
        )
    ],
}

ALLOWED = [
    {"src/ascendcl/message.h": including("ascendcl/interface.h"), "src/ascendcl/interface.h": CC},
    {"src/ascendcl/stream/event.h": including("ascendcl/memory/memory.h", "ascendcl/message.h"),
     "src/ascendcl/memory/memory.h": CC, "src/ascendcl/message.h": CC},
    # The border of a library is below its files, the table behind it above them.
    {"src/ascendcl/interface.h": CC, "src/ascendcl/stream/event.h": including("ascendcl/interface.h"),
     "src/ascendcl/interface.cc": including("ascendcl/interface.h", "ascendcl/stream/event.h")},
    # A test of a room may include any room.
    {"src/ascendcl/memory/memory_test.cc": including("ascendcl/stream/event.h")},
    *({f"src/{library}/{name}": CC} for library, names in BESIDE.items() for name in names),
]
