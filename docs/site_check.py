"""The check of the finished site: each link leads to a page and a place on it, and nothing is fetched from elsewhere.

A fault is a warning of the build, which `sphinx-build -W` treats as an error.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sphinx.application import Sphinx

_FETCHED = {
    "script": ("src",),
    "link": ("href",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "iframe": ("src",),
    "object": ("data",),
    "video": ("src", "poster"),
    "audio": ("src",),
}
"""The attributes of elements that make a browser fetch something without a click."""

_NOT_FETCHED = {"canonical", "author", "license", "next", "prev", "search", "index"}
"""Relations of `link` that a browser does not fetch."""

_IN_STYLE = re.compile(r"(?:url\(|@import\s+)\s*[\"']?(https?:)?//")


class _Page(HTMLParser):
    """One page: its ids, its links, and what it makes a browser fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids.update(values[name] for name in ("id", "name") if name in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag != "link" or not _NOT_FETCHED.intersection(values.get("rel", "").split()):
            self.fetched += [values[name] for name in _FETCHED.get(tag, ()) if name in values]


def faults(site: Path) -> Iterator[str]:
    """Yield what is wrong on the pages of a finished site, one sentence each.

    Args:
        site: the folder of the site.
    """
    pages = {path.resolve(): _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site.resolve()).as_posix()
        yield from (f"{name}: {url} is fetched from elsewhere" for url in page.fetched if _is_elsewhere(url))
        if " object at 0x" in path.read_text("utf-8"):
            yield f"{name}: the address of an object differs each time the site is built"
        for url in [*page.links, *page.fetched]:
            parts = urlsplit(url)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{name}: {url} leads to no file"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                yield f"{name}: {url} leads to no place on that page"
    for style in sorted(site.rglob("*.css")):
        if _IN_STYLE.search(style.read_text("utf-8")):
            yield f"{style.relative_to(site).as_posix()}: a style is fetched from elsewhere"


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def _is_elsewhere(url: str) -> bool:
    return bool(urlsplit(url).netloc)


def _finished(app: Sphinx, exception: Exception | None) -> None:
    """Check the site if it was built."""
    from sphinx.util import logging  # noqa: PLC0415 - the tests check pages without Sphinx

    if exception is None and app.builder.format == "html":
        for fault in faults(Path(app.outdir)):
            logging.getLogger(__name__).warning(fault, type="site", subtype="check")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("build-finished", _finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
