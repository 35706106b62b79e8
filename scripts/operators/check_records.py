# SPDX-License-Identifier: Apache-2.0
"""Checks of a file of records (operator_records.py says what each field means).

A fault is `record: key: is X, expected Y`. Names of test cases and samples are those of
tests/supporting/, which checks them: the build does not read tests.
"""

import ast
import itertools
import re
from collections.abc import Callable
from typing import NamedTuple

# The C type of each kind; "const out" is an output that the API declares const.
KINDS = {
    "in": "const aclTensor*",
    "out": "aclTensor*",
    "const out": "const aclTensor*",
    "in[]": "const aclTensorList*",
    "out[]": "const aclTensorList*",
    "scalar": "const aclScalar*",
    "scalar[]": "const aclScalarList*",
    "ints": "const aclIntArray*",
    "bools": "const aclBoolArray*",
    "float": "float",
    "double": "double",
    "int64": "int64_t",
    "uint64": "uint64_t",
    "int8": "int8_t",
    "int": "int",
    "bool": "bool",
    "dtype": "aclDataType",
    "string": "char*",
}
TYPES = {
    "numeric": "kNumericTypes", "real": "kRealTypes", "complex": "kAllNumberTypes",
    "movable": "kMovableTypes", "numeric64": "kNumeric64Types",
}
TENSOR_TYPES = (
    "FLOAT FLOAT16 BF16 DOUBLE INT4 INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 BOOL "
    "COMPLEX32 COMPLEX64 COMPLEX128".split()
)
_REAL = {"FLOAT", "FLOAT16", "BF16", "DOUBLE"}
_NUMERIC = _REAL | {"INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "BOOL"}
_COMPLEX = {"COMPLEX64", "COMPLEX128"}
MEMBERS_OF_TYPES = {
    "real": _REAL, "numeric": _NUMERIC, "complex": _NUMERIC | _COMPLEX,
    "movable": _NUMERIC | _COMPLEX | {"UINT64"}, "numeric64": _NUMERIC | {"UINT64"},
}
# Types that the vendor's pages list: those that no operator here takes are left out of the compiled
# tables.
PAGE_TYPES = (*TENSOR_TYPES, *"HIFLOAT8 FLOAT8_E5M2 FLOAT8_E4M3FN FLOAT8_E8M0 QINT8".split())
DIFFERS = ("parameters", "takes", "products")  # what a record may have otherwise than its page
FAMILIES = ("910", "A2", "A3", "950", "310P", "310B")  # in the order of OpenaclnnFamily
# Types that the products of a family lack (kTypesOfFamilies in src/frame/support.h); a record lists
# those of all families at once.
LACKING = {
    **dict.fromkeys(("910", "310P", "310B"), {"BF16", "COMPLEX32"}),
    "950": {"COMPLEX32"},
}
# Check<engine> and Plan<engine> in C++; without `engine` an expression is elementwise.
ENGINES = ("Elementwise", "Foreach", "ForeachShared", "ForeachRoundOff", "Loss", "LossGradient")

# Uses that an operator makes of the elements of a tensor: the fields that say so, and the roles
# that the tensors have. Others are read, or written as wholes.
USES = {"part": "in out", "unused": "in out", "copied": "in", "updated": "out", "written": "out"}
# Those that arguments may choose among, of the same roles.
CHOICES = {"all": "in out", **USES, "read": "out"}
del CHOICES["written"]

# Parameters that name a mode: strings, and numbers of such a name.
MODES = re.compile("(?i)mode|reduc|approximate|precise|layout|(math|pse)type")

MISSING = object()


class Fault(NamedTuple):
    """A fault of a field of a record or of a file's head."""

    record: str
    key: str
    value: object
    expected: str

    def __str__(self):
        value = "missing" if self.value is MISSING else repr(self.value)
        return f"{self.record}: {self.key}: is {value}, expected {self.expected}"


class Field(NamedTuple):
    expected: str
    is_right: Callable
    required: bool = False


def _text(pattern=r".*\S.*"):
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value, re.DOTALL))


def _list(pattern, least=1):
    good = _text(pattern)
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(good, value))


def _table(good=lambda value: isinstance(value, str)):
    """A check of a table of names, each with a value that is good."""
    name = _text(r"[A-Za-z]\w*")
    return lambda value: isinstance(value, dict) and all(
        name(key) and good(each) for key, each in value.items()
    )


def _modes(value):
    """Names, or numbers."""
    numbers = isinstance(value, list) and value and all(type(each) is int for each in value)
    return numbers or _list(r"[\w-]*")(value)


def _reasons(value):
    return _table(_text())(value) and value.keys() <= set(DIFFERS)


def _types(value):
    return value in TYPES if isinstance(value, str) else _list("|".join(TENSOR_TYPES))(value)


def _expression_of_python(value):
    try:
        ast.parse(value, mode="eval")
    except (SyntaxError, TypeError, ValueError):
        return False
    return True


_IDENTIFIER = r"[A-Za-z]\w*"
_NAMES = rf"{_IDENTIFIER}(, {_IDENTIFIER})*"
_PAGE_TYPES = rf"({'|'.join(PAGE_TYPES)})(, ({'|'.join(PAGE_TYPES)}))*"

FIELDS = {
    "name": Field("a name in CamelCase, without aclnn", _text("(?!aclnn)[A-Z][A-Za-z0-9]*"), True),
    "header": Field("a name in snake case", _text("[a-z][a-z0-9_]*")),
    "inplace": Field("true or false", lambda value: isinstance(value, bool)),
    "parameters": Field(
        f'a list of "name: kind" with one of {", ".join(KINDS)}',
        _list(f"{_IDENTIFIER}: ({'|'.join(map(re.escape, KINDS))})\\??"), True,
    ),
    "types": Field(f"{', '.join(TYPES)} or a list of {', '.join(TENSOR_TYPES)}", _types, True),
    "formula": Field("what is computed, in words", _text(), True),
    "numpy": Field("an expression of NumPy", _expression_of_python, True),
    "cases": Field("a name", _text(_IDENTIFIER)),
    "samples": Field("a table of names", _table(_text(_IDENTIFIER))),
    "expression": Field("the name of a C++ constant", _text(r"k\w+")),
    "values": Field("a list of parameters or Function(parameter)", _list(r"\w+|\w+\(\w+\)")),
    "engine": Field(f"one of {', '.join(ENGINES)}", lambda value: value in ENGINES),
    "check": Field("the name of a C++ function", _text(r"Check\w+")),
    "plan": Field("the name of a C++ function", _text(r"Plan\w+")),
    "shape": Field("the name of a struct without Params", _text("[A-Z][A-Za-z0-9]*")),
    "members": Field("a table of names", _table(_text(_IDENTIFIER))),
    "constants": Field(
        "a table of integers and truth values", _table(lambda value: isinstance(value, int))
    ),
    "over": Field("a list of inputs", _list(_IDENTIFIER)),
    "shared": Field("a list of two outputs or more", _list(_IDENTIFIER, 2)),
    "one_value": Field(
        "a list of the output", lambda value: _list(_IDENTIFIER)(value) and len(value) == 1
    ),
    "laid_out": Field("a list of inputs", _list(_IDENTIFIER)),
    "as_given": Field("a list of scalars", _list(_IDENTIFIER)),
    "factors": Field("a list of scalars", _list(_IDENTIFIER)),
    **{use: Field("a list of tensors", _list(_IDENTIFIER)) for use in USES},
    "uses": Field('a table of "condition ? use : use"', _table(_text(r"[^?:]+(\?[^?:]+:[^?:]+)+"))),
    "asked": Field("a name", _text(_IDENTIFIER)),
    "most": Field("true", lambda value: value is True),
    "about": Field("a table of texts", _table(_text())),
    "modes": Field("a table of lists, of strings or of numbers", _table(_modes)),
    "page": Field("the vendor's page and its version", _text()),
    "url": Field("where that page is", _text(r"https://\S+")),
    "differs": Field(f"a table of reasons for {', '.join(DIFFERS)}", _reasons),
    "products": Field(f"a list of {', '.join(FAMILIES)}", _list("|".join(FAMILIES))),
    "takes": Field(
        f'a list of "tensors: types", or "tensors on {"/".join(FAMILIES)}: types"',
        _list(rf"{_NAMES}( on ({'|'.join(FAMILIES)}))?: {_PAGE_TYPES}"),
    ),
    "also": Field('a list of "tensors: types"', _list(rf"{_NAMES}: {_PAGE_TYPES}")),
    "lacks": Field(f"a list of {', '.join(PAGE_TYPES)}", _list("|".join(PAGE_TYPES))),
}
DOMAIN = {
    "text": Field("what holds for all operators of the topic", _text(), True),
    "includes": Field("a list of C++ headers", _list(r"\S+\.h")),
}
DOCUMENT = {
    "domain": Field("a table", lambda value: isinstance(value, dict), True),
    "about": Field("a table of texts", _table(_text())),
    "modes": Field("a table of lists, of strings or of numbers", _table(_modes)),
    "operator": Field("[[operator]]", lambda value: isinstance(value, list), True),
}


def _fields(record, given, fields):
    for key in given.keys() - fields.keys():
        yield Fault(record, key, given[key], f"one of the fields {', '.join(fields)}")
    for key, field in fields.items():
        if key not in given and field.required:
            yield Fault(record, key, MISSING, field.expected)
        elif key in given and not field.is_right(given[key]):
            yield Fault(record, key, given[key], field.expected)


def _parameters(record):
    """{name: kind} without what may be null."""
    pairs = (each.split(": ") for each in record["parameters"])
    return {name: kind.removesuffix("?") for name, kind in pairs}


def _is_pointer(kind):
    return KINDS[kind].endswith("*")


def _check_parameters(record):
    seen = set()
    for each in record["parameters"]:
        name, kind = each.split(": ")
        if name in seen:
            yield "parameters", each, "each name once"
        if kind.endswith("?") and not _is_pointer(kind.removesuffix("?")):
            yield "parameters", each, "? after what may be null, a pointer"
        seen.add(name)
    kinds = _parameters(record).values()
    if not any("out" in kind for kind in kinds):
        yield "parameters", record["parameters"], "an output among them"


def _check_in_place(record):
    kinds = _parameters(record)
    if record.get("inplace") and (kinds.get("self") != "in" or "out" not in kinds):
        yield "inplace", True, "only where self is an input and out an output"


def _check_way(record):
    """An expression, or a check and a plan; an engine and values are of expressions."""
    if "expression" not in record:
        for key in ("check", "plan"):
            if key not in record:
                yield key, MISSING, "check and plan, or an expression"
        names = ("engine", "values")
    else:
        names = ("check", "plan")
    for key in names:
        if key in record:
            way = "without" if "expression" in record else "with"
            yield key, record[key], f"only {way} an expression"


def _check_names(record):
    """Fields that name parameters name those that there are."""
    kinds = _parameters(record)
    plain = [name for name, kind in kinds.items() if "acl" not in KINDS[kind]]
    known = {
        "values": plain,
        "over": [name for name, kind in kinds.items() if kind in ("in", "in[]")],
        "shared": [name for name, kind in kinds.items() if kind in ("out", "const out")],
        "one_value": [name for name, kind in kinds.items() if kind in ("out", "const out")],
        "laid_out": [name for name, kind in kinds.items() if kind in ("in", "in[]")],
        "as_given": [name for name, kind in kinds.items() if kind == "scalar"],
        "factors": [name for name, kind in kinds.items() if kind == "scalar"],
        "samples": kinds,
        "members": kinds,
        "about": [*kinds, *(["selfRef"] if record.get("inplace") else [])],
    }
    for key, names in known.items():
        for each in record.get(key, ()):
            name = re.fullmatch(r"(?:\w+\()?(\w+)\)?", each)[1]
            if name not in names:
                yield key, each, f"one of {', '.join(names) or 'none'}"


def choices_of(uses):
    """[(condition, use), …, ("", use)] of "condition ? use : use"."""
    *chosen, last = (each.strip() for each in uses.split(":"))
    return [tuple(map(str.strip, each.split("?"))) for each in chosen] + [("", last)]


def _roles(record):
    """{tensor: in or out}"""
    return {
        name: role
        for name, kind in _parameters(record).items()
        for role in ("in", "out")
        if re.search(rf"\b{role}\b", kind)
    }


def _check_choices(record):
    """Checks that a tensor can have what arguments choose for it."""
    if "uses" in record and "expression" in record:
        yield "uses", record["uses"], "only without an expression"
    roles = _roles(record)
    plain = [name for name in _parameters(record) if name not in roles]
    plain += [name for name in roles if f"{name}: in?" in record["parameters"]]  # null, or not
    for name, given in record.get("uses", {}).items():
        if name not in roles:
            yield "uses", name, f"one of {', '.join(roles)}"
            continue
        fitting = [use for use, each in CHOICES.items() if roles[name] in each.split()]
        for condition, use in choices_of(given):
            if use not in fitting:
                yield "uses", use, f"one of {', '.join(fitting)}"
            if condition and not set(re.findall(r"\w+", condition)).intersection(plain):
                yield "uses", condition, f"a condition of {', '.join(plain) or 'none'}"


def _check_uses(record):
    """A tensor has one use; of outputs that may be inputs too it must be said."""
    roles = _roles(record)
    seen = set(record.get("uses", {}))
    for use, fitting in USES.items():
        for name in record.get(use, ()):
            if roles.get(name, "none") not in fitting.split() or name in seen:
                yield use, name, f"a tensor that is {fitting.replace(' ', ' or ')}, once"
            seen.add(name)
    kinds, asked = _parameters(record), record.get("asked")
    before = itertools.takewhile(lambda name: roles.get(name) != "out", kinds)
    if asked and asked not in [name for name in before if kinds[name] == "bools"]:
        yield "asked", asked, "flags before the first output"
    for name in roles:
        if name.endswith("Ref") and name not in seen:
            yield "parameters", name, f"to be named by one of {', '.join(USES)}"


def _check_members(record):
    """A struct has each member once."""
    kinds, members = _parameters(record), record.get("members", {})
    taken = [members.get(name, name) for name in kinds]
    for key in ("members", "constants"):
        for name in record.get(key, {}):
            member = members[name] if key == "members" else name
            if taken.count(member) > (1 if key == "members" else 0):
                yield key, member, "a name that no other member has"


def _check_page(record):
    """An address is that of the page that is named."""
    name = record.get("page", "").partition(",")[0]
    if "url" in record and not (name and record["url"].endswith(f"/{name}.md")):
        yield "url", record["url"], f"the address of {name or 'a page'}"


def types_taken(record):
    """The types that its tensors have at most, by name."""
    given = record["types"]
    return MEMBERS_OF_TYPES[given] if isinstance(given, str) else set(given)


def taken_by_page(record):
    """[(tensor, family or nothing for all, types)] of what the page lists."""
    yield from _lines(record, "takes")


def taken_by_clients(record):
    """{tensor: types} of what a client's documentation shows beyond that."""
    return {name: types for name, _, types in _lines(record, "also")}


def _lines(record, key):
    for line in record.get(key, ()):
        tensors, types = line.split(": ")
        names, _, family = tensors.partition(" on ")
        yield from ((name, family, types.split(", ")) for name in names.split(", "))


def _check_takes(record):
    """Checks the page's products and types of tensors, which take one of them here."""
    for key in ("products", "takes", "differs"):
        if key in record and "page" not in record:
            yield key, record[key], "only with the page that says so"
    names = [*_roles(record), *(["selfRef"] if record.get("inplace") else [])]
    seen, all_of_it = set(), {each[:2] for each in taken_by_page(record)}
    for name, family, types in taken_by_page(record):
        if name not in names or (name, family) in seen:
            yield "takes", name, f"one of {', '.join(names)}, once"
        elif not types_taken(record).intersection(types):
            yield "takes", ", ".join(types), f"a type of {name} that the operator takes"
        elif family and (name, "") not in all_of_it:
            yield "takes", f"{name} on {family}", "the types of all families too"
        seen.add((name, family))


def _check_more_types(record):
    """Checks types that clients show beyond the page, and types that the page lists and that are
    not computed."""
    if any(_check_takes(record)):
        return
    listed = {(name, each) for name, _, types in taken_by_page(record) for each in types}
    for name, types in taken_by_clients(record).items():
        for each in types:
            if name not in {of for of, _ in listed} or (name, each) in listed:
                yield "also", f"{name}: {each}", "a type that `takes` does not list for a tensor there"
            elif each not in types_taken(record):
                yield "also", each, "a type that the operator takes"
    lacked = {each for _, each in listed} - types_taken(record)
    if set(record.get("lacks", ())) != lacked:
        words = ", ".join(each for each in PAGE_TYPES if each in lacked)
        yield "lacks", record.get("lacks", MISSING), f"what `takes` lists beyond `types`: {words or 'nothing'}"


RULES = (
    _check_parameters, _check_in_place, _check_way, _check_names, _check_choices, _check_uses,
    _check_members, _check_page, _check_takes, _check_more_types,
)


def _record_faults(record, number):
    if not isinstance(record, dict):
        return [Fault(f"operator {number}", "operator", record, "[[operator]]")]
    name = record.get("name", f"operator {number}")
    faults = list(_fields(name, record, FIELDS))
    if not faults:  # else the rules would stumble
        faults = [Fault(name, *each) for rule in RULES for each in rule(record)]
    return faults


def _mode_faults(document):
    """Parameters of which nothing says what modes there are, and modes of no parameter."""
    common = document.get("modes", {})
    left = set(common)
    for record in document["operator"]:
        own, kinds = record.get("modes", {}), _parameters(record)
        left -= kinds.keys()
        for name in own.keys() - kinds.keys():
            yield Fault(record["name"], "modes", name, f"one of {', '.join(kinds)}")
        for name, kind in kinds.items():
            given = {**common, **own}.get(name)
            number = kind in ("int", "int8", "int64")
            if kind == "string" or (number and MODES.search(name)):
                if given is None:
                    yield Fault(record["name"], "modes", MISSING, f"those of {name}")
            if given is not None and not number and (kind != "string" or type(given[0]) is int):
                yield Fault(record["name"], "modes", name, "a string, or a number that names one")
    for name in left:
        yield Fault("[modes]", name, common[name], "a parameter of an operator here")


def apis(record):
    """The names of the operators that a record stands for."""
    return [record["name"], *([f"Inplace{record['name']}"] if record.get("inplace") else [])]


def _about_faults(document):
    """Texts of a file's own [about] that no parameter has."""
    names = {"selfRef"}.union(*(_parameters(record) for record in document["operator"]))
    for name in document.get("about", {}).keys() - names:
        yield Fault("[about]", name, document["about"][name], "a parameter of an operator here")


def faults_of(document):
    """The faults of one file."""
    faults = list(_fields("the file", document, DOCUMENT))
    if faults:
        return faults
    faults += _fields("[domain]", document["domain"], DOMAIN)
    for number, record in enumerate(document["operator"], 1):
        faults += _record_faults(record, number)
    return faults or [*_about_faults(document), *_mode_faults(document)]


def repeated(records):
    """Names that an earlier record has; inplace makes a name too."""
    seen = set()
    for record in records:
        for name in apis(record):
            if name in seen:
                yield Fault(record["name"], "name", name, "a name that no record has yet")
            seen.add(name)
