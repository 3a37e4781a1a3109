"""Debian's Chromium, without a window and without any connection of its own."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING

from selenium import webdriver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_QUIET = (
    "--headless=new",
    "--no-sandbox",  # as root, Chromium needs that
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,1000",
)


@contextlib.contextmanager
def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """Start Chromium with an empty profile in a directory; yields its driver."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium is not installed"
    for argument in (*_QUIET, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()
