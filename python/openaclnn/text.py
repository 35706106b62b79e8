# SPDX-License-Identifier: Apache-2.0
"""Token indices from a text.

A word is a run of letters, digits and underscores, apostrophes inside it included; case is
ignored. Words are numbered by how often they occur, the most frequent 0, equally frequent ones in
the order in which they first occur. A vocabulary that is capped at V keeps the V - 1 most frequent
words; all the others share the last number.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .errors import InputError

_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")


@dataclass(frozen=True)
class Text:
    """A text as token indices."""

    indices: np.ndarray  # int64, one for each word
    vocabulary: int

    @classmethod
    def read(cls, path: Path, cap: int | None = None) -> "Text":
        try:
            content = path.read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}, expected a text") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{path}: byte {error.start} is not UTF-8, expected a text") from None
        text = cls.parse(content, cap)
        if not text.vocabulary:
            raise InputError(f"{path}: no words, expected a text")
        return text

    @classmethod
    def parse(cls, content: str, cap: int | None = None) -> "Text":
        words = _WORD.findall(content.lower())
        # most_common is stable, and a Counter keeps the order of first occurrence.
        rank = {word: number for number, (word, _) in enumerate(Counter(words).most_common())}
        vocabulary = len(rank) if cap is None else min(cap, len(rank))
        indices = np.fromiter((rank[word] for word in words), np.int64, len(words))
        return cls(np.minimum(indices, max(vocabulary - 1, 0)), vocabulary)
