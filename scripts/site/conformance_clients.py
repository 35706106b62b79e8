# SPDX-License-Identifier: Apache-2.0
"""The clients in CONFORMANCE.md: what was seen of each, as tables, and read back from them.

A client that the last runs did not have keeps what the page says of it, so the tables are read
before they are written. What a run is, tests/clients/run.py says: client, mode (the variables of the
environment), ok, passed, failed and said.
"""

import re

BEGIN = "## Clients\n"
_HEAD = "| client | product | settings | tests passed, or what was seen | failed |\n|---|---|---|---|---|\n"
DATABASE = "### PyTorch's operator database\n"
_DATABASE_NOTES = """
`make test-clients CLIENT=opinfo` calls every operator and module of the database on the NPU and on the
CPU. The numbers count operators, or modules, by their worst result:

| result | meaning |
|---|---|
| native | it runs here, and is equal to the CPU within rounding |
| fallback | torch-npu runs it on the CPU |
| refused | the libraries refuse it by an error code |
| unsupported | torch-npu refuses it before it calls the libraries |
| random | it runs here, and the CPU itself gives other numbers with another seed |
| differs | it gives other numbers than the CPU, for a reason that `tests/clients/opinfo.py` names |
| missing | the libraries lack a function that torch-npu looks for |
| accepts | a documented mistake raises no exception, though it does on the CPU |

"""
_RESULTS = ("native", "fallback", "refused", "unsupported", "random", "differs", "missing", "accepts")
_PART = re.compile(r"PyTorch (\S+)'s operator database on torch-npu (\S+): (.*)")
_PRODUCT = "OPENACLNN_SOC"
_FAILED = "**FAILED**, "


def _code(names) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _cells(line: str) -> list[str]:
    return [each.strip() for each in line.strip().strip("|").split("|")]


def _named(cell: str) -> list[str]:
    return re.findall(r"`([^`]*)`", cell)


def read(page: str) -> list[dict]:
    """The runs that a page's tables hold."""
    section = page.partition(BEGIN)[2].partition("\n## ")[0]
    clients, _, database = section.partition(DATABASE)
    runs = [_client(_cells(line)) for line in clients.splitlines() if line.startswith("| ")]
    versions: list[str] = []
    for line in database.splitlines():
        if line.startswith("`torch=="):
            versions = _named(line)
        elif line.startswith("| ") and versions:  # what stands before them are the results' meanings
            runs.append(_part(_cells(line), versions))
    return [each for each in runs if each]


def _client(cells: list[str]) -> dict:
    client, product, settings, result, failed = cells
    if client == "client":
        return {}
    mode = dict(each.split("=", 1) for each in _named(settings))
    if product:
        mode = {_PRODUCT: product.strip("`"), **mode}
    ok = not result.startswith(_FAILED)
    return {
        "client": client.strip("`"),
        "mode": mode,
        "ok": ok,
        "passed": 0,
        "failed": [] if failed == "none" else failed.split(", "),
        "said": result.removeprefix(_FAILED),
    }


def _part(cells: list[str], versions: list[str]) -> dict:
    part, *counts, failed = cells
    if part == "part":
        return {}
    torch, npu, *mode = versions
    said = (f"{count} {name}" for count, name in zip(counts, _RESULTS, strict=True) if count != "0")
    name = f"PyTorch {torch.partition('==')[2]}'s operator database on torch-npu {npu.partition('==')[2]}"
    return {
        "client": f"{name}: {part}",
        "mode": dict(each.split("=", 1) for each in mode),
        "ok": True,
        "passed": 0,
        "failed": [] if failed == "none" else failed.split(", "),
        "said": ", ".join(said),
    }


def merged(before: list[dict], seen: list[dict]) -> list[dict]:
    """The rows that were seen in place of the known rows of the same clients, by the clients'
    names."""
    new = {each["client"] for each in seen}
    runs = [each for each in before if each["client"] not in new] + seen
    return sorted(runs, key=lambda each: each["client"])


def tables(runs: list[dict]) -> str:
    """The clients, and PyTorch's operator database as a table of its own for each mode."""
    lines, parts = [BEGIN, "\n", _HEAD], {}
    for run in runs:
        match = _PART.match(run["client"])
        if match and run["ok"]:
            versions = (f"torch=={match[1]}", f"torch-npu=={match[2]}")
            mode = (*versions, *(f"{name}={value}" for name, value in run["mode"].items()))
            parts.setdefault(mode, []).append((match[3], run))
        else:
            lines.append(_client_row(run))
    if parts:
        lines += ["\n", DATABASE, _DATABASE_NOTES]
    for mode, rows in parts.items():
        lines.append(f"{_code(mode)}:\n\n| part | {' | '.join(_RESULTS)} | failed |\n")
        lines.append(f"|---|{'---|' * len(_RESULTS)}---|\n")
        lines += [_part_row(part, run) for part, run in rows]
    return "".join(lines)


def _client_row(run: dict) -> str:
    mode = dict(run["mode"])
    product = mode.pop(_PRODUCT, "")
    settings = _code(f"{name}={value}" for name, value in mode.items())
    client = f"`{run['client']}`" if run["client"].startswith("torch-npu") else run["client"]
    result = str(run["said"] or run["passed"])
    result = result if run["ok"] else _FAILED + result
    named = f"`{product}`" if product else ""
    return f"| {client} | {named} | {settings} | {result} | {_failed(run)} |\n"


def _part_row(part: str, run: dict) -> str:
    counts = {name: count for count, name in re.findall(r"(\d+) (\w+)", run["said"])}
    if unknown := counts.keys() - set(_RESULTS):
        raise SystemExit(f"conformance_clients: {run['client']} counts {', '.join(sorted(unknown))}")
    shown = " | ".join(counts.get(name, "0") for name in _RESULTS)
    return f"| {part} | {shown} | {_failed(run)} |\n"


def _failed(run: dict) -> str:
    return ", ".join(run["failed"]) or "none"
