# SPDX-License-Identifier: Apache-2.0
"""`openaclnn list`: what there is, on one screen; the types of an operator, the operators of a topic."""

from typing import Annotated

import typer

from ..errors import ExitCode, InputError
from ..native import libraries, topics
from ..native.support import Support
from ..operators import OPERATORS
from . import completion, listing, report
from .parser import Json, hint

app = typer.Typer(add_completion=False)  # which is the whole tool's


@app.command("list", epilog="Example: openaclnn list Matmul")
def _list(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="An operator, for the types it takes; or a topic, for its operators.",
            autocompletion=completion.listed,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Print the types of all operators.")
    ] = False,
    operator: Annotated[str | None, typer.Option(metavar="NAME", hidden=True)] = None,
    product: Annotated[
        str | None,
        typer.Option(
            "--product",
            "--soc",
            metavar="NAME",
            help="Only this product, or family.",
            autocompletion=completion.products,
        ),
    ] = None,
    json: Json = False,
) -> ExitCode:
    """Print all products and operators, or the types of one operator."""
    if operator is not None:
        hint(f"openaclnn list --operator {operator}", f"openaclnn list {operator}")
        name = name or operator
    if every and name is not None:
        raise InputError(f"{name} is given, expected a name or --all")
    kit = libraries.load()
    support = kit.support
    if product is not None:
        support = support.only_product(product)
    found = topics.read(kit.home)
    if product is not None:
        found = [kept for each in found if (kept := each.only(support.taken)).operators]
    topic = next((each for each in found if each.name == name), None)
    if topic is not None:
        support = support.only(topic.operators)
    elif name is not None:
        apis = {each.name: each.function.api for each in OPERATORS}
        support = _one(support, apis.get(name, name), found)
    if json:
        report.json_document(listing.document(support, found))
    elif topic is not None:
        listing.print_topic(topic)
    elif name is None and not every:
        listing.print_overview(support, found)
    else:
        with report.paged() as console:
            listing.print_support(support, console)
    return ExitCode.OK


def _one(support: Support, name: str, known: list[topics.Topic]) -> Support:
    """The operator of that name; for one that is none the topics are named, too."""
    try:
        return support.only_operator(name)
    except InputError as error:
        named = ", ".join(each.name for each in known)
        raise InputError(f"{error}; topics are {named}") from None
