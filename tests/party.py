"""A signer, a verifier and a writer of raw requests, for the tests of the middlewares."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from undersigned import KeySet, MemoryReplayStore, Request, Signer, SigningKey, Verifier, profiles
from undersigned.limits import MOST_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

ORIGIN = "https://seller.example.com"
HOST = "seller.example.com"
TOO_MANY = "request_header_fields_too_large"


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwk_pair(kid: str) -> tuple[dict[str, object], dict[str, object]]:
    private = Ed25519PrivateKey.generate()
    public = {
        "kid": kid,
        "kty": "OKP",
        "crv": "Ed25519",
        "alg": "EdDSA",
        "use": "sig",
        "key_ops": ["verify"],
        "adcp_use": "request-signing",
        "x": b64(private.public_key().public_bytes_raw()),
    }
    return {**public, "key_ops": ["sign"], "d": b64(private.private_bytes_raw())}, public


@dataclass(frozen=True)
class Party:
    """Both ends of one agreement."""

    key: SigningKey
    jwks: dict[str, object]

    @property
    def signer(self) -> Signer:
        return Signer(self.key, profile=profiles.ADCP_3_2)

    def verifier(self, *, profile=profiles.ADCP_3_2, keys=None, replay=None, **options) -> Verifier:
        return Verifier(
            profile,
            keys=keys or KeySet.from_jwks(self.jwks),
            replay=MemoryReplayStore() if replay is None else replay,
            **options,
        )

    def fields(self, method: str, url: str, headers=(), body: bytes = b"", **options) -> list[tuple[str, str]]:
        """The fields of a signed request: the ones given and the ones signing adds."""
        given = list(headers)
        return [*given, *self.signer.sign(Request(method, url, given, body), **options)]

    def raw(self, method: str, target: str, headers=(), body: bytes = b"", *, host: str = HOST, url: str | None = None):
        """The bytes of a signed HTTP/1.1 request for `target`, signed for `url` if that differs."""
        signed = self.fields(method, url or f"{ORIGIN}{target}", headers, body)
        return raw_request(method, target, [("Host", host), *signed], body)

    def around_the_most_fields(self) -> Iterator[tuple[bytes, bytes]]:
        """An unsigned request, then a signed one: of as many header fields as are read, and of more."""
        for signed in ([], self.fields("GET", f"{ORIGIN}/p")):
            fields = [("Host", HOST), *signed]
            fields += [(f"x-{at}", "v") for at in range(MOST_FIELDS - len(fields))]
            # `Connection: close` is one more.
            yield raw_request("GET", "/p", fields[:-1]), raw_request("GET", "/p", [*fields, ("x", "v")])


def raw_request(method: str, target: str, fields, body: bytes = b"") -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
    if body and not any(name.lower() in {"content-length", "transfer-encoding"} for name, _ in fields):
        lines.append(f"Content-Length: {len(body)}")
    lines.append("Connection: close")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def party() -> Party:
    private, public = jwk_pair("buyer-2026")
    return Party(SigningKey.from_jwk(private), {"keys": [public]})
