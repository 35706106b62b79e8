# SPDX-License-Identifier: Apache-2.0
"""Writes CONFORMANCE.md: what the libraries export and do, and which clients were seen to run.

python3 scripts/site/generate_conformance.py [--check]: needs the installed libraries (`make build`),
.venv, and build/clients/results.json, which `make test-clients` and `tests/clients/run.py --try`
leave, and the build/clients/ascend.json of `make test-clients CLIENT=ascend`; what it does not have
stays as it is. --check changes nothing, looks at all but those two, and fails where the page is not
current.

What a new operator or another release changes, names and numbers, stands in paragraphs and cells of
its own, without words: nothing of it is to be translated.
"""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import operators_path  # noqa: F401  for the modules of scripts/operators
import conformance_clients
from graph_records import read_records
from operator_records import read_topics

from openaclnn.native import libraries

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "CONFORMANCE.md"
RESULTS = ROOT / "build/clients/results.json"
SUITES_SEEN = ROOT / "build/clients/ascend.json"
DOCUMENTED = ROOT / "docs/documented_functions.txt"
CALLED = ROOT / "docs/called_operators.txt"
EXCLUDED = ROOT / "docs/excluded_operators.txt"
FAMILIES = ("910", "A2", "A3", "950", "310P", "310B")
WIDTH = 100
SUITES = "## Ascend's own tests\n"

HEAD = """\
<!-- Made by scripts/site/generate_conformance.py: run that. -->
# Conformance

This page lists what openaclnn implements and which clients ran with it. [docs/errors.md](docs/errors.md)
lists the error codes.

"""

CLIENT_NOTES = """
These clients ran with Python 3.11 on Linux x86-64. Each torch-npu ran with the torch that belongs to it.
Rows without a product are the unchanged wheel, with nothing preloaded.

The versions 2.8.0.post5 and 2.9.0.post9 of torch-npu are supported. The others were tried, and nothing
is promised about them. From 2.10 on, torch-npu ends the process while it loads beside PyTorch's CUDA
build, because both register allocator options of the same names. This happens before torch-npu calls
openaclnn. PyPI has no other build for x86-64. From 2.13 on, `openaclnn run` prevents it: it preloads
`libopenaclnn_torch_keys.so`. Nothing prevents it for 2.10 to 2.12.

ggml, llama.cpp and MindSpore are packages of PyPI. `tests/clients/ggml.py`, `llama.py` and
`mindspore.py` name their versions and SHA-256. MindSpore ran in PyNative mode.

If a call is refused in torch-npu's task queue, torch-npu raises an error and drops the calls that
follow. With `TASK_QUEUE_ENABLE=2` it prints the message of the refusal, and the error says "as above".
With `TASK_QUEUE_ENABLE=0` or `ASCEND_LAUNCH_BLOCKING=1` the call itself raises, and the calls that
follow run.

"""

SUITES_NOTES = """
`make test-clients CLIENT=ascend` runs the unchanged tests of torch-npu and op-plugin on the wheel that
was built from the same commits. Ascend's own list of disabled tests applies. The table has the causes
of failures with their number of tests, and the operators, functions or types that the tests ask for.
The table is of the last whole run. Operators that were added since still stand in it:

"""

CALLED_NOTES = """\
## Operators that clients look up, and absent here

torch-npu and MindSpore look operators up by their names. [called_operators.txt](docs/called_operators.txt)
has the names that their packages contain. An operator that is absent here is no symbol of `libopapi.so`.
torch-npu then reports that name.

"""

DIFFERENCES = """\
## Known differences from the vendor

Each operator's README lists its own under "Differs from the vendor":

"""


def listed(names):
    return ", ".join(f"`{name}`" for name in names)


@cache
def exported():
    """The functions of each installed library, without those for its sisters and its own tools."""
    found = {}
    for path in sorted((libraries.find() / "lib64").glob("lib*.so")):
        library = path.name.removeprefix("lib").removesuffix(".so")
        # A link is another name for one of them; ours stand before functions of others.
        if path.is_symlink() or library.startswith("openaclnn_"):
            continue
        listed = subprocess.run(
            ["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True
        )
        names = (line.split()[-1] for line in listed.stdout.splitlines())
        kept = (name for name in names if not name.startswith("openaclnn_"))
        found[library] = sorted(kept, key=str.lower)
    return found


def refusing(functions):
    """The functions that only refuse."""
    files = [ROOT / "src/ascendcl/api/unsupported.inc", *(ROOT / "src/companions").rglob("*")]
    text = "\n".join(path.read_text() for path in files if path.suffix in (".cc", ".inc"))
    names = set(re.findall(r"^(?:UNSUPPORTED(?:_NOTHING|_ON_STREAM)?|REFUSED)\((\w+)", text, re.MULTILINE))
    hccl = (ROOT / "src/hccl/api/refused.cc").read_text()
    names |= set(re.findall(r"^REFUSE\((\w+)\)", hccl, re.MULTILINE))
    # Ways to a communicator other than by a root info.
    names |= {"HcclCommInitClusterInfo", "HcclCommInitClusterInfoConfig", "HcclCreateSubCommConfig"}
    return names.union(functions["atb"])


def readable(names):
    """C++ functions by their names, overloads once."""
    command = ["c++filt", "--no-params"]
    run = subprocess.run(command, input="\n".join(names), capture_output=True, text=True, check=True)
    return list(dict.fromkeys(run.stdout.split("\n")))


def export_tables():
    functions = exported()
    refused = refusing(functions) | {"aclDumpOpTensors"}  # of another library than the table's
    yield "## Exported functions\n\n| library | does | refuses (207000; HCCL: 5; C++: an exception) |\n|---|---|---|\n"
    for library, names in functions.items():
        done = [name for name in names if name not in refused]
        yield f"| `lib{library}.so` | {len(done)} | {len(names) - len(done)} |\n"
    for library, names in functions.items():
        for title, chosen in (
            ("does", [name for name in names if name not in refused]),
            ("refuses", [name for name in names if name in refused]),
        ):
            if chosen and library != "opapi":
                yield f"\n`lib{library}.so` {title}:\n\n{paragraph(readable(chosen))}.\n"
    yield "\n"


def operator_table():
    support = libraries.load().support
    yield "## Operators\n\nThese operators refuse what the vendor's documentation refuses:\n\n"
    yield "| operator | operand | products | types |\n|---|---|---|---|\n"
    for operator in support.operators:
        first = operator.operands[0]
        name = f"`{operator.api}`"
        for types, products in grouped((first.dtypes.get(family, ()), family) for family in FAMILIES):
            cells = (name, f"`{first.name}`" if name else "", ", ".join(products), listed(types) or "no")
            yield f"| {' | '.join(cells)} |\n"
            name = ""
    yield from supporting_tables(support)


def grouped(pairs):
    """The second of each pair, by the first, in their order."""
    groups = {}
    for first, second in pairs:
        groups.setdefault(first, []).append(second)
    return groups.items()


SUPPORTING = """
### Supporting operators

Frameworks use these operators too. An operator is on the products that the vendor's page lists, or on
all products if no page was found. `openaclnn list NAME` prints the types that it takes.
BFLOAT16 is on A2, A3 and 950. Each family is a folder of
[src/opapi/supporting](src/opapi/supporting/README.md).

"""


def supporting_tables(support):
    """How many there are for each set of products, and all by their families."""
    families = {each.api: topic.name for topic in read_topics() for each in topic.operators}
    by_api = {each.api: products(each) for each in support.supporting}
    yield SUPPORTING + "| products | operators |\n|---|---|\n"
    counted = grouped((by_api[api], api) for api in sorted(by_api))
    for named, apis in sorted(counted, key=lambda each: -len(each[1])):
        yield f"| {named} | {len(apis)} |\n"
    yield "\n| family | products | operators |\n|---|---|---|\n"
    rows = grouped(((families[api], by_api[api]), api) for api in sorted(by_api))
    before = ""
    for (family, named), apis in sorted(rows, key=lambda each: (each[0][0], -len(each[1]))):
        for part in folded(apis):
            yield f"| {'' if family == before else f'`{family}`'} | {named} | {part} |\n"
            before, named = family, ""
    yield "\n"


def products(operator):
    return ", ".join(filter(operator.operands[0].dtypes.get, FAMILIES))


def folded(names):
    """The names in lines of a width that can be read."""
    line = ""
    for name in names:
        longer = f"{line}, `{name}`" if line else f"`{name}`"
        if line and len(longer) > WIDTH:
            yield line
            longer = f"`{name}`"
        line = longer
    if line:
        yield line


def paragraph(names):
    return ",\n".join(folded(names))


def client_table(as_it_is):
    runs = conformance_clients.read(PAGE.read_text()) if PAGE.is_file() else []
    if not as_it_is and RESULTS.is_file():
        runs = conformance_clients.merged(runs, json.loads(RESULTS.read_text()))
    clients, database, rest = conformance_clients.tables(runs).partition(
        f"\n{conformance_clients.DATABASE}"
    )
    yield clients + CLIENT_NOTES + (f"{database.strip()}\n{rest}\n" if rest else "")


def cause_table(as_it_is):
    page = PAGE.read_text() if PAGE.is_file() else ""
    if as_it_is or not SUITES_SEEN.is_file():
        kept = re.search(re.escape(SUITES) + r".*?(?=^## )", page, re.MULTILINE | re.DOTALL)
        yield kept[0] if kept else ""
        return
    yield SUITES + SUITES_NOTES + "| cause | tests | which |\n|---|---|---|\n"
    for each in json.loads(SUITES_SEEN.read_text()):
        which = ", ".join(f"`{name}` {count}" for name, count in each["which"].items())
        yield f"| {each['cause']} | {len(each['tests'])} | {which or 'none'} |\n"
    yield "\n"


def sections(file):
    """The names of each section, by its title."""
    found = {}
    for line in file.read_text().splitlines():
        if line.startswith("["):
            names = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            names += line.split()
    return found


def graph_operators():
    """The operators that have a graph name here."""
    yield "## Operators by their graph names\n\n"
    yield "`aclopCompileAndExecute` runs these operators, by calls of `libopapi.so`:\n\n"
    yield f"{paragraph([each.name for each in read_records()])}.\n\n"


def absent_groups():
    """The functions that a program may link and that are absent here."""
    here = set().union(*exported().values())
    yield "## Documented, and absent here\n\n"
    yield f"[{DOCUMENTED.name}]({DOCUMENTED.relative_to(ROOT)}) lists the functions, apart from operators, that\n"
    yield "the vendor's public documentation and public clients name. Some are absent here. A program that\n"
    yield "links such a function does not link. A program that looks it up finds nothing.\n\n"
    groups = {
        title: (len(names), [name for name in names if name not in here])
        for title, names in sections(DOCUMENTED).items()
    }
    yield "| functions | documented | absent |\n|---|---|---|\n"
    for title, (count, missing) in groups.items():
        yield f"| {title} | {count} | {len(missing)} |\n"
    for title, (_, missing) in groups.items():
        if missing:
            yield f"\n{title}:\n\n{paragraph(missing)}.\n"
    yield "\n"


def absent_operators():
    """Those that clients look up by name and that are absent here."""
    here = set().union(*exported().values())
    called = {title: set(names) for title, names in sections(CALLED).items()}
    excluded = sections(EXCLUDED)
    reasoned = set().union(*excluded.values())
    if wrong := reasoned & here | reasoned - set().union(*called.values()):
        sys.exit(f"generate_conformance: {EXCLUDED.name} has {sorted(wrong)}, expected absent operators")
    yield CALLED_NOTES + "| client | looks up | absent |\n|---|---|---|\n"
    for client in dict.fromkeys(each for title in called for each in title.split(", ")):
        names = set().union(*(has for title, has in called.items() if client in title.split(", ")))
        yield f"| {client} | {len(names)} | {len(names - here)} |\n"
    for reason, names in excluded.items():
        yield f"\n{reason}:\n\n{paragraph(names)}.\n"
    for clients, names in called.items():
        if left := sorted(names - here - reasoned):
            yield f"\nNot written yet; looked up by {clients}:\n\n{paragraph(left)}.\n"
    yield "\n"


def differences():
    yield DIFFERENCES
    for readme in sorted((ROOT / "src/opapi").rglob("README.md")):
        text = readme.read_text()
        if re.search(r"Differ(?:s|ences) from the vendor", text):
            title = text.partition("\n")[0].removeprefix("# ")
            name = title if " " in title else f"`{title}`"  # of an operator
            yield f"- [{name}]({readme.relative_to(ROOT)})\n"


def main(arguments):
    check = "--check" in arguments
    seen = (client_table(as_it_is=check), cause_table(as_it_is=check))
    parts = (*seen, operator_table(), export_tables())
    parts += (graph_operators(), absent_operators(), absent_groups(), differences())
    text = "".join([HEAD, *(line for part in parts for line in part)])
    if not check:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(
            f"generate_conformance: {PAGE.name} is not current, run scripts/site/generate_conformance.py"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
