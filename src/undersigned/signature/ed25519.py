"""Ed25519 by libsodium if PyNaCl is installed, else by OpenSSL (RFC 8032 section 5.1).

Both give the same answer for every key and signature. The ones for which they would differ are rejected before: an R of
small order here, and a key of small order when it is made (`point_fault`).
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidSignature
from http_message_signatures.algorithms import ED25519, HTTPSignatureAlgorithm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


_PRIME: Final = 2**255 - 19
_Y_OF_ORDER_8: Final = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7

_SIGN: Final = 2**255
_SMALL: Final = "x is a point of small order, for which anyone can make signatures"
_LARGE: Final = "x is not the canonical encoding of a point of Ed25519"

_FAULTS: Final[Mapping[bytes, str]] = {
    (y | sign).to_bytes(32, "little"): _LARGE if y >= _PRIME else _SMALL
    for y in (0, 1, _PRIME - 1, _Y_OF_ORDER_8, _PRIME - _Y_OF_ORDER_8, *range(_PRIME, _SIGN))
    for sign in (0, _SIGN)
}
"""The encodings of the eight points of small order, and those whose y is not below the prime."""


def point_fault(encoded: bytes) -> str:
    """Return why 32 bytes may not be a public key, or "".

    For a point of small order, anyone can make signatures that verify over many messages. And if a point has two
    encodings, a comparison takes one key for two. Octets that are no point of the curve verify nothing.

    Args:
        encoded: y as 255 bits in little-endian order, and the sign of x (RFC 8032 section 5.1.2).
    """
    return _FAULTS.get(encoded, "")


_LENGTH: Final = 64
_HALF: Final = 32


class Ed25519(HTTPSignatureAlgorithm):
    """The algorithm ed25519 (RFC 9421 section 3.3.6) with one key, checked or used by the library that is installed.

    Args:
        public_key: the key that verifies.
        private_key: the key that signs.
    """

    algorithm_id = ED25519.algorithm_id

    def __init__(
        self, public_key: Ed25519PublicKey | None = None, private_key: Ed25519PrivateKey | None = None
    ) -> None:
        self._check: Callable[[bytes, bytes], object]
        self._make: Callable[[bytes], bytes]
        if public_key is not None:
            self._check = _check_function(public_key.public_bytes_raw()) if has_sodium() else public_key.verify
        if private_key is not None:
            self._make = _sign_function(private_key) if has_sodium() else private_key.sign

    def sign(self, message: bytes) -> bytes:
        """Return the signature over `message`."""
        return self._make(message)

    def verify(self, signature: bytes, message: bytes) -> None:
        """Check a signature over `message`.

        Raises:
            InvalidSignature: it is not 64 bytes, its R has a small order, or the key did not make it.
        """
        # OpenSSL accepts an R of small order. libsodium does not, and no signer makes one.
        if len(signature) != _LENGTH or point_fault(signature[:_HALF]):
            raise InvalidSignature
        self._check(signature, message)


@cache
def has_sodium() -> bool:
    """Return whether PyNaCl is installed. Only the first key asks, because importing PyNaCl takes time."""
    try:
        import_module("nacl.bindings")
    except ImportError:
        return False
    return True


def library() -> str:
    """Return the name of the library that signs and verifies Ed25519."""
    return "libsodium" if has_sodium() else "OpenSSL"


def _check_function(public: bytes) -> Callable[[bytes, bytes], object]:
    from nacl.bindings import crypto_sign_open  # noqa: PLC0415 - an extra
    from nacl.exceptions import BadSignatureError  # noqa: PLC0415

    def check(signature: bytes, message: bytes) -> None:
        try:
            crypto_sign_open(signature + message, public)
        except BadSignatureError:
            raise InvalidSignature from None

    return check


def _sign_function(key: Ed25519PrivateKey) -> Callable[[bytes], bytes]:
    from nacl.bindings import crypto_sign  # noqa: PLC0415 - an extra

    # libsodium keeps the public key after the seed.
    secret = key.private_bytes_raw() + key.public_key().public_bytes_raw()
    return lambda message: crypto_sign(message, secret)[:_LENGTH]
