# SPDX-License-Identifier: Apache-2.0
"""What a reader does with the site, in a browser: searches, copies, follows links, reads on a
telephone. `make test-docs` builds the site and runs this.
"""

from urllib.error import HTTPError
from urllib.parse import urldefrag
from urllib.request import urlopen

import pytest
from conftest import DESKTOP, ROOT, SITE, TELEPHONE, resize
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

LANGUAGES = pytest.mark.parametrize("folder", ["", "zh-CN/"], ids=["English", "Chinese"])
FIRST = "docs/index.html"
PAGES = sorted(
    path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if path.name != "genindex.html"
)


def wait(browser, condition):
    return WebDriverWait(browser, 10).until(condition)


def search(browser, query: str) -> list[str]:
    """Types it into the field of the page that is shown; the pages that are found, best first."""
    field = browser.find_element(By.CSS_SELECTOR, ".sidebar-search")
    field.send_keys(query, Keys.ENTER)
    wait(browser, lambda _: "search.html" in browser.current_url)
    wait(browser, lambda _: browser.find_element(By.CSS_SELECTOR, ".search-summary").text)
    found = browser.find_elements(By.CSS_SELECTOR, "#search-results li > a")
    return [each.get_attribute("href") for each in found]


@LANGUAGES
@pytest.mark.parametrize(
    "query, pages",
    [
        ("561103", ["docs/tutorials/error_561103.html", "docs/errors.html"]),
        ("工作空间", ["docs/checks.html", "ARCHITECTURE.html"]),
        ("aclnnTopk", ["CONFORMANCE.html"]),
        ("ACLNNTOPK", ["CONFORMANCE.html"]),
        ("561103 工作空间", ["docs/errors.html"]),
        ("561103 adapter", ["docs/tutorials/error_561103.html"]),
    ],
)
def test_search_finds(browser, site, folder, query, pages):
    browser.get(f"{site}{folder}{FIRST}")
    found = [urldefrag(each)[0] for each in search(browser, query)]
    assert {f"{site}{folder}{page}" for page in pages} <= set(found)


@LANGUAGES
@pytest.mark.parametrize("query", ["561104561104", "龘龘", "工作龘", "561103 龘龘"])
def test_search_finds_nothing_that_is_not_there(browser, site, folder, query):
    browser.get(f"{site}{folder}{FIRST}")
    assert search(browser, query) == []


@LANGUAGES
def test_the_code_is_first(browser, site, folder):
    browser.get(f"{site}{folder}{FIRST}")
    assert "error_561103" in search(browser, "561103")[0]


@pytest.mark.parametrize(
    "query, page",
    [("错误码", "docs/errors.html"), ("梯度 不对", "docs/tutorials/wrong_gradient.html")],
)
def test_chinese_words(browser, site, query, page):
    browser.get(f"{site}zh-CN/{FIRST}")
    assert f"{site}zh-CN/{page}" in [urldefrag(each)[0] for each in search(browser, query)]


@LANGUAGES
@pytest.mark.parametrize("query, shown", [("aclnnTopk", "aclnnTopk"), ("工作空间", "workspace")])
def test_a_result_shows_where_it_says_so(browser, site, folder, query, shown):
    browser.get(f"{site}{folder}{FIRST}")
    search(browser, query)
    wait(browser, lambda _: browser.find_elements(By.CSS_SELECTOR, "#search-results p.context"))
    text = browser.find_element(By.CSS_SELECTOR, "#search-results p.context").text
    assert shown in text or query in text


def copied(browser) -> str:
    """What the first button of the page puts into the clipboard."""
    origin = "/".join(browser.current_url.split("/")[:3])
    rights = {"origin": origin, "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    browser.execute_cdp_cmd("Browser.grantPermissions", rights)
    button = browser.find_element(By.CSS_SELECTOR, "button.copybtn")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
    button.click()
    wait(browser, lambda _: "success" in button.get_attribute("class"))
    return browser.execute_async_script("navigator.clipboard.readText().then(arguments[0])")


@LANGUAGES
def test_copy_button(browser, site, folder):
    browser.get(f"{site}{folder}docs/tutorials/error_561103.html")
    assert copied(browser).startswith('#include "aclnnop/aclnn_add.h"\n#include "example.h"\n\nint main(void) {')


def test_prompts_are_not_copied(browser, site):
    browser.get(f"{site}docs/tutorials/error_561103.html")
    write = "document.querySelector('button.copybtn').parentElement.querySelector('pre').textContent = arguments[0]"
    browser.execute_script(write, "$ openaclnn list\nwhat it printed\n")
    assert copied(browser) == "openaclnn list"


def test_output_has_no_button(browser, site):
    browser.get(f"{site}docs/tutorials/error_561103.html")
    assert browser.find_elements(By.CSS_SELECTOR, ".highlight-text .highlight")
    assert not browser.find_elements(By.CSS_SELECTOR, ".highlight-text .copybtn")


@pytest.mark.parametrize("folder", ["", "zh-CN/"])
def test_a_folder_leads_to_its_first_page(browser, site, folder):
    browser.get(f"{site}{folder}")
    wait(browser, lambda _: browser.current_url == f"{site}{folder}{FIRST}")


@pytest.mark.parametrize("folder, other", [("", "zh-CN/"), ("zh-CN/", "")])
def test_the_other_language(browser, site, folder, other):
    browser.get(f"{site}{folder}docs/errors.html")
    browser.find_element(By.CSS_SELECTOR, "a.language").click()
    wait(browser, lambda _: browser.current_url == f"{site}{other}docs/errors.html")


@LANGUAGES
def test_links_of_the_first_page(browser, site, folder):
    """Those that the browser sees, cards and sidebar; check_site.py looks at the files of all pages."""
    browser.get(f"{site}{folder}{FIRST}")
    assert len(browser.find_elements(By.CSS_SELECTOR, ".sd-card")) == 4
    links = {urldefrag(each.get_property("href"))[0] for each in browser.find_elements(By.TAG_NAME, "a")}
    broken = []
    for link in sorted(each for each in links if each.startswith(site)):
        try:
            urlopen(link).close()
        except HTTPError as error:
            broken.append(f"{link}: {error.code}")
    assert broken == []


def test_no_page_is_wider_than_a_telephone(browser, site):
    resize(browser, TELEPHONE)
    wide = []
    for page in PAGES:
        browser.get(f"{site}{page}")
        width = browser.execute_script("return document.documentElement.scrollWidth")
        if width > TELEPHONE[0]:
            wide.append(f"{page}: {width}")
    assert wide == []


@LANGUAGES
@pytest.mark.parametrize("size", [DESKTOP, TELEPHONE], ids=["desktop", "telephone"])
def test_pictures_to_look_at(browser, site, folder, size):
    """They are written, not compared: build/docs/screenshots."""
    resize(browser, size)
    browser.get(f"{site}{folder}{FIRST}")
    pictures = ROOT / "build/docs/screenshots"
    pictures.mkdir(parents=True, exist_ok=True)
    name = f"{folder.strip('/') or 'en'}-{size[0]}.png"
    assert browser.save_screenshot(str(pictures / name))
    resize(browser, DESKTOP)
    search(browser, "工作空间")
    resize(browser, size)
    assert browser.save_screenshot(str(pictures / f"search-{name}"))
