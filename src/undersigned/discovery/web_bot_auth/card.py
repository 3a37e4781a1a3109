"""Cards: client id metadata documents that say where a bot's keys are (Web Bot Auth section 5.5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from undersigned.discovery.failures import UnusableDocument
from undersigned.discovery.jwk_set import read_json_object


@dataclass(frozen=True, slots=True)
class Card:
    """The part of a card that says where the keys are.

    Attributes:
        jwks: the JWK set that the card has in it, or None.
        jwks_uri: the URL of the JWK set, or "".
    """

    jwks: Mapping[str, object] | None
    jwks_uri: str


def read_card(text: bytes, *, url: str) -> Card:
    """Return the part of a card that says where the keys are.

    Args:
        text: the document.
        url: the URL as the sender wrote it; the card's `client_id` must be the same, character by character.

    Raises:
        UnusableDocument: it is not a card of this URL, or it has not exactly one of `jwks` and `jwks_uri`.
    """
    document = read_json_object(text)
    if document.get("client_id") != url:
        raise UnusableDocument("the client_id of the card is not the URL of the card")
    jwks, jwks_uri = document.get("jwks"), document.get("jwks_uri")
    if (jwks is None) == (jwks_uri is None):
        raise UnusableDocument("the card has not exactly one of jwks and jwks_uri")
    if isinstance(jwks, Mapping):
        return Card(cast("Mapping[str, object]", jwks), "")
    if not isinstance(jwks_uri, str) or not jwks_uri:
        raise UnusableDocument("the jwks of the card is not an object, or its jwks_uri is not a URL")
    return Card(None, jwks_uri)
