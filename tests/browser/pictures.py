"""Take the pictures of docs/inspect.md: `python -m tests.browser.pictures`."""

from __future__ import annotations

import base64
import io
import tempfile
import threading
from pathlib import Path

from PIL import Image
from tests.browser.chromium import chromium
from tests.browser.person import Person, write_received

from undersigned_inspector.server import PageServer

DOCS = Path(__file__).parents[2] / "docs"
WIDTH = 1000
COLOURS = 64
TOP = "const box = document.querySelector(arguments[0]).getBoundingClientRect(); return Math.round(box.top + scrollY);"


def main() -> None:
    server = PageServer()
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        with tempfile.TemporaryDirectory() as profile, chromium(Path(profile)) as driver:
            driver.set_window_size(WIDTH, 1400)
            person = Person(driver)
            person.open(server.url)
            person.explain(write_received())
            person.run("document.activeElement.blur()")
            bottom = driver.execute_script(TOP, "#request-title") - 24
            for scheme in ("light", "dark"):
                features = [{"name": "prefers-color-scheme", "value": scheme}]
                driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
                clip = {"x": 0, "y": 0, "width": WIDTH, "height": bottom, "scale": 1}
                options = {"format": "png", "captureBeyondViewport": True, "optimizeForSpeed": False, "clip": clip}
                taken = driver.execute_cdp_cmd("Page.captureScreenshot", options)
                picture = Image.open(io.BytesIO(base64.b64decode(taken["data"])))
                small = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
                small.save(DOCS / f"inspect-{scheme}.png", optimize=True)
    finally:
        server.stop()
        thread.join()


if __name__ == "__main__":
    main()
