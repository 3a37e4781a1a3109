"""An inbox of the fediverse on a real socket, which accepts some schemes, and a sender that tries both."""

from __future__ import annotations

import contextlib
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from tests.activitypub.actors import signing_key, verification_key
from tests.integrations.capture import threaded
from tests.keys import OneKey

from undersigned import MemoryReplayStore, Request, SignatureError, Signer, Verifier
from undersigned.activitypub import ActivityPubVerifier
from undersigned.cavage import CavageSigner
from undersigned.client import DoubleKnock
from undersigned.profiles import ACTIVITYPUB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TYPE = {"Content-Type": "application/activity+json"}
DRAFT, RFC_9421 = "cavage", "rfc9421"


class Inbox(ThreadingHTTPServer):
    """A server that accepts some schemes, redirects /old to /inbox, and notes the scheme of every request."""

    def __init__(self, schemes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        self.schemes = schemes
        self.schemes_at: dict[str, str] = {}
        self.refusal, self.challenge = 401, ""
        self.nonces: list[str] = []
        self.asked: list[str] = []
        self.bodies: list[bytes] = []
        self.names: list[set[str]] = []
        keys = OneKey(verification_key())
        self.verifiers = {
            RFC_9421: Verifier(ACTIVITYPUB, keys=keys, replay=MemoryReplayStore()),
            DRAFT: ActivityPubVerifier(keys=keys, required=("(request-target)", "host")),
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        scheme = RFC_9421 if "Signature-Input" in self.headers else DRAFT
        server.asked.append(scheme)
        server.names.append({name.title() for name in self.headers})
        status = server.refusal
        if scheme in server.schemes_at.get(self.path, server.schemes):
            request = Request(self.command, server.origin + self.path, self.headers.items(), body)
            try:
                server.verifiers[scheme].verify(request)
            except SignatureError:
                status = 403
            else:
                nonce = re.search(';nonce="([^"]*)"', request.fields.combined.get("signature-input", ""))
                server.nonces.append(nonce[1] if nonce else "")
                server.bodies.append(body)
                status = {"/old": 307, "/down": 500}.get(self.path, 202)
                if server.challenge and f'nonce="{server.nonces[-1]}"' not in server.challenge:
                    status = server.refusal
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Location", "/inbox")
        if server.challenge:
            self.send_header("Accept-Signature", server.challenge)
        self.end_headers()

    do_GET = do_POST  # noqa: N815 - the name that http.server calls

    def log_message(self, *_arguments) -> None:
        """Say nothing."""


@contextlib.contextmanager
def start_inboxes() -> Iterator[Callable[..., Inbox]]:
    """Yield a function that starts an inbox; all of them end with the block."""
    with contextlib.ExitStack() as stack:
        yield lambda *schemes: stack.enter_context(threaded(Inbox(schemes)))


def knock(**options) -> DoubleKnock:
    return DoubleKnock(Signer(signing_key(), profile=ACTIVITYPUB), CavageSigner(signing_key()), **options)
