"""A person at the page: what they do, and what they see."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait
from tests.keys import BODY, JSON_FIELD, JWKS, signed_request

if TYPE_CHECKING:
    from selenium import webdriver
    from selenium.webdriver.remote.webelement import WebElement

KEYS = json.dumps(JWKS, indent=1)
SIGNED = signed_request(
    url="https://seller.example.com/a%2Fb?x=1",
    fields=[("Host", "seller.example.com"), JSON_FIELD, ("Content-Length", str(len(BODY)))],
)
CONTENT = BODY.decode()
SECONDS = 20


def write_received(target="/a/b?x=1", *more, body: str = CONTENT) -> str:
    """The request that was signed for `/a%2Fb?x=1`, as it was received for another target."""
    fields = [*(f"{name}: {value}" for name, value in SIGNED.fields), *more]
    return "\n".join([f"POST {target} HTTP/1.1", *fields, "", body])


class Person:
    """A person at the page."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        self.driver.get("about:blank")
        self.complaints()
        self.driver.get(url)
        self.prefer("light")

    def until(self, seen) -> None:
        WebDriverWait(self.driver, SECONDS).until(lambda _: seen())

    def all(self, css: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def one(self, css: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def text(self, css: str) -> str:
        return self.one(css).text

    def paste(self, css: str, text: str) -> None:
        self.one(css).click()
        self.insert(text)

    def insert(self, text: str) -> None:
        """Insert text where the focus is, as a paste does."""
        self.driver.execute_cdp_cmd("Input.insertText", {"text": text})

    def press(self, *keys: str) -> None:
        chain = ActionChains(self.driver)
        for key in keys[:-1]:
            chain.key_down(key)
        chain.send_keys(keys[-1])
        for key in keys[:-1]:
            chain.key_up(key)
        chain.perform()

    def tab_to(self, wanted) -> WebElement:
        """Press Tab until the focus is where `wanted` is true of it."""
        for _ in range(60):
            focused = self.driver.switch_to.active_element
            if wanted(focused):
                return focused
            self.press(Keys.TAB)
        raise AssertionError("Tab does not lead there")

    def explain(self, request: str, *, keys: str = KEYS) -> None:
        self.paste("#request", request)
        self.paste("#keys", keys)
        self.one("form button").click()
        self.see_result()

    def see_result(self) -> None:
        self.until(lambda: self.all("#verdict"))

    def prefer(self, scheme: str) -> None:
        """Prefer light or dark pages."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def run(self, script: str):
        return self.driver.execute_script(script)

    def complaints(self) -> list[str]:
        """What the browser has written to its console since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]
