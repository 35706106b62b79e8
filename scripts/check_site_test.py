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
    return tmp_path


def test_sound(site):
    assert check_site.faults(site) == []
    assert check_site.main([str(site)]) == 0 and (site / "index.html").is_file()


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
