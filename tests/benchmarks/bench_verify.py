"""The cost of verifying and rejecting relative to the signature check alone."""

from __future__ import annotations

import base64
import contextlib
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from tests.benchmarks.row import Row, Side, interleave
from tests.benchmarks.traffic import receive, signed_fields
from tests.keys import EC_KEY, EC_PUBLIC, NOW, PUBLIC, verifier

from undersigned import Request, SignatureError, Verifier
from undersigned.signature.ed25519 import library
from undersigned.signature.key_source import ExaminedKeys

if TYPE_CHECKING:
    from collections.abc import Callable

_EXPIRED = NOW + 10_000
_CHECK = "Ed25519PublicKey.verify"


def rows(*, quick: bool) -> list[Row]:
    """Measure verification by both algorithms, and the rejections."""
    rounds = 20 if quick else 2000
    return [*_ed25519(rounds), _es256(rounds)]


def ed25519_floor() -> Callable[[object], object]:
    """The signature check alone: `Ed25519PublicKey.verify` of the same base."""
    public = Ed25519PublicKey.from_public_bytes(_octets(PUBLIC["x"]))
    request = receive(signed_fields(1)[0])
    signature, base = _signature(request), verifier().verify(request).signature_base.encode()
    return lambda _: public.verify(signature, base)


def _ed25519(rounds: int) -> list[Row]:
    fields = signed_fields(rounds)
    accepting, late, keyless = verifier(), verifier(now=_EXPIRED), verifier(keys=ExaminedKeys({}))
    floor, accepted, window, key, replay = interleave(
        rounds,
        Side(ed25519_floor()),
        Side(accepting.verify, lambda turn: receive(fields[turn])),
        Side(reject_by(late), lambda turn: receive(fields[turn])),
        Side(reject_by(keyless), lambda turn: receive(fields[turn])),
        Side(reject_by(accepting), lambda turn: receive(fields[turn])),
    )
    return [
        Row(f"verify, Ed25519 by {library()}", _CHECK, accepted / floor),
        Row("reject a bad window", "verify", window / accepted, 0.35),
        Row("reject an unknown key", "verify", key / accepted, 0.35),
        Row("reject a replay", "verify", replay / accepted, 1.05),
    ]


def _es256(rounds: int) -> Row:
    fields = signed_fields(rounds, key=EC_KEY)
    x, y = (int.from_bytes(_octets(EC_PUBLIC[name]), "big") for name in ("x", "y"))
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    request, accepting = receive(fields[0]), verifier()
    raw, base = _signature(request), verifier().verify(request).signature_base.encode()
    signature = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    floor, accepted = interleave(
        rounds,
        Side(lambda _: public.verify(signature, base, ec.ECDSA(hashes.SHA256()))),
        Side(accepting.verify, lambda turn: receive(fields[turn])),
    )
    return Row("verify, ES256", "P-256 verify", accepted / floor)


def reject_by(rejecting: Verifier) -> Callable[[Request], object]:
    """Verification by one that must reject."""

    def rejected(request: Request) -> None:
        with contextlib.suppress(SignatureError):
            rejecting.verify(request)
            raise AssertionError("the request must be rejected")

    return rejected


def _signature(request: Request) -> bytes:
    return verifier().screen(request)[0].signature


def _octets(text: object) -> bytes:
    return base64.urlsafe_b64decode(f"{text}=")
