# SPDX-License-Identifier: Apache-2.0
"""Suggestions for a name that is not known."""

import difflib
from collections.abc import Iterable

from .errors import quoted

_MOST = 3
_LONGEST = 200  # letters; longer ones are no names that somebody mistyped


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Those of `known` that `name` may stand for, the likeliest first.

    `add`, `Add` and `aclnn_add` are all near `aclnnAdd`, and a beginning is near what it begins.
    """
    plain: dict[str, str] = {_plain(each): each for each in reversed(list(known))}
    asked = _plain(name)
    if len(asked) > _LONGEST:
        return []
    if asked in plain:
        return [plain[asked]]
    near = difflib.get_close_matches(asked, plain, n=_MOST, cutoff=0.7)
    near += sorted((each for each in plain if asked and each.startswith(asked)), key=len)
    return [plain[each] for each in dict.fromkeys(near)][:_MOST]


def same(name: str, known: Iterable[str]) -> str | None:
    """The one of `known` that differs by letters' case, `_`, `-` and a leading `aclnn` alone."""
    known = list(known)
    if name in known:
        return name
    found = [each for each in known if _plain(each) == _plain(name)]
    return found[0] if len(found) == 1 else None


def hint(name: str, known: Iterable[str]) -> str:
    """The nearest names as the end of a message, or nothing."""
    found = nearest(name, known)
    return f"; did you mean {' or '.join(map(quoted, found))}?" if found else ""


def _plain(name: str) -> str:
    return name.lower().removeprefix("aclnn").replace("_", "").replace("-", "")
