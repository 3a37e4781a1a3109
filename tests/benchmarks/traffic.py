"""The request that is measured: an AdCP 3.2 POST, five components covered, with 1 KiB of JSON."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import urlsplit

from tests.keys import FULL, JSON_FIELD, KEY, NOW, URL, covering, ed25519_key, signer

from undersigned import Request

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from undersigned import SigningKey

Fields: TypeAlias = Sequence[tuple[str, str]]
Components: TypeAlias = Sequence[tuple[str, str]]

_KIB = 1024


def _body() -> bytes:
    order = {
        "buyer_ref": "campaign-2026-q4-outdoor",
        "brand_manifest": {"url": "https://brand.example.com/manifest.json"},
        "packages": [
            {
                "buyer_ref": f"package-{number}",
                "product_id": "ctv_sports_premium",
                "budget": 25000.0,
                "pacing": "even",
                "targeting_overlay": {"geo_country_any_of": ["US", "CA"], "axe_include_segment": "x8dj3k"},
            }
            for number in (1, 2)
        ],
        "start_time": "2026-12-01T00:00:00Z",
        "end_time": "2026-12-31T23:59:59Z",
        "po_number": "PO-2026-00817",
        "notes": "",
    }
    order["notes"] = "n" * (_KIB - len(json.dumps(order)))
    return json.dumps(order).encode()


BODY = _body()
FIELDS = [
    ("Host", "seller.example.com"),
    ("Accept", "*/*"),
    ("Accept-Encoding", "gzip, deflate"),
    ("Connection", "keep-alive"),
    ("User-Agent", "python-httpx/0.28.1"),
    ("Content-Length", str(len(BODY))),
    JSON_FIELD,
]


def unsigned() -> Request:
    """The request before it is signed."""
    return Request("POST", URL, FIELDS, BODY)


def signed_fields(count: int, *, key: SigningKey = KEY) -> list[list[tuple[str, str]]]:
    """The header fields of `count` requests, each signed with a nonce of its own."""
    signs, request = signer(key=key), unsigned()
    return [[*FIELDS, *signs.sign(request)] for _ in range(count)]


def receive(fields: list[tuple[str, str]]) -> Request:
    """The request as a server has just read it."""
    return Request("POST", URL, fields, BODY)


@dataclass(frozen=True, slots=True)
class Handmade:
    """A message that was signed without this library, none of whose caches can know it.

    Attributes:
        url: the canonical URL.
        fields: the header fields, with the signature.
        base: what was signed.
        signature: the signature over the base.
    """

    url: str
    fields: Fields
    base: bytes
    signature: bytes

    @property
    def request(self) -> Request:
        """The request as a server has just read it."""
        return Request("POST", self.url, self.fields, BODY)


def sign_by_hand(url: str, *, keyid: str = KEY.keyid, key: Ed25519PrivateKey | None = None, now: int = NOW) -> Handmade:
    """Sign the request to a canonical URL as a sender of AdCP 3.2, with a nonce of its own (RFC 9421 section 3.1)."""
    values = ("POST", url, urlsplit(url).netloc, JSON_FIELD[1], digest())
    times = {"created": now, "expires": now + 300}
    label = covering(*FULL, **times, nonce=f'"{secrets.token_urlsafe(16)}"', keyid=f'"{keyid}"')
    fields = [("Host", urlsplit(url).netloc), *FIELDS[1:], ("Content-Digest", digest())]
    return handmade(url, fields, list(zip(FULL, values, strict=True)), label, key or ed25519_key())


def handmade(url: str, fields: Fields, components: Components, label: str, key: Ed25519PrivateKey) -> Handmade:
    """Sign the values of components, in the order of the Signature-Input `label`."""
    name, _, parameters = label.partition("=")
    lines = [f'"{component}": {value}' for component, value in components]
    base = "\n".join([*lines, f'"@signature-params": {parameters}']).encode()
    signature = key.sign(base)
    written = f"{name}=:{base64.b64encode(signature).decode()}:"
    return Handmade(url, [*fields, ("Signature-Input", label), ("Signature", written)], base, signature)


def digest() -> str:
    """The Content-Digest of the body."""
    return f"sha-256=:{base64.b64encode(hashlib.sha256(BODY).digest()).decode()}:"
