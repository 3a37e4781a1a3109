"""A buyer's signer, and a seller who verifies on a real socket, redirects, and remembers what came."""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from tests.keys import KEY, KEYS
from tests.serving import uvicorn_server

from undersigned import KeySet, MemoryReplayStore, Signer, Verifier, profiles
from undersigned.asgi import SignatureMiddleware

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integrations.capture import Sent

KEYID = KEY.keyid
CREDENTIALS = {"Authorization": "Bearer s3cret", "Cookie": "a=s3cret"}
"""Header fields of a caller that are for one origin."""
SIGNATURE_FIELDS = ("signature", "signature-input", "content-digest")


def make_signer(**options) -> Signer:
    """The buyer's signer, by the real clock."""
    return Signer(KEY, profile=profiles.ADCP_3_2, **options)


class AsyncKey:
    """The buyer's key, as one in a KMS."""

    keyid, algorithm = KEY.keyid, KEY.algorithm

    async def sign(self, base: bytes) -> bytes:
        await asyncio.sleep(0)
        return KEY.sign(base)


def make_verifier(keys: KeySet = KEYS) -> Verifier:
    """A seller's verifier, by the real clock, with a replay store of its own."""
    return Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())


def is_accepted(sent: Sent) -> bool:
    """Return whether a seller who has seen no other request takes what was sent for the buyer's."""
    return make_verifier().verify(sent.request()).keyid == KEYID


@dataclass
class Arrival:
    """One request as it arrived at a seller, and the verified key that signed it, if any."""

    method: str
    target: str
    fields: dict[str, str]
    version: str = "1.1"
    status: int = 0
    keyid: str | None = None
    body: bytes = b""

    @property
    def bare(self) -> bool:
        """Whether the request carried nothing of a signature at all."""
        return not any(name in self.fields for name in SIGNATURE_FIELDS)

    @property
    def has_credentials(self) -> bool:
        """Whether the request carried anything of `CREDENTIALS`."""
        return any("s3cret" in value for value in self.fields.values())


@dataclass
class Seller:
    """An ASGI application: `/go/<status>?to=<url>` redirects, anything else answers with what arrived."""

    port: int = 0
    arrivals: list[Arrival] = field(default_factory=list)
    middleware: SignatureMiddleware | None = None

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def go(self, status: int, to: str) -> str:
        return f"{self.origin}/go/{status}?to={to}"

    async def __call__(self, scope, receive, send):
        target = (scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")).decode()
        fields = {name.decode(): value.decode() for name, value in scope["headers"]}
        arrival = Arrival(scope["method"], target, fields, scope["http_version"])
        self.arrivals.append(arrival)

        async def sending(message):
            if message["type"] == "http.response.start":
                arrival.status = message["status"]
            await send(message)

        await self.middleware({**scope, "arrival": arrival}, receive, sending)

    async def answer(self, scope, receive, send):
        arrival = scope["arrival"]
        signature = scope["undersigned"].signature
        arrival.keyid = None if signature is None else signature.keyid
        more = True
        while more:
            message = await receive()
            arrival.body += message.get("body", b"")
            more = message.get("more_body", False)
        status, headers = 200, [(b"content-type", b"application/json")]
        if scope["path"].startswith("/go/"):
            status = int(scope["path"].removeprefix("/go/"))
            headers.append((b"location", parse_qs(scope["query_string"].decode())["to"][0].encode()))
        shown = {"keyid": arrival.keyid, "method": arrival.method, "target": arrival.target}
        content = json.dumps({**shown, "headers": [*arrival.fields.items()], "body": arrival.body.hex()}).encode()
        headers.append((b"content-length", b"%d" % len(content)))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})


@contextlib.contextmanager
def selling(
    mode: str = "required", *, keys: KeySet = KEYS, serve=uvicorn_server, http2_server: str | None = None
) -> Iterator[Seller]:
    """A seller under uvicorn, or another server."""
    seller = Seller()
    with serve(seller) as port:
        seller.port = port
        options = {"origins": [seller.origin], "mode": mode, "http2_server": http2_server}
        seller.middleware = SignatureMiddleware(seller.answer, verifier=make_verifier(keys), **options)
        yield seller


@contextlib.contextmanager
def selling_at(public: str | Path) -> Iterator[str]:
    """A seller who knows the public keys in a file; yields its origin."""
    with selling(keys=KeySet.from_jwks(json.loads(Path(public).read_text()))) as seller:
        yield seller.origin
