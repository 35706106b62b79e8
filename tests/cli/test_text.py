# SPDX-License-Identifier: Apache-2.0
"""Token indices from a text."""

import numpy as np
import pytest

from openaclnn.errors import InputError
from openaclnn.text import Text


def test_words_are_numbered_by_frequency():
    text = Text.parse("The cat saw the dog; THE dog ran.")
    # the 3, dog 2, then cat, saw, ran once each, in the order of the text.
    assert text.indices.tolist() == [0, 2, 3, 0, 1, 0, 1, 4]
    assert text.indices.dtype == np.int64 and text.vocabulary == 5


def test_words():
    text = Text.parse("Don\u2019t don't _can't 'quoted' caf\u00e9-cr\u00e8me 42\r\n\x1a")
    assert text.indices.tolist() == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "cap, expected",
    [
        (9, [0, 0, 0, 1, 1, 2, 3]),
        (4, [0, 0, 0, 1, 1, 2, 3]),
        (3, [0, 0, 0, 1, 1, 2, 2]),
        (1, [0, 0, 0, 0, 0, 0, 0]),
    ],
)
def test_rare_words_share_the_last_number(cap, expected):
    text = Text.parse("a a a b b c d", cap)
    assert text.indices.tolist() == expected and text.vocabulary == expected[-1] + 1


@pytest.mark.parametrize(
    "content, message",
    [
        (b"\xff\xfe", "byte 0 is not UTF-8"),
        (b"ab\xc3", "byte 2 is not UTF-8"),
        (b" .\n", "no words"),
    ],
)
def test_unusable_text(tmp_path, content, message):
    path = tmp_path / "book.txt"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        Text.read(path)


def test_missing_text(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        Text.read(tmp_path / "none.txt")


def test_paragraphs_lie_between_blank_lines():
    text = Text.parse("\r\n\r\nA b c\r\nd\r\n \t\r\n* * *\r\n\r\nb\n\n\nc a")
    assert text.paragraphs.tolist() == [4, 1, 2] and text.paragraph_ends.tolist() == [4, 5, 7]
    assert text.indices.tolist() == [0, 1, 2, 3, 1, 2, 0]
    assert Text.parse("one\ntwo").paragraphs.tolist() == [2]


def test_a_word_has_one_vector():
    vectors = Text.parse("to be or not to be").embedded(5)
    assert vectors.shape == (6, 5) and vectors.dtype == np.float32
    assert np.array_equal(vectors[:2], vectors[4:]) and len(np.unique(vectors[:, 0])) == 4


def test_paragraphs_are_padded_or_cut():
    text = Text.parse("a b c\n\nd\n\ne f")
    batch, lengths = text.padded(np.arange(1.0, 7)[:, np.newaxis], length=2, most=2)
    assert batch[..., 0].tolist() == [[1, 2], [4, 0]] and lengths.tolist() == [2, 1]
