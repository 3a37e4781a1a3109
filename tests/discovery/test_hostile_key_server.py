"""What a hostile key server publishes, and what a source makes of it. What it does to a fetch: `test_fetch.py`."""

from __future__ import annotations

import json

import pytest
from tests.discovery.key_server import response
from tests.keys import EC_PUBLIC, OTHER_PRIVATE, OTHER_PUBLIC, PRIVATE, PUBLIC

from undersigned import KeySourceError
from undersigned.discovery import RemoteJWKS

GOOD = {"keys": [PUBLIC]}
HEAD = b"HTTP/1.1 200 OK\r\n"


def many(count: int) -> dict[str, object]:
    return {"keys": [{} for _ in range(count - 1)] + [PUBLIC]}


TRICKS = {
    "none": (response(GOOD), "found"),
    "256 keys": (response(many(256)), "found"),
    "another kid": (response({"keys": [EC_PUBLIC]}), "unknown"),
    "no keys": (response({"keys": []}), "unknown"),
    "257 keys": (response(many(257)), "signature_jwks_unavailable"),
    "not UTF-8": (response(b'{"keys": "\xff"}'), "signature_jwks_unavailable"),
    "deep JSON": (response(b'{"keys": ' + b"[" * 30_000), "signature_jwks_unavailable"),
    "a member twice": (response(b'{"keys": [], "keys": []}'), "signature_jwks_unavailable"),
    "an array": (response([PUBLIC]), "signature_jwks_unavailable"),
    "keys of a wrong type": (response({"keys": {"0": PUBLIC}}), "signature_jwks_unavailable"),
    "a 206": (response(GOOD, status="206 Partial Content"), "signature_jwks_unavailable"),
    "a 500 with keys": (response(GOOD, status="500 Oops"), "signature_jwks_unavailable"),
    "members of wrong types": (response({"keys": [None, 1, "x", [], {"kid": 5}, PUBLIC]}), "found"),
    "kids of wrong types": (response({"keys": [PUBLIC | {"kid": []}, PUBLIC | {"kid": ""}, PUBLIC]}), "found"),
    "members of keys of wrong types": (
        response({"keys": [{"kid": "a", "kty": [], "crv": {}, "alg": 1, "x": None, "use": 0, "key_ops": {}}, PUBLIC]}),
        "found",
    ),
    "an RSA key": (response({"keys": [{"kid": "rsa", "kty": "RSA", "n": "AQAB", "e": "AQAB"}, PUBLIC]}), "found"),
    "private keys": (response({"keys": [OTHER_PRIVATE, PUBLIC]}), "found"),
    "this key, unusable": (response({"keys": [PUBLIC | {"x": "AAAA"}]}), "x is not 32 bytes"),
    "this key, private": (
        response({"keys": [PRIVATE]}),
        "the JWK has a private key: publish it without d and all other private members",
    ),
    "this kid 10 times": (
        response({"keys": [*(OTHER_PUBLIC | {"kid": PUBLIC["kid"]} for _ in range(9)), PUBLIC]}),
        "found",
    ),
    "this kid twice": (response({"keys": [PUBLIC, EC_PUBLIC | {"kid": PUBLIC["kid"]}]}), "found"),
}


def outcome(world, source, keyid: str) -> str:
    try:
        key = world.find(source, keyid)
    except KeySourceError as failure:
        return failure.reason
    return "unknown" if key is None else key.fault or "found"


@pytest.mark.parametrize(("answer", "expected"), TRICKS.values(), ids=TRICKS)
def test_source_meets_each_trick_of_a_key_server_with_its_outcome(world, server, answer, expected):
    server.answers["/jwks.json"] = answer(server) if callable(answer) else answer
    source = RemoteJWKS(server.url(), network=server.network(total_timeout=0.5))
    assert outcome(world, source, "buyer-ed25519") == expected


def chunked(text: bytes, size: int) -> bytes:
    """Return a response whose chunks have `size` bytes."""
    chunks = [text[start : start + size] for start in range(0, len(text), size)]
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))
    return HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + body


EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"
LONG = json.dumps(GOOD).encode().ljust(40_000)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (chunked(LONG, 40), ""),
        (chunked(LONG, 20), "too many small chunks"),
        (EARLY * 3 + response(GOOD), ""),
        (EARLY * 3000 + response(GOOD), "too many bytes outside the body"),
    ],
    ids=["chunks", "small chunks", "early hints", "a flood of early hints"],
)
def test_answer_costs_no_more_than_its_bytes(world, server, monkeypatch, answer, fault):
    monkeypatch.setattr("undersigned.discovery.fetch.MOST_CHUNKS", 1500)
    server.answers["/jwks.json"] = answer
    source = RemoteJWKS(server.url(), network=server.network(total_timeout=60))
    if fault:
        with pytest.raises(KeySourceError, match=fault):
            world.find(source, "buyer-ed25519")
    else:
        assert world.find(source, "buyer-ed25519")
