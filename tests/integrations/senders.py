"""Clients that sign, each behind the same few words: what is sent, and what came back."""

from __future__ import annotations

import asyncio
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp

from undersigned_aiohttp import SigningMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.client import SignerSource

CONTENT = b"ab\x00\xff" * 20_000


class Stream:
    """A stream that can be read once, as a pipe."""

    def __init__(self, content: bytes) -> None:
        self._rest = io.BytesIO(content)

    def read(self, size: int = -1) -> bytes:
        return self._rest.read(size)

    def __iter__(self):
        return iter(lambda: self.read(1000), b"")


async def chunks():
    for start in range(0, len(CONTENT), 1000):
        yield CONTENT[start : start + 1000]


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    content: bytes = b""

    def json(self):
        return json.loads(self.content)


@dataclass(frozen=True)
class Sender:
    """One client that signs.

    Attributes:
        name: its name in tests.
        send: sends a request, `times` times over, and returns the last answer.
        bodies: the kinds of `body` that the client can send, besides bytes.
        redirected: the statuses of redirects that it follows with a POST.
    """

    name: str
    send: Callable[..., Answer]
    bodies: frozenset[str]
    redirected: frozenset[int] = frozenset({301, 302, 303, 307, 308})

    def __str__(self) -> str:
        return self.name


def by_aiohttp(method, url, *, signer: SignerSource, origins, signing=None, times=1, session=None, **parts) -> Answer:
    async def send() -> Answer:
        middlewares = (SigningMiddleware(signer, origins=origins, **(signing or {})),)
        async with aiohttp.ClientSession(middlewares=middlewares, **(session or {})) as client:
            for _ in range(times - 1):
                async with client.request(method, url, **parts):
                    pass
            async with client.request(method, url, **parts) as response:
                return Answer(response.status, await response.read())

    return asyncio.run(send())


AIOHTTP = Sender(
    "aiohttp",
    by_aiohttp,
    frozenset({"json", "form", "multipart", "file", "text file", "async generator"}),
)
SENDERS = [AIOHTTP]
