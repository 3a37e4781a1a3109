"""The middlewares of goassay-provider-verify: Ed25519 without Content-Type and scheme, and no JSON."""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from goassay_provider_verify import AssayVerifyMiddleware, AssayVerifyWSGI, Verifier
from tests.benchmarks.row import Row, Side, interleave
from tests.benchmarks.traffic import BODY, FIELDS, digest, handmade, sign_by_hand
from tests.keys import KEY, PUBLIC, URL, ed25519_key, verifier

if TYPE_CHECKING:
    from tests.benchmarks.traffic import Handmade

NAME = "goassay"
_PEER = "goassay-provider-verify, fewer checks, no JSON"
_OPTIONS = {"jwks": {"keys": [PUBLIC]}, "provider": "seller"}


def rows(rounds: int) -> list[Row]:
    """Measure our time relative to theirs: below 1, ours is faster."""
    now = int(time.time())
    theirs, ours = [sign_as_sender(now) for _ in range(rounds)], [sign_by_hand(URL, now=now) for _ in range(rounds)]
    peer, own = Verifier(**_OPTIONS), verifier(now=now)

    def verify(request: Handmade) -> None:
        assert peer.verify("POST", urlsplit(request.url).path, dict(request.fields), BODY).ok

    checked, verified = interleave(
        rounds, Side(verify, lambda turn: theirs[turn]), Side(own.verify, lambda turn: ours[turn].request)
    )
    return [Row("verify, Ed25519, relative to a peer", _PEER, verified / checked, 1.0)]


def sign_as_sender(now: int) -> Handmade:
    """Sign the request as their senders do, with a nonce of its own."""
    target, call = urlsplit(URL), secrets.token_urlsafe(16)
    values = {
        "@method": "POST",
        "@authority": target.netloc,
        "@path": target.path,
        "@query": "?",
        "content-digest": digest(),
        "x-assay-call-id": call,
    }
    covered = " ".join(f'"{name}"' for name in values)
    label = (
        f'assay=({covered});created={now};expires={now + 300};nonce="{call}";keyid="{KEY.keyid}";alg="ed25519"'
        ';tag="assay-request";aud="seller"'
    )
    fields = [*FIELDS, ("Content-Digest", digest()), ("X-Assay-Call-Id", call)]
    return handmade(URL, fields, list(values.items()), label, ed25519_key())


def asgi_application(application) -> AssayVerifyMiddleware:
    """An ASGI application under their middleware, which verifies in a thread."""
    return AssayVerifyMiddleware(application, **_OPTIONS)


def wsgi_application(application) -> AssayVerifyWSGI:
    """A WSGI application under their middleware."""
    return AssayVerifyWSGI(application, **_OPTIONS)
