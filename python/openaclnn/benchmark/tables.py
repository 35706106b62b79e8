# SPDX-License-Identifier: Apache-2.0
"""A run of the benchmark as Markdown."""

from collections.abc import Iterable

from .cells import calls, is_slow, marked, number, ratio, seconds, section, table
from .list_tables import of_drawn, of_walk
from .row import OURS, SECOND_PHASE

_LEAST_SHARE = 0.85  # of the roof, where memory limits
_LARGE = 32 << 20  # bytes: of rows for which that is wanted
_ROOFS = "read write write_streaming copy copy_streaming triad triad_streaming".split()


def markdown(found: dict) -> str:
    parts = [
        "# openaclnn bench",
        *_about(found),
        *(section("The roofs", _roofs(found["roofs"])) if found["roofs"] else ()),
        *section("Geometric means", _means(found["means"])),
    ]
    if found["rows"]:
        parts += section("Rows below a target", _below(found["rows"]))
    for operator in dict.fromkeys(row["operator"] for row in found["rows"]):
        rows = [row for row in found["rows"] if row["operator"] == operator]
        parts += section(operator, _operator(rows))
    parts += of_walk(found["walk"]) + of_drawn(found["drawn"])
    if found["supporting"]:
        slow = (row for row in found["supporting"] if row["state"] == "cold" and is_slow(row))
        parts += section("Calls less than half as fast", calls(slow))
        parts += section("Calls of frameworks, NPU beside CPU", calls(found["supporting"]))
    return "\n\n".join(parts) + "\n"


def _about(found: dict) -> Iterable[str]:
    machine = found["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in found["versions"].items())
    yield (
        f"{machine['processor']}, {machine['processors']} processors, {machine['architecture']}; "
        f"{versions}; commit {found['commit'] or 'unknown'}; {found['started']}."
    )
    rows = [row for part in ("rows", "supporting", "walk", "drawn") for row in found[part]]
    counting = sum(row["counts"] for row in rows)
    yield f"{counting} of {len(rows)} rows count; the others have a (!), and the JSON says why."
    if found["quiet"]["quick"]:
        yield "A quick run: its figures say nothing."
    for each in found["missing"]:
        yield f"Missing: {each['peer']} ({each['why']})."
    for each in found["refused"]:
        yield f"Refused: {each['call']} of {each['dtype']} ({each['why']})."
    for each in found["failed"]:
        yield f"FAILED: {each['what']} on {each['threads']} threads ended with {each['code']}."


def _roofs(roofs: list[dict]) -> str:
    columns = ", ".join(["threads", *(f"{each} GB/s".replace("_", " ") for each in _ROOFS)])
    rows = (
        [
            str(each["threads"]),
            *(number(each[name]) for name in _ROOFS),
            number(each["multiply_add"]),
            number(each["dot_product_bfloat16"]),
        ]
        for each in roofs
    )
    return table(f"{columns}, FMA GFLOP/s, bfloat16 dot product GFLOP/s", rows)


def _means(means: list[dict]) -> str:
    rows = (
        [
            each["operator"],
            each["state"],
            str(each["rows"]),
            number(each["mean"]),
            number(each["target"]),
        ]
        for each in means
    )
    return table("operator, caches, rows, fastest peer / ours, target", rows)


def _below(rows: list[dict]) -> str:
    """Rows with cold caches in which a peer is ahead, or which leave much of the roof."""
    found = [
        [
            row["operator"],
            row["case"],
            row["dtype"],
            str(row["threads"]),
            row["fastest_peer"] or "none",
            f"{row['ratio']['value']:.2f}" if row["ratio"] else "",
            _share(row),
        ]
        for row in rows
        if row["state"] == "cold" and row["counts"] and (_is_behind(row) or _is_far(row))
    ]
    return table("operator, shape, type, threads, fastest peer, ratio, of the roof", found)


def _is_behind(row: dict) -> bool:
    return bool(row["ratio"]) and row["ratio"]["value"] < 1


def _is_far(row: dict) -> bool:
    """From the roof of memory, with too many bytes for a cache."""
    share = row.get("roof_share")
    large = row["read_bytes"] + row["write_bytes"] >= _LARGE and row.get("roof_limit") == "memory"
    return large and share is not None and share < _LEAST_SHARE


def _operator(rows: list[dict]) -> str:
    columns = (
        "shape, type, threads, caches, ours, second phase, of the roof, "
        "fastest peer, its time, ratio, spread of the ratio, workspace"
    )
    return table(columns, (_row(row) for row in rows))


def _row(row: dict) -> list[str]:
    fastest = row["fastest_peer"]
    return [
        marked(row, row["case"]),
        row["dtype"],
        str(row["threads"]),
        row["state"],
        seconds(row["times"][OURS]),
        seconds(row["times"][SECOND_PHASE]),
        _share(row),
        fastest or "none",
        seconds(row["times"][fastest]) if fastest else "",
        *ratio(row),
        f"{row['workspace_bytes']} bytes",
    ]


def _share(row: dict) -> str:
    """The share of the roof, and the GB/s that it read meanwhile."""
    if "roof_share" not in row:
        return ""
    share = "" if row["roof_share"] is None else f"{row['roof_share']:.0%}"
    return f"{share}, {row['roof_limit']}, {number(row['roof_read']['median'])} GB/s"
