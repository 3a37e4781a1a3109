"""Registries: lists of the cards of bots, one URL a line (draft-meunier-webbotauth-registry)."""

from __future__ import annotations

from undersigned.discovery.fetch_errors import UnusableDocument
from undersigned.errors import MalformedURL
from undersigned.limits import LONGEST_URL, MOST_REGISTRY_BYTES
from undersigned.url import canonicalize

_SCHEME = "https"


def read_registry(text: bytes) -> tuple[str, ...]:
    """Return the URLs of the cards that a registry lists, in their order, each as it is written.

    A `#` begins a comment. A line that is not an https URL of at most 2,048 characters is left out.

    Args:
        text: the registry.

    Raises:
        UnusableDocument: the text is not UTF-8, or has more than 1,048,576 bytes.
    """
    if len(text) > MOST_REGISTRY_BYTES:
        raise UnusableDocument(f"the registry has more than {MOST_REGISTRY_BYTES} bytes")
    try:
        lines = text.decode("utf-8").splitlines()
    except UnicodeDecodeError:
        raise UnusableDocument("the registry is not UTF-8") from None
    urls = [line.partition("#")[0].strip() for line in lines]
    return tuple(dict.fromkeys(url for url in urls if _is_https(url)))


def _is_https(url: str) -> bool:
    if not url or len(url) > LONGEST_URL:
        return False
    try:
        return canonicalize(url).scheme == _SCHEME
    except MalformedURL:
        return False
