# SPDX-License-Identifier: Apache-2.0
"""Compares what operators declare and take with what the vendor's pages state (page_facts.py).

python3 scripts/operators/compare_pages.py             prints each difference; 1 if one is not explained
python3 scripts/operators/compare_pages.py --list      and the operators without a statement of any source
python3 scripts/operators/compare_pages.py --read FOLDER   prints lines of the table from saved pages

A record explains differences in `differs`: parameters, takes or products, each with the reason.
A page of an older CANN than the one that a record names may list fewer types and fewer products:
the vendor added the others later. A type or a product that an older page lists must be here, too.
"""

import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import generate_declarations
from check_records import FAMILIES, LACKING, taken_by_clients, types_taken
from operator_records import read_topics
from page_facts import read_folder, read_table, release, split

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ROOT / "include/aclnnop"
# C types that a literal of C++ may have.
LITERALS = {
    "integer": {"int64_t", "uint64_t", "int", "int8_t", "int32_t", "float", "double"},
    "real": {"float", "double"},
}
# A register holds both alike: a client that passes one works where the other is declared.
ALIKE = ({"int64_t", "uint64_t"}, {"int64_t", "int"})


@dataclass(frozen=True)
class Declared:
    """An operator as its header has it; a room has no record."""

    name: str
    parameters: list  # (type, name)
    operator: object = None

    @property
    def differs(self):
        return self.operator.record.get("differs", {}) if self.operator else {}

    @property
    def release(self):
        """(8, 5) if its record follows a page of CANN 8.5; None where no version is named."""
        page = self.operator.record.get("page", "") if self.operator else ""
        found = re.search(r"CANN (\S+)", page)
        return found and release(found[1])


@dataclass(frozen=True)
class Difference:
    operator: str
    what: str  # parameters, takes or products
    text: str

    def __str__(self):
        return f"{self.operator}: {self.what}: {self.text}"


def declared(topics, headers=HEADERS):
    """{name: what is declared} of the records and the rooms."""
    found = {}
    for path in sorted(headers.glob("*.h")):
        for api, parameters in generate_declarations.operators(path):
            name = api.removeprefix("aclnn")
            found[name] = Declared(name, list(map(split, parameters)))
    for operator in (each for topic in topics for each in topic.operators):
        given = [(each.c_type, each.name) for each in operator.parameters]
        found[operator.name] = Declared(operator.name, given, operator)
    return found


def is_passed(ours, theirs):
    """Whether a client that passes a type may mean what is declared."""
    plain = ours.removeprefix("const ")
    return theirs in ("?", plain) or plain in LITERALS.get(theirs, ()) or {plain, theirs} in ALIKE


def parameter_differences(ours, facts):
    theirs = facts.declared
    if len(theirs) != len(ours.parameters):
        yield f"{facts.source} has {len(theirs)} parameters ({facts.parameters}), here {len(ours.parameters)}"
        return
    for (kind, name), (their_kind, their_name) in zip(ours.parameters, theirs, strict=True):
        if facts.source != "page":
            if not is_passed(kind, their_kind):
                yield f"{facts.source} passes {their_kind}, here {name} is {kind}"
        # A const that a page lacks is no difference: every call that it allows compiles.
        elif name != their_name or kind not in (their_kind, f"const {their_kind}"):
            yield f"page has {their_kind} {their_name}, here {kind} {name}"


def is_older(ours, facts):
    """Whether a page is of an older CANN than the one that the record follows."""
    return bool(ours.release and facts.release and facts.release < ours.release)


def type_differences(ours, facts):
    """Differences in types that the page lists and that are computed."""
    operator = ours.operator
    roles = {each.name: each for each in operator.parameters if each.role}
    # A parameter that has another name on the page is told by its place; the name is a difference of its own.
    same = {}
    if len(facts.declared) == len(ours.parameters):
        same = {theirs[1]: mine[1] for theirs, mine in zip(facts.declared, ours.parameters, strict=True)}
    for (name, family), types in facts.listed.items():
        name = same.get(name, name)
        if name not in roles:
            yield f"page lists types of {name}, which is no tensor here"
            continue
        listed = operator.takes(roles[name], family)
        beyond = taken_by_clients(operator.record).get(name, ())
        taken = types_taken(operator.record) if listed is None else listed
        taken = set(taken) - LACKING.get(family, set())
        if listed is None and taken <= types:
            continue
        computed = types & types_taken(operator.record)
        if is_older(ours, facts) and computed <= taken:
            continue
        if computed != taken.difference(beyond):
            where = f" on {family}" if family else ""
            yield (f"page lists {', '.join(sorted(computed))} for {name}{where}, "
                   f"here {', '.join(sorted(taken))}")  # fmt: skip


def product_differences(ours, facts):
    for each in facts.products.split():
        mark, family = each[0], each[1:]
        if mark == "-" and is_older(ours, facts):
            continue
        if family in FAMILIES and (family in ours.operator.families) != (mark == "+"):
            yield f"page {'lists' if mark == '+' else 'leaves out'} {family}"


def differences(ours, facts):
    if facts.parameters:
        for text in parameter_differences(ours, facts):
            yield Difference(ours.name, "parameters", text)
    if ours.operator:
        for text in type_differences(ours, facts):
            yield Difference(ours.name, "takes", text)
        for text in product_differences(ours, facts):
            yield Difference(ours.name, "products", text)


def compare(operators, table):
    """(those that no record explains, those that one does, explanations of nothing)"""
    open_, explained, used = [], [], set()
    for facts in table:
        ours = operators.get(facts.operator)
        if ours is None:
            continue  # not here
        for each in differences(ours, facts):
            reason = ours.differs.get(each.what)
            (explained if reason else open_).append(each)
            if reason:
                used.add((id(ours.operator.record), each.what))
    idle = {
        f"{each.operator.record['name']}: differs: {what} explains no difference"
        for each in operators.values()
        for what in each.differs
        if (id(each.operator.record), what) not in used
    }
    return open_, explained, sorted(idle)


def summary(operators, table, explained):
    by = {}
    for facts in table:
        if facts.operator in operators:
            by.setdefault(facts.operator, set()).add(facts.source)
    of_page = {each for each in by if "page" in by[each]}
    typed = {f.operator for f in table if f.types and f.operator in operators}
    counts = Counter(source for each in by.values() for source in each)
    sources = ", ".join(f"{count} by {source}" for source, count in sorted(counts.items()))
    return (f"compare_pages: {len(operators)} operators, of which {sources}, "
            f"{len(of_page)} by a page ({len(typed)} with types), "
            f"{len(operators) - len(by)} by nobody; {len(explained)} differences explained")  # fmt: skip


def main(arguments):
    if arguments[:1] == ["--read"]:
        for facts in read_folder(Path(arguments[1])):
            sys.stdout.write(facts.line())
        return 0
    operators, table = declared(read_topics()), read_table()
    unexplained, explained, idle = compare(operators, table)
    for each in explained:
        print(f"explained: {each} ({operators[each.operator].differs[each.what]})")
    for each in [*unexplained, *idle]:
        print(each)
    if "--list" in arguments:
        known = {facts.operator for facts in table}
        print("by nobody:", ", ".join(sorted(operators.keys() - known)) or "none")
    print(summary(operators, table, explained))
    return 1 if unexplained or idle else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
