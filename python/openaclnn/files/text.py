# SPDX-License-Identifier: Apache-2.0
"""Token indices and paragraphs from a text.

A word is a run of letters, digits and underscores, apostrophes inside it included; case is
ignored. Of Chinese and Japanese, which set no spaces, each character is one. Words are numbered by
how often they occur, the most frequent 0, equally frequent ones in the order in which they first
occur. A vocabulary that is capped at V keeps the V - 1 most frequent words; all the others share
the last number. A paragraph is what lies between blank lines, or begins with an ideographic space,
and has words. Files are in UTF-8 or in GBK.
"""

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError
from . import input_files

_BREAKS = re.compile(r"\n\s*\n|\n(?=\u3000)")
_ALONE = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_ALONE}]|[^\W{_ALONE}]+(?:['\u2019][^\W{_ALONE}]+)*")
_FOREIGN = r"[^\0-\x7f]"
_FEW = re.compile(  # one alone, or two with a letter before or after
    rf"(?<!{_FOREIGN})(?:{_FOREIGN}|(?<=[A-Za-z]){_FOREIGN}{{2}}|{_FOREIGN}{{2}}(?=[A-Za-z]))"
    rf"(?!{_FOREIGN})"
)


@dataclass(frozen=True)
class Text:
    """A text as token indices."""

    indices: np.ndarray  # int64, one for each word
    vocabulary: int
    paragraphs: np.ndarray  # int64, the words of each

    @classmethod
    def read(cls, path: Path, cap: int | None = None) -> "Text":
        text = cls.parse(_decoded(path, input_files.read(path, "a text")), cap)
        if not text.vocabulary:
            raise InputError(f"{path}: no words, expected a text")
        return text

    @classmethod
    def parse(cls, content: str, cap: int | None = None) -> "Text":
        found = (_WORD.findall(part) for part in _BREAKS.split(content.lower()))
        paragraphs = [part for part in found if part]
        words = [word for part in paragraphs for word in part]
        # most_common is stable, and a Counter keeps the order of first occurrence.
        rank = {word: number for number, (word, _) in enumerate(Counter(words).most_common())}
        vocabulary = len(rank) if cap is None else min(cap, len(rank))
        indices = np.fromiter((rank[word] for word in words), np.int64, len(words))
        lengths = np.fromiter(map(len, paragraphs), np.int64, len(paragraphs))
        return cls(np.minimum(indices, max(vocabulary - 1, 0)), vocabulary, lengths)

    @property
    def paragraph_ends(self) -> np.ndarray:
        return np.cumsum(self.paragraphs)

    def embedded(self, width: int) -> np.ndarray:
        """A vector for each word, float32, the same one wherever the word occurs."""
        table = np.random.default_rng(0).standard_normal((self.vocabulary, width), np.float32)
        return table[self.indices]

    def padded(self, vectors: np.ndarray, length: int, most: int) -> tuple[np.ndarray, np.ndarray]:
        """The first `length` words of the first `most` paragraphs: their vectors, zero after a
        paragraph's end, and how many there are of each."""
        lengths = np.minimum(self.paragraphs[:most], length)
        begins = self.paragraph_ends[:most] - self.paragraphs[:most]
        batch = np.zeros((len(lengths), length, *vectors.shape[1:]), vectors.dtype)
        for row, begin, count in zip(batch, begins, lengths, strict=True):
            row[:count] = vectors[begin : begin + count]
        return batch, lengths


def _decoded(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        try:
            text = content.decode("gb18030")
        except UnicodeDecodeError:
            text = ""
        # Letters with accents in Latin-1 may read as GBK too, but as few in a row, and mostly as
        # characters that GB 2312 lacks. Those of traditional Chinese stand among their like.
        foreign = sum(each > "\x7f" for each in text)
        few = "".join(_FEW.findall(text))
        rare = len(few) - len(few.encode("gb2312", "ignore").decode("gb2312"))
        if foreign <= 2 * rare:
            raise InputError(
                f"{path}: byte {error.start} is not UTF-8, nor is it GBK, expected a text"
            ) from None
        return text
