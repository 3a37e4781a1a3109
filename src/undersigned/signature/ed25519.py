"""Ed25519 by libsodium if PyNaCl is installed, else by OpenSSL (RFC 8032 section 5.1).

Both give the same answer for every key and signature. The ones for which they would differ are rejected before: weak
keys when a key is made (`point_fault`), and here keys and signatures with a part of small order.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, NoReturn, TypeAlias

from cryptography.exceptions import InvalidSignature
from http_message_signatures.algorithms import ED25519, HTTPSignatureAlgorithm

if TYPE_CHECKING:
    from collections.abc import Callable

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


_PRIME = 2**255 - 19
_Y_OF_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_ORDER = 2**252 + 27742317777372353535851937790883648493
_ROOT = pow(2, (_PRIME - 1) // 4, _PRIME)
_D = -121665 * pow(121666, -1, _PRIME) % _PRIME

SMALL_ORDER: Final = frozenset(
    (y | sign << 255).to_bytes(32, "little")
    for y, signs in (
        (1, (0,)),
        (_PRIME - 1, (0,)),
        (0, (0, 1)),
        (_Y_OF_ORDER_8, (0, 1)),
        (_PRIME - _Y_OF_ORDER_8, (0, 1)),
    )
    for sign in signs
)
"""The encodings of the eight points of small order."""


def point_fault(encoded: bytes) -> str:
    """Return why 32 octets may not be a public key, or "".

    OpenSSL verifies with any octets. But for a point of small order, anybody can make signatures that verify over many
    messages. And if a point has two encodings, a comparison takes one key for two.

    Args:
        encoded: y as 255 bits in little-endian order, and the sign of x (RFC 8032 section 5.1.2).
    """
    y = int.from_bytes(encoded, "little") & (2**255 - 1)
    if y >= _PRIME:
        return "x is not the canonical encoding of a point of Ed25519"
    # The curve is -x^2 + y^2 = 1 + d x^2 y^2.
    y2 = y * y % _PRIME
    # A point whose double has y = 0 has order 8; that double has order 4, and 1 and -1 have orders 1 and 2.
    if y in {0, 1, _PRIME - 1} or (_D * y2 * y2 + 2 * y2 - 1) % _PRIME == 0:
        return "x is a point of small order, for which anybody can make signatures"
    x2 = (y2 - 1) * pow(_D * y2 + 1, -1, _PRIME) % _PRIME
    if pow(x2, (_PRIME - 1) // 2, _PRIME) != 1:
        return "x is not a point of Ed25519"
    return ""


def is_of_prime_order(encoded: bytes) -> bool:
    """Return whether a point, which has no `point_fault`, is in the subgroup of prime order.

    A key outside of it has a part of small order. Implementations disagree about signatures by such a key.

    Args:
        encoded: as for `point_fault`.
    """
    number = int.from_bytes(encoded, "little")
    y, sign = number & (2**255 - 1), number >> 255
    x2 = (y * y - 1) * pow(_D * y * y + 1, -1, _PRIME) % _PRIME
    x = pow(x2, (_PRIME + 3) // 8, _PRIME)
    if (x * x - x2) % _PRIME:
        x = x * _ROOT % _PRIME
    if x & 1 != sign:
        x = _PRIME - x
    x, y, z = _times_order((x, y, 1, x * y % _PRIME))[:3]
    return x == 0 and y == z


_Extended: TypeAlias = tuple[int, int, int, int]
"""X, Y, Z and T with x = X / Z, y = Y / Z and x y = T / Z."""


def _times_order(point: _Extended) -> _Extended:
    """Return a point multiplied by the order of the base point."""
    total = point
    for bit in f"{_ORDER:b}"[1:]:
        total = _double(total)
        if bit == "1":
            total = _add(total, point)
    return total


def _double(point: _Extended) -> _Extended:
    """Return twice a point (RFC 8032 section 5.1.4)."""
    x, y, z, _ = point
    a, b = x * x, y * y
    g, h = a - b, a + b
    e, f = h - (x + y) ** 2, 2 * z * z + g
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME


def _add(one: _Extended, other: _Extended) -> _Extended:
    """Return the sum of two points (RFC 8032 section 5.1.4)."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = one, other
    a, b = (y1 - x1) * (y2 - x2) % _PRIME, (y1 + x1) * (y2 + x2) % _PRIME
    c, d = 2 * t1 * t2 * _D % _PRIME, 2 * z1 * z2 % _PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME


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
