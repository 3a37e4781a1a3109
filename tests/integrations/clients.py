"""Every way a request is signed with httpx or httpx2: sync or async."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx
import httpx2

import undersigned_httpx.httpx
import undersigned_httpx.httpx2

if TYPE_CHECKING:
    from undersigned import Signer

TRUST = ssl.create_default_context()
"""Made once: each client would load every certificate authority there is."""

HTTP_2 = {"http1": False, "http2": True}
"""The options of a transport that knows that the server speaks HTTP/2."""

LIBRARIES = {"httpx": (httpx, undersigned_httpx.httpx), "httpx2": (httpx2, undersigned_httpx.httpx2)}


@dataclass(frozen=True)
class Means:
    """One way to sign: `send` sends one request by a client of its own and returns the response, read."""

    library: str
    asynchronous: bool

    def __str__(self) -> str:
        kind = "async" if self.asynchronous else "sync"
        return f"{self.library}-{kind}"

    def send(
        self,
        method: str,
        url: str,
        *,
        signer: Signer,
        origins: list[str],
        times: int = 1,
        options=None,
        signing=None,
        sending=lambda transport: transport,
        **parts,
    ):
        """Send one request, `times` times over, and return the last response.

        `options` are the client's, `signing` the signing transport's, and `sending` wraps the transport that sends.
        """
        plain, signed = LIBRARIES[self.library]
        signing = {"origins": origins, **(signing or {})}
        options = {"timeout": 10, "verify": TRUST, **(options or {})}
        inner = {name: options.pop(name) for name in ("verify", "http1", "http2", "proxy") if name in options}
        if self.asynchronous:
            transport = sending(plain.AsyncHTTPTransport(**inner))
            options["transport"] = signed.AsyncSignatureTransport(transport, signer, **signing)
            return asyncio.run(self._awaited(plain.AsyncClient(**options), method, url, times, parts))
        transport = sending(plain.HTTPTransport(**inner))
        options["transport"] = signed.SignatureTransport(transport, signer, **signing)
        with plain.Client(**options) as client:
            request = client.build_request(method, url, **parts)
            for _ in range(times - 1):
                client.send(request)
            return client.send(request)

    async def _awaited(self, client, method, url, times, parts):
        async with client:
            request = client.build_request(method, url, **parts)
            for _ in range(times - 1):
                await client.send(request)
            return await client.send(request)


MEANS = [Means(library, asynchronous) for library in LIBRARIES for asynchronous in (False, True)]
