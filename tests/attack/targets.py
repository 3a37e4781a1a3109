"""Request targets that one reader may take for another one: a route, mutated."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

OCTETS = tuple(f"%{octet:02X}" for octet in range(256))

_TEXTS = (
    "\u2028", "\u2029", "\x85", "\xa0", "\xad", "\u200b", "\u200d", "\u202e", "\u2060", "\ufeff", "\ufffd", "\u0301",
    "\u3000", "\uff0f", "\u2215", "\u2024", "\U000e0001", "\U0010ffff",
)  # fmt: skip
"""Characters that some reader drops, folds, or takes for the end of a line."""

_BROKEN = (
    "%C0%AF", "%C0%AE", "%C1%9C", "%E0%80%AF", "%F0%80%80%AF", "%C0%8A", "%C0%80", "%ED%A0%80", "%ED%B2%80",
    "%F4%90%80%80",
    "%C3", "%E2%80", "%F0%9F%98", "%80", "%FE", "%FF%FE", "%C3%28", "%c3%83%c2%a9",
)  # fmt: skip
"""Octets that are not UTF-8: overlong, cut, beyond Unicode, surrogates."""

_TRAILS = (
    "/", "//", "/.", "/./", "/..", "/x/..", ";", ";a=b", "/;", "%3B", "?", "??", "?x=1", "%3F", "%23", ".", "..",
    ".json", "%2E",
    "%2e%2e", "%2F", "%2f%2f", "%5C", "%5c..", "%00", "%00.json", "%0A", "%0a%0a", "%0D", "%0D%0A", "%0B", "%0C",
    "%1C", "%20",
    "%09", "+", "%250A", "%2500", "%25", "*", "~", ":", "@", "$", "&", "=", ",", "'", "!", "(", ")", "|", "^", "`",
    "[", "]",
)  # fmt: skip

_LEADS = (
    "/", "//", "/.", "/x/..", "/%2e", "/api", "/apiX/..", "/api/..", "//evil.example", "/;x", "/%00", "/%0A", "/%FF",
)  # fmt: skip

_SLASHES = (
    "//", "///", "/./", "/x/../", "/%2e/", "/%2E%2E/", "%2F", "%2f", "%5C", "\\", "/;x/", ";/", "/%00/", "/%0A/",
    "/%FF/",
)  # fmt: skip


def first(route: str) -> Iterator[str]:
    """Yield the mutations that are always tried: every octet and every trail at each place where routers differ."""
    head, _, last = route.rpartition("/")
    middle = len(last) // 2
    pieces = [*OCTETS, *map(_encode, _TEXTS), *_BROKEN]
    for piece in pieces:
        yield f"{route}{piece}"
        yield f"{head}/{piece}{last}"
        yield f"{head}/{last[:middle]}{piece}{last[middle:]}"
        yield f"{head}{piece}/{last}"
        yield f"{route}/{piece}"
    for trail in _TRAILS:
        yield route + trail
        yield head + trail + "/" + last
    for lead in _LEADS:
        yield lead + route
    for slash in _SLASHES:
        yield f"{head}{slash}{last}"
        yield route.replace("/", slash)
    yield route.upper()
    yield route.title()


def mutate(random: Random, route: str) -> str:
    """Return `route` after one to four mutations."""
    path = route
    for _ in range(random.choice((1, 1, 2, 2, 3, 4))):
        path = random.choice(_MUTATIONS)(random, path)
    return path


def fields(random: Random) -> list[tuple[str, str]]:
    """Return header fields by which some layer changes what is dispatched; most often none."""
    if random.random() < 0.8:
        return []
    name = random.choice((
        "X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix", "X-Script-Name", "X-HTTP-Method-Override",
        "X-Forwarded-Path",
        "X-Forwarded-Uri", "Forwarded", "X-Forwarded-Host", "Daphne-Root-Path",
    ))  # fmt: skip
    return [(name, random.choice(("/adcp/create_media_buy", "/api", "POST", "/", "evil.example")))]


def _encode(text: str) -> str:
    return "".join(f"%{octet:02X}" for octet in text.encode("utf-8", "surrogatepass"))


def _place(random: Random, path: str) -> int:
    """Return a position: the end, the end of a segment, or anywhere."""
    kind = random.random()
    if kind < 0.4:
        return len(path)
    slashes = [at for at, character in enumerate(path) if character == "/"]
    return random.choice(slashes) + random.choice((0, 1)) if kind < 0.7 and slashes else random.randrange(len(path) + 1)


def _insert(random: Random, path: str) -> str:
    at = _place(random, path)
    piece = random.choice((random.choice(OCTETS), random.choice(_BROKEN), _encode(random.choice(_TEXTS)), _any(random)))
    return path[:at] + piece + path[at:]


def _any(random: Random) -> str:
    code = random.choice((random.randrange(0x80, 0x800), random.randrange(0x2000, 0x2070), random.randrange(0x110000)))
    return _encode(chr(code))


def _trail(random: Random, path: str) -> str:
    return path + random.choice(_TRAILS)


def _lead(random: Random, path: str) -> str:
    return random.choice(_LEADS) + path


def _slash(random: Random, path: str) -> str:
    slashes = [at for at, character in enumerate(path) if character == "/"]
    at = random.choice(slashes or [0])
    return path[:at] + random.choice(_SLASHES) + path[at + 1 :]


def _escape(random: Random, path: str) -> str:
    at = random.randrange(len(path) or 1)
    escaped = (
        random.choice((f"%{ord(path[at]):02X}", f"%{ord(path[at]):02x}", f"%25{ord(path[at]):02X}")) if path else ""
    )
    return path[:at] + escaped + path[at + 1 :]


def _case(random: Random, path: str) -> str:
    at = random.randrange(len(path) or 1)
    return path[:at] + path[at : at + 1].swapcase() + path[at + 1 :]


def _alike(random: Random, path: str) -> str:
    """Replace a letter by a character that folds or normalizes to it."""
    letters = [at for at, character in enumerate(path) if character.isalpha()]
    if not letters:
        return path
    at = random.choice(letters)
    alike = {"k": "\u212a", "s": "\u017f", "i": "\u0131", "e": "e\u0301"}.get(path[at], "")
    wide = chr(ord(path[at]) + 0xFEE0)
    bold = chr(0x1D400 + ord(path[at].lower()) - ord("a") + 26) if path[at].isascii() else ""
    chosen = random.choice([text for text in (alike, wide, bold, unicodedata.normalize("NFKD", wide)) if text])
    return path[:at] + _encode(chosen) + path[at + 1 :]


def _drop(random: Random, path: str) -> str:
    at = random.randrange(len(path) or 1)
    return path[:at] + path[at + 1 :] or "/"


def _again(random: Random, path: str) -> str:
    segments = path.split("/")
    at = random.randrange(len(segments))
    return "/".join([*segments[:at], segments[at], random.choice(("..", ".", segments[at], "x")), *segments[at:]])


_MUTATIONS: tuple[Callable[[Random, str], str], ...] = (
    _insert, _insert, _insert, _trail, _trail, _lead, _slash, _escape, _case, _alike, _drop, _again,
)  # fmt: skip
