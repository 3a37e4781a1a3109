"""The same work by adcp.signing, which knows the same profile, replay store and strict JSON included."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from adcp.signing import (
    InMemoryReplayStore,
    SignatureVerificationError,
    StaticJwksResolver,
    VerifierCapability,
    VerifyOptions,
    canonicalize_target_uri,
    sign_request,
    verify_request_signature,
)
from tests.benchmarks.bench_import import run_import
from tests.benchmarks.bench_peers import sign_now
from tests.benchmarks.bench_url import CANONICAL, MIXED
from tests.benchmarks.bench_verify import reject_by
from tests.benchmarks.row import Row, Side, interleave
from tests.benchmarks.traffic import BODY, FIELDS, receive, unsigned
from tests.keys import EC_KEY, EC_PUBLIC, KEY, PUBLIC, URL, ed25519_key, signer, verifier

from undersigned import canonicalize
from undersigned.signature.key_source import ExaminedKeys

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned import Verifier

_PEER = "adcp.signing"
_LATER = 10_000


def rows(rounds: int) -> list[Row]:
    """Measure our time relative to theirs: below 1, ours is faster."""
    return [
        *_time_verification(rounds),
        *_time_rejections(rounds),
        _time_signing(rounds),
        *_time_canonicalization(rounds),
        _time_import(rounds),
    ]


def _verifying(jwks: list[object], *, now: float) -> Callable[[dict[str, str]], object]:
    """Their verification, by a replay store of its own."""
    options = _options(jwks, now=now)
    return lambda headers: verify_request_signature(method="POST", url=URL, headers=headers, body=BODY, options=options)


def _options(jwks: list[object], *, now: float = 0) -> VerifyOptions:
    return VerifyOptions(
        now=now,
        capability=VerifierCapability(covers_content_digest="required"),
        operation="create_media_buy",
        jwks_resolver=StaticJwksResolver({"keys": jwks}),
        replay_store=InMemoryReplayStore(),
        signing_profile_version="3.2",
    )


def _time_verification(rounds: int) -> list[Row]:
    found, now = [], time.time()
    for name, key, jwk in (("Ed25519", KEY, PUBLIC), ("ES256", EC_KEY, EC_PUBLIC)):
        fields, ours = sign_now(rounds, key=key), verifier(now=now)
        checked, verified = interleave(
            rounds,
            Side(_verifying([jwk], now=now), lambda turn, fields=fields: dict(fields[turn])),
            Side(ours.verify, lambda turn, fields=fields: receive(fields[turn])),
        )
        found.append(Row(f"verify, {name}, relative to a peer", _PEER, verified / checked, 1.0))
    return found


def _time_rejections(rounds: int) -> list[Row]:
    fields, now = sign_now(rounds), time.time()
    seen, own = _verifying([PUBLIC], now=now), verifier(now=now)
    for signed in fields:
        seen(dict(signed))
        own.verify(receive(signed))
    cases: dict[str, tuple[Callable[[dict[str, str]], object], Verifier]] = {
        "a bad window": (_verifying([PUBLIC], now=now + _LATER), verifier(now=now + _LATER)),
        "an unknown key": (_verifying([], now=now), verifier(now=now, keys=ExaminedKeys({}))),
        "a replay": (seen, own),
    }
    found = []
    for name, (theirs, ours) in cases.items():
        checked, rejected = interleave(
            rounds,
            Side(_reject_by(theirs), lambda turn: dict(fields[turn])),
            Side(reject_by(ours), lambda turn: receive(fields[turn])),
        )
        found.append(Row(f"reject {name}, relative to a peer", _PEER, rejected / checked, 1.0))
    return found


def _reject_by(verifying: Callable[[dict[str, str]], object]) -> Callable[[dict[str, str]], None]:
    def rejected(headers: dict[str, str]) -> None:
        with contextlib.suppress(SignatureVerificationError):
            verifying(headers)
            raise AssertionError("the request must be rejected")

    return rejected


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


def _time_canonicalization(rounds: int) -> list[Row]:
    """Compare cold: theirs reads URLs by `urlsplit`, which remembers the few that a benchmark repeats."""
    found = []
    for kind, urls in (("canonical", CANONICAL), ("mixed", [url for url in MIXED if "user:" not in url])):
        theirs, own = interleave(
            rounds,
            Side(lambda _, urls=urls: [canonicalize_target_uri(url) for url in urls], lambda _: urlsplit.cache_clear()),
            Side(lambda _, urls=urls: [canonicalize(url) for url in urls]),
        )
        found.append(Row(f"canonicalize, {kind}, cold, relative to a peer", _PEER, own / theirs, 1.0))
    return found


def _time_import(rounds: int) -> Row:
    theirs, own = interleave(
        min(rounds, 5),
        Side(lambda _: run_import("import adcp.signing")),
        Side(lambda _: run_import("import undersigned")),
    )
    return Row("import, relative to a peer", _PEER, own / theirs, 1.0)
