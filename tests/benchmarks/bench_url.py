"""The cost of `canonicalize` relative to a cold `urllib.parse.urlsplit`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.benchmarks.row import Row, Side, interleave

from undersigned.url import MalformedURL, canonicalize

if TYPE_CHECKING:
    from collections.abc import Sequence

CANONICAL = [
    "https://seller.example.com/adcp/create_media_buy",
    "https://seller.example.com/",
    "https://seller.example.com:8443/mcp?session=8f2c&x=%20a+b",
    "http://localhost:8000/a2a/message%2Fsend",
    "https://buyer.example.com/.well-known/jwks.json",
    "https://ads.eu-west-1.pub.example.net/v3/accounts/12345/campaigns/67890/creatives?limit=50&after=abc",
    "https://192.0.2.7/p?",
    "https://seller.example.com/a//b/~user/x.y;v=1",
]
MIXED = [
    "HTTPS://seller.example.com/adcp/create_media_buy",
    "https://Seller.Example.COM/adcp/create_media_buy",
    "https://bücher.example/adcp/create_media_buy",
    "https://user:pass@seller.example.com/adcp/create_media_buy",
    "https://seller.example.com:443/adcp/create_media_buy",
    "https://seller.example.com/adcp/./v1/../create_media_buy",
    "https://seller.example.com/%7Eadcp%2fcreate_media_buy",
    "https://seller.example.com?x=1#section",
]
"""One for each thing the algorithm's steps put right, in their order."""

REJECTED = ["https://fe80::1/p", "https://a b/", "https://a/%zz", "ftp://a/"]


def rows(*, quick: bool) -> list[Row]:
    """Measure short URLs relative to the floor."""
    rounds = 5 if quick else 300
    kinds = {
        "canonical": CANONICAL,
        "eight mixed spellings": MIXED,
        "the seven of them in ASCII": [url for url in MIXED if url.isascii()],
        "rejected": REJECTED,
    }
    measured = []
    for kind, urls in kinds.items():
        floor, taken = interleave(
            rounds, Side(lambda _, urls=urls: _split(urls)), Side(lambda _, urls=urls: _canonicalize(urls))
        )
        measured.append(Row(f"canonicalize, {kind}", "urlsplit, cold", taken / floor))
    return measured


def _canonicalize(urls: Sequence[str]) -> None:
    for url in urls:
        try:
            canonicalize(url)
        except MalformedURL:
            continue


def _split(urls: Sequence[str]) -> None:
    for url in urls:
        urlsplit.cache_clear()
        urlsplit(url)
