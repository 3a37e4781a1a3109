"""Public JWK sets: the key sets that an owner of keys may publish (RFC 7517 section 5, AdCP key publication)."""

from __future__ import annotations

import json
import re
from base64 import a85decode, b32decode, b64decode, b85decode, urlsafe_b64decode
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, x448, x25519
from cryptography.hazmat.primitives.serialization import load_der_private_key

from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_JWKS_BYTES, MOST_KEYS
from undersigned.message.strict_json import loads
from undersigned.message.structured_fields import base64url
from undersigned.signature.jwk import PRIVATE_MEMBERS, octets_of, read_base58, thumbprint
from undersigned.signature.verification_key import VerificationKey

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

    from undersigned.signature.jwk import JWK

_MEMBERS: Final = frozenset(
    ("keys", "kty", "kid", "crv", "x", "y", "n", "e", "alg", "use", "key_ops", "adcp_use", "x5u", "x5t", "x5t#S256")
)
"""The members of public keys."""

_MOST: Final = {"kid": 320, "x": 96, "y": 96, "n": 4096, "x5u": 320, "x5t#S256": 48}
"""The characters of a member that may be long: fewer than a private RSA key has. Other ones are searched for."""

_SHORT: Final = 32
"""The characters of any other member. A private key has 43 at least, in Base64url."""

_DECIMALS: Final = 159
"""The most digits of a number that are read: those of 66 octets."""

_OKPKey: TypeAlias = ed25519.Ed25519PrivateKey | x25519.X25519PrivateKey | ed448.Ed448PrivateKey | x448.X448PrivateKey
_OKP: Final[Mapping[str, type[_OKPKey]]] = {
    "Ed25519": ed25519.Ed25519PrivateKey,
    "X25519": x25519.X25519PrivateKey,
    "Ed448": ed448.Ed448PrivateKey,
    "X448": x448.X448PrivateKey,
}
_EC: Final[Mapping[str, ec.EllipticCurve]] = {
    "P-256": ec.SECP256R1(),
    "secp256k1": ec.SECP256K1(),
    "P-384": ec.SECP384R1(),
    "P-521": ec.SECP521R1(),
}
_SIZES: Final = {"P-384": 48, "X448": 56, "Ed448": 57, "P-521": 66}
"""The octets of a private key, by its curve; 32 for any other one."""

_MULTICODEC: Final = b"\x26"
"""The second octet of a private key in a Multikey, of two before the key (W3C Controlled Identifiers 1.0)."""

_FEW: Final = 3
"""How many octets of a private key may be zeros that a number does not have."""

_TYPES: Final = ("EC", "OKP", "RSA")
"""The kinds of keys whose private members are known. An `oct` key is a secret as a whole."""


def public_jwks_text(jwks: object, *, is_profile: bool = False) -> bytes:
    """Return the JSON text of a JWK set that may be published.

    Args:
        jwks: the JWK set, as json.loads reads it.
        is_profile: whether it has more to say than its keys, so that only these may not have long texts of other names.

    Raises:
        ConfigurationError: `jwks` is not a JWK set, or has private or secret material at any depth. Or it has no key
            that can verify signatures, repeats a `kid`, or is larger than receivers read. The message quotes no value.
    """
    try:
        text = json.dumps(jwks, indent=2, allow_nan=False).encode("ascii") + b"\n"
        # Read back: tuples become lists, and two names that are one in JSON are rejected.
        document: object = loads(text)
    except (TypeError, ValueError, RecursionError):
        raise ConfigurationError("keys: give a JWK set as json.loads reads it") from None
    members: object = document.get("keys") if isinstance(document, dict) else None
    _check_secrets(document, {"keys": members} if is_profile else document)
    if not isinstance(members, list):
        raise ConfigurationError('keys: a JWK set is a JSON object with a "keys" array')
    if b"PRIVATE KEY-----" in text:
        raise ConfigurationError("keys: a member with PEM text could hold a private key; leave that member out")
    keys = [_key_of(member) for member in cast("list[object]", members)]
    curves = [crv for crv in (*_OKP, *_EC) if any(jwk.get("crv") == crv for jwk in cast("list[JWK]", members))]
    moduli = [_modulus(jwk) for jwk in cast("list[JWK]", members) if jwk.get("kty") == "RSA"]
    published = {key.keyid for key in keys} | {thumbprint(jwk) for jwk in cast("list[JWK]", members)} - {None}
    if any(_has_private_key(text, curves, moduli, published) for text in _texts(document)):
        raise ConfigurationError("keys: the set has a private key, or the private half of one of its keys, as a text")
    if len({key.keyid for key in keys}) != len(keys):
        raise ConfigurationError("keys: two keys of the JWK set share a kid; make them distinct")
    if not any(key.algorithm for key in keys):
        raise ConfigurationError(
            "keys: no key of the JWK set can verify signatures; each needs kid and kty, and what its kty requires"
        )
    if len(keys) > MOST_KEYS or len(text) > MOST_JWKS_BYTES:
        raise ConfigurationError(f"keys: receivers read up to {MOST_KEYS} keys and {MOST_JWKS_BYTES} bytes; drop some")
    return text


def read_jwks(text: bytes) -> Mapping[str, object]:
    """Return what should be a JWK set; `public_jwks_text` checks it.

    Raises:
        ConfigurationError: it is not JSON, or an object in it repeats a key.
    """
    try:
        return cast("Mapping[str, object]", loads(text))
    except (ValueError, RecursionError):
        raise ConfigurationError("keys: the text is not JSON, or has duplicate keys; expected a JWK set") from None


def _check_secrets(document: object, short: object) -> None:
    """Check that no member is private by its name, and that none of `short` could be private by its length."""
    for name in _names(document):
        if name in PRIVATE_MEMBERS:
            raise ConfigurationError(f"keys: the member {name!r} is private; publish the public JWK set, without it")
    for name, value in _leaves("", short):
        if name in _MEMBERS and isinstance(value, (int, float)):
            raise ConfigurationError(f"keys: the member {name!r} must be text")
        most = _MOST.get(name, _SHORT)
        if len(str(value)) >= most:
            fault = "could hold a private key; leave it out, or write fewer than"
            raise ConfigurationError(f"keys: the member {name!r} {fault} {most} characters")


def _key_of(member: object) -> VerificationKey:
    """Return the key of one member, which may be for another use and so have a fault."""
    if not isinstance(member, dict):
        raise ConfigurationError("keys: every member of the JWK set's keys array must be a JSON object")
    jwk = cast("Mapping[str, object]", member)
    if jwk.get("kty") not in _TYPES:
        raise ConfigurationError("keys: each kty must be EC, OKP or RSA: private members of other types are unknown")
    keyid = jwk.get("kid")
    if not isinstance(keyid, str) or not keyid:
        raise ConfigurationError("keys: each key needs a kid, by which a signature names it")
    return VerificationKey.from_jwk(jwk)


def _modulus(jwk: JWK) -> int:
    """Return the modulus of an RSA key, or 0 if it cannot be read."""
    with suppress(ValueError):
        return int.from_bytes(urlsafe_b64decode(f"{jwk.get('n')}=="))
    return 0


def _has_private_key(text: str, curves: Sequence[str], moduli: Sequence[int], published: Container[str | None]) -> bool:
    """Return whether a text holds any private key in DER, or the private half or a prime of a published key.

    `_SPELLINGS` lists how it may be written.

    Args:
        text: the text.
        curves: the curves of the published keys.
        moduli: the moduli of the published RSA keys, whose primes are private.
        published: the thumbprints and key IDs of the published keys.
    """
    if len(text) < _SHORTEST:
        return False
    candidates: set[bytes] = set()
    for characters, lengths, decode in _SPELLINGS:
        runs = {run for one in (text, re.sub(r"[\s:]", "", text)) for run in characters.findall(one)}
        for part in {part for run in runs for size in (len(run), *lengths) for part in (run[:size], run[-size:])}:
            with suppress(ValueError, OverflowError):
                candidates.add(decode(part))
    for octets in candidates:
        with suppress(ValueError, UnsupportedAlgorithm, TypeError):
            load_der_private_key(octets, None)
            return True
        bare = octets.lstrip(b"\0")
        halves = (octets, bare[2:]) if bare[1:2] == _MULTICODEC else (octets,)
        if any(_thumbprint_of_half(half, crv) in published for half in halves for crv in curves):
            return True
        number = int.from_bytes(octets)
        if any(1 < number < modulus and modulus % number == 0 for modulus in moduli):
            return True
        if octets.isascii() and _has_private_key(octets.decode("ascii"), curves, moduli, published):
            return True
    return False


def _thumbprint_of_half(octets: bytes, crv: str) -> str | None:
    """Return the thumbprint of the public key whose private half these octets may be, or None."""
    size = _SIZES.get(crv, 32)
    if not size - _FEW <= len(octets) <= size:
        return None
    half = octets.rjust(size, b"\0")
    if crv in _OKP:
        public = _OKP[crv].from_private_bytes(half).public_key().public_bytes_raw()
        return thumbprint({"kty": "OKP", "crv": crv, "x": base64url(public)})
    try:
        point = ec.derive_private_key(int.from_bytes(half), _EC[crv]).public_key().public_numbers()
    except ValueError:
        return None
    x, y = (base64url(number.to_bytes(size)) for number in (point.x, point.y))
    return thumbprint({"kty": "EC", "crv": crv, "x": x, "y": y})


_SPELLINGS: Final[Sequence[tuple[re.Pattern[str], tuple[int, ...], Callable[[str], bytes]]]] = (
    (re.compile(r"[A-Za-z0-9_-]{43,}"), (43, 46, 64, 67, 88, 91), lambda text: urlsafe_b64decode(f"{text}==")),
    (re.compile(r"[A-Za-z0-9+/]{43,}"), (43, 64, 88), lambda text: b64decode(f"{text}==")),
    (re.compile(r"[0-9A-Fa-f]{60,}"), (64, 96, 132), lambda text: bytes.fromhex("0" * (len(text) % 2) + text)),
    (re.compile(r"[A-Za-z2-7]{52,}"), (52, 77), lambda text: b32decode(text + "=" * (-len(text) % 8), casefold=True)),
    (re.compile(r"[0-9]{70,}"), (76, 77, 78, 115, 116, 156, 157), lambda text: octets_of(int(text[:_DECIMALS]))),
    (
        re.compile(r"[1-9A-HJ-NP-Za-km-z]{42,}"),
        (43, 44, 46, 47, 65, 66, 68, 69, 89, 90, 91, 92, 93),
        lambda text: read_base58(text[:_DECIMALS]),
    ),
    (re.compile(r"[0-9]{1,3}(?:, ?[0-9]{1,3}){31,}"), (), lambda text: bytes(map(int, text.split(",")))),
    (re.compile(r"[!-~]{40,}"), (40, 60, 83), b85decode),
    (re.compile(r"[!-~]{40,}"), (40, 60, 83), a85decode),
)
"""How a private key may be written: its characters, how many 32, 48 and 66 octets have, alone and in a Multikey, and
the function that reads it."""

_SHORTEST: Final = 40
"""The characters of a private key in the shortest spelling."""


def _texts(value: object) -> Iterator[str]:
    """Yield the names and texts at any depth, and those of each array as one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        members = cast("Mapping[str, object]", value)
        for one in (*members, *members.values()):
            yield from _texts(one)
    elif isinstance(value, list):
        texts = [text for one in cast("list[object]", value) for text in _texts(one)]
        yield from (*texts, "".join(texts))


def _names(value: object) -> Iterator[str]:
    """Yield the names of all members at any depth."""
    if isinstance(value, dict):
        yield from cast("Mapping[str, object]", value)
        value = list(cast("Mapping[str, object]", value).values())
    for item in cast("list[object]", value) if isinstance(value, list) else ():
        yield from _names(item)


def _leaves(name: str, value: object) -> Iterator[tuple[str, object]]:
    """Yield the values of all members at any depth, each with its name. What an unknown member has is one value."""
    if not isinstance(value, (dict, list)) or (name and name not in _MEMBERS):
        yield name, value
    elif isinstance(value, dict):
        for inner, member in cast("Mapping[str, object]", value).items():
            yield from _leaves(inner, member)
    else:
        for item in cast("list[object]", value):
            yield from _leaves(name, item)
