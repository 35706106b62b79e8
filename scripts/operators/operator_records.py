# SPDX-License-Identifier: Apache-2.0
"""Reads the records of the supporting operators: src/opapi/supporting/<topic>/operators.toml.

A file has a [domain] of its topic and an [[operator]] for each operator:

    [domain]
    text        what holds for all of them: types, broadcasting, memory; every header carries it
    includes    C++ headers that declare what `values` of the records call
    [about]     what parameters mean, by name, for the comments of the headers
    [modes]     what a parameter that names a mode may be, by name: strings, numbers, or for a number
                the names of 0, 1, …; a pattern of check_records.MODES says which have to be here

    name        of the API without aclnn
    header      of aclnnop/aclnn_<header>.h, where it is not the name in snake case
    inplace     true: aclnnInplace<name> too, whose selfRef is both self and out
    parameters  "name: kind" in the API's order; kinds are those of check_records.KINDS, and ? is
                one that may be null
    types       of all tensors: "numeric", "real" (floats), "complex" (numeric and complex ones),
                "movable" (those and UINT64), "numeric64" (numeric and UINT64), or a list
    formula     what is computed, in words
    numpy       the same as an expression of NumPy, of which tests/supporting/ makes the tests: a
                value for each output, None for one that is left alone; the site shows it in
                LaTeX, by the rules of latex.toml
    cases       the function there that draws arguments which fit each other; without it operands
                are broadcast
    samples     what values parameters have there: { self = "positive" }
    expression  the C++ Expression of an engine; with `values`, the plain parameters that take part
                as scalars, as they are or through a C++ function
    engine      which one; without it the expression is elementwise
    check, plan the C++ functions of an operator that no engine serves
    shape       of its parameters as those functions see them, where several operators share them;
                without it the plan's name: PlanTopk takes TopkParams
    members     names in that shape that differ from the API's: { dims = "dim" }
    constants   members of the shape that are no parameters: { dims = 2 }
    over        inputs whose very view an output may be
    shared      outputs that may share memory with each other in part: the later one stays
    one_value   the output all of whose elements become the same number: several may be one place
    laid_out    inputs that may be in the format which aclnnTransMatmulWeight gives weights
    as_given    scalars that keep their own value: others are converted to the type that the
                tensors meet in, before anything is computed
    factors     scalars that become BOOL where what they multiply and are added to are BOOL, and
                that are refused there if they are floats
    part        tensors of which values in memory may leave all elements alone: unread, unwritten
    unused      tensors of which nothing is read or written, whatever the arguments
    uses        tensors of which arguments say that: { mean = "training ? unused : all" }, by C++
                conditions of the other parameters as plans see them; a use is all or one of
                check_records.USES, or read: an output that is left as it was
    asked       the parameter whose flags say, in their order, which outputs are written; the others
                are left alone
    most        true: aclnn<name>GetMaxWorkspaceSize too, which tells the workspace for any lengths of
                sequences that the operands have room for
    copied      inputs that are read only for the output to hold the same
    updated     outputs of which what was there is read
    written     outputs named …Ref of which it is not; of those one field must tell
    about       as above, for this operator alone
    modes       the same
    page        the vendor's page that it follows, and of which version; without it the formula, the
                types and the refusals are ours
    url         where that page is, or the version of it whose address is known: the site says which
    products    the families that have the operator, of check_records.FAMILIES; without it all. One
                that is younger than the page has it
    takes       the types that the page lists for tensors, ["x, y: FLOAT, FLOAT16", …], and where a
                family differs "x on 310P: FLOAT16". A tensor may have those of `types`, BF16 only
                where the family has it; one that is not named may have all. In place selfRef, unless
                it is named, has those of self and out
    also        the types that a client's documentation shows beyond those, ["self: BOOL"]: the list
                of native APIs of Ascend/pytorch, docs/zh/api/native_api of its version for PyTorch 2.7.1
    lacks       the types of `takes` that are not computed, and that are refused
    differs     what is not as pages state it, { takes = "why" }: one of check_records.DIFFERS;
                compare_pages.py holds the rest to the table of their statements
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from check_records import (
    FAMILIES, KINDS, USES, choices_of, faults_of, repeated, taken_by_clients, taken_by_page, types_taken,
)

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "src/opapi/supporting"

# The use of selfRef where self has that use: it is the output, too.
IN_PLACE = {"all": "updated", "copied": "updated", "part": "part", "unused": "all"}

@dataclass(frozen=True)
class Parameter:
    """One of the API: its name, kind, whether it may be null, and the name that plans use."""

    name: str
    kind: str
    optional: bool
    member: str

    @property
    def c_type(self):
        return KINDS[self.kind]

    @property
    def role(self):
        """in or out of tensors and lists of them; else nothing."""
        found = re.search(r"\b(in|out)\b", self.kind)
        return found[0] if found else ""

    @property
    def is_handle(self):
        return "acl" in self.c_type and self.kind != "dtype"


@dataclass
class Operator:
    """One entry of the API."""

    name: str
    topic: str
    record: dict
    parameters: list
    in_place: bool = False
    formula: str = ""
    modes: dict = field(default_factory=dict)  # of its parameters

    @property
    def api(self):
        return f"aclnn{self.name}"

    @property
    def header(self):
        return self.record.get("header") or snake(self.name.removeprefix("Inplace"))

    @property
    def check(self):
        return self.record.get("check") or f"Check{self._engine}"

    @property
    def plan(self):
        return self.record.get("plan") or f"Plan{self._engine}"

    @property
    def _engine(self):
        return self.record.get("engine", "Elementwise")

    @property
    def shape(self):
        """The struct of its parameters; engines read the base of all of them."""
        if "shape" in self.record:
            return f"{self.record['shape']}Params"
        if "expression" in self.record:
            return "Params"
        return f"{self.plan.removeprefix('Plan')}Params"

    @property
    def may_alias(self):
        """Bit i: an output may be the very same view as tensor i."""
        return self._bits("over")

    @property
    def shared(self):
        """Bit i: tensor i may share memory with the others that have their bit, or with itself."""
        return self._bits("shared") | self._bits("one_value")

    @property
    def laid_out(self):
        """Bit i: tensor i may be a weight in a device's format."""
        return self._bits("laid_out")

    def _bits(self, key):
        named = self.record.get(key, [])
        tensors = [each.name for each in self.parameters if each.role]
        return sum(1 << i for i, name in enumerate(tensors) if name in named)

    def use(self, parameter):
        """Its use of the elements, as [(condition, use), …, ("", use)]: the first whose condition
        holds. A use is all, read or one of check_records.USES."""
        named = {name: use for use in USES for name in self.record.get(use, ())}
        of_self = self.in_place and parameter.name == "selfRef"  # read as self is
        name = "self" if of_self else parameter.name
        choices = choices_of(self.record.get("uses", {}).get(name, named.get(name, "all")))
        if of_self:
            return [(condition, IN_PLACE[use]) for condition, use in choices]
        return [(condition, "all" if use == "written" else use) for condition, use in choices]

    def is_read(self, parameter):
        """Whether what was in an output takes part: where `part` leaves that open, the expression
        names it."""
        if self.in_place and parameter.name == "selfRef":
            return True
        named = re.search(rf"\b{parameter.name}\b", self.record["numpy"])
        uses = {use for _, use in self.use(parameter)}
        reads = bool(uses & {"updated", "read"}) or ("part" in uses and bool(named))
        return parameter.role == "out" and reads

    def flag(self, parameter):
        """(flags, place) of an output that is written if a flag asks for it, else nothing."""
        flags = [each for each in self.parameters if each.name == self.record.get("asked")]
        if not flags or parameter.role != "out":
            return None
        return flags[0], self.outputs.index(parameter)

    @property
    def outputs(self):
        return [each for each in self.parameters if each.role == "out"]

    @property
    def families(self):
        """Those of check_records.FAMILIES that have it."""
        return [each for each in FAMILIES if each in self.record.get("products", FAMILIES)]

    def takes(self, parameter, family):
        """The types of a tensor there by the page, in its order; None where it says nothing."""
        listed = {(name, on): types for name, on, types in taken_by_page(self.record)}

        def of(name):
            types = listed.get((name, family)) or listed.get((name, ""))
            more = taken_by_clients(self.record).get(name, [])
            return types and [each for each in types + more if each in types_taken(self.record)]

        own = of(parameter.name)
        if own or not self.in_place or parameter.name != "selfRef":
            return own
        operand, result = of("self"), of("out")  # it is both
        return [each for each in operand if each in result] if operand and result else operand

    def types_in_words(self, parameter):
        """The types in words: "FLOAT, FLOAT16 (310P: FLOAT16)"; empty where the page says
        nothing."""
        def text(types):
            return ", ".join(types).replace("BF16", "BFLOAT16")

        usual = self.takes(parameter, "")
        if usual is None:
            return ""
        others = [(each, self.takes(parameter, each)) for each in self.families]
        differ = "; ".join(f"{each}: {text(types)}" for each, types in others if types != usual)
        return text(usual) + (f" ({differ})" if differ else "")


@dataclass
class Topic:
    name: str
    text: str
    includes: list
    about: dict
    operators: list = field(default_factory=list)

    @property
    def shapes(self):
        """{struct: its operators}, in order."""
        found = {}
        for operator in self.operators:
            if operator.shape != "Params":
                found.setdefault(operator.shape, []).append(operator)
        return found


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def _parameter(text, members):
    name, kind = text.split(": ")
    return Parameter(name, kind.removesuffix("?"), kind.endswith("?"), members.get(name, name))


def _in_place(parameters):
    """Without out, and with selfRef in place of self."""
    for each in parameters:
        if each.name == "self":
            yield Parameter("selfRef", "const out", False, "self")  # as most pages declare it
        elif each.name != "out":
            yield each


def _operators(record, topic, modes):
    members = record.get("members", {})
    parameters = [_parameter(each, members) for each in record["parameters"]]
    name, formula = record["name"], record["formula"]
    modes = modes | record.get("modes", {})
    modes = {each.name: modes[each.name] for each in parameters if each.name in modes}
    yield Operator(name, topic, record, parameters, formula=formula, modes=modes)
    if record.get("inplace"):
        formula = re.sub(r"\bself\b", "selfRef", formula).replace("out =", "selfRef =")
        rest = list(_in_place(parameters))
        yield Operator(f"Inplace{name}", topic, record, rest, True, formula, modes)


def _refuse(path, faults):
    """Ends the program with all that is wrong with a file."""
    if faults := list(faults):
        raise SystemExit("\n".join(f"{path}: {fault}" for fault in faults))


def read_topic(path):
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise SystemExit(f"{path}: {error}") from error
    _refuse(path, faults_of(document))
    _refuse(path, repeated(document["operator"]))
    domain = document["domain"]
    text = domain["text"].strip()
    topic = Topic(path.parent.name, text, domain.get("includes", []), document.get("about", {}))
    for record in document["operator"]:
        topic.operators += _operators(record, topic.name, document.get("modes", {}))
    return topic


def read_topics(folder=RECORDS):
    topics, seen = [], []
    for path in sorted(folder.glob("*/operators.toml")):
        topics.append(read_topic(path))
        records = [each.record for each in topics[-1].operators if not each.in_place]
        _refuse(path, repeated(seen + records))
        seen += records
    return topics
