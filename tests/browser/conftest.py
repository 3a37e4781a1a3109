"""One Chromium for all tests, and the page with nothing in it for each."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests.integrations.capture import threaded

from undersigned_inspector.page import paste
from undersigned_inspector.server import PageServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selenium import webdriver
    from tests.browser.person import Person


@pytest.fixture(scope="session")
def driver(tmp_path_factory) -> Iterator[webdriver.Chrome]:
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        pytest.skip("chromium or chromedriver is not installed")
    # tests/conftest.py says what a room needs, if pytest comes so far.
    from tests.browser.chromium import chromium  # noqa: PLC0415

    with chromium(tmp_path_factory.mktemp("chromium")) as driver:
        yield driver


@pytest.fixture(scope="session")
def page_url() -> Iterator[str]:
    with threaded(PageServer(paste)) as server:
        yield server.url


@pytest.fixture
def person(driver, page_url) -> Iterator[Person]:
    """A person who has just opened the page. Afterwards, the browser has complained of nothing."""
    from tests.browser.person import Person  # noqa: PLC0415 - as above

    person = Person(driver)
    person.open(page_url)
    yield person
    assert person.complaints() == []
