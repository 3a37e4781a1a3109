"""Signed responses of WIMSE, of which nobody published enough, in the form of the published wire examples.

Each base is written line by line from draft-ietf-wimse-http-signature-07, section 3, and signed with `cryptography`
alone.

`outcome` is the verdict by the profile, and `signature_valid` says whether the signature fits the base at all.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING

from tests.vectors.recipes.keys import PRIVATE, WARNING, Key, b64url

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = 1_790_000_005
CREATED = NOW - 5
WORKLOAD, SERVICE, ISSUER = Key("own-workload"), Key("own-service"), Key("own-issuer")
ORDERS = "/orders?id=7"
ANSWER = '{"orders":[7]}'

Fields = list[tuple[str, str]]


def document() -> dict[str, object]:
    return {"$comment": f"Made by recipes, see tests/vectors/make_own.py. {WARNING}", "examples": [*_examples()]}


def _examples() -> Iterator[dict[str, object]]:
    yield _response("wimse-response")
    yield _response("wimse-response-that-was-not-asked-for", asks="", nonce="")
    yield _response("wimse-response-without-the-nonce-of-the-request", nonce="", outcome="invalid")
    yield _response("wimse-response-with-the-nonce-of-another-request", nonce="0therN0nce", outcome="invalid")
    yield _response("wimse-response-with-another-status", status=201, outcome="invalid")
    yield _response("wimse-response-to-another-request", target="/orders?id=8", outcome="invalid")
    yield _response("wimse-response-without-its-token", token=False, outcome="invalid")
    yield _response("wimse-response-with-keyid", more=f';keyid="{SERVICE.kid}"', outcome="invalid")


def _response(
    name: str,
    *,
    asks: str = ";wimse-sign-response",
    nonce: str = "q1w2e3",
    status: int = 200,
    target: str = ORDERS,
    token: bool = True,
    more: str = "",
    outcome: str = "verified",
) -> dict[str, object]:
    """A response to a signed request. The service signs status 200 and `ORDERS`, whatever was received.

    `nonce` is the request's nonce that the response repeats, and "" for none.
    """
    digest, own = _digest(ANSWER), _token(SERVICE)
    echo = f';wimse-req-nonce="{nonce}"' if nonce else ""
    identity = ' "workload-identity-token"' if token else ""
    text = (
        f'("@status" "@method";req "@request-target";req{identity} "content-type" "content-digest");created={CREATED};'
        f'expires={CREATED + 120};nonce="r4t5y6";tag="wimse-workload-to-workload"{echo}{more}'
    )

    def base(status: int, target: str) -> str:
        identity = f'"workload-identity-token": {own}\n' if token else ""
        return (
            f'"@status": {status}\n"@method";req: GET\n"@request-target";req: {target}\n{identity}'
            f'"content-type": application/json\n"content-digest": {digest}\n"@signature-params": {text}'
        )

    return {
        **_head(name, "wimse-response", outcome, valid=(status, target) == (200, ORDERS)),
        "method": "GET",
        "url": f"https://svcb.own.test{target}",
        "request_headers": _asked(target, asks),
        "status": status,
        "headers": [
            ("Content-Type", "application/json"),
            ("Content-Digest", digest),
            ("Workload-Identity-Token", own),
            ("Signature-Input", f"wimse={text}"),
            ("Signature", f"wimse={_bytes(SERVICE, base(200, ORDERS))}"),
        ],
        "body": ANSWER,
        "signature_base": base(status, target),
        "algorithm": "ed25519",
        "jwk": _private(SERVICE),
    }


def _asked(target: str, asks: str) -> Fields:
    """The fields of the signed request that a workload sends to the service."""
    token = _token(WORKLOAD)
    text = (
        f'("@method" "@request-target" "workload-identity-token");created={CREATED - 1};expires={CREATED + 119};'
        f'nonce="q1w2e3";tag="wimse-workload-to-workload";wimse-aud="https://svcb.own.test/orders"{asks}'
    )
    base = (
        f'"@method": GET\n"@request-target": {target}\n"workload-identity-token": {token}\n"@signature-params": {text}'
    )
    return [
        ("Host", "svcb.own.test"),
        ("Workload-Identity-Token", token),
        ("Signature-Input", f"wimse={text}"),
        ("Signature", f"wimse={_bytes(WORKLOAD, base)}"),
    ]


def _head(name: str, profile: str, outcome: str, *, valid: bool) -> dict[str, object]:
    return {"id": name, "profile": profile, "now": NOW, "outcome": outcome, "signature_valid": valid}


def _token(key: Key) -> str:
    """A Workload-Identity-Token for the key, by the issuer (RFC 7515 section 7.1)."""
    header = {"alg": "EdDSA", "kid": ISSUER.kid, "typ": "wit+jwt"}
    claims = {"sub": f"wimse://own.test/{key.kid}", "exp": NOW + 3600, "cnf": {"jwk": _public(key)}}
    signed = ".".join([b64url(json.dumps(part, separators=(",", ":")).encode()) for part in (header, claims)])
    return f"{signed}.{b64url(ISSUER.sign(signed))}"


def _digest(body: str) -> str:
    return f"sha-256=:{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}:"


def _bytes(key: Key, base: str) -> str:
    return f":{base64.b64encode(key.sign(base)).decode()}:"


def _public(key: Key) -> dict[str, object]:
    return {name: key.jwk[name] for name in ("kty", "crv", "x", "kid", "alg")}


def _private(key: Key) -> dict[str, object]:
    return {**_public(key), "d": key.jwk[PRIVATE]}
