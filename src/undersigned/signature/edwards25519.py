"""Public keys of Ed25519, as points of edwards25519 (RFC 8032 section 5.1)."""

from __future__ import annotations

from typing import Final, TypeAlias

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
