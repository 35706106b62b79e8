# SPDX-License-Identifier: Apache-2.0
"""Arguments of the cells of recurrences."""

from cases import Case, Draw, fill


def _cell(d: Draw, gates: tuple[str, ...]) -> Case:
    """Rows of a state, and of gates that are four times as wide."""
    n, width = (d.whole(0 if d.style == "empty" else 1, 6, walk=128) for _ in range(2))
    given = {}
    for each in d.record.inputs:
        shape = (n, 4 * width) if each.name in gates else (n, width)
        shape = (4 * width,) if each.name.endswith("Bias") else shape
        sample = "probability" if each.name == "storage" else "tame"
        given[each.name] = d.array(shape, d.type_of(each.name), sample)
    return Case(given, "double", {each.name: d.real() for each in d.record.outputs})


def lstm_cell(d: Draw) -> Case:
    case = _cell(d, ("inputGates", "hiddenGates"))
    if d.flag():
        case.arguments |= {"inputBias": None, "hiddenBias": None}
    return case


def lstm_cell_backward(d: Draw) -> Case:
    case = _cell(d, ("storage",))
    given = {name: None for name in ("gradHy", "gradCy") if d.whole(0, 2, walk=1) == 0}
    case.arguments |= given if len(given) < 2 else {}
    return Case(fill(d, case.arguments), "double", case.outputs)
