# SPDX-License-Identifier: Apache-2.0
"""Checks pages of operators that are records, and of the vendor's pages."""

import dataclasses
import re

import pytest
import runtime_pages
import supporting_pages
from operator_records import read_topics
from supporting_pages import Words

(ACTIVATION,) = [topic for topic in read_topics() if topic.name == "activation"]


def section(**changed) -> str:
    """The page's part of an operator whose record is changed so."""
    gelu = next(each for each in ACTIVATION.operators if each.api == "aclnnGelu")
    record = {key: value for key, value in gelu.record.items() if key not in ("page", "url")}
    return supporting_pages.operator(
        dataclasses.replace(gelu, record={**record, **changed}), ACTIVATION.about, Words()
    )


ADDRESS = "https://a.example/zh/canncommercial/83RC1/API/aolapi/context/aclnnGelu.md"


def test_a_record_s_page_of_the_vendor_is_named():
    said = section(page="aclnnGelu, CANN 8.5", url=ADDRESS)
    follows = f"Follows the vendor's page [aclnnGelu]({ADDRESS}), CANN 8.5."
    assert f"{follows} The link leads to that of CANN 8.3.RC1.\n" in said


def test_an_address_that_is_not_known_is_said_so():
    said = section(page="aclnnGelu, CANN 8.5")
    assert "Follows the vendor's page aclnnGelu, CANN 8.5. Its address is not known.\n" in said


@pytest.mark.parametrize(
    ("folder", "version"),
    [
        ("canncommercial/800", "8.0.0"),
        ("canncommercial/80RC3", "8.0.RC3"),
        ("CANNCommunityEdition/83RC1alpha002", "8.3.RC1.alpha002"),
        ("CANNCommunityEdition/800alpha001", "8.0.0.alpha001"),
    ],
)
def test_the_version_of_an_address(folder, version):
    assert supporting_pages.cann_version(f"https://a.example/zh/{folder}/apiref/a.md") == version


def test_every_address_has_a_version():
    records = [each.record for topic in read_topics() for each in topic.operators]
    for address in (record["url"] for record in records if "url" in record):
        assert re.fullmatch(r"[89](\.\w+)+", supporting_pages.cann_version(address)), address


def test_types_are_those_of_tensors():
    def types_of(given):
        return supporting_pages.types_of(given, Words())

    assert types_of(["BF16", "DOUBLE"]) == "BFLOAT16, DOUBLE; BFLOAT16 on A2, A3 and 950"
    assert types_of(["INT8"]) == "INT8"
    assert "Types: FLOAT, FLOAT16, BFLOAT16 and DOUBLE; " in section(types="real")


def test_a_record_without_one_names_none():
    assert "vendor" not in section()


@pytest.mark.parametrize("header", runtime_pages.VENDOR)
def test_a_header_s_page_of_the_vendor_is_named(header):
    page = runtime_pages.pages()[runtime_pages.page_of(header)]
    link = r"\[(\w+)\]\(https://www\.hiascend\.com/\S+\), CANN \d\.\d(?:\.RC\d)?, and"
    name = re.search(link, page)[1]
    assert re.search(rf"^### .*\b{name}\b", page, re.M), "the page is of something else"


OPERATORS = {each.api: (each, topic.about) for topic in read_topics() for each in topic.operators}


def performance(api: str, example=None) -> str:
    each, about = OPERATORS[api]
    return supporting_pages.performance(each, about | each.record.get("about", {}), Words(), example)


@dataclasses.dataclass
class Counted:
    """An example."""

    bytes_read: int = 24
    bytes_written: int = 12
    markdown: str = ""


def test_an_operator_s_figures_are_those_of_the_calls_that_make_it():
    assert "(/docs/figures/README.md#calls-of-frameworks-npu-beside-cpu), as a part of `softmax`, " in (
        performance("aclnnSoftmax")
    )
    not_measured = "Not measured: no call that `openaclnn bench` times makes it."
    assert performance("aclnnErfinv").endswith(not_measured)


@pytest.mark.parametrize(
    ("api", "said"),
    [
        ("aclnnErfinv", "reads `self` and writes `out` (24 and 12 bytes in the example)"),
        ("aclnnInplaceErfinv", "reads `selfRef` and writes `selfRef` (24 and 12 bytes in the example)"),
        ("aclnnEye", "writes `out` (24 and 12 bytes in the example)"),
        ("aclnnMaskedSelect", "reads `self` in part, `mask` and writes `out` in part (at most 24 and 12 "
         "bytes in the example)"),
        ("aclnnInplaceMaskedFillScalar", "reads `mask` and writes `selfRef` in part (at most 24 and 12 "
         "bytes in the example)"),
        ("aclnnSvd", "reads `input` and writes `sigma`, `u` if it is given, `v` if it is given (24 and "
         "12 bytes in the example)"),
        ("aclnnUnique2", "reads `self` and writes `valueOut` in part, `inverseOut` where other arguments "
         "ask for it, `countsOut` where other arguments ask for it (at most 24 and 12 bytes in the "
         "example)"),
    ],
)  # fmt: skip
def test_what_a_call_reads_and_writes(api, said):
    assert performance(api, Counted()).startswith(f"Performance: {said}. ")


def test_what_must_be_left_out_is_not_read():
    said = performance("aclnnFlashAttentionScoreV4")
    assert "`key`" in said and "dScale" not in said and "bytes" not in said


def test_every_call_whose_operators_are_named_has_figures():
    figures = (supporting_pages.ROOT / "docs/figures/README.md").read_text("utf-8")
    table = figures.partition("## Calls of frameworks, NPU beside CPU")[2]
    measured = set(re.findall(r"^\| (.+?)(?: \(!\))? \| \w+ \| \d", table, re.M))
    page = (supporting_pages.ROOT / "docs/performance.md").read_text("utf-8")
    later = page.partition("### Attention, convolutions and pools")[2].partition("\n### ")[0]
    measured |= set(re.findall(r"^\| `(.+?)` \|", later, re.M))
    assert {call for calls in supporting_pages.calls().values() for call in calls} == measured


def test_all_that_pages_share_is_in_chinese():
    words = Words()
    supporting_pages.pages(words, dict.fromkeys(OPERATORS, Counted()))
    chinese = supporting_pages.catalogue()
    assert sorted(words.asked - chinese.keys() - set(own_texts())) == [], "has no Chinese"
    assert sorted(chinese.keys() - words.asked) == [], "is in no page"


def test_every_parameter_has_a_meaning():
    pages = supporting_pages.pages(Words(), {})
    assert [name for name, page in pages.items() if "|  |\n" in page] == []


def own_texts():
    """Texts that operators have each for itself: a new one needs no Chinese."""
    for each in (each.record for topic in read_topics() for each in topic.operators):
        yield each.get("page", "").partition(", ")[2]
        yield from (" ".join(text.split()) for text in each.get("about", {}).values())


@pytest.mark.parametrize("mark", ["`", "](", "{", "507035"])
def test_code_and_links_are_the_same_in_chinese(mark):
    for text, chinese in supporting_pages.catalogue().items():
        assert text.count(mark) == chinese.count(mark), text


def test_the_chinese_page_is_in_chinese():
    words = Words(supporting_pages.catalogue())
    page = supporting_pages.topic_page(ACTIVATION, words, {})
    assert page.startswith("# 配套算子：激活\n")
    for english in ("Types:", "In words", "meaning", "operand", "Performance", "vendor"):
        assert english not in page
