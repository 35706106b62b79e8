# SPDX-License-Identifier: Apache-2.0
"""Which branches only an exception takes or leads to: read from the graphs of functions that GCC 12 writes.

gcov says "(throw)" of the way from a call to what handles its exception, but not where the call never ran:
code that is compiled into two programs and runs in one would count it again. Of the branches that come after
it, of destructors which ask what there was to destroy, gcov says nothing. A line that nothing but an
exception reaches is a handler's, and its branches count.
"""

import struct
import subprocess
from collections import Counter, defaultdict
from pathlib import Path

FUNCTION, ARCS, LINES = 0x01000000, 0x01430000, 0x01450000
FAKE, FALLTHROUGH = 2, 4  # flags of an arc

# A function where gcov lists its lines apart, else "", a file, a line, and the branch's number there.
Place = tuple[str, str, int, int]


class Reader:
    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def number(self) -> int:
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def text(self) -> str:
        length = self.number()
        self.at += length
        return self.data[self.at - length : self.at].rstrip(b"\0").decode()


class Function:
    def __init__(self, name: str, start: tuple[str, int]):
        self.name, self.start = name, start
        self.arcs: dict[int, list[tuple[int, int]]] = defaultdict(list)  # to where, flags
        self.lines: dict[int, list[tuple[str, int]]] = {}  # of a block

    def calls(self, block: int) -> bool:
        """Whether it ends with a call, which may not return."""
        return any(flags & FAKE for _, flags in self.arcs[block])

    def next_of(self, block: int) -> list[int]:
        """Where a block leads without an exception."""
        calls = self.calls(block)
        arcs = [(to, flags) for to, flags in self.arcs[block] if not flags & FAKE]
        return [to for to, flags in arcs if not calls or flags & FALLTHROUGH]

    def normal_blocks(self) -> set[int]:
        found, left = {0}, [0]
        while left:
            new = set(self.next_of(left.pop())) - found
            found |= new
            left += new
        return found


def read(path: Path) -> list[Function]:
    reader = Reader(path.read_bytes())
    if reader.data[:4] != b"oncg" or reader.data[4:8] != b"*22B":
        raise SystemExit(f"coverage: {path} is of another compiler, expected GCC 12")
    reader.at = 12
    reader.number(), reader.text(), reader.number()  # checksum, folder, a flag
    functions = []
    while reader.at < len(reader.data):
        tag, length = reader.number(), reader.number()
        end = reader.at + length
        if tag == FUNCTION:
            reader.at += 12
            name, _, file, line = reader.text(), reader.number(), reader.text(), reader.number()
            functions.append(Function(name, (file, line)))
        elif tag == ARCS:
            block = reader.number()
            while reader.at < end:
                functions[-1].arcs[block].append((reader.number(), reader.number()))
        elif tag == LINES:
            block = reader.number()
            functions[-1].lines[block] = read_lines(reader)
        reader.at = end
    return functions


def read_lines(reader: Reader) -> list[tuple[str, int]]:
    lines, file = [], ""
    while True:
        if number := reader.number():
            lines.append((file, number))
        elif name := reader.text():
            file = name
        else:
            return lines


def exceptional(path: Path, folder: str) -> set[Place]:
    """The branches in files of a folder. As gcov does, functions that begin on one line, which are
    instances of a template, are counted apart, and what else is on a line together."""
    functions = read(path)
    starts = Counter(function.start for function in functions)
    names = demangle([each.name for each in functions if starts[each.start] > 1])
    found = set()
    numbers: dict[tuple[str, str, int], int] = defaultdict(int)
    for function in functions:
        apart = names.get(function.name, "")
        normal = function.normal_blocks()
        reached = {line for block in normal for line in function.lines.get(block, ())}
        for block, lines in function.lines.items():
            if not lines or not lines[0][0].startswith(folder):
                continue
            line = max(each for each in lines if each[0] == lines[0][0])
            cleans = block not in normal and line in reached
            for is_branch, thrown in numbered(function, block):
                place = (apart, *line)
                if is_branch and (thrown or cleans):
                    found.add((*place, numbers[place]))
                numbers[place] += 1
    return found


def numbered(function: Function, block: int) -> list[tuple[bool, bool]]:
    """The calls that may not return and the branches, which gcov numbers: whether each is a branch,
    and thrown."""
    calls = function.calls(block)
    arcs = [flags for _, flags in reversed(function.arcs[block])]
    some = sum(not flags & FAKE for flags in arcs) > 1
    return [
        (not flags & FAKE, calls and not flags & FALLTHROUGH) for flags in arcs if flags & FAKE or some
    ]


def demangle(names: list[str]) -> dict[str, str]:
    run = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, run.stdout.splitlines(), strict=True))
