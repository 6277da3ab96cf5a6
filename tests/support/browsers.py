"""A browser to look at pages with."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

from support.waiting import LIMIT


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Headless Chromium; skips where it is not installed."""
    pytest.importorskip("selenium", reason="selenium drives the browser: pip install 'declump[test]'")
    from selenium.webdriver import Chrome, ChromeOptions, ChromeService

    chromium, driver = shutil.which("chromium") or shutil.which("chromium-browser"), shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no chromium and chromedriver: apt-get install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = chromium
    # Root may not use the sandbox, and containers have little shared memory.
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", "window-size=1400,1100"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    opened = Chrome(options=options, service=ChromeService(driver))
    opened.set_page_load_timeout(LIMIT)
    opened.set_script_timeout(LIMIT)
    try:
        yield opened
    finally:
        opened.quit()
