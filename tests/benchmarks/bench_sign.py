"""The cost of signing relative to the private key's operation alone."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.benchmarks.row import Row, Side, interleave
from tests.benchmarks.traffic import unsigned
from tests.keys import signer

from undersigned.signature.ed25519 import library


def rows(*, quick: bool) -> list[Row]:
    """Measure signing."""
    rounds = 20 if quick else 3000
    private, signs = Ed25519PrivateKey.generate(), signer()
    base = signs.sign(unsigned()).signature_base.encode()
    floor, signed = interleave(rounds, Side(lambda _: private.sign(base)), Side(signs.sign, lambda _: unsigned()))
    return [Row(f"sign, Ed25519 by {library()}", "Ed25519PrivateKey.sign", signed / floor)]
