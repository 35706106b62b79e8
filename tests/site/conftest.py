# SPDX-License-Identifier: Apache-2.0
"""The site that `make docs` built, served to a browser without a screen."""

import functools
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "build/docs/html"
TELEPHONE, DESKTOP = (390, 844), (1280, 900)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def site():
    """The address of the site, up to its last slash."""
    assert (SITE / "index.html").is_file(), "build it first: make docs"
    handler = functools.partial(_Quiet, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="session")
def started():
    """Debian's browser and its driver: nothing is downloaded."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for option in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture
def browser(started):
    """As large as a desktop's; no page may complain in its console."""
    resize(started, DESKTOP)
    started.get_log("browser")
    yield started
    complaints = [each["message"] for each in started.get_log("browser") if each["level"] == "SEVERE"]
    assert complaints == []


def resize(browser, size: tuple[int, int]) -> None:
    """A window has a least width; a device that is emulated has none."""
    width, height = size
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
    )
