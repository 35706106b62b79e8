# SPDX-License-Identifier: Apache-2.0
"""Operators x products x dtypes, as the libraries' own tables state them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from .. import dtypes, names
from ..errors import InputError, quoted


@dataclass(frozen=True)
class OperandSupport:
    """The dtypes of one operand, by product family; a family that is absent is not supported."""

    name: str
    dtypes: dict[str, tuple[str, ...]]


@dataclass(frozen=True)
class OperatorSupport:
    """The operands of one C function."""

    api: str
    operands: tuple[OperandSupport, ...]

    @property
    def any_operand(self) -> OperandSupport:
        """The dtypes that one operand or another takes, in the first one's order."""
        first, *_ = self.operands
        families = first.dtypes
        taken = {
            family: {name for each in self.named for name in each.dtypes.get(family, ())}
            for family in families
        }
        return OperandSupport(
            first.name,
            {f: tuple(each for each in families[f] if each in taken[f]) for f in families},
        )

    @property
    def named(self) -> tuple[OperandSupport, ...]:
        """The operands of a supporting operator that have dtypes of their own, or all as one."""
        return self.operands[1:] or self.operands


@dataclass(frozen=True)
class Support:
    """The whole table."""

    products: dict[str, str]  # name -> family
    operators: tuple[OperatorSupport, ...]
    supporting: tuple[OperatorSupport, ...] = ()  # what frameworks call around them

    @classmethod
    def parse(cls, document: dict) -> "Support":
        return cls(
            {each["name"]: each["family"] for each in document["products"]},
            tuple(map(_operator, document["operators"])),
            tuple(map(_operator, document.get("supporting", ()))),
        )

    @property
    def families(self) -> list[str]:
        return list(dict.fromkeys(self.products.values()))

    @property
    def apis(self) -> list[str]:
        """The C functions of all operators."""
        return [each.api for each in (*self.operators, *self.supporting)]

    @property
    def taken(self) -> frozenset[str]:
        """The operators that one of the products or another takes."""
        families = frozenset(self.families)
        every = (*self.operators, *self.supporting)
        return frozenset(each.api for each in every if families & each.any_operand.dtypes.keys())

    def only_operator(self, name: str) -> "Support":
        """The one of that name, with or without `aclnn`, in any letters' case."""
        api = names.same(name, self.apis) or name
        if api not in self.apis:
            known = ", ".join(each.api for each in self.operators)
            more = f" or {len(self.supporting)} supporting ones" if self.supporting else ""
            near = names.hint(api, self.apis)
            raise InputError(f"operator {quoted(api)} is not known, expected one of {known}{more}{near}")
        return self.only([api])

    def only(self, apis: Iterable[str]) -> "Support":
        """Those of these names."""
        kept = frozenset(apis)
        operators = tuple(each for each in self.operators if each.api in kept)
        supporting = tuple(each for each in self.supporting if each.api in kept)
        return replace(self, operators=operators, supporting=supporting)

    def products_of(self, family: str) -> list[str]:
        """The products of a family, which is named as `openaclnn list` does, in any letters' case."""
        asked = family.upper()
        return [name for name, of in self.products.items() if of.upper() == asked]

    def only_product(self, name: str) -> "Support":
        """One product, or those of a family."""
        if products := self.products_of(name):
            return replace(self, products={each: self.products[each] for each in products})
        if name not in self.products:
            known = ", ".join([*self.families, *self.products])
            near = names.hint(name, self.products)
            raise InputError(f"product {quoted(name)} is not known, expected one of {known}{near}")
        return replace(self, products={name: self.products[name]})

    def dtypes(self, api: str, operand: str) -> list[str]:
        """The dtypes that an operand may have on one product or another."""
        (operator,) = self.only_operator(api).operators
        (found,) = (each for each in operator.operands if each.name == operand)
        return list(dict.fromkeys(sum(found.dtypes.values(), ())))


def _operator(entry: dict) -> OperatorSupport:
    return OperatorSupport(entry["name"], tuple(map(_operand, entry["operands"])))


def _operand(entry: dict) -> OperandSupport:
    names = entry["dtypes"].items()
    by_family = {family: tuple(map(dtypes.name_of, acl_names)) for family, acl_names in names}
    return OperandSupport(entry["name"], by_family)
