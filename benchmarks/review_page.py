"""The page of a review in a headless Chromium, with its server beside it, for what measures it and what draws it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

READY = "window.declump && declump.begun && declump.page.image && declump.cells.columns.length && !declump.page.busy"
"""Whether an image is open, with its cells."""
LIMIT = 900.0
"""Seconds to wait for anything."""


@contextmanager
def open_review(folder: Path, size: tuple[int, int]) -> Iterator[tuple[Any, str]]:
    """Review a folder in a window of a width and a height; gives the browser and the address, and ends both."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    window = "window-size={},{}".format(*size)
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu", window):
        options.add_argument(f"--{argument}")
    command = [sys.executable, "-m", "declump.cli", "open", str(folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        lines = [server.stdout.readline() for _ in range(2)]
        browser = Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))
        try:
            yield browser, lines[1].split()[1]
        finally:
            browser.quit()
            server.send_signal(signal.SIGINT)
            server.wait(timeout=60)


def wait(browser: Any, condition: str) -> None:
    """Wait until the page says that something is so."""
    end = time.monotonic() + LIMIT
    while not browser.execute_script(f"return !!({condition})"):
        if time.monotonic() > end:
            raise TimeoutError(condition)
        time.sleep(0.02)
