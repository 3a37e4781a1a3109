"""Ed25519 by libsodium if PyNaCl is installed, else by OpenSSL (RFC 8032 section 5.1).

Both give the same answer for every key and signature. The ones for which they would differ are rejected before: weak
keys when a key is made (`edwards25519`), and here keys and signatures with a part of small order.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, NoReturn

from cryptography.exceptions import InvalidSignature
from http_message_signatures.algorithms import ED25519, HTTPSignatureAlgorithm

from undersigned.signature.edwards25519 import SMALL_ORDER, is_of_prime_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

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
        self._public: bytes | None = None
        self._check: Callable[[bytes, bytes], object] = _keyless
        self._make: Callable[[bytes], bytes] = _keyless
        if public_key is not None:
            self._public = public_key.public_bytes_raw()
            self._check = _check_function(self._public) if has_sodium() else public_key.verify
        if private_key is not None:
            self._make = _sign_function(private_key) if has_sodium() else private_key.sign

    def sign(self, message: bytes) -> bytes:
        """Return the signature over `message`."""
        return self._make(message)

    def verify(self, signature: bytes, message: bytes) -> None:
        """Check a signature over `message`.

        Raises:
            InvalidSignature: it is not 64 octets, or its R has a small order. Or the key did not make it, or has a part
                of small order.
        """
        # OpenSSL accepts an R of small order. libsodium does not, and no signer makes one.
        if len(signature) != _LENGTH or signature[:_HALF] in SMALL_ORDER:
            raise InvalidSignature
        self._check(signature, message)
        if self._public is not None:
            # This takes as long as twenty verifications, so a key is checked once, and only if its owner has signed.
            if not is_of_prime_order(self._public):
                raise InvalidSignature
            self._public = None


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


def _keyless(*_: bytes) -> NoReturn:
    raise TypeError("this object has no key for that")


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
