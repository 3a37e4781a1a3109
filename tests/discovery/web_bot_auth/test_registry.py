from __future__ import annotations

import pytest

from undersigned.discovery.failures import UnusableDocument
from undersigned.discovery.web_bot_auth import read_registry

CARD = "https://bot.example/card"


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        (b"", ()),
        (f"{CARD}\n".encode(), (CARD,)),
        (f"# bots\r\n\r\n  {CARD} # ours\n{CARD}\nhttps://b.example/x?y\n".encode(), (CARD, "https://b.example/x?y")),
        (f"http://bot.example/\nftp://x\nbot\nhttps://\n{CARD}".encode(), (CARD,)),
        (b"https://bot.example/" + b"a" * 2029, ()),
    ],
)
def test_registry_lists_the_https_urls_of_its_lines(text, urls):
    assert read_registry(text) == urls


@pytest.mark.parametrize(("text", "fault"), [(b"\xff", "is not UTF-8"), (b"#" * 1_048_577, "more than 1048576 bytes")])
def test_registry_is_rejected_when_it_is_not_a_text_or_too_large(text, fault):
    with pytest.raises(UnusableDocument, match=fault):
        read_registry(text)
