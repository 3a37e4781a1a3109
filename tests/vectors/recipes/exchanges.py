"""Whole messages of profiles for which nobody published enough, in the form of the published wire examples.

Each base is written line by line from the text of its document, and signed with `cryptography` alone:

- GNAP: the second signature of a key rotation (RFC 9635 section 7.3.1.1);
- WIMSE: a signed response (draft-ietf-wimse-http-signature-07, section 3).

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
OLD, NEW = Key("own-client"), Key("own-client-new")
WORKLOAD, SERVICE, ISSUER = Key("own-workload"), Key("own-service"), Key("own-issuer")
TOKEN_URL = "https://as.own.test/token/PRY5NM33O"
ORDERS = "/orders?id=7"
ANSWER = '{"orders":[7]}'

Fields = list[tuple[str, str]]


def document() -> dict[str, object]:
    return {"$comment": f"Made by recipes, see tests/vectors/make_own.py. {WARNING}", "examples": [*_examples()]}


def _examples() -> Iterator[dict[str, object]]:
    yield _rotation("gnap-rotate")
    yield _rotation("gnap-rotate-not-over-the-old-signature", over=(), outcome="invalid")
    yield _rotation("gnap-rotate-over-half-of-the-old-signature", over=('"signature";key="sig1"',), outcome="invalid")
    yield _rotation("gnap-rotate-without-the-token", token=False, outcome="invalid")
    yield _rotation("gnap-rotate-over-another-old-signature", old_nonce="9otherN0nce", outcome="invalid")
    yield _rotation("gnap-rotate-with-alg", more=';alg="ed25519"', outcome="invalid")
    yield _response("wimse-response")
    yield _response("wimse-response-that-was-not-asked-for", asks="", nonce="")
    yield _response("wimse-response-without-the-nonce-of-the-request", nonce="", outcome="invalid")
    yield _response("wimse-response-with-the-nonce-of-another-request", nonce="0therN0nce", outcome="invalid")
    yield _response("wimse-response-with-another-status", status=201, outcome="invalid")
    yield _response("wimse-response-to-another-request", target="/orders?id=8", outcome="invalid")
    yield _response("wimse-response-without-its-token", token=False, outcome="invalid")
    yield _response("wimse-response-with-keyid", more=f';keyid="{SERVICE.kid}"', outcome="invalid")


def _rotation(
    name: str,
    *,
    over: tuple[str, ...] = ('"signature";key="sig1"', '"signature-input";key="sig1"'),
    token: bool = True,
    old_nonce: str = "",
    more: str = "",
    outcome: str = "verified",
) -> dict[str, object]:
    """A request that rotates a key.

    `over` are the components of the old signature that the new key signs, `token` says whether it signs the token too.
    With `old_nonce`, the old key signs once more after that, with this nonce, and its first signature is replaced.
    """
    body = json.dumps({"key": {"proof": "httpsig", "jwk": _public(NEW)}}, separators=(",", ":"))
    digest, secret = _digest(body), "GNAP 80UPRY5NM33OMUKMKSKU"
    common = f'"@method": POST\n"@target-uri": {TOKEN_URL}\n"content-digest": {digest}'
    first = '"@method" "@target-uri" "content-digest"'

    def by_old_key(nonce: str) -> tuple[str, str]:
        read = f'({first} "authorization");created={CREATED};keyid="{OLD.kid}";nonce="{nonce}";tag="gnap"'
        return read, _bytes(OLD, f'{common}\n"authorization": {secret}\n"@signature-params": {read}')

    def base(text: str, read: str, signature: str) -> str:
        values = {'"signature";key="sig1"': signature, '"signature-input";key="sig1"': read}
        lines = [*([f'"authorization": {secret}'] if token else []), *(f"{one}: {values[one]}" for one in over)]
        return "\n".join([common, *lines, f'"@signature-params": {text}'])

    old, old_signature = by_old_key("b8Qm3vK1")
    covered = " ".join([first, *(['"authorization"'] if token else []), *over])
    text = f'({covered});created={CREATED};keyid="{NEW.kid}";nonce="kq7Zt0Xa";tag="gnap-rotate"{more}'
    signature = _bytes(NEW, base(text, old, old_signature))
    if old_nonce:
        old, old_signature = by_old_key(old_nonce)
    headers = [
        ("Host", "as.own.test"),
        ("Authorization", secret),
        ("Content-Type", "application/json"),
        ("Content-Digest", digest),
        ("Signature-Input", f"sig1={old}, sig2={text}"),
        ("Signature", f"sig1={old_signature}, sig2={signature}"),
    ]
    return {
        **_head(name, "gnap-rotation", outcome, valid=not old_nonce),
        "label": "sig2",
        "method": "POST",
        "url": TOKEN_URL,
        "headers": headers,
        "body": body,
        "signature_base": base(text, old, old_signature),
        "algorithm": "ed25519",
        "jwk": _private(NEW),
    }


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
