"""The same work by other libraries: http-message-signatures, and adcp if it is installed."""

from __future__ import annotations

import datetime as dt
import secrets
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING

from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver
from http_message_signatures.algorithms import ECDSA_P256_SHA256, ED25519
from tests.benchmarks.row import Row, Side, interleave
from tests.benchmarks.traffic import BODY, FIELDS, receive, unsigned
from tests.keys import EC_KEY, EC_PUBLIC, FULL, KEY, PUBLIC, URL, ed25519_key, es256_key, signer, verifier

if TYPE_CHECKING:
    from http_message_signatures.algorithms import HTTPSignatureAlgorithm
    from tests.benchmarks.traffic import Fields

    from undersigned import SigningKey

_TAG = "adcp/request-signing/v1"
_PEER = "http-message-signatures, no replay store, no JSON"


class _Message:
    """What http-message-signatures signs."""

    def __init__(self, fields: Fields) -> None:
        self.method, self.url, self.headers, self.body = "POST", URL, dict(fields), BODY


class _Keys(HTTPSignatureKeyResolver):
    def __init__(self) -> None:
        self._private = {KEY.keyid: ed25519_key(), EC_KEY.keyid: es256_key()}
        self._public = {keyid: key.public_key() for keyid, key in self._private.items()}

    def resolve_public_key(self, key_id: str):
        return self._public[key_id]

    def resolve_private_key(self, key_id: str):
        return self._private[key_id]


def rows(*, quick: bool) -> list[Row]:
    """Measure our time relative to each peer's: below 1, ours is faster."""
    rounds = 10 if quick else 500
    return [*_http_message_signatures(rounds), *(_adcp(rounds) if find_spec("adcp") else ())]


def sign_now(count: int, *, key: SigningKey = KEY) -> list[Fields]:
    """The header fields of `count` requests, signed at this second: the peers look at the clock themselves."""
    signs, request = signer(key=key, now=time.time()), unsigned()
    return [[*FIELDS, *signs.sign(request)] for _ in range(count)]


def _http_message_signatures(rounds: int) -> list[Row]:
    verified = [
        Row(f"verify, {name}, relative to a peer", _PEER, _time_verification(rounds, key, algorithm), 1.0)
        for name, key, algorithm in (("Ed25519", KEY, ED25519), ("ES256", EC_KEY, ECDSA_P256_SHA256))
    ]
    return [*verified, Row("sign, relative to a peer", _PEER, _time_signing(rounds), 1.0)]


def _time_verification(rounds: int, key: SigningKey, algorithm: type[HTTPSignatureAlgorithm]) -> float:
    """Return the ratio of our verification to theirs."""
    fields, ours = sign_now(rounds, key=key), verifier(now=time.time())
    theirs = HTTPMessageVerifier(signature_algorithm=algorithm, key_resolver=_Keys())
    checked, verified = interleave(
        rounds,
        Side(
            lambda message: theirs.verify(
                message, max_age=dt.timedelta(minutes=5), expect_tag=_TAG, require_components=FULL, body=BODY
            ),
            lambda turn: _Message(fields[turn]),
        ),
        Side(ours.verify, lambda turn: receive(fields[turn])),
    )
    return verified / checked


def _time_signing(rounds: int) -> float:
    """Return the ratio of our signing to theirs."""
    signs, peer_signs = signer(now=time.time()), HTTPMessageSigner(signature_algorithm=ED25519, key_resolver=_Keys())

    def sign(message: _Message) -> None:
        now = dt.datetime.now(dt.UTC)
        peer_signs.sign(
            message,
            key_id=KEY.keyid,
            created=now,
            expires=now + dt.timedelta(minutes=5),
            nonce=secrets.token_urlsafe(16),
            label="sig1",
            tag=_TAG,
            covered_component_ids=FULL,
            body=BODY,
        )

    peer_signed, signed = interleave(
        rounds, Side(sign, lambda _: _Message(FIELDS)), Side(signs.sign, lambda _: unsigned())
    )
    return signed / peer_signed


def _adcp(rounds: int) -> list[Row]:
    """Compare with adcp.signing, which knows the same profile, replay store and strict JSON included."""
    from adcp import signing  # noqa: PLC0415 - it may be missing

    found, peer, now, private = [], "adcp.signing", time.time(), ed25519_key()
    for name, key, jwk in (("Ed25519", KEY, PUBLIC), ("ES256", EC_KEY, EC_PUBLIC)):
        fields, ours = sign_now(rounds, key=key), verifier(now=now)
        options = signing.VerifyOptions(
            now=now,
            capability=signing.VerifierCapability(covers_content_digest="required"),
            operation="create_media_buy",
            jwks_resolver=signing.StaticJwksResolver({"keys": [jwk]}),
            replay_store=signing.InMemoryReplayStore(),
            signing_profile_version="3.2",
        )

        def verify(headers: dict[str, str], options: signing.VerifyOptions = options) -> object:
            return signing.verify_request_signature(method="POST", url=URL, headers=headers, body=BODY, options=options)

        checked, verified = interleave(
            rounds,
            Side(verify, lambda turn, fields=fields: dict(fields[turn])),
            Side(ours.verify, lambda turn, fields=fields: receive(fields[turn])),
        )
        found.append(Row(f"verify, {name}, relative to a peer", peer, verified / checked, 1.0))

    def sign(headers: dict[str, str]) -> object:
        named = {"private_key": private, "key_id": KEY.keyid, "alg": "ed25519", "signing_profile_version": "3.2"}
        return signing.sign_request(method="POST", url=URL, headers=headers, body=BODY, **named)

    theirs, signed = interleave(
        rounds, Side(sign, lambda _: dict(FIELDS)), Side(signer(now=now).sign, lambda _: unsigned())
    )
    return [*found, Row("sign, relative to a peer", peer, signed / theirs, 1.0)]
