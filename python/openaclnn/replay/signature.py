# SPDX-License-Identifier: Apache-2.0
"""The operators as the toolkit's headers declare them."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..errors import Error, InputError, quoted
from .capture import FILE, Capture

_KINDS = {  # what a C type is called in a captured call
    "aclTensor*": "tensor",
    "aclTensorList*": "tensor_list",
    "aclScalar*": "scalar",
    "aclScalarList*": "scalar_list",
    "aclIntArray*": "int_array",
    "aclFloatArray*": "float_array",
    "aclBoolArray*": "bool_array",
    "char*": "string",
    "bool": "bool",
    "int8_t": "int8",
    "int": "int32",
    "int32_t": "int32",
    "aclDataType": "int32",
    "int64_t": "int64",
    "uint64_t": "uint64",
    "float": "float",
    "double": "double",
}
_MOST_LISTED = 1000  # characters of a list of arguments
_PHASE_1 = re.compile(r"\b(aclnn\w+)GetWorkspaceSize\(([^;]*)\);")


@dataclass(frozen=True)
class Signature:
    """Phase 1 of an operator: the header that declares it, and its arguments but the last two."""

    header: str
    arguments: tuple[tuple[str, str], ...]  # the kind and the name of each


@lru_cache(maxsize=1)
def _declared(include: Path) -> dict[str, Signature]:
    """The operators by name."""
    return {
        api: Signature(header.name, tuple(_argument(each) for each in parameters.split(",")[:-2]))
        for header in sorted((include / "aclnnop").glob("*.h"))
        for api, parameters in _PHASE_1.findall(header.read_text("utf-8"))
    }


def _argument(parameter: str) -> tuple[str, str]:
    *ctype, name = (word for word in parameter.replace("*", "* ").split() if word != "const")
    return _KINDS.get("".join(ctype), "".join(ctype)), name


def check(capture: Capture, include: Path) -> Signature:
    """The operator's; the call is refused unless its arguments are those: C would trust them."""
    signature = _declared(include).get(capture.api)
    if signature is None:
        raise Error(f"{capture.folder}: no header in {include}/aclnnop declares {quoted(capture.api)}")
    given = tuple((each.kind, each.name) for each in capture.arguments)
    if given != signature.arguments:
        lists = (", ".join(map(" ".join, each)) for each in (given, signature.arguments))
        shown = (quoted(each, _MOST_LISTED) for each in lists)
        raise InputError(
            "{}/{}: the arguments of {} are ({}), expected ({})".format(
                capture.folder, FILE, quoted(capture.api), *shown
            )
        )
    return signature
