# SPDX-License-Identifier: Apache-2.0
"""Writes CONFORMANCE.md: what the libraries export and do, and which clients were seen to run.

python3 scripts/generate_conformance.py [--check]: needs the installed libraries (`make build`),
.venv, and build/clients/results.json, which `make test-clients` and `tests/clients/run.py --try`
leave; rows of clients that it does not have stay as they are. --check changes nothing, looks at all
but those rows, and fails where the page is not current.

What a new operator or another release changes, names and numbers, stands in paragraphs and cells of
its own, without words: nothing of it is to be translated.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from openaclnn import libraries

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "CONFORMANCE.md"
RESULTS = ROOT / "build/clients/results.json"
DOCUMENTED = ROOT / "docs/documented_functions.txt"
FAMILIES = ("910", "A2", "A3", "950", "310P", "310B")
CLIENTS = "## Clients\n"

HEAD = """\
<!-- Made by scripts/generate_conformance.py: run that. -->
# Conformance

What exists and what was seen to run. [docs/errors.md](docs/errors.md) lists the error codes.

"""

CLIENT_NOTES = """
Python 3.11, Linux x86-64, with the torch that belongs to the wheel. Versions of torch-npu other
than 2.8.0.post5 and 2.9.0.post9 were tried, and nothing is promised about them. From 2.10 on the
wheel ends the process while it loads, before it calls anything here, where PyTorch is the CUDA
build, the only one for x86-64 on PyPI: both register allocator options of the same names.
`libopenaclnn_torch_keys.so`, which `openaclnn run` preloads, lets them load (not before 2.13:
PyTorch has the set of names inline).

Packages that hold ggml, llama.cpp and MindSpore are PyPI's by version and SHA-256, which
`tests/clients/ggml.py`, `llama.py` and `mindspore.py` have. MindSpore runs in PyNative mode.

After a call that is refused in its task queue torch-npu raises an error and drops the calls that
follow. Where the queue prepares the calls (`TASK_QUEUE_ENABLE=2`) it prints the words of the
refusal, and the error says "as above". With `TASK_QUEUE_ENABLE=0` or `ASCEND_LAUNCH_BLOCKING=1` the
call itself raises, and what follows runs.

"""

DIFFERENCES = """\
## Known differences from the vendor

Each operator's README lists its own under "Differs from the vendor":

"""


def listed(names):
    return ", ".join(f"`{name}`" for name in names)


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
    files = [ROOT / "src/ascendcl/unsupported.inc", *(ROOT / "src/companions").rglob("*")]
    text = "\n".join(path.read_text() for path in files if path.suffix in (".cc", ".inc"))
    names = set(re.findall(r"^(?:UNSUPPORTED(?:_NOTHING)?|REFUSED)\((\w+)\)", text, re.MULTILINE))
    hccl = (ROOT / "src/hccl/refused_api.cc").read_text()
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
                yield f"\n`lib{library}.so` {title}:\n\n{listed(readable(chosen))}.\n"
    yield "\n"


def operator_table():
    support = libraries.load().support
    yield "## Operators\n\n| operator | " + " | ".join(FAMILIES) + " |\n"
    yield "|---|" + "---|" * len(FAMILIES) + "\n"
    for operator in support.operators:
        first = operator.operands[0]
        cells = (listed(first.dtypes.get(family, ())) or "no" for family in FAMILIES)
        yield f"| `{operator.api}` (`{first.name}`) | " + " | ".join(cells) + " |\n"
    yield from supporting_tables(support)


def supporting_tables(support):
    """Those with the same products together."""
    by_products = {}
    for operator in sorted(support.supporting, key=lambda each: each.api):
        families = operator.operands[0].dtypes
        by_products.setdefault(tuple(filter(families.get, FAMILIES)), []).append(operator.api)
    yield "\nThe supporting operators are on the products that the vendor's pages list, on all where no page was\n"
    yield "found, and take the types that `openaclnn list --operator NAME` says; BFLOAT16 is on A2, A3 and 950.\n\n"
    for families, names in sorted(by_products.items(), key=lambda each: -len(each[1])):
        yield f"{', '.join(families)} ({len(names)}): {listed(names)}.\n\n"


def rows_of(page):
    """Those of the clients' table, by client."""
    table = re.search(re.escape(CLIENTS) + r".*?(?=^## )", page, re.MULTILINE | re.DOTALL)
    rows = {}
    for line in table[0].splitlines(keepends=True) if table else ():
        if line.startswith("| ") and not line.startswith("| client |"):
            rows.setdefault(line.split("|")[1].strip(" `"), []).append(line)
    return rows


def rows_seen(results):
    """The same of what was run last."""
    rows = {}
    for run in results:
        mode = listed(f"{name}={value}" for name, value in run["mode"].items()) or "as it is"
        client = f"`{run['client']}`" if run["client"].startswith("torch-npu") else run["client"]
        result = run["said"] or run["passed"]
        result = result if run["ok"] else f"**FAILED**, {result}"
        row = f"| {client} | {mode} | {result} | {', '.join(run['failed']) or 'none'} |\n"
        rows.setdefault(run["client"], []).append(row)
    return rows


def client_table(as_it_is):
    rows = rows_of(PAGE.read_text()) if PAGE.is_file() else {}
    if not as_it_is and RESULTS.is_file():
        rows |= rows_seen(json.loads(RESULTS.read_text()))
    yield CLIENTS + "\n| client | mode | tests passed, or what was seen | failed |\n|---|---|---|---|\n"
    for client in sorted(rows):
        yield from rows[client]
    yield CLIENT_NOTES


def documented():
    """Groups of functions that are documented, by their title."""
    found = {}
    for line in DOCUMENTED.read_text().splitlines():
        if line.startswith("["):
            names = found.setdefault(line.strip("[]"), [])
        elif line and not line.startswith("#"):
            names += line.split()
    return found


def absent_groups():
    """What a program that links it does not find here."""
    here = set().union(*exported().values())
    yield "## Documented, and absent here\n\n"
    yield "Of the functions that the vendor's public documentation and public clients name, beside\n"
    yield f"operators ([{DOCUMENTED.name}]({DOCUMENTED.relative_to(ROOT)})). A program that links one\n"
    yield "does not link, and one that looks it up finds nothing. How many, of how many, and which:\n"
    for title, names in documented().items():
        missing = [name for name in names if name not in here]
        names_of_them = f": {listed(missing)}" if missing else ""
        yield f"\n{title}:\n\n{len(missing)} / {len(names)}{names_of_them}.\n"
    yield "\n"


def differences():
    yield DIFFERENCES
    for readme in sorted((ROOT / "src/opapi").rglob("README.md")):
        text = readme.read_text()
        if "Differs from the vendor" in text:
            title = text.partition("\n")[0].removeprefix("# ")
            name = title if " " in title else f"`{title}`"  # of an operator
            yield f"- [{name}]({readme.relative_to(ROOT)})\n"


def main(arguments):
    check = "--check" in arguments
    clients = client_table(as_it_is=check)
    parts = (clients, operator_table(), export_tables(), absent_groups(), differences())
    text = "".join([HEAD, *(line for part in parts for line in part)])
    if not check:
        PAGE.write_text(text)
    elif PAGE.read_text() != text:
        sys.exit(
            f"generate_conformance: {PAGE.name} is not current, run scripts/generate_conformance.py"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
