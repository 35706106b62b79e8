# SPDX-License-Identifier: Apache-2.0
"""Links that lead nowhere, and pages that ask the network, are found."""

import check_site
import pytest

PAGE = '<a href="b.html#there">b</a><a href="https://example.org">away</a><img src="i.png">'


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a.html").write_text(PAGE)
    (tmp_path / "b.html").write_text('<p id="there">')
    (tmp_path / "i.png").touch()
    for first in (tmp_path / "docs/index.html", tmp_path / "zh-CN/docs/index.html"):
        first.parent.mkdir(parents=True)
        first.touch()
    return tmp_path


def test_sound(site):
    assert check_site.faults(site) == []
    assert check_site.main([str(site)]) == 0


@pytest.mark.parametrize("folder, other", [("", "zh-CN/docs/index.html"), ("zh-CN", "../docs/index.html")])
def test_each_site_has_an_index(site, folder, other):
    check_site.main([str(site)])
    links = check_site.Page((site / folder / "index.html").read_text("utf-8")).links
    assert [to for _, _, to in links] == ["docs/index.html", other]


def test_an_index_that_leads_nowhere(site):
    (site / "zh-CN/docs/index.html").unlink()
    assert check_site.main([str(site)]) == 1


@pytest.mark.parametrize(
    "before, after, fault",
    [
        ("b.html#there", "c.html", "a.html: c.html leads nowhere"),
        ("#there", "#here", "a.html: b.html#here names no place of the page"),
        ("i.png", "https://example.org/i.png", "a.html: loads https://example.org/i.png"),
        ("i.png", "//example.org/i.png", "a.html: loads //example.org/i.png"),
        ("i.png", "j.png", "a.html: j.png leads nowhere"),
    ],
)
def test_fault(site, before, after, fault):
    (site / "a.html").write_text(PAGE.replace(before, after))
    assert check_site.faults(site) == [fault]
