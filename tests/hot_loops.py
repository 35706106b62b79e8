# SPDX-License-Identifier: Apache-2.0
"""Reads what compilers made of the hot loops for AVX-512, which callgrind cannot count.

    hot_loops.py BUILD_DIR

Each function below has an innermost loop of at most so many instructions, of which so many are
512-bit arithmetic and none moves a vector to or from the stack.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OBJECTS = "src/CMakeFiles/kernels_avx512.dir"

MULTIPLY_ADD, DOT_PRODUCT, ANY = r"vfmadd\d+ps", "vdpbf16ps", r"v(add|sub|mul|div|max|fmadd\d+)ps"


@dataclass(frozen=True)
class Expected:
    """At least `least` of the at most `within` instructions of a loop of a function."""

    object: str
    function: str
    arithmetic: str
    least: int
    within: int


@dataclass(frozen=True)
class Instruction:
    address: int
    name: str
    operands: str


EXPECTED = (
    Expected("kernels/gemm/gemm_simd", "MultiplyTile<RowsOfA, 12, 2, false>", MULTIPLY_ADD, 48, 100),
    Expected("kernels/gemm/gemm_simd", "MultiplyTile<ColumnsOfA, 12, 2, false>", MULTIPLY_ADD, 48, 100),
    Expected("kernels/gemm/gemm_simd", "MultiplyTile<PairsOfRowsOfA, 12, 2, true>", DOT_PRODUCT, 24, 64),
    Expected(
        "kernels/gemm/gemm_simd", "MultiplyTile<PairsOfColumnsOfA, 12, 2, true>", DOT_PRODUCT, 24, 64
    ),
    Expected("kernels/rows/row_sum_simd", "SumChunk<float>", "vaddps", 8, 32),
    Expected("kernels/rows/row_sum_simd", "SumChunk<BFloat16>", "vaddps", 8, 48),
    Expected("kernels/rows/row_sum_simd", "WriteNarrowSums<float, true, 1l>", "vaddps", 8, 40),
    Expected("masked_softmax/backward/kernel_simd", "RunRow<float, false>", ANY, 8, 20),
    Expected("masked_softmax/backward/kernel_simd", "RunRow<float, true>", ANY, 8, 20),
    Expected("masked_softmax/backward/kernel_simd", "RunRow<BFloat16, true>", ANY, 8, 32),
    Expected("masked_softmax/forward/kernel_simd", "RunRow<float>", ANY, 23, 40),
    Expected("masked_softmax/forward/kernel_simd", "RunRow<BFloat16>", ANY, 23, 40),
    Expected(
        "nsa_compress/backward/kernel_simd", "ReadAndRunGranule<BFloat16>", MULTIPLY_ADD, 12, 88
    ),
    Expected(
        "nsa_compress/backward/kernel_simd", "ReadAndRunGranule<Float16>", MULTIPLY_ADD, 12, 64
    ),
    Expected(
        "nsa_compress/forward/kernel_simd", "CompressColumns<8, BFloat16>", MULTIPLY_ADD, 8, 40
    ),
    Expected(
        "nsa_compress/forward/kernel_simd",
        "StepColumns<4, true, true, BFloat16>",
        MULTIPLY_ADD,
        8,
        48,
    ),
)


def functions(listing: str) -> Iterator[tuple[str, list[Instruction]]]:
    """The functions of an object, by their names without namespaces."""
    for part in re.split(r"\n(?=[0-9a-f]+ <)", listing):
        heading, _, body = part.partition("\n")
        name = re.sub(r"\(anonymous namespace\)::|\w+::", "", heading)
        found = re.findall(r"^\s*([0-9a-f]+):\s+(\S+) *(.*)$", body, re.MULTILINE)
        yield name, [Instruction(int(at, 16), *rest) for at, *rest in found]


def innermost_loops(code: list[Instruction]) -> list[list[Instruction]]:
    """From the target of a jump backwards to the jump, without another such jump inside."""
    place = {each.address: i for i, each in enumerate(code)}
    spans = []
    for end, each in enumerate(code):
        target = re.match(r"[0-9a-f]+\b", each.operands) if each.name.startswith("j") else None
        begin = place.get(int(target[0], 16), end + 1) if target else end + 1
        if begin <= end:
            spans.append((begin, end))
    return [
        code[begin : end + 1]
        for begin, end in spans
        if not any((b, e) != (begin, end) and begin <= b and e <= end for b, e in spans)
    ]


def most_arithmetic(listing: str, expected: Expected) -> int:
    """Of the short loops of a function that keep their vectors in registers."""
    counts = [0]
    for name, code in functions(listing):
        if expected.function not in name:
            continue
        for loop in innermost_loops(code):
            if len(loop) > expected.within:
                continue
            vectors = [each for each in loop if "%zmm" in each.operands]
            if any(re.search(r"\(%r[sb]p", each.operands) for each in vectors):
                continue
            names = [each.name for each in vectors]
            counts.append(sum(bool(re.fullmatch(expected.arithmetic, name)) for name in names))
    return max(counts)


@cache
def disassemble(path: Path) -> str:
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main(build: Path) -> int:
    folder = build / OBJECTS
    if not folder.is_dir():
        raise SystemExit(f"{folder}: no such folder, expected a build with AVX-512")
    failed = False
    for expected in EXPECTED:
        (path,) = folder.rglob(f"{expected.object}.cc.o")
        found = most_arithmetic(disassemble(path), expected)
        words = "ok" if found >= expected.least else f"FEWER than {expected.least}"
        failed |= found < expected.least
        print(f"{expected.object} {expected.function}: {found} in a loop, {words}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
