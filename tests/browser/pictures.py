"""Take the pictures of docs/inspect.md: `python -m tests.browser.pictures`."""

from __future__ import annotations

import base64
import io
import tempfile
from pathlib import Path

from PIL import Image
from tests.browser.chromium import chromium
from tests.browser.person import Person, write_received
from tests.integrations.capture import threaded

from undersigned_inspector.page import paste
from undersigned_inspector.server import PageServer

DOCS = Path(__file__).parents[2] / "docs"
WIDTH = 1000
COLOURS = 64
BOTTOM = "return Math.round(document.querySelector('pre').getBoundingClientRect().bottom + scrollY) + 24;"


def main() -> None:
    with (
        threaded(PageServer(paste)) as server,
        tempfile.TemporaryDirectory() as profile,
        chromium(Path(profile)) as driver,
    ):
        driver.set_window_size(WIDTH, 1400)
        person = Person(driver)
        person.open(server.url)
        person.explain(write_received())
        height = driver.execute_script(BOTTOM)
        for scheme in ("light", "dark"):
            person.prefer(scheme)
            clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
            options = {"format": "png", "captureBeyondViewport": True, "optimizeForSpeed": False, "clip": clip}
            taken = driver.execute_cdp_cmd("Page.captureScreenshot", options)
            picture = Image.open(io.BytesIO(base64.b64decode(taken["data"])))
            small = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            small.save(DOCS / f"inspect-{scheme}.png", optimize=True)


if __name__ == "__main__":
    main()
