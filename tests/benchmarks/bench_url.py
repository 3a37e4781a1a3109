"""What `canonicalize` costs beside a cold `urllib.parse.urlsplit`.

Run as `python -m tests.benchmarks.bench_url`. Floor and subject are timed in turn, in one process, and a row is the
median over the rounds of their ratio.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from undersigned.url import MalformedURL, canonicalize, canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_ROUNDS = 200
_REPEATS = 20

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

_LONG = 65_536
LONG = {
    "64 KB path, letters": "https://seller.example.com/" + "a" * _LONG,
    "64 KB path, short segments": "https://seller.example.com/" + "a/" * (_LONG // 2),
    "64 KB path, slashes": "https://seller.example.com/" + "/" * _LONG,
    "64 KB path, letters, host to lower": "https://Seller.example.com/" + "a" * _LONG,
    "64 KB path, letters, host to convert": "https://bücher.example/" + "a" * _LONG,
    "64 KB path, dot segments": "https://seller.example.com/" + "a/../" * (_LONG // 5),
    "64 KB path, triplets": "https://seller.example.com/" + "%2F" * (_LONG // 3),
    "64 KB path, triplets to decode": "https://seller.example.com/" + "%41" * (_LONG // 3),
    "64 KB host, refused": "https://" + "a." * (_LONG // 2),
    "64 KB of at signs, refused": "https://" + "@" * _LONG,
    "64 KB of A-labels, refused": "https://" + "xn--mnchen-3ya." * (_LONG // 15),
    "64 KB port, refused": "https://seller.example.com:" + "9" * _LONG,
    "64 KB IPv6, refused": "https://[" + ":" * _LONG + "]/",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A measured ratio, or milliseconds where there is no floor, and what it should stay within."""

    name: str
    value: float
    unit: str
    reach: float | None


def rows() -> list[Row]:
    """Measure everything."""
    ratios = [
        ("canonicalize, canonical", CANONICAL, _canonicalize, 1.0),
        ("canonicalize, canonical, received", CANONICAL, _receive, 1.0),
        ("canonicalize, eight mixed spellings", MIXED, _canonicalize, 2.5),
        ("canonicalize, the seven of them in ASCII", [url for url in MIXED if url.isascii()], _canonicalize, None),
        ("canonicalize, U-label", ["https://bücher.example/p"], _canonicalize, None),
        ("canonicalize, A-label", ["https://xn--bcher-kva.example/p"], _canonicalize, None),
        ("canonicalize, IPv6", ["https://[2001:db8::1]:8443/p"], _canonicalize, None),
        (
            "canonicalize, refused",
            ["https://fe80::1/p", "https://a b/", "https://a/%zz", "ftp://a/"],
            _canonicalize,
            None,
        ),
    ]
    measured = [Row(name, _ratio(lambda f=f, u=u: f(u), lambda u=u: _split(u)), "x", r) for name, u, f, r in ratios]
    split = CANONICAL[0]
    authority = _ratio(lambda: canonicalize_authority("seller.example.com", "https"), lambda: _split([split]))
    measured.append(Row("canonicalize_authority, canonical", authority, "x", None))
    measured += [Row(name, _milliseconds(url), "ms", 1.0 if "letters" in name else None) for name, url in LONG.items()]
    return measured


def _canonicalize(urls: Sequence[str]) -> None:
    for url in urls:
        try:
            canonicalize(url)
        except MalformedURL:
            continue


def _receive(urls: Sequence[str]) -> None:
    for url in urls:
        canonicalize(url, received=True)


def _split(urls: Sequence[str]) -> None:
    for url in urls:
        urlsplit.cache_clear()
        urlsplit(url)


def _ratio(subject: Callable[[], object], floor: Callable[[], object]) -> float:
    return statistics.median(_seconds(subject) / _seconds(floor) for _ in range(_ROUNDS))


def _milliseconds(url: str) -> float:
    return 1000 * statistics.median(_seconds(lambda: _canonicalize([url]), repeats=1) for _ in range(30))


def _seconds(call: Callable[[], object], *, repeats: int = _REPEATS) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    return (time.perf_counter() - start) / repeats


if __name__ == "__main__":
    for row in rows():
        reach = "" if row.reach is None else f"{row.reach:6.2f}"
        print(f"{row.name:42} {row.value:8.3f} {row.unit:2} {reach}")  # noqa: T201 - a table to read
