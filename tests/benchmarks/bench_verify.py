"""The cost of verifying and rejecting relative to the signature check alone."""

from __future__ import annotations

import base64
import contextlib
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from tests.benchmarks.row import Row, Side, interleaved
from tests.benchmarks.traffic import BODY, received, signed_fields
from tests.keys import EC_KEY, EC_PUBLIC, NOW, PUBLIC, verifier

from undersigned import KeyPair, MemoryReplayStore, Request, SignatureError, Signer, Verifier
from undersigned.message.strict_json import loads
from undersigned.profiles import WEB_BOT_AUTH_STRING
from undersigned.signature.ed25519 import library
from undersigned.signature.key_source import ExaminedKeys
from undersigned.verification.screening import screen

if TYPE_CHECKING:
    from collections.abc import Callable

_EXPIRED = NOW + 10_000
_BOT_FIELDS = [
    ("Host", "shop.example"),
    ("Accept", "text/html"),
    ("Accept-Encoding", "gzip, deflate"),
    ("User-Agent", "bot/1.0 (+https://bot.example)"),
    ("Signature-Agent", '"https://bot.example"'),
]


_GOALS = {"OpenSSL": 1.35, "libsodium": 0.85}


def rows(*, quick: bool) -> list[Row]:
    """Measure verification by both algorithms, and the rejections."""
    rounds = 20 if quick else 2000
    return [*_ed25519(rounds), _es256(rounds), _web_bot_auth(rounds)]


def ed25519_floor() -> Callable[[object], object]:
    """The signature check alone: `Ed25519PublicKey.verify` of the same base."""
    public = Ed25519PublicKey.from_public_bytes(_octets(PUBLIC["x"]))
    request = received(signed_fields(1)[0])
    signature, base = _signature(request), verifier().verify(request).signature_base.encode()
    return lambda _: public.verify(signature, base)


def _ed25519(rounds: int) -> list[Row]:
    fields = signed_fields(rounds)
    accepting, late, keyless = verifier(), verifier(now=_EXPIRED), verifier(keys=ExaminedKeys({}))
    floor, accepted, window, key, replay, json = interleaved(
        rounds,
        Side(ed25519_floor()),
        Side(accepting.verify, lambda turn: received(fields[turn])),
        Side(rejected_by(late), lambda turn: received(fields[turn])),
        Side(rejected_by(keyless), lambda turn: received(fields[turn])),
        Side(rejected_by(accepting), lambda turn: received(fields[turn])),
        Side(lambda _: loads(BODY)),
    )
    check = "Ed25519PublicKey.verify"
    return [
        Row(f"verify, Ed25519 by {library()}", check, accepted / floor, _GOALS[library()]),
        Row(f"verify, Ed25519 by {library()}, without the JSON of the body", check, (accepted - json) / floor),
        Row("reject a bad window", "verify", window / accepted, 0.35),
        Row("reject an unknown key", "verify", key / accepted, 0.35),
        Row("reject a replay", "verify", replay / accepted, 1.05),
    ]


def _es256(rounds: int) -> Row:
    fields = signed_fields(rounds, key=EC_KEY)
    x, y = (int.from_bytes(_octets(EC_PUBLIC[name]), "big") for name in ("x", "y"))
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    request, accepting = received(fields[0]), verifier()
    raw, base = _signature(request), verifier().verify(request).signature_base.encode()
    signature = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
    floor, accepted = interleaved(
        rounds,
        Side(lambda _: public.verify(signature, base, ec.ECDSA(hashes.SHA256()))),
        Side(accepting.verify, lambda turn: received(fields[turn])),
    )
    return Row("verify, ES256", "P-256 verify", accepted / floor, 1.50)


def _web_bot_auth(rounds: int) -> Row:
    """The GET of a bot, as browsers' requests are: no content, and a String in Signature-Agent."""
    pair, profile = KeyPair.generate(), WEB_BOT_AUTH_STRING
    key = pair.signing_key()
    bare = Request("GET", "https://shop.example/p?q=1", _BOT_FIELDS)
    signer = Signer(key, profile=profile, clock=lambda: NOW)
    signed = [[*_BOT_FIELDS, *signer.sign(bare)] for _ in range(rounds)]
    accepting = Verifier(profile, keys=pair.key_set(), replay=MemoryReplayStore(), clock=lambda: NOW)
    public = Ed25519PublicKey.from_public_bytes(_octets(pair.public["keys"][0]["x"]))
    first = Request("GET", bare.url, signed[0])
    other = Verifier(profile, keys=pair.key_set(), replay=MemoryReplayStore(), clock=lambda: NOW)
    base, signature = other.verify(first).signature_base.encode(), screen(first, profile, now=NOW).signature
    floor, accepted = interleaved(
        rounds,
        Side(lambda _: public.verify(signature, base)),
        Side(accepting.verify, lambda turn: Request("GET", bare.url, signed[turn])),
    )
    return Row("verify, Web Bot Auth, a GET", "Ed25519PublicKey.verify", accepted / floor, 1.30)


def rejected_by(rejecting: Verifier) -> Callable[[Request], object]:
    """Verification by one that must reject."""

    def rejected(request: Request) -> None:
        with contextlib.suppress(SignatureError):
            rejecting.verify(request)
            raise AssertionError("the request must be rejected")

    return rejected


def _signature(request: Request) -> bytes:
    return screen(request, verifier().profile, now=NOW).signature


def _octets(text: object) -> bytes:
    return base64.urlsafe_b64decode(f"{text}=")
