from __future__ import annotations

import pytest

from undersigned.discovery.fetch_errors import UnusableDocument
from undersigned.discovery.registry import read_registry


def test_registry_lists_the_https_urls_of_cards_once_and_in_order():
    text = "https://b.example/card # first\n\n# none\nhttp://a.example/\nhttps://[a\nhttps://a.example/\nhttps://a.example/"
    assert read_registry(f"{text}\nhttps://{'a' * 2048}.example/".encode()) == (
        "https://b.example/card",
        "https://a.example/",
    )


@pytest.mark.parametrize(("text", "told"), [(b"\xff", "UTF-8"), (b"\n" * 1_048_577, "1048576")])
def test_registry_that_cannot_be_read_is_unusable(text, told):
    with pytest.raises(UnusableDocument, match=told):
        read_registry(text)
