# SPDX-License-Identifier: Apache-2.0
"""Token indices from a text."""

import numpy as np
import pytest

from openaclnn.errors import InputError
from openaclnn.files.text import Text


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


def test_each_chinese_character_is_a_word():
    text = Text.parse("昇腾，处理器。昇腾 NPU跑model；处理")
    # 昇 腾 处 理 twice, then 器 NPU 跑 model.
    assert text.indices.tolist() == [0, 1, 2, 3, 4, 0, 1, 5, 6, 7, 2, 3]
    assert Text.parse("カタかな 々\U00020000x").indices.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_chinese_paragraphs_begin_with_an_ideographic_space():
    assert Text.parse("题目\n\u3000\u3000第一段。\n\u3000\u3000第二段落。").paragraphs.tolist() == [2, 3, 4]


CHINESE = "\u3000\u3000话说天下大势，分久必合，合久必分。"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gbk", "gb18030"])
def test_encodings_of_chinese(tmp_path, encoding):
    path = tmp_path / "book.txt"
    path.write_bytes(CHINESE.encode(encoding))
    text = Text.read(path)
    assert text.indices.tolist() == Text.parse(CHINESE).indices.tolist() and len(text.indices) == 14


def test_traditional_chinese(tmp_path):
    content = "國會議員說話聲極響，電腦開機後顯示運算結果。NPU 與 CPU"
    path = tmp_path / "book.txt"
    path.write_bytes(content.encode("gbk"))
    assert Text.read(path).indices.tolist() == Text.parse(content).indices.tolist()


@pytest.mark.parametrize(
    "content, place",
    [
        ("un \xe9l\xe8ve fran\xe7ais", 3),
        ("\xe9l\xe8ve", 0),
        ("\xfcber sch\xf6ne M\xe4dchen, Gr\xf6\xdfe, nat\xfcrlich f\xfcr K\xf6ln", 0),
        ("ni\xf1o, a\xf1o, ma\xf1ana, coraz\xf3n", 2),
    ],
)
def test_latin_1_is_not_taken_for_gbk(tmp_path, content, place):
    path = tmp_path / "book.txt"
    path.write_bytes(content.encode("latin-1"))
    path.read_bytes().decode("gb18030")  # it might be
    with pytest.raises(InputError, match=f"byte {place} is not UTF-8, nor is it GBK"):
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
