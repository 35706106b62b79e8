# SPDX-License-Identifier: Apache-2.0
"""Reads all text of the public headers; each function of the runtime is on a page."""

import re

import header_comments
import pytest
import runtime_pages

HEADER = """\
// SPDX-License-Identifier: Apache-2.0
// What a thing is.
#ifndef A_H_
#define A_H_
#ifdef __cplusplus
extern "C" {
#endif

/* What holds for all. */

/** A kind. */
typedef enum Kind { A = 0, /**< the first */ } Kind;

/* ---- Things ---- */

/**
 * Makes a thing.
 *
 * @param[out] out the thing,
 *     which is new.
 * @retval 161001 out is null.
 * @retval A, B it is neither.
 * @return also others.
 */
ACL_FUNC_VISIBILITY int make(void** out,
                             int more);

/** Both. @{ */
ACL_FUNC_VISIBILITY void* first(void);

ACL_FUNC_VISIBILITY int second(void);
/** @} */

/** Whole. */
static inline int whole(int a) {
  if (a) {
    return 1;
  }
  return 0;
}

/** A row. */
ACL_FUNC_VISIBILITY int third(void);
ACL_FUNC_VISIBILITY int fourth(void);

#ifdef __cplusplus
}
#endif
#endif
"""


@pytest.fixture
def read(tmp_path):
    def run(text=HEADER):
        (tmp_path / "a.h").write_text(text)
        return header_comments.read(tmp_path / "a.h")

    return run


def test_read(read):
    header = read()
    assert (header.title, header.general) == ("What a thing is.", "What holds for all.")
    kind, make, both, whole, row = header.entries
    assert (kind.names, kind.functions, kind.section) == (["Kind"], [], "")
    assert (make.names, make.section, make.comment) == (["make"], "Things", "Makes a thing.")
    assert make.tags == [
        header_comments.Tag("param", "out", "out", "the thing, which is new."),
        header_comments.Tag("retval", "in", "161001", "out is null."),
        header_comments.Tag("retval", "in", "A, B", "it is neither."),
        header_comments.Tag("return", "in", "", "also others."),
    ]
    assert (both.names, both.comment) == (["first", "second"], "Both.")
    assert (whole.names, whole.code) == (["whole"], "static inline int whole(int a);")
    assert (row.names, row.comment) == (["third", "fourth"], "A row.")


def test_a_function_without_a_comment(read):
    with pytest.raises(ValueError, match="third.*without a comment"):
        read(HEADER.replace("/** A row. */\n", ""))


def test_every_function_of_the_runtime_is_on_a_page():
    pages = runtime_pages.pages()
    root = runtime_pages.ROOT / "include"
    headers = [path for path in root.glob("*/*.h") if path.parent.name != "aclnnop"]
    declared = {
        name: f"{path.parent.name}/{path.name}"
        for path in headers
        for name in re.findall(r"ACL_FUNC_VISIBILITY[^;(]*?(\w+)\(", path.read_text("utf-8"))
        if name != "__attribute__"
    }
    assert len(declared) > 200
    for name, header in declared.items():
        assert re.search(rf"^[^|`#]*\b{name}\(", pages[runtime_pages.page_of(header)], re.M), name
    index = (runtime_pages.ROOT / "docs/index.md").read_text("utf-8")
    assert [name for name in pages if f"pages/{name}\n" not in index] == []


def test_a_page():
    page = runtime_pages.pages()["runtime_acl_rt"]
    start = page.index("### aclrtMalloc\n")
    text = page[start : page.index("### ", start + 5)]
    assert "```c\naclError aclrtMalloc(void** devPtr, size_t size," in text
    peers = "aclError aclrtDeviceCanAccessPeer("
    below = " " * len(peers) + "int32_t peerDeviceId);"
    assert f"{peers}int32_t* canAccessPeer, int32_t deviceId,\n{below}\n" in page
    assert "| `devPtr` (out) | its address, a multiple of 64. |" in text
    assert "| `ACL_ERROR_RT_MEMORY_ALLOCATION` | there is not that much memory. |" in text
    assert "[`aclrtFree`](runtime_acl_rt.md#aclrtfree)" in page


def test_codes_with_one_meaning():
    page = runtime_pages.pages()["runtime_acl_op_compiler"]
    assert "| `ACL_ERROR_OP_INPUT_NOT_MATCH`, `ACL_ERROR_OP_OUTPUT_NOT_MATCH` | the op" in page
