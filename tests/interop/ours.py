"""Our ends of the wire: a client that signs, and a server that verifies, each by a profile without particularities."""

from __future__ import annotations

import json
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import httpx
import requests
from tests.keys import OneKey, key_pair
from tests.serving import uvicorn_server

import undersigned_requests
from undersigned import MemoryReplayStore, Profile, Signer, SigningKey, VerificationKey, Verifier
from undersigned.asgi import ResponseSigningMiddleware, SignatureMiddleware
from undersigned.client import ResponseVerification
from undersigned.signature.rules import CoverageRule, DigestRule, ParameterRule, ReplayRule, Validity
from undersigned_httpx import SignatureTransport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from tests.interop.peer import Order
    from tests.interop.wire import Wire

    from undersigned.asgi import ASGIApp

ALGORITHMS = (
    "ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "rsa-pss-sha512", "rsa-v1_5-sha256", "hmac-sha256",
)  # fmt: skip
ACTOR = "https://social.example/users/bob"
SECRET = {"kid": "shared-secret", "kty": "oct", "k": "c2VjcmV0IG9mIGJvdGggcGFydGllcywgb2YgMzIgYnl0ZXMhIQ"}


def private_jwk(algorithm: str) -> Mapping[str, object]:
    return SECRET if algorithm == "hmac-sha256" else key_pair(algorithm).private


def actor_jwk() -> Mapping[str, object]:
    """The private JWK of an actor of the fediverse: the RSA key under a URL."""
    return {**private_jwk("rsa-v1_5-sha256"), "kid": f"{ACTOR}#main-key"}


@cache
def keys() -> list[Mapping[str, object]]:
    """All keys, as the peers get them: private JWKs, with the algorithm by its RFC 9421 name."""
    named = [{**private_jwk(algorithm), "algorithm": algorithm} for algorithm in ALGORITHMS]
    return [*named, {**actor_jwk(), "algorithm": "rsa-v1_5-sha256", "actor": ACTOR}]


def keyid(algorithm: str) -> str:
    return str(private_jwk(algorithm)["kid"])


def public_jwk(algorithm: str) -> Mapping[str, object]:
    [jwk] = key_pair(algorithm).public["keys"]
    return jwk


@cache
def verification_key(algorithm: str) -> VerificationKey:
    if algorithm == "hmac-sha256":
        return VerificationKey.from_secret(SECRET, keyid=keyid(algorithm))
    return VerificationKey.from_jwk(public_jwk(algorithm))


@cache
def signing_key(algorithm: str) -> SigningKey:
    jwk = private_jwk(algorithm)
    return SigningKey.from_secret(jwk, keyid=keyid(algorithm)) if jwk is SECRET else SigningKey.from_jwk(jwk)


def profile(algorithm: str, components: Sequence[str]) -> Profile:
    """The profile of a signature by `algorithm` that covers `components`, and has `created`, `keyid` and `alg`."""
    return Profile(
        name="interop",
        parameters=ParameterRule(
            expires="optional", nonce="optional", keyid="optional", alg="optional", tag="optional",
            written=frozenset({"keyid", "alg"}),
        ),
        coverage=CoverageRule(always=tuple(components)),
        digest=DigestRule(policy="either"),
        algorithms=frozenset({algorithm}),
        validity=Validity(longest=None, default=300),
        replay=ReplayRule(remembers="base"),
        target="typed",
    )  # fmt: skip


def response_profile(algorithm: str, components: Sequence[str]) -> Profile:
    """The profile of responses that are signed by `algorithm`, and cover `components`."""
    return profile(algorithm, ("@method",)).derive(
        name="interop-responses", message="response", coverage=CoverageRule(always=tuple(components))
    )


def responses(algorithm: str, components: Sequence[str]) -> ResponseVerification:
    """What verifies such responses."""
    agreed = response_profile(algorithm, components)
    return ResponseVerification(
        Verifier(agreed, keys=OneKey(verification_key(algorithm)), replay=MemoryReplayStore()), signers=None
    )


@contextmanager
def serving(wire: Wire, verifier: Verifier, *, answers: Profile | None = None) -> Iterator[None]:
    """Run our server at the end of the wire: uvicorn, the middleware, and an application that was reached.

    It signs its responses if there is a profile for them.
    """

    async def app(scope, receive, send) -> None:
        content = (await receive())["body"]
        answer = {"verified": scope["undersigned"].signature is not None, "content": content.decode()}
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": json.dumps(answer).encode()})

    served: ASGIApp = SignatureMiddleware(app, verifier=verifier, origins=[wire.origin])
    if answers is not None:
        served = ResponseSigningMiddleware(served, signer=_signer(answers), origins=[wire.origin])
    with uvicorn_server(served) as wire.server:
        yield


def server(wire: Wire, agreed: Profile, *, answers: Profile | None = None) -> AbstractContextManager[None]:
    """Run our server with a verifier of one profile, which has one algorithm."""
    [algorithm] = agreed.algorithms
    return serving(
        wire, Verifier(agreed, keys=OneKey(verification_key(algorithm)), replay=MemoryReplayStore()), answers=answers
    )


def send(order: Order, wire: Wire, agreed: Profile, client: httpx.Client, **options) -> httpx.Response:
    """Sign and send a request over the wire: by httpx and our transport, which has `options`."""
    transport = SignatureTransport(client._transport, _signer(agreed), origins=[wire.origin], **options)  # noqa: SLF001
    fields = [(name, value) for name, given in order.fields.items() for value in _lines(given)]
    url = f"{wire.origin}{order.target}"
    signing = httpx.Client(transport=transport)
    return signing.request(order.method, url, headers=fields, content=order.body)


def send_by_requests(order: Order, wire: Wire, agreed: Profile) -> requests.Response:
    """Sign and send a request over the wire: by requests and our auth."""
    auth = undersigned_requests.SignatureAuth(_signer(agreed), origins=[wire.origin])
    url = f"{wire.origin}{order.target}"
    return requests.request(
        order.method, url, headers=dict(order.fields), data=order.body.encode(), auth=auth, timeout=30
    )


def _signer(agreed: Profile) -> Signer:
    [algorithm] = agreed.algorithms
    return Signer(signing_key(algorithm), profile=agreed)


def _lines(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else given
