"""Test keys, the same in every run, and requests that valid and hostile clients sign with them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from tests.wire import BODY, HOST, OTHER_HOST, raw_request

from undersigned import (
    KeyLookup,
    KeyPair,
    KeySet,
    MemoryReplayStore,
    Request,
    Signer,
    SigningKey,
    VerificationKey,
    Verifier,
    canonicalize,
    profiles,
)
from undersigned.message import HeaderFields
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import serialize_byte_sequence
from undersigned.signature import ComponentValues, signature_base

if TYPE_CHECKING:
    from collections.abc import Iterable

    from undersigned import Profile, SignedFields

NOW = 1_776_520_800
ORIGIN = f"https://{HOST}"
ORIGINS = [ORIGIN, f"https://{OTHER_HOST}"]
URL = f"{ORIGIN}/adcp/create_media_buy"
KEYID = "buyer-2026"
NONCE = "KXYnfEfJ0PBRZXQyVXfVQA"
JSON_FIELD = ("Content-Type", "application/json")
JSON = [JSON_FIELD]


def digest_of(body: bytes, algorithm: str = "sha-256", *, encoding: str = "base64") -> str:
    """The Content-Digest of a body (RFC 9530), not by the library."""
    octets = hashlib.new(algorithm.replace("-", ""), body).digest()
    if encoding == "base64url":
        return f"{algorithm}=:{b64url(octets)}:"
    return f"{algorithm}=:{base64.b64encode(octets).decode('ascii')}:"


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def ed25519_key(seed: int = 1) -> ed25519.Ed25519PrivateKey:
    return ed25519.Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)


def es256_key(seed: int = 1) -> ec.EllipticCurvePrivateKey:
    return ec.derive_private_key(int.from_bytes(bytes([seed]) * 32, "big"), ec.SECP256R1())


def ed25519_pair(kid: str = "buyer-ed25519", *, seed: int = 1) -> tuple[dict[str, object], dict[str, object]]:
    """A private and a public JWK."""
    private = ed25519_key(seed)
    shared = {"kid": kid, "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "adcp_use": "request-signing"}
    shared["x"] = b64url(private.public_key().public_bytes_raw())
    return (
        {**shared, "key_ops": ["sign"], "d": b64url(private.private_bytes_raw())},
        {**shared, "key_ops": ["verify"]},
    )


def es256_pair(kid: str = "buyer-es256", *, seed: int = 1) -> tuple[dict[str, object], dict[str, object]]:
    """A private and a public JWK."""
    private = es256_key(seed)
    public, number = private.public_key().public_numbers(), private.private_numbers().private_value
    shared = {"kid": kid, "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "adcp_use": "request-signing"}
    shared |= {"x": b64url(public.x.to_bytes(32, "big")), "y": b64url(public.y.to_bytes(32, "big"))}
    return ({**shared, "key_ops": ["sign"], "d": b64url(number.to_bytes(32, "big"))}, {**shared, "key_ops": ["verify"]})


PRIVATE, PUBLIC = ed25519_pair()
EC_PRIVATE, EC_PUBLIC = es256_pair()
OTHER_PRIVATE, OTHER_PUBLIC = ed25519_pair("stranger", seed=2)
JWKS = {"keys": [PUBLIC, EC_PUBLIC]}
KEYS = KeySet.from_jwks(JWKS)
KEY = SigningKey.from_jwk(PRIVATE)
EC_KEY = SigningKey.from_jwk(EC_PRIVATE)


@cache
def _pair(algorithm: str, keyid: str) -> tuple[KeyPair, SigningKey, VerificationKey]:
    pair = KeyPair.generate(algorithm, **({"keyid": keyid} if keyid else {}))
    [jwk] = pair.public["keys"]
    public = VerificationKey.from_jwk({**jwk, "adcp_use": ["request-signing", "webhook-signing"]})
    # OpenSSL checks the primes of an RSA key each time that it is read.
    return pair, pair.signing_key(), public


def key_pair(algorithm: str = "ed25519", keyid: str = "") -> KeyPair:
    """The one key pair for an algorithm. Its keyid is its thumbprint unless it is given."""
    return _pair(algorithm, keyid)[0]


def signing_key(algorithm: str = "ed25519", keyid: str = "") -> SigningKey:
    return _pair(algorithm, keyid)[1]


def verification_key(algorithm: str = "ed25519", keyid: str = "") -> VerificationKey:
    """The public key of a pair, for any purpose."""
    return _pair(algorithm, keyid)[2]


@dataclass(slots=True)
class OneKey:
    """A key source that has one key, whatever the keyid, and remembers what it was asked."""

    key: VerificationKey
    asked: KeyLookup | None = None
    blocking: bool = False

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        self.asked = lookup
        return (self.key,)


class Awaited:
    """A key source or a replay store whose answers have to be awaited, around one that answers at once."""

    def __init__(self, source) -> None:
        self.source = source

    async def find(self, lookup):
        await asyncio.sleep(0)
        return self.source.find(lookup)

    async def full(self, keyid, **options):
        await asyncio.sleep(0)
        return self.source.full(keyid, **options)

    async def claim(self, keyid, nonce, **options):
        await asyncio.sleep(0)
        return self.source.claim(keyid, nonce, **options)


def lookup(keyid: str = "buyer-ed25519", **changes) -> KeyLookup:
    """What a key source is asked."""
    asked = KeyLookup(keyid, {"keyid": keyid}, frozenset({"@method"}), "POST", URL, HeaderFields([JSON_FIELD]))
    return asked._replace(**changes)


def signer(profile: Profile = profiles.ADCP_3_2, *, key: SigningKey = KEY, now: float = NOW, **options) -> Signer:
    return Signer(key, profile=profile, clock=lambda: now, **options)


def verifier(profile: Profile = profiles.ADCP_3_2, *, now: float = NOW, **options) -> Verifier:
    """A verifier with a replay store of its own."""
    return Verifier(profile, **{"keys": KEYS, "replay": MemoryReplayStore(), "clock": lambda: now, **options})


def parameters(**changes: object) -> str:
    """Signature parameters as a client writes them; a change replaces one by raw text, None leaves it out."""
    values = {
        "created": NOW,
        "expires": NOW + 300,
        "nonce": f'"{NONCE}"',
        "keyid": '"buyer-ed25519"',
        "alg": '"ed25519"',
        "tag": '"adcp/request-signing/v1"',
        **changes,
    }
    return "".join(f";{name}={value}" for name, value in values.items() if value is not None)


def covering(*components: str, label: str = "sig1", **changes: object) -> str:
    """A Signature-Input value; a component that is not quoted is."""
    listed = " ".join(component if '"' in component else f'"{component}"' for component in components)
    return f"{label}=({listed}){parameters(**changes)}"


BARE = ("@method", "@target-uri", "@authority")
FULL = (*BARE, "content-type", "content-digest")


def signed_request(
    method: str = "POST",
    url: str = URL,
    fields: Iterable[tuple[str, str]] = (JSON_FIELD,),
    body: bytes = BODY,
    *,
    profile: Profile = profiles.ADCP_3_2,
    key: SigningKey = KEY,
    **options,
) -> Request:
    """A request signed as the profile says, whatever its content is."""
    request = Request(method, url, list(fields), body)
    added = sign_unread(signer(profile, key=key), request, **{"nonce": NONCE, **options})
    return Request(method, url, [*request.fields, *added], body)


def sign_unread(signing: Signer, request: Request, **options) -> SignedFields:
    """Sign a request as others do, who do not look at its content."""
    if request.body and "content-digest" not in request.fields.combined:
        digest = signing.digest_builder()
        digest.update(request.body)
        options["digest"] = digest.value()
        request = Request(request.method, request.url, request.fields, has_body=True)
    return signing.sign(request, **options)


def hostile_request(request: Request, signature_input: str, *, key: SigningKey = KEY, encoding="base64") -> Request:
    """A request with any Signature-Input that can be read, its first label really signed."""
    label, first = next(iter(parse_signature_input(signature_input).items()))
    values = ComponentValues(request, canonicalize(request.url))
    base = signature_base(values, first.components, first.text)
    signature = serialize_byte_sequence(key.sign(base.encode("ascii")), encoding)
    added = [("Signature-Input", signature_input), ("Signature", f"{label}={signature}")]
    return Request(request.method, request.url, [*request.fields, *added], request.body)


def foreign_fields(request: Request, *, by: Signer, **options) -> list[tuple[str, str]]:
    """The fields of a request, signed as others do who also sign a URL that RFC 3986 does not allow."""
    *digest, (_, text), _ = sign_unread(by, Request(request.method, URL, request.fields, request.body), **options)
    given = Request(request.method, request.url, [*request.fields, *digest], request.body)
    return list(hostile_request(given, text).fields)


def unsigned_claim(signature_input: str, signature: str = "sig1=:AAAA:", **parts) -> Request:
    """A request with a signature that no key made."""
    parts = {"method": "GET", "url": URL, "fields": (), "body": b"", **parts}
    fields = [*parts.pop("fields"), ("Signature-Input", signature_input), ("Signature", signature)]
    return Request(fields=fields, **parts)


def replace_parts(request: Request, **changes) -> Request:
    """The request with some of its parts replaced."""
    kept = ("method", "url", "fields", "body", "query_unknown")
    return Request(**{**{name: getattr(request, name) for name in kept}, **changes})


def renamed(request: Request, keyid: str) -> Request:
    """A copy of a request by our key whose signature names another key."""
    text = request.fields.combined["signature-input"]
    return with_field(request, "signature-input", text.replace("buyer-ed25519", keyid))


def with_field(request: Request, name: str, value: str | None) -> Request:
    """The request with the field `name` replaced, or removed by None."""
    kept = [(field, old) for field, old in request.fields if field != name]
    return replace_parts(request, fields=kept if value is None else [*kept, (name, value)])


@dataclass(frozen=True)
class Party:
    """Both ends of one agreement, by the real clock: a signer whose key is known, and one whose key is not."""

    key: SigningKey
    signer: Signer
    stranger: Signer
    jwks: dict[str, object]

    @classmethod
    def make(cls, *, seed: int = 1) -> Party:
        private, public = ed25519_pair(KEYID, seed=seed)
        stranger, _ = ed25519_pair("stranger", seed=100)
        keys = [SigningKey.from_jwk(jwk) for jwk in (private, stranger)]
        return cls(keys[0], *(Signer(key, profile=profiles.ADCP_3_2) for key in keys), {"keys": [public]})

    def verifier(self, profile: Profile = profiles.ADCP_3_2, **options) -> Verifier:
        """A verifier with a replay store of its own."""
        given = {name: value for name, value in options.items() if value is not None}
        return Verifier(profile, **{"keys": KeySet.from_jwks(self.jwks), "replay": MemoryReplayStore(), **given})

    def fields(
        self,
        method: str,
        target: str,
        body: bytes = b"",
        fields: Iterable[tuple[str, str]] | None = None,
        *,
        extra: Iterable[tuple[str, str]] = (),
        age: int = 0,
        signer: Signer | None = None,
        **options,
    ) -> list[tuple[str, str]]:
        """The fields of a signed request for a URL, or a target at `ORIGIN`; unless they are given, a body is JSON."""
        given = [*extra, *(fields if fields is not None else JSON if body else ())]
        url = f"{ORIGIN}{target}" if target.startswith("/") else target
        created = int(time.time()) - age
        request = Request(method, url, given, body)
        signed = sign_unread(signer or self.signer, request, **{"created": created, **options})
        return [*given, *signed]

    def raw(
        self, method: str, target: str, body: bytes = b"", *, url: str | None = None, host: str = HOST, **options
    ) -> bytes:
        """The bytes of a signed HTTP/1.1 request for `target`, signed for `url` if that differs."""
        return raw_request(method, target, self.fields(method, url or target, body, **options), body, host=host)
