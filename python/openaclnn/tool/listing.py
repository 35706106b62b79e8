# SPDX-License-Identifier: Apache-2.0
"""The output of `openaclnn list`."""

import textwrap
from collections.abc import Iterable

from rich.columns import Columns
from rich.console import Console
from rich.table import Table

from ..native.support import OperandSupport, Support
from ..native.topics import Topic
from ..operators import OPERATORS
from . import report


def document(support: Support, topics: list[Topic]) -> dict:
    """The document that --json prints: products, operators and what they take, topics."""
    tables = {name: getattr(support, name) for name in ("products", "operators", "supporting")}
    known = {each.api for each in support.supporting}
    shown = [each for each in topics if known.intersection(each.operators)]
    return {**tables, "topics": {each.name: list(each.operators) for each in shown}}


def print_overview(support: Support, topics: list[Topic]) -> None:
    """One screen: products, operators with a room, topics."""
    console = report.console()
    grid = _grid()
    for family in support.families:
        grid.add_row(family, ", ".join(_products_of(family, support)))
    console.print("Products by family, for --soc and OPENACLNN_SOC:", grid)
    rooms = [each.name for each in OPERATORS if each.function.api in support.taken]
    console.print(f"\n{len(rooms)} operators for call, check and bench, by these names:")
    console.print(_columns(rooms))
    count = sum(len(each.operators) for each in topics)
    console.print(f"\n{count} supporting operators for call, by topic:")
    grid = _grid()
    widest = max((len(each.name) for each in topics), default=0)
    grid.columns[0].min_width = widest
    room = max(console.width - widest - len("    000  "), 20)
    for each in topics:
        about = textwrap.shorten(each.about, room, placeholder=" …")
        grid.add_row(each.name, f"{len(each.operators):3}  {about}")
    console.print(grid)
    console.print("\n`list TOPIC` prints a topic's operators, `list NAME` an operator's types.")


def print_topic(topic: Topic) -> None:
    """The names of its operators; the ones in place beside those that they are of."""
    console = report.console()
    console.print(f"{topic.about} See `openaclnn list NAME` and `openaclnn call NAME --help`:")
    console.print(_columns(each.removeprefix("aclnn") for each in sorted(topic.operators)))


def _grid() -> Table:
    grid = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _columns(names: Iterable[str]) -> Columns:
    return Columns(list(names), padding=(0, 2), equal=True, column_first=True)


def _products_of(family: str, support: Support) -> list[str]:
    return [name for name, its_family in support.products.items() if its_family == family]


_FAMILIES = len("A2, A3, 950")  # columns; longer lists go on in the next line


def print_support(support: Support, console: Console) -> None:
    """Prints the types that each operator takes on each family of products."""
    names = ("operator", "operand")
    grid = report.table(*names, "families", "dtypes", whole=names)
    grid.columns[2].max_width = _FAMILIES
    # One that is asked for is told as the others are.
    alone = not support.operators and len(support.supporting) == 1
    for operator in support.supporting if alone else support.operators:
        api = operator.api
        for operand in operator.named if alone else operator.operands:
            name = operand.name
            for dtypes, families in _families_by_dtypes(operand, support.families).items():
                grid.add_row(api, name, families, dtypes)
                api = name = ""
        grid.add_section()
    if grid.row_count:
        console.print(grid)
    if support.supporting and not alone:
        console.print(_supporting_table(support))
    if len(support.apis) == 1:  # whose table fits a screen so
        console.print("\n`openaclnn list` prints the products of each family.", soft_wrap=True)
        return
    products = report.table("family", "products")
    for family in support.families:
        products.add_row(family, ", ".join(_products_of(family, support)))
    console.print(products)


def _supporting_table(support: Support) -> Table:
    """Those with the same types in one row: what their tensors take, one or another."""
    rows: dict[tuple, list[str]] = {}
    for operator in support.supporting:
        dtypes = _families_by_dtypes(operator.any_operand, support.families)
        rows.setdefault(tuple(dtypes.items()), []).append(operator.api)
    title = f"{len(support.supporting)} supporting"
    grid = report.table(title, "families", "dtypes")
    # Beside the longest name a type is whole at 80 columns.
    longest = max(len(operator.api) for operator in support.supporting)
    grid.columns[0].width = max(longest + len(","), len(title))
    grid.columns[1].max_width = _FAMILIES
    for dtypes, names in rows.items():
        listed = ", ".join(sorted(names))
        for types, families in dtypes:
            grid.add_row(listed, families, types)
            listed = ""
        grid.add_section()
    return grid


def _families_by_dtypes(operand: OperandSupport, families: list[str]) -> dict[str, str]:
    """Families that take the same dtypes, under those."""
    merged: dict[str, list[str]] = {}
    for family in families:
        merged.setdefault(", ".join(operand.dtypes.get(family, ("-",))), []).append(family)
    return {dtypes: ", ".join(names) for dtypes, names in merged.items()}
