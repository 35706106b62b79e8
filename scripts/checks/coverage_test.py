# SPDX-License-Identifier: Apache-2.0
"""Reads gcovr's lines as coverage.py does."""

from coverage import count, folder_of, leave_out, missing


def line(number: int, count: int, *branches: int) -> dict:
    return {"line_number": number, "count": count, "branches": [{"count": each} for each in branches]}


def test_lines_and_branches_are_counted():
    counts = count([line(1, 3), line(2, 0), line(4, 2, 2, 0)])
    assert (counts["line reached"], counts["line"]) == (2, 3)
    assert (counts["branch reached"], counts["branch"]) == (1, 2)


def test_instances_of_a_template_are_one():
    lines = [line(7, 0, 0, 0), line(7, 2, 2, 0), line(7, 1, 0, 1)]
    assert count(lines)["line"] == 1
    assert count(lines)["branch reached"] == count(lines)["branch"] == 2


def test_what_is_excluded_does_not_count():
    thrown = {"count": 0, "gcovr/excluded": True}
    lines = [{**line(1, 0), "gcovr/excluded": True}, {**line(2, 1), "branches": [{"count": 1}, thrown]}]
    assert count(lines)["line"] == count(lines)["branch"] == 1
    assert missing(lines) == []


def test_what_only_an_exception_leads_to_does_not_count():
    numbered = [{"count": count, "branchno": number} for number, count in ((1, 1), (2, 0), (5, 0))]
    apart = {**line(3, 1), "function_name": "f<int>", "branches": numbered}
    other = {**line(4, 1), "function_name": "g", "branches": [dict(each) for each in numbered]}
    exceptions = {("f<int>", "src/a.cc", 3, 2), ("", "src/a.cc", 3, 5), ("", "src/a.cc", 4, 5)}
    leave_out([{"file": "src/a.cc", "lines": [apart, other]}], exceptions)
    assert [each["branchno"] for each in numbered if "gcovr/excluded" not in each] == [1, 5]
    assert missing([apart, other]) == ["3: 1 of 2 branches not taken", "4: 1 of 2 branches not taken"]


def test_missing_names_the_lines():
    assert missing([line(9, 2, 0, 2), line(3, 0), line(5, 1)]) == [
        "3: not reached", "9: 1 of 2 branches not taken",
    ]  # fmt: skip


def test_a_family_is_a_folder():
    assert folder_of("src/opapi/embedding/backward/op.cc") == "src/opapi/embedding"
    assert folder_of("src/ascendcl/watch/race.cc") == "src/ascendcl/watch"
