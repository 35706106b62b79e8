# SPDX-License-Identifier: Apache-2.0
"""Allowed includes: layers, families and their rooms, topics, the tool, and no cycles."""

import posixpath
import re

from layout.source import C_SUFFIXES, Figure, Violation

# Folders that each folder of src/ may include besides itself and the public headers.
LAYERS = {
    "common": set(),  # what each library carries a copy of
    "ascendcl": {"common"},
    "client": {"common", "ascendcl"},  # how a library above libascendcl reaches it
    "nnopbase": {"common", "ascendcl", "client"},
    "frame": {"common", "ascendcl", "nnopbase"},
    "kernels": {"common", "ascendcl", "nnopbase", "frame"},
    "opapi": {"common", "ascendcl", "nnopbase", "frame", "kernels"},
    "hccl": {"common", "ascendcl", "client"},
    # Thin libraries beside those, each in a folder: through public headers and C interfaces.
    "companions": {"common", "ascendcl", "client", "hccl"},
    "openaclnn_capture": {"common"},  # stands before any maker's libraries: public headers
    "portable": set(),  # of libraries for an older glibc: what that lacks
    "tool": {"common"},  # what rooms' references are written with, and what the machine allows
}

# Where the compiler looks, after the folder of the file itself (src/CMakeLists.txt and the tests').
INCLUDE_ROOTS = ("src/opapi", "src", "include", "", "tests", "tests/install")

# Headers that only a build or an installation has.
GENERATED = re.compile(r"(aclnnop|declarations|generated|graph_operators)/.*")

# Headers of the layers below that kernels may include: types of data, operands, outcomes and what the
# processor has.
# Checks, products, calls and what is said to a client are not numerics.
NUMERICS_SEE = {
    "src/ascendcl/data_type.h",
    "src/ascendcl/process/float_environment.h",
    "src/common/short_vector.h",
    "src/common/status.h",
    "src/common/tile_registers.h",
    "src/frame/operand.h",
    "src/frame/support.h",
}


def _edges(sources):
    """(includer, line, included) for every include of a file of the tree in src/."""
    paths = {source.path: source for source in sources}
    for source in sources:
        for include in source.all_includes if source.folder else ():
            if target := resolve(source.path, include.path, paths):
                yield source, include.line, target


def resolve(includer, include, paths):
    for folder in (posixpath.dirname(includer), *INCLUDE_ROOTS):
        if target := paths.get(posixpath.normpath(posixpath.join(folder, include))):
            return target
    return None


def border(message):
    """Makes a rule from a function that says what is wrong with one include, or None."""

    def check(sources):
        for source, line, target in _edges(sources):
            if what := message(source, target):
                yield Violation(source.path, line, what)

    check.__name__ = f"check_{message.__name__}"
    check.__doc__ = message.__doc__
    return check


def check_resolved(sources):
    """An include that leads nowhere is one that no other rule looks at."""
    paths = {source.path: source for source in sources}
    for source in sources:
        for line, include in source.includes if source.folder else ():
            if not resolve(source.path, include, paths) and not GENERATED.fullmatch(include):
                yield Violation(source.path, line, f"no file of the tree is {include}")


def check_spelt(sources):
    """The compiler alone sees the expansion of a macro."""
    for source in sources:
        for include in source.all_includes if source.folder else ():
            if include.kind == "computed":
                what = f"{include.path} is an include that no rule can follow: spell the path"
                yield Violation(source.path, include.line, what)


def check_folders(sources):
    for source in sources:
        if source.suffix in C_SUFFIXES and source.folder and source.folder not in LAYERS:
            yield Violation(source.path, 1, f"src/{source.folder} is not in LAYERS of the check")


@border
def layers(source, target):
    """opapi → kernels → frame → nnopbase → ascendcl → common, never back."""
    here, there = source.folder, target.folder
    if source.is_reference and target.is_reference:
        return None  # a room's reference.cc is compiled into the tool's library
    if there and here != there and here in LAYERS and there not in LAYERS[here]:
        return f"{here} includes {there}, which stands above or beside it"
    return None


@border
def companions(source, target):
    """Each of src/companions/ is a library of its own."""
    if source.folder == target.folder == "companions":
        here, there = (s.path.split("/")[2] for s in (source, target))
        if here != there:
            return f"{here} includes {there}, another library"
    return None


@border
def numerics(source, target):
    """Kernels hold numerics alone."""
    below = target.folder not in (None, "kernels") and target.folder in LAYERS["kernels"]
    if source.folder == "kernels" and below and target.path not in NUMERICS_SEE:
        return f"kernels hold numerics alone and have no use for {target.path}"
    return None


@border
def families(source, target):
    """Never from one family of operators to another; what two need is a kernel or the frame."""
    if source.family and target.family and source.family != target.family:
        return f"the family {source.family} includes the family {target.family}"
    return None


@border
def parts(source, target):
    """A forward and its gradient, or two topics of records, share through their family's folder.
    Tests may compare them."""
    in_parts = source.part and target.part and source.family == target.family
    if in_parts and source.part != target.part and not source.is_test:
        return f"{source.part} includes {target.part}; what both need is the family's"
    return None


@border
def shared(source, target):
    """A file that the rooms or topics of a family share includes none of them; tests may."""
    is_shared = source.family == target.family and not source.part and not source.is_test
    if target.part and is_shared:
        return f"what the family {source.family} shares includes {target.part}"
    return None


@border
def roots(source, target):
    """Files of src/opapi/ itself know no operator: rooms and records register themselves."""
    at_root = source.folder == "opapi" and not source.family and not source.is_test
    if at_root and target.part:
        return f"{source.name} stands for all operators and includes one, {target.path}"
    return None


@border
def references(source, target):
    """A reference is a second opinion: it includes nothing of the implementation."""
    if source.is_reference and not target.is_reference:
        return f"{source.name} includes {target.path}; the formula stands alone"
    return None


@border
def judges(source, target):
    """The implementation computes what it is judged by in its own way."""
    if target.is_reference and not source.is_reference and not source.is_test:
        return f"implementation includes a reference, {target.path}"
    return None


@border
def lanes(source, target):
    """Code that differs from one instruction set to another is in files compiled for each."""
    per_target = source.name.endswith(("-inl.h", "_simd.cc")) or source.is_test
    if target.name.endswith("-inl.h") and not per_target:
        return f"{target.name} belongs in a file that is compiled for each instruction set"
    return None


@border
def tests(source, target):
    """The implementation knows no tests."""
    if target.is_test and not source.is_test:
        return f"implementation includes a test's file, {target.path}"
    return None


def _stem(path):
    """a.h and a.cc are one, but for the C border of a library: its table stands on everything."""
    return path if path.endswith("/interface.cc") else posixpath.splitext(path)[0]


def cycles(sources):
    """The stems that include each other in a circle, with a line that does."""
    graph, lines = {}, {}
    for source, line, target in _edges(sources):
        here, there = (_stem(s.path) for s in (source, target))
        if here != there and target.folder and not source.is_test:
            graph.setdefault(here, set()).add(there)
            lines.setdefault((here, there), (source.path, line))
    for loop in _loops(graph):
        members = sorted(loop)
        first = min(there for there in graph[members[0]] if there in loop)
        yield members, lines[members[0], first]


def _loops(graph):
    """Groups of two or more nodes that reach each other (Tarjan's strong components)."""
    order, lowest, stack, found = {}, {}, [], []

    def visit(node):
        order[node] = lowest[node] = len(order)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == order[node]:
            members = [stack.pop()]
            while members[-1] != node:
                members.append(stack.pop())
            if len(members) > 1:
                found.append(set(members))

    for node in sorted(graph):
        if node not in order:
            visit(node)
    return found


def check_cycles(sources):
    for members, (path, line) in cycles(sources):
        names = ", ".join(posixpath.basename(member) for member in members)
        yield Violation(path, line, f"{names} include each other in a circle")


def figures(sources):
    found = list(cycles(sources))
    yield Figure("include cycles", str(len(found)), "<= 0")


RULES = (
    check_resolved,
    check_spelt,
    check_folders,
    layers,
    companions,
    numerics,
    families,
    parts,
    shared,
    roots,
    references,
    judges,
    lanes,
    tests,
    check_cycles,
)
