"""The most expensive request that a stranger can send, in accepted requests: a seeded hill-climb over its parts."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gc
import itertools
import time
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from tests.benchmarks.bench_middleware import ORIGINS, application, environ_of, scope_of, wsgi_application
from tests.benchmarks.row import Row
from tests.benchmarks.traffic import BODY, signed_fields
from tests.keys import FULL, KEY, covering, verifier

from undersigned import Policy, Request, SignatureError, asgi, wsgi
from undersigned.limits import MOST_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.benchmarks.traffic import Fields

_REACH = 2.0
_MOST, _GLANCES, _ROUNDS, _CHECKED, _KEPT, _STARTS = 65_536, 3, 9, 60, 8, 3
PATH = "/adcp/create_media_buy"
_SIGNATURE = base64.b64encode(KEY.sign(b"another message")).decode()
_SIGNED = {"signature", "signature-input"}
_HOST = "seller.example.com"
_LETTERS = ascii_lowercase + "012345"

# What a message is made of: for each part, the pieces that repeat in it. `#` is a number, so that pieces can differ.
_PIECES: Final[Mapping[str, tuple[str, ...]]] = {
    "path": (
        "/a",
        "/..",
        "/a/..",
        "/.",
        "//",
        "/%c3%a9",
        "/%C3%A9",
        "/%7e",
        "/%2e",
        "%2F",
        "a",
        ";p=#",
        "/~!$&'()*+,=:@",
    ),
    "query": ("a", "&k#=v", "&k#", "%c3%a9", "+", "&", "=", "?", "/", "%7e", "&k1=v"),
    "component": (
        '"x"',
        '"x";bs',
        '"x";sf',
        '"x#"',
        '"x#";bs',
        '"x#";sf',
        '"x";key="k#"',
        '"@query-param";name="k#"',
        '"@query"',
        '"@path"',
        '"@scheme"',
        '"@request-target"',
        '"@method";req',
        '"x";tr',
        '"set-cookie"',
        '"cookie"',
    ),
    "parameter": (
        ";p#",
        ";p#=#",
        ";p#=1.5",
        ";p#=?0",
        ";p#=tok/en",
        ";p#=:AAAA:",
        ';p#="s"',
        ';p#="\\"\\\\"',
        ";p#=@1",
        ';p#=%"f%c3%bc"',
        ";p#=-999999999999.999",
        ';p="' + "s" * 64 + '"',
    ),
    "method": ("X",),
    "input": (
        ", l#=()",
        ', l#=("x")',
        ', l#=("x";bs);a=1.5',
        ", l#=();created=1",
        ", l#",
        ', l#=("x");' + ";".join(_LETTERS[:20]),
        ", l#=(" + " ".join(map('"{}"'.format, _LETTERS)) + ");p",
        "\t",
    ),
    "signature": (", l#=:AAAA:", ", l#=:AA==:", ", l#=:AAAA:;p=1.5", ', l#=:AAAA:;p="\\""', "(a", '""', "\t"),
    "digest": (", sha-512=:AAAA:", ", md5=:AAAA:", ", d#=:AAAA:", ", d#=:AAAA:;p=1.5"),
    "type": (";charset=utf-8", "; a=#", ';a="\\""', ";a=b", ' ; a="b,c"', ",", "x"),
    "host": (":443", ".", "A", "xn--bcher-kva.", "a.", ":0443"),
    "x": (
        "v",
        "k#=1, ",
        ", v",
        'k#="s"',
        ", k#=1.5",
        ", k#=:AAAA:",
        ",",
        ";a=1.5",
        ' "s"',
        ", ?1",
        ", (a b);c",
        "\t",
        '"',
        "\\",
    ),
    "line": (
        "x",
        "x#",
        "priority",
        "cookie",
        "set-cookie",
        "content-type",
        "content-digest",
        "host",
        "signature-input",
        "content-encoding",
        "n_" * 300 + "#",
        "_",
    ),
}


@dataclass(frozen=True)
class Message:
    """A message that nobody signed: how often each piece of each part repeats, in its order."""

    pieces: tuple[tuple[str, str, int], ...] = field(default=())

    def changed(self, random: Random) -> Message:
        """Return a message with a piece more, a piece fewer, or another count."""
        pieces = list(self.pieces)
        at = random.randrange(len(pieces) + 1)
        if at == len(pieces) or random.random() < 0.4:
            part = random.choice(list(_PIECES))
            pieces.insert(at, (part, random.choice(_PIECES[part]), random.choice((1, 2, 8, 30, 100, 1000, 5000))))
        elif random.random() < 0.3:
            del pieces[at]
        else:
            part, piece, count = pieces[at]
            pieces[at] = (
                part,
                piece,
                max(1, int(count * random.choice((0.5, 0.8, 0.95, 1.05, 1.2, 2))) + random.choice((-1, 0, 1))),
            )
        return Message(tuple(pieces))

    def text(self, part: str) -> str:
        """Return a part of the message."""
        return "".join(self._written(part))

    def _written(self, part: str) -> Iterator[str]:
        number = itertools.count()
        for of, piece, count in self.pieces:
            if of == part:
                width = max(1, len(piece))
                for _ in range(min(count, _MOST // width)):
                    yield piece.replace("#", str(next(number)))

    @property
    def method(self) -> str:
        return "POST" + self.text("method")

    @property
    def target(self) -> str:
        path, query = self.text("path"), self.text("query")
        return f"/adcp{path}?{query}" if query else f"/adcp{path}"

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The header fields, at most as many as are read."""
        signature_input = covering(*FULL, *self._written("component")) + self.text("parameter") + self.text("input")
        fields = [
            ("host", _HOST + self.text("host")),
            ("content-type", f"application/json{self.text('type')}"),
            ("content-length", str(len(BODY))),
            ("content-digest", f"sha-256=:{'A' * 43}=:{self.text('digest')}"),
            ("signature-input", signature_input),
            ("signature", f"sig1=:{_SIGNATURE}:{self.text('signature')}"),
        ]
        value = self.text("x")
        return [*fields, *((name, value) for name in self._written("line"))][:MOST_FIELDS]

    @property
    def size(self) -> int:
        """How long it is without its line breaks. Servers reject a header section of more than 64 KiB."""
        return len(self.target) + sum(len(name) + len(value) for name, value in self.fields)

    def __str__(self) -> str:
        counted: Counter[tuple[str, str]] = Counter()
        for part, piece, count in self.pieces:
            counted[part, piece] += count
        return ", ".join(f"{part} {count} x {piece}" for (part, piece), count in counted.items()) or "nothing"


class _Verifier:
    """Requests through `Verifier.verify`."""

    name = "Verifier"

    def __init__(self) -> None:
        self._verifier = verifier()

    def prepare(self, target: str, fields: Fields, method: str = "POST") -> tuple[str, str, Fields]:
        return method, f"https://{_HOST}{target}", fields

    async def run(self, prepared: tuple[str, str, Fields]) -> None:
        with contextlib.suppress(SignatureError):
            self._verifier.verify(Request(*prepared, BODY))


class _ASGI:
    """Requests through the ASGI middleware."""

    name = "ASGI"
    policy: Policy | None = None

    def __init__(self) -> None:
        self._middleware = asgi.SignatureMiddleware(
            application, verifier=verifier(), origins=ORIGINS, policy=self.policy
        )

    def prepare(self, target: str, fields: Fields, method: str = "POST") -> dict[str, object]:
        return _scope(target, fields, method)

    async def run(self, prepared: dict[str, object]) -> None:
        await self._middleware(prepared, _receive, _send)


class _UnsignedASGI(_ASGI):
    """Requests without a signature through the ASGI middleware with a policy."""

    name = "ASGI, unsigned under a policy"
    policy = Policy(required_for=["create_media_buy"])

    def prepare(self, target: str, fields: Fields, method: str = "POST") -> dict[str, object]:
        return super().prepare(target, _unsigned(target, fields), method)


class _WSGI:
    """Requests through the WSGI middleware."""

    name = "WSGI"
    policy: Policy | None = None

    def __init__(self) -> None:
        self._middleware = wsgi.SignatureMiddleware(
            wsgi_application, verifier=verifier(), origins=ORIGINS, policy=self.policy
        )

    def prepare(self, target: str, fields: Fields, method: str = "POST") -> dict[str, object]:
        return _environ(target, fields, method)

    async def run(self, prepared: dict[str, object]) -> None:
        self._middleware(prepared, _start)


class _UnsignedWSGI(_WSGI):
    """Requests without a signature through the WSGI middleware with a policy."""

    name = "WSGI, unsigned under a policy"
    policy = Policy(required_for=["create_media_buy"])

    def prepare(self, target: str, fields: Fields, method: str = "POST") -> dict[str, object]:
        return super().prepare(target, _unsigned(target, fields), method)


def _unsigned(target: str, fields: Fields) -> Fields:
    """Return the fields without the signature, unless they are of an accepted request."""
    return fields if target == PATH else [field for field in fields if field[0].lower() not in _SIGNED]


def _environ(target: str, fields: Fields, method: str) -> dict[str, object]:
    path, _, query = target.partition("?")
    combined: dict[str, list[str]] = {}
    for name, value in fields:
        combined.setdefault(name.replace("_", "-"), []).append(value)
    shown = {"PATH_INFO": unquote(path, "latin-1"), "RAW_URI": target, "QUERY_STRING": query}
    joined = [(name, ",".join(values)) for name, values in combined.items()]
    return {**environ_of(joined), "REQUEST_METHOD": method, **shown}


def _start(_status: str, _headers: object, _error: object = None) -> None:
    """Send it nowhere."""


def _scope(target: str, fields: Fields, method: str) -> dict[str, object]:
    path, _, query = target.partition("?")
    shown = {"path": unquote(path), "raw_path": path.encode(), "query_string": query.encode()}
    return {**scope_of(list(fields)), "method": method, **shown}


async def _receive() -> dict[str, object]:
    return {"type": "http.request", "body": BODY, "more_body": False}


async def _send(_message: object) -> None:
    """Send it nowhere."""


WAYS: Final = (_Verifier, _ASGI, _UnsignedASGI, _WSGI, _UnsignedWSGI)


class Search:
    """A hill-climb from nothing towards the most expensive message.

    Args:
        way: how a request is verified.
        seed: the same seed tries the same changes.
    """

    def __init__(self, way: _Verifier | _ASGI | _WSGI, seed: str) -> None:
        self.tried = 0
        self._way = way
        self._random = Random(seed)  # noqa: S311 - it has to be repeatable
        self._honest: Iterator[Fields] = iter(())

    async def run(self, seconds: float) -> tuple[float, Message]:
        """Return the most expensive message that is found, and its cost."""
        end = time.monotonic() + seconds
        kept: list[tuple[float, Message]] = [(0.0, Message())]
        while time.monotonic() < end:
            self.tried += 1
            message = self._random.choice(kept)[1].changed(self._random)
            if message.size > _MOST:
                continue
            if await self.cost(message, _GLANCES) <= kept[-1][0] and len(kept) == _KEPT:
                continue
            found = await self.cost(message, _ROUNDS)
            kept = sorted([*kept, (found, message)], key=lambda pair: -pair[0])[:_KEPT]
        return max([(await self.cost(message, _CHECKED), message) for _, message in kept], key=lambda pair: pair[0])

    async def cost(self, message: Message, rounds: int) -> float:
        """Return the least time that a message takes over the least time that an accepted request takes."""
        target, fields, method = message.target, message.fields, message.method
        accepted, rejected = [], []
        for _ in range(rounds):
            accepted.append(await self._seconds(PATH, self._fresh()))
            rejected.append(await self._seconds(target, fields, method))
        return min(rejected) / min(accepted)

    async def _seconds(self, target: str, fields: Fields, method: str = "POST") -> float:
        prepared = self._way.prepare(target, fields, method)
        begun = time.perf_counter()
        await self._way.run(prepared)
        return time.perf_counter() - begun

    def _fresh(self) -> Fields:
        fields = next(self._honest, None)
        if fields is None:
            self._honest = iter(signed_fields(1000))
            fields = next(self._honest)
        return fields


def rows(*, quick: bool) -> list[Row]:
    """Search for the most expensive message, from several starts, for a minute altogether."""
    found = []
    for way in WAYS:
        searches = [Search(way(), f"{way.name} {start}") for start in range(_STARTS)]
        seconds = (1 if quick else 60) / len(WAYS) / _STARTS
        gc.collect()
        gc.disable()
        try:
            cost, message = max((asyncio.run(search.run(seconds)) for search in searches), key=lambda pair: pair[0])
        finally:
            gc.enable()
        tried = sum(search.tried for search in searches)
        name = f"{way.name}, the most expensive of {tried:,} messages that nobody signed: {message}"
        found.append(Row(name, f"{way.name}, an accepted request", cost, _REACH))
    return found
