# SPDX-License-Identifier: Apache-2.0
"""What is found in numbers, names, beginnings of messages and lines of logs."""

import json

import pytest

from openaclnn.tool import explain, report
from openaclnn.errors import ExitCode, InputError

# Lines as programs print them, and what is to be found in them.
LINES = {
    "call aclnnInplaceZero failed, error code is 561103": [561103],
    "RuntimeError: ACL stream synchronize failed, error code:507035": [507035],
    "[ERROR] aclrtSynchronizeStream(stream) failed: 507015 (main.cpp:108)": [507015],
    "synchronize stream failed, runtime result = 507048[FUNC:ReportCallError]": [507048],
    "rtEventSynchronize:ErrCode=507035, desc=[vector core exception], InnerCode=0x715": [507035],
    "aclnnStatus=561002.": [561002],
    "error no is 561103 & error msg is ERR00100 PTA call acl api failed. EZ9999: Inner Error!": [
        561103,
        "ERR00100",
    ],
    "(PID:107002, Device:1, RankID:-1) ERR00100 PTA call acl api failed": ["ERR00100"],
    "Invalid_Argument(EE1001): The argument is invalid.": ["EE1001"],
    "EZ9999[PID: 753] 2026-04-30-03:48:59.964.776 (EZ9999):  error code = 0x800000": ["EZ9999"],
    "EZ1001: aclnnEmbedding: indices value 3 is 100000, expected less than 100000": ["EZ1001"],
    "EH0007: bad. EK0201: worse.": ["EH00xx", "EK0xxx"],
    "if (ret != ACL_SUCCESS) got ACL_ERROR_RT_FEATURE_NOT_SUPPORT": [207000],
    "first ret=107002 then ret=507011 then ret=107002": [107002, 507011],
    "my_call returned 161001": [161001],
    "HCCL function error: HcclAllReduce(...), error code is 9": [9],
    "AssertionError: 0 != 100002": [100002],
    "got (507046) after 3 s": [507046],
}


def keys(entries):
    return [each.code if isinstance(each, explain.Code) else each.prefix for each in entries]


@pytest.mark.parametrize("line", LINES)
def test_lines(line):
    assert keys(explain.explain(line)) == LINES[line]


@pytest.mark.parametrize(
    "text",
    [
        "107003",
        " 107003\n",
        "ACL_ERROR_RT_STREAM_CONTEXT",
        "acl_error_rt_stream_context",
        "RT_STREAM_CONTEXT",
        "stream_context",
    ],
)
def test_one_word(text):
    assert keys(explain.explain(text)) == [107003]


def test_success_and_aliases():
    for text in ("0", "ACL_SUCCESS", "ACLNN_SUCCESS", "acl_error_none"):
        assert keys(explain.explain(text)) == [0]
    assert keys(explain.explain("ACLNN_ERR_INNER_KEY_CONFILICT")) == [561105]


def test_several_words():
    assert keys(explain.explain("561103 STREAM_CONTEXT, EZ1001 561103")) == [
        561103,
        107003,
        "EZ1001",
    ]
    with pytest.raises(InputError, match="code 561999 is not known"):
        explain.explain("561103 561999")


def test_every_row_finds_itself():
    table = explain.load()
    for row in table.codes.values():
        for text in (str(row.code), row.name, *row.aliases):
            assert explain.explain(text) == [row]
        if row.code:
            assert explain.explain(f"call failed, error code is {row.code}")[0] == row
    for prefix in table.prefixes:
        assert explain.explain(prefix.prefix.replace("x", "9")) == [prefix]


def test_prefix_lists_its_codes():
    (entry,) = explain.explain("EZ1001")
    assert entry.codes == (161001, 161002)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("42", "code 42 is not known, expected a code"),
        ("-1", "code -1 is not known"),
        ("9" * 5000, "code 99999"),
        ("error code is 561999", "code 561999 is not known"),
        ("ACL_ERROR_RT_STREAM_CONTEX", "did you mean ACL_ERROR_RT_STREAM_CONTEXT"),
        ("qqqqqqqq", "name qqqqqqqq is not known, expected a code"),
        ("EJ0006", "name EJ0006 is not known"),
        ("it does not work", "no error code in 'it does not work'"),
        ("shape is 1000000 x 64.107002", "no error code in"),
        ("", "nothing to explain"),
    ],
)
def test_unknown(text, says):
    with pytest.raises(InputError) as caught:
        explain.explain(text)
    assert says in str(caught.value) and caught.value.exit_code == ExitCode.USAGE


def test_print(capsys):
    explain.print_entries(explain.explain("561107 561105 EZ1001"))
    printed = " ".join(capsys.readouterr().out.split())
    assert "561107 ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND" in printed
    assert "ASCEND_OPP_PATH is not set." in printed and "never returns this code" in printed
    assert "ACLNN_ERR_INNER_KEY_CONFILICT" in printed
    assert "161002 ACLNN_ERR_PARAM_INVALID" in printed
    explain.print_entries(explain.explain("561103"))
    assert "never returns" not in capsys.readouterr().out


def test_json(capsys):
    report.json_document(explain.document(explain.explain("507035 EZ1001")))
    printed = json.loads(capsys.readouterr().out)
    (code,), (prefix,) = printed["codes"], printed["prefixes"]
    assert (code["code"], code["prefix"], code["returned"]) == (507035, "EZ2001", True)
    assert (prefix["prefix"], prefix["codes"]) == ("EZ1001", [161001, 161002])
