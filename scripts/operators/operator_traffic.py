# SPDX-License-Identifier: Apache-2.0
"""Which tensors of a supporting operator a call reads, and which it writes, as the record says."""

from dataclasses import dataclass

# Uses of tensors, by their role; see operator_records.py.
_READ = {"in": {"all", "part", "copied"}, "out": {"updated", "read"}}
_WRITTEN = {"in": set(), "out": {"all", "part", "updated"}}


@dataclass(frozen=True)
class Operand:
    """`how`: all of it, the part that values in memory name, if other arguments ask, or if given."""

    name: str
    how: str


def read(operator) -> list[Operand]:
    return list(_touched(operator, _READ))


def written(operator) -> list[Operand]:
    return list(_touched(operator, _WRITTEN))


def may_be_less(operator) -> bool:
    """Whether other arguments, or values in memory, may leave some of that alone."""
    return any(each.how in ("part", "asked") for each in (*read(operator), *written(operator)))


def _touched(operator, which: dict[str, set[str]]):
    for each in operator.parameters:
        uses = [use for _, use in operator.use(each)] if each.role else []
        touching = [use for use in uses if use in which[each.role]]
        if not touching:
            continue
        if len(touching) < len(uses) or which is _WRITTEN and operator.flag(each):
            how = "asked"
        elif each.optional:
            how = "given"
        else:
            how = "part" if "part" in touching else "all"
        yield Operand(each.name, how)
