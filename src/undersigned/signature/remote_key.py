"""Remote keys: private keys that a KMS or an HSM keeps, and what must be true of their signatures."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NoReturn, Protocol, TypeAlias

from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from undersigned.errors import ConfigurationError, SigningError
from undersigned.signature.rules.option_checks import check
from undersigned.signature.signing_key import SigningKey, is_keyid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping


class NamedKey(Protocol):
    """What every private key says of itself."""

    @property
    def keyid(self) -> str:
        """The `kid` of the published key, sent as the `keyid` parameter; printable ASCII."""
        ...

    @property
    def algorithm(self) -> str:
        """The RFC 9421 name of the algorithm: `ed25519` or `ecdsa-p256-sha256`."""
        ...


class RemoteKey(NamedKey, Protocol):
    """A private key that signs somewhere else, such as in a KMS or an HSM. A `SigningKey` is one too."""

    def sign(self, base: bytes, /) -> bytes:
        """Return the signature over `base` (RFC 9421 section 3.3).

        An ECDSA signature is r and s, each as long as the order of the curve, or the DER that most KMS return. The
        service must hash `base` itself: it is the message, and not a digest.
        """
        ...


class AsyncRemoteKey(NamedKey, Protocol):
    """A `RemoteKey` whose `sign` is awaited. Only clients for asyncio can use it."""

    def sign(self, base: bytes, /) -> Awaitable[bytes]:
        """Return the signature over `base`, as `RemoteKey.sign` does."""
        ...


AnyKey: TypeAlias = SigningKey | RemoteKey | AsyncRemoteKey
"""A key that a `Signer` takes."""


@dataclass(frozen=True, slots=True)
class KeyReference:
    """The name of a key that this process cannot use: for `Signer.prepare` and `Signer.attach` only.

    Attributes:
        keyid: the `kid` of the published key; printable ASCII.
        algorithm: the RFC 9421 name of its algorithm.
    """

    keyid: str
    algorithm: str

    def sign(self, base: bytes, /) -> NoReturn:
        """Raise ConfigurationError: the key is somewhere else."""
        del base
        raise ConfigurationError("key: a KeyReference cannot sign; use Signer.prepare and Signer.attach")


_COORDINATES: Final[Mapping[str, tuple[int, int]]] = {
    "ecdsa-p256-sha256": (32, 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551),
    "ecdsa-p384-sha384": (
        48,
        0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
    ),
}
"""The length of r and of s in bytes, and the order of the curve, by algorithm (RFC 9421 sections 3.3.4, 3.3.5)."""

_ED25519_LENGTH: Final = 64


def check_key(key: object) -> None:
    """Check that an object can be used as a key.

    Raises:
        ConfigurationError: it has no `sign`, or its `keyid` cannot be sent. No value of the object is in the message.
    """
    advice = "pass a SigningKey, such as SigningKey.from_file(path), or an object with keyid, algorithm and sign"
    check("key", callable(getattr(key, "sign", None)), advice)
    is_named = is_keyid(getattr(key, "keyid", None))
    check("key", is_named, "its keyid must be printable ASCII: the verifier looks the key up by it")


def local_signature(key: AnyKey, base: bytes) -> bytes:
    """Return the signature over `base` by a key whose `sign` is not awaited, as it is sent.

    Raises:
        ConfigurationError: the `sign` of the key must be awaited.
        SigningError: the key returned something that is not a signature by its algorithm.
    """
    made = key.sign(base)
    if not hasattr(made, "__await__"):
        return raw_signature(made, key.algorithm)
    if inspect.iscoroutine(made):
        made.close()
    raise ConfigurationError("key: its sign method is async; use an asyncio client, or await Signer.async_sign")


async def awaited_signature(key: AnyKey, base: bytes) -> bytes:
    """Return the signature over `base` by any key, as it is sent.

    Raises:
        SigningError: the key returned something that is not a signature by its algorithm.
    """
    made = key.sign(base)
    return raw_signature(await made if inspect.isawaitable(made) else made, key.algorithm)


def raw_signature(signature: object, algorithm: str) -> bytes:
    """Return a signature as RFC 9421 sends it: ECDSA as r and s of fixed length, converted from DER if necessary.

    Raises:
        SigningError: it is not a signature by `algorithm`. Its bytes are not in the message.
    """
    if not isinstance(signature, bytes):
        raise SigningError("key: its sign method must return bytes")
    if algorithm in _COORDINATES:
        return _from_ecdsa(signature, *_COORDINATES[algorithm])
    if not signature or (algorithm == "ed25519" and len(signature) != _ED25519_LENGTH):
        raise SigningError(
            f"key: it returned {len(signature)} bytes, which is not a signature of {algorithm}; let it sign the "
            "message itself, and return the bytes without any encoding"
        )
    return signature


def _from_ecdsa(signature: bytes, length: int, order: int) -> bytes:
    # DER is this short only if r and s lack six bytes together, which is true of less than one signature in 10**12.
    if len(signature) == 2 * length:
        numbers = int.from_bytes(signature[:length], "big"), int.from_bytes(signature[length:], "big")
    else:
        try:
            numbers = decode_dss_signature(signature)
        except ValueError:
            raise SigningError(
                f"key: it returned {len(signature)} bytes, which are neither r and s of {length} bytes each nor DER"
            ) from None
    if not all(0 < number < order for number in numbers):
        raise SigningError("key: it returned an ECDSA signature of another curve: r or s is out of range")
    return b"".join(number.to_bytes(length, "big") for number in numbers)
