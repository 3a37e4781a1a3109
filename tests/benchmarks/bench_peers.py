"""The same work by others: http-message-signatures itself, and adcp.signing where it is installed (extra `bench`)."""

from __future__ import annotations

import datetime as dt
import secrets
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver
from http_message_signatures.algorithms import ED25519
from tests.benchmarks.bench_url import CANONICAL, MIXED
from tests.benchmarks.row import Row, Side, interleaved
from tests.benchmarks.traffic import BODY, FIELDS, received, unsigned
from tests.keys import FULL, PUBLIC, URL, signer, verifier

from undersigned import canonicalize

if TYPE_CHECKING:
    from tests.benchmarks.traffic import Fields

_TAG = "adcp/request-signing/v1"
_KEYID = "buyer-ed25519"
_SEED = bytes([1]) * 32


class _Message:
    """What http-message-signatures signs."""

    def __init__(self, fields: Fields) -> None:
        self.method, self.url, self.headers, self.body = "POST", URL, dict(fields), BODY


class _Keys(HTTPSignatureKeyResolver):
    def __init__(self) -> None:
        self._private = Ed25519PrivateKey.from_private_bytes(_SEED)
        self._public = self._private.public_key()

    def resolve_public_key(self, key_id: str):  # noqa: ARG002 - the resolver's signature
        return self._public

    def resolve_private_key(self, key_id: str):  # noqa: ARG002 - the same
        return self._private


def rows(*, quick: bool) -> list[Row]:
    """Measure ours beside each peer's; below 1 ours is faster."""
    rounds = 10 if quick else 500
    found = _http_message_signatures(rounds)
    if find_spec("adcp") is not None:
        found += _adcp(rounds)
    return found


def _signed_now(count: int) -> list[Fields]:
    """Signed at this second: the peers look at the clock themselves."""
    signs, request = signer(now=time.time()), unsigned()
    return [[*FIELDS, *signs.sign(request)] for _ in range(count)]


def _http_message_signatures(rounds: int) -> list[Row]:
    peer = "http-message-signatures, no replay store, no JSON"
    fields, ours = _signed_now(rounds), verifier(now=time.time())
    theirs = HTTPMessageVerifier(signature_algorithm=ED25519, key_resolver=_Keys())
    checked, verified = interleaved(
        rounds,
        Side(
            lambda message: theirs.verify(
                message, max_age=dt.timedelta(minutes=5), expect_tag=_TAG, require_components=FULL, body=BODY
            ),
            lambda turn: _Message(fields[turn]),
        ),
        Side(ours.verify, lambda turn: received(fields[turn])),
    )
    signs, peer_signs = signer(now=time.time()), HTTPMessageSigner(signature_algorithm=ED25519, key_resolver=_Keys())

    def sign(message: _Message) -> None:
        now = dt.datetime.now(dt.UTC)
        peer_signs.sign(
            message,
            key_id=_KEYID,
            created=now,
            expires=now + dt.timedelta(minutes=5),
            nonce=secrets.token_urlsafe(16),
            label="sig1",
            tag=_TAG,
            covered_component_ids=FULL,
            body=BODY,
        )

    peer_signed, signed = interleaved(
        rounds, Side(sign, lambda _: _Message(FIELDS)), Side(signs.signed, lambda _: unsigned())
    )
    return [
        Row("verify, beside a peer", peer, verified / checked, 1.0),
        Row("sign, beside a peer", peer, signed / peer_signed, 1.0),
    ]


def _adcp(rounds: int) -> list[Row]:
    """Measure beside adcp.signing, which knows the same profile, replay store and strict JSON included."""
    from adcp.signing import (  # noqa: PLC0415 - only where it is installed
        InMemoryReplayStore,
        StaticJwksResolver,
        VerifierCapability,
        VerifyOptions,
        canonicalize_target_uri,
        sign_request,
        verify_request_signature,
    )

    peer, now = "adcp.signing", time.time()
    fields, ours, private = _signed_now(rounds), verifier(now=now), Ed25519PrivateKey.from_private_bytes(_SEED)
    options = VerifyOptions(
        now=now,
        capability=VerifierCapability(covers_content_digest="required"),
        operation="create_media_buy",
        jwks_resolver=StaticJwksResolver({"keys": [PUBLIC]}),
        replay_store=InMemoryReplayStore(),
        signing_profile_version="3.2",
    )
    checked, verified = interleaved(
        rounds,
        Side(
            lambda headers: verify_request_signature(
                method="POST", url=URL, headers=headers, body=BODY, options=options
            ),
            lambda turn: dict(fields[turn]),
        ),
        Side(ours.verify, lambda turn: received(fields[turn])),
    )
    signs = signer(now=now)
    peer_signed, signed = interleaved(
        rounds,
        Side(
            lambda headers: sign_request(
                method="POST",
                url=URL,
                headers=headers,
                body=BODY,
                private_key=private,
                key_id=_KEYID,
                alg="ed25519",
                signing_profile_version="3.2",
            ),
            lambda _: dict(FIELDS),
        ),
        Side(signs.signed, lambda _: unsigned()),
    )
    found = [
        Row("verify, beside a peer", peer, verified / checked, 1.0),
        Row("sign, beside a peer", peer, signed / peer_signed, 1.0),
    ]
    for kind, urls in (("canonical", CANONICAL), ("mixed", [url for url in MIXED if "user:" not in url])):
        theirs, own = interleaved(
            rounds,
            Side(lambda _, urls=urls: [canonicalize_target_uri(url) for url in urls]),
            Side(lambda _, urls=urls: [canonicalize(url) for url in urls]),
        )
        found.append(Row(f"canonicalize, {kind}, beside a peer", peer, own / theirs, 1.0))
    return found
