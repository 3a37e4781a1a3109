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
        options=None,
        signing=None,
        **parts,
    ):
        """Send one request: `options` are the client's, and `signing` the signing transport's."""
        plain, signed = LIBRARIES[self.library]
        kind = "Async" if self.asynchronous else ""
        options = {"timeout": 10, "verify": TRUST, **(options or {})}
        inner = {name: options.pop(name) for name in ("verify", "http1", "http2", "proxy") if name in options}
        transport = getattr(plain, f"{kind}HTTPTransport")(**inner)
        signing = {"origins": origins, **(signing or {})}
        options["transport"] = getattr(signed, f"{kind}SignatureTransport")(transport, signer, **signing)
        return self.request(options, method, url, **parts)

    def request(self, options, method, url, **parts):
        """Send one request by a client with these options."""
        plain = LIBRARIES[self.library][0]

        async def send():
            async with plain.AsyncClient(**options) as client:
                return await client.request(method, url, **parts)

        if self.asynchronous:
            return asyncio.run(send())
        with plain.Client(**options) as client:
            return client.request(method, url, **parts)


MEANS = [Means(library, asynchronous) for library in LIBRARIES for asynchronous in (False, True)]
