# SPDX-License-Identifier: Apache-2.0
"""Reads the records of operators by their graph names: src/companions/acl_op_compiler/operators.toml.

The file has an [[operator]] for each:

    name        of the graph operator
    inputs      in their order: "x"; "x?" may be left out; "x..." is as many as the program gives
                "axes: integers"  the host knows the values, which are integers: a Dims
                "value: number"   the host knows the value: a double
                "prob: read"      as number, or on the device: then the call waits for its stream
                "lr: scalar"      one number on the device or the host: calls see a tensor without
                                  dimensions, and of its type, on the device
                "size: anywhere"  the memory may be the host's: no kernel reads it, or the calls ask
                                  where it is
    attributes  "keep_dims: flag = false", of the kinds in KINDS; without a default the program has
                to set it
    outputs     as inputs, all on the device; "=var" is the input var: what is computed there is
                copied to the output if that has other memory
    only        what attributes may be, where less is computed than they could ask for:
                { epsilon = 0.0, data_format = ["NCHW", "ND"] }
    expects     further conditions "condition: operand property is {got}, expected want", of C++;
                what stands in braces is an expression, too
    lets        "name = expression" of C++, or "name: Scratch(type, dims)", memory while the operator
                runs; in an order in which later ones may name earlier ones
    calls       of libopapi, in their order and without aclnn: "Add(x1, x2, 1, y)". Arguments are
                C++ expressions of the names above; `none` is a tensor that is left out.
                "if condition: Add(…)" is called only then, "each t < count: Add(…)" for t = 0, 1,
                …; neighbours with the same `each` take turns
    numpy       the outputs as an expression of NumPy, a tuple if there are several, for the tests
    cases       calls that the tests make: "x=normal(2, 3), axes=host([1])", arguments of Python;
                the functions are those of tests/companions/graph_cases.py

A [[family]] has several that differ in their call and formula alone. Its fields are those of an
operator, and for each in [family.operators] "name = [operator of libopapi, numpy]". Of its calls
`Call` stands for that operator, where it has none Call(all inputs, all outputs) is the only one.

Expressions may use the functions of graph_tensor.h and graph_views.h, and of a tensor x.dims,
x.dtype, x.count(), x.rank(), x.dim(i) and x.given().
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "src/companions/acl_op_compiler/operators.toml"

# A kind of attribute: its name in GraphAttribute, its type in C++.
KINDS = {
    "flag": ("kFlag", "bool"),
    "integer": ("kInteger", "int64_t"),
    "real": ("kReal", "double"),
    "text": ("kText", "std::string"),
    "integers": ("kIntegers", "Dims"),
    "reals": ("kReals", "std::vector<double>"),
    "type": ("kType", "int64_t"),
}
USES = {"": "kDevice", "integers": "kIntegers", "number": "kNumber", "read": "kAnywhere",
        "scalar": "kAnywhere", "anywhere": "kAnywhere"}  # fmt: skip
KEYS = {
    "name": str, "inputs": list, "attributes": list, "outputs": list, "only": dict, "expects": list,
    "lets": list, "calls": list, "numpy": str, "cases": list,
}  # fmt: skip
NEEDED = ("name", "inputs", "outputs", "calls", "numpy", "cases")


class Fault(Exception):
    """A record is wrong: the field, what it got and what was expected."""


@dataclass
class Operand:
    name: str
    use: str = ""
    optional: bool = False
    many: bool = False
    copies: str = ""  # the input that an output is


@dataclass
class Attribute:
    name: str
    kind: str
    default: str | None


@dataclass
class Let:
    name: str
    value: str  # an expression, or the arguments of Scratch
    scratch: bool


@dataclass
class Call:
    operator: str
    arguments: list
    condition: str
    turn: str = ""  # the name of what counts the calls
    turns: str = ""  # how often


@dataclass
class Operator:
    name: str
    record: dict
    inputs: list
    attributes: list
    outputs: list
    lets: list
    calls: list
    expects: list = field(default_factory=list)

    @property
    def names(self):
        return [each.name for each in (*self.inputs, *self.attributes, *self.outputs, *self.lets)]


def split(text, separator=","):
    """At each separator that stands in no bracket and no string."""
    parts, depth, quoted, start = [], 0, False, 0
    for at, character in enumerate(text):
        if character == '"' and text[at - 1 : at] != "\\":
            quoted = not quoted
        elif not quoted:
            depth += (character in "({[") - (character in ")}]")
            if character == separator and depth == 0:
                parts.append(text[start:at].strip())
                start = at + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _operand(text, allowed, where):
    found = re.fullmatch(r"(=?)([A-Za-z_]\w*)(\?|\.\.\.)?(?:: (\w+))?", text)
    if not found or (found[4] or "") not in allowed:
        raise Fault(f"{where} has {text!r}, expected a name, then ? or ..., and a use of {allowed}")
    same, name, mark, use = found.groups()
    return Operand(f"{name}_out" if same else name, use or "", mark == "?", mark == "...",
                   name if same else "")  # fmt: skip


def _attribute(text):
    found = re.fullmatch(r"([A-Za-z_]\w*): (\w+)(?: = (.*))?", text)
    if not found or found[2] not in KINDS:
        raise Fault(f"attributes has {text!r}, expected \"name: kind = default\" of {list(KINDS)}")
    return Attribute(*found.groups())


def _let(text):
    if found := re.fullmatch(r"(\w+): Scratch\((.*)\)", text, re.DOTALL):
        return Let(found[1], found[2], True)
    if found := re.fullmatch(r"(\w+) = (.*)", text, re.DOTALL):
        return Let(found[1], found[2], False)
    raise Fault(f'lets has {text!r}, expected "name = expression" or "name: Scratch(type, dims)"')


def _call(text):
    found = re.fullmatch(
        r"(?:each (\w+) < (.*?): )?(?:if (.*?): )?([A-Z]\w*)\((.*)\)", text, re.DOTALL
    )
    if not found:
        raise Fault(f'calls has {text!r}, expected "Operator(argument, …)", before it "if …: "')
    turn, turns, condition, operator, arguments = found.groups()
    return Call(operator, split(arguments), condition or "", turn or "", turns or "")


def _expectation(text):
    condition, colon, words = text.partition(": ")
    if not colon or not re.search(r" is .*, expected ", words):
        raise Fault(f'expects has {text!r}, expected "condition: … is …, expected …"')
    return condition, words


def _only(attributes, only):
    kinds = {each.name: each for each in attributes}
    for name, values in only.items():
        if name not in kinds:
            raise Fault(f"only has {name!r}, expected an attribute")
        values = values if isinstance(values, list) else [values]
        code = {"flag": lambda v: str(v).lower(), "text": lambda v: f'"{v}"'}
        listed = [code.get(kinds[name].kind, str)(each) for each in values]
        condition = " || ".join(f"{name} == {each}" for each in listed)
        got = {"flag": f'({name} ? "true" : "false")', "text": f"Quoted{{{name}}}"}
        words = " or ".join(each.strip('"') for each in listed)
        yield condition, f"{name} value is {{{got.get(kinds[name].kind, name)}}}, expected {words}"


def operator_of(record):
    for key, kind in KEYS.items():
        if key in record and not isinstance(record[key], kind):
            raise Fault(f"{key} is a {type(record[key]).__name__}, expected a {kind.__name__}")
        if key in NEEDED and not record.get(key):
            raise Fault(f"{key} is missing, expected it")
    if unknown := set(record) - set(KEYS):
        raise Fault(f"{sorted(unknown)} are no fields, expected {list(KEYS)}")
    inputs = [_operand(each, tuple(USES), "inputs") for each in record["inputs"]]
    outputs = [_operand(each, ("",), "outputs") for each in record["outputs"]]
    attributes = [_attribute(each) for each in record.get("attributes", [])]
    calls = [_call(each) for each in record["calls"]]
    lets = [_let(each) for each in record.get("lets", [])]
    expects = list(_only(attributes, record.get("only", {})))
    expects += map(_expectation, record.get("expects", []))
    # Before all others a number of the host comes to the device.
    for each in reversed(inputs):
        if each.use == "scalar":
            lets.insert(0, Let(f"{each.name}_kept", f"{each.name}_given.dtype, Dims{{}}", True))
            calls.insert(0, Call("InplaceFillScalar", [f"{each.name}_kept", f"NumberOf({each.name}_given)"],
                                 f"{each.name}_given.on_host"))  # fmt: skip
    for each in outputs:
        if each.copies and each.copies not in {one.name for one in inputs}:
            raise Fault(f"outputs has '={each.copies}', expected the name of an input")
        if each.copies:
            calls.append(Call("InplaceCopy", [each.name, each.copies],
                              f"{each.name}.data != {each.copies}.data"))  # fmt: skip
    made = Operator(record["name"], record, inputs, attributes, outputs, lets, calls, expects)
    twice = {each for each in made.names if made.names.count(each) > 1}
    if twice:
        raise Fault(f"{sorted(twice)} are names twice, expected each once")
    for many in (inputs, outputs):
        if sum(each.many for each in many) > 1:
            raise Fault("two operands are as many as the program gives, expected one")
    return made


def _all(document):
    """The records, families taken apart."""
    yield from document.get("operator", [])
    for family in document.get("family", []):
        names = [re.search(r"\w+", each)[0] for each in (*family["inputs"], *family["outputs"])]
        calls = family.get("calls", [f"Call({', '.join(names)})"])
        rest = {key: value for key, value in family.items() if key != "operators"}
        for name, (call, numpy) in family["operators"].items():
            own = [re.sub(r"\bCall\(", f"{call}(", each) for each in calls]
            yield rest | {"name": name, "calls": own, "numpy": numpy}


def read_records(path=RECORDS):
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise SystemExit(f"{path}: {error}") from error
    operators = []
    for record in _all(document):
        try:
            operators.append(operator_of(record))
        except Fault as fault:
            raise SystemExit(f"{path}: {record.get('name', 'an operator')}: {fault}") from fault
    operators.sort(key=lambda each: each.name)
    names = [each.name for each in operators]
    if twice := {each for each in names if names.count(each) > 1}:
        raise SystemExit(f"{path}: {sorted(twice)} are there twice, expected each once")
    return operators
