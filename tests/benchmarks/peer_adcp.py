"""The same work by adcp.signing, which knows the same profile, replay store and strict JSON included."""

from __future__ import annotations

import time

from adcp.signing import (
    InMemoryReplayStore,
    StaticJwksResolver,
    VerifierCapability,
    VerifyOptions,
    sign_request,
    verify_request_signature,
)
from tests.benchmarks.bench_peers import sign_now
from tests.benchmarks.row import Row, Side, interleave
from tests.benchmarks.traffic import BODY, FIELDS, receive, unsigned
from tests.keys import EC_KEY, EC_PUBLIC, KEY, PUBLIC, URL, ed25519_key, signer, verifier

_PEER = "adcp.signing"


def rows(rounds: int) -> list[Row]:
    """Measure our time relative to theirs: below 1, ours is faster."""
    return [*_time_verification(rounds), _time_signing(rounds)]


def _time_verification(rounds: int) -> list[Row]:
    found, now = [], time.time()
    for name, key, jwk in (("Ed25519", KEY, PUBLIC), ("ES256", EC_KEY, EC_PUBLIC)):
        fields, ours = sign_now(rounds, key=key), verifier(now=now)
        options = VerifyOptions(
            now=now,
            capability=VerifierCapability(covers_content_digest="required"),
            operation="create_media_buy",
            jwks_resolver=StaticJwksResolver({"keys": [jwk]}),
            replay_store=InMemoryReplayStore(),
            signing_profile_version="3.2",
        )

        def verify(headers: dict[str, str], options: VerifyOptions = options) -> object:
            return verify_request_signature(method="POST", url=URL, headers=headers, body=BODY, options=options)

        checked, verified = interleave(
            rounds,
            Side(verify, lambda turn, fields=fields: dict(fields[turn])),
            Side(ours.verify, lambda turn, fields=fields: receive(fields[turn])),
        )
        found.append(Row(f"verify, {name}, relative to a peer", _PEER, verified / checked, 1.0))
    return found


def _time_signing(rounds: int) -> Row:
    ours, private = signer(now=time.time()), ed25519_key()

    def sign(headers: dict[str, str]) -> object:
        return sign_request(
            method="POST",
            url=URL,
            headers=headers,
            body=BODY,
            private_key=private,
            key_id=KEY.keyid,
            alg="ed25519",
            signing_profile_version="3.2",
        )

    theirs, signed = interleave(rounds, Side(sign, lambda _: dict(FIELDS)), Side(ours.sign, lambda _: unsigned()))
    return Row("sign, relative to a peer", _PEER, signed / theirs, 1.0)
