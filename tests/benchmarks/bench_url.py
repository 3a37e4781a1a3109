"""The cost of `canonicalize` relative to a cold `urllib.parse.urlsplit`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.benchmarks.row import Row, Side, interleave

from undersigned.normalization import compare, learn_rules
from undersigned.url import MalformedURL, canonicalize, canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
    "64 KB host, rejected": "https://" + "a." * (_LONG // 2),
    "64 KB of at signs, rejected": "https://" + "@" * _LONG,
    "64 KB of A-labels, rejected": "https://" + "xn--mnchen-3ya." * (_LONG // 15),
    "64 KB port, rejected": "https://seller.example.com:" + "9" * _LONG,
    "64 KB IPv6, rejected": "https://[" + ":" * _LONG + "]/",
}


def rows(*, quick: bool) -> list[Row]:
    """Measure everything."""
    rounds = 5 if quick else 300
    ratios = [
        ("canonicalize, canonical", CANONICAL, _canonicalize, 0.5),
        ("canonicalize, canonical, received", CANONICAL, _receive, 1.0),
        ("canonicalize, eight mixed spellings", MIXED, _canonicalize, 1.5),
        ("canonicalize, the seven of them in ASCII", [url for url in MIXED if url.isascii()], _canonicalize, None),
        ("canonicalize, U-label", ["https://bücher.example/p"], _canonicalize, None),
        ("canonicalize, A-label", ["https://xn--bcher-kva.example/p"], _canonicalize, None),
        ("canonicalize, IPv6", ["https://[2001:db8::1]:8443/p"], _canonicalize, None),
        ("canonicalize, rejected", REJECTED, _canonicalize, None),
    ]
    measured = [
        Row(name, "urlsplit, cold", _ratio(rounds, lambda _, f=f, u=u: f(u), u), goal) for name, u, f, goal in ratios
    ]
    authority = _ratio(rounds, lambda _: canonicalize_authority("seller.example.com", "https"), CANONICAL[:1])
    measured.append(Row("canonicalize_authority, canonical", "urlsplit, cold", authority))
    for name, url in LONG.items():
        [seconds] = interleave(3 if quick else 30, Side(lambda _, url=url: _canonicalize([url])))
        goal = 1000.0 if "letters" in name else None
        measured.append(Row(f"canonicalize, {name}", "1 ms" if goal else "", seconds * 1e6, goal, "us"))
    [seconds] = interleave(
        rounds, Side(lambda _: compare("HTTP://seller.example.com:80", "http://seller.example.com/"))
    )
    measured.append(Row("compare, equal on the third rung", "", seconds * 1e6, None, "us"))
    for number in (400, 4000):
        listed = _list_urls(number)
        [seconds] = interleave(1 if quick else 5, Side(lambda _, listed=listed: learn_rules(listed)))
        measured.append(Row(f"learn_rules, each of {number} URLs", "", seconds * 1e6 / number, None, "us"))
    return measured


def _list_urls(number: int) -> list[str]:
    pages = (f"https://www.shop{at % 7}.example.com/part{at % 13}/item-{at}?ref={at % 5}" for at in range(number // 2))
    return [url for page in pages for url in (page, f"{page}&id=")]


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


def _ratio(rounds: int, subject: Callable[[object], object], urls: Sequence[str]) -> float:
    floor, taken = interleave(rounds, Side(lambda _: _split(urls)), Side(subject))
    return taken / floor
