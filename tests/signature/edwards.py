"""Points of edwards25519, to make the signatures that no signer makes (RFC 8032 section 5.1)."""

from __future__ import annotations

import hashlib
from typing import TypeAlias

Point: TypeAlias = tuple[int, int]

PRIME = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
"""The order of the base point."""
_D = -121665 * pow(121666, -1, PRIME) % PRIME
NEUTRAL: Point = (0, 1)


def add(one: Point, other: Point) -> Point:
    (x1, y1), (x2, y2) = one, other
    product = _D * x1 * x2 * y1 * y2 % PRIME
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, PRIME) % PRIME
    return x, (y1 * y2 + x1 * x2) * pow(1 - product, -1, PRIME) % PRIME


def times(count: int, point: Point) -> Point:
    total = NEUTRAL
    while count:
        if count & 1:
            total = add(total, point)
        point, count = add(point, point), count >> 1
    return total


def encode(point: Point) -> bytes:
    x, y = point
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decode(octets: bytes) -> Point | None:
    number = int.from_bytes(octets, "little")
    y, sign = number & (2**255 - 1), number >> 255
    square = (y * y - 1) * pow(_D * y * y + 1, -1, PRIME) % PRIME
    x = pow(square, (PRIME + 3) // 8, PRIME)
    if (x * x - square) % PRIME:
        x = x * pow(2, (PRIME - 1) // 4, PRIME) % PRIME
    if (x * x - square) % PRIME:
        return None
    return (PRIME - x if x & 1 != sign else x) % PRIME, y


def _base() -> Point:
    point = decode((4 * pow(5, -1, PRIME) % PRIME).to_bytes(32, "little"))
    assert point is not None
    return point


def _of_order_8() -> Point:
    for y in range(2, 100):
        point = decode(y.to_bytes(32, "little"))
        if point is not None and times(4, small := times(ORDER, point)) != NEUTRAL:
            return small
    raise AssertionError("no point of order 8")


BASE = _base()
SMALL = [times(count, _of_order_8()) for count in range(8)]
"""The eight points of small order."""


def sign(secret: int, nonce: int, message: bytes, *, key: Point = NEUTRAL, r: Point = NEUTRAL, more: int = 0) -> tuple:
    """A key and a signature by it, each moved by a point of small order, with `more` times the order added to S."""
    public = encode(add(times(secret, BASE), key))
    commitment = encode(add(times(nonce, BASE), r))
    challenge = int.from_bytes(hashlib.sha512(commitment + public + message).digest(), "little") % ORDER
    scalar = (nonce + challenge * secret) % ORDER + more * ORDER
    return public, commitment + scalar.to_bytes(32, "little")
