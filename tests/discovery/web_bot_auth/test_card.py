from __future__ import annotations

import json
from pathlib import Path

import pytest

from undersigned.discovery.fetch_errors import UnusableDocument
from undersigned.discovery.web_bot_auth import read_card

PUBLISHED = Path(__file__).parents[2] / "vectors" / "published" / "profiles" / "web-bot-auth"
CARDS = json.loads((PUBLISHED / "web_bot_auth_signature_agent_card_v1.json").read_text("utf-8"))
URL = "https://example.com/bot"


@pytest.mark.parametrize("published", CARDS, ids=lambda card: card["name"])
def test_published_cards_are_read_or_rejected(published):
    text = json.dumps(published["card"]).encode()
    if not published["valid"]:
        with pytest.raises(UnusableDocument):
            read_card(text, url=published["url"])
        return
    card = published["card"]
    assert read_card(text, url=published["url"]) == card.get("jwks", card.get("jwks_uri"))


@pytest.mark.parametrize(
    "keys", [{}, {"jwks": []}, {"jwks_uri": ""}, {"jwks_uri": 5}, {"jwks": "https://example.com/jwks.json"}]
)
def test_card_without_usable_keys_is_rejected(keys):
    with pytest.raises(UnusableDocument, match="jwks"):
        read_card(json.dumps({"client_id": URL, **keys}).encode(), url=URL)
