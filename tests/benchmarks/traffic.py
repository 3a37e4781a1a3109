"""The request that is measured: an AdCP 3.2 POST, five components covered, with 1 KiB of JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from tests.keys import JSON_FIELD, KEY, URL, signer

from undersigned import Request

if TYPE_CHECKING:
    from undersigned import SigningKey

Fields: TypeAlias = Sequence[tuple[str, str]]

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
