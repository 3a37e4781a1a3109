"""The cost of verifying and rejecting relative to the signature check alone."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from tests.benchmarks.row import Row, Side, interleave
from tests.benchmarks.traffic import BODY, FIELDS, receive, sign_by_hand, signed_fields
from tests.keys import EC_KEY, EC_PUBLIC, NOW, PUBLIC, b64url, signer, verifier

from undersigned import (
    KeyPair,
    KeySet,
    MemoryReplayStore,
    Request,
    SignatureError,
    Signer,
    UndersignedError,
    Verifier,
)
from undersigned.message.strict_json import loads
from undersigned.profiles import WEB_BOT_AUTH_STRING
from undersigned.signature.ed25519 import library
from undersigned.signature.key_source import ExaminedKeys

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


_CHECK = "Ed25519PublicKey.verify"
_SENDERS = 1000
_RECORDED = Path(__file__).parents[1] / "observations" / "http1.json"
"""Requests that were sent to real servers, and what each server made of them."""


def rows(*, quick: bool) -> list[Row]:
    """Measure verification by both algorithms, and the rejections."""
    rounds = 20 if quick else 2000
    return [
        *_ed25519(rounds),
        *_senders(min(rounds, _SENDERS)),
        _spellings(rounds),
        _es256(rounds),
        _web_bot_auth(rounds),
    ]


def ed25519_floor() -> Callable[[object], object]:
    """The signature check alone: `Ed25519PublicKey.verify` of the same base."""
    public = Ed25519PublicKey.from_public_bytes(_octets(PUBLIC["x"]))
    request = receive(signed_fields(1)[0])
    signature, base = _signature(request), verifier().verify(request).signature_base.encode()
    return lambda _: public.verify(signature, base)


def _ed25519(rounds: int) -> list[Row]:
    fields = signed_fields(rounds)
    accepting, late, keyless = verifier(), verifier(now=_EXPIRED), verifier(keys=ExaminedKeys({}))
    floor, accepted, window, key, replay, parsed = interleave(
        rounds,
        Side(ed25519_floor()),
        Side(accepting.verify, lambda turn: receive(fields[turn])),
        Side(reject_by(late), lambda turn: receive(fields[turn])),
        Side(reject_by(keyless), lambda turn: receive(fields[turn])),
        Side(reject_by(accepting), lambda turn: receive(fields[turn])),
        Side(lambda _: loads(BODY)),
    )
    return [
        Row(f"verify, Ed25519 by {library()}", _CHECK, accepted / floor),
        Row(f"verify, Ed25519 by {library()}, without the JSON of the body", _CHECK, (accepted - parsed) / floor),
        Row("reject a bad window", "verify", window / accepted, 0.35),
        Row("reject an unknown key", "verify", key / accepted, 0.35),
        Row("reject a replay", "verify", replay / accepted, 1.05),
    ]


def _senders(count: int) -> list[Row]:
    """Requests of as many senders, each with a key and URLs of its own that no cache has seen."""
    keys = [Ed25519PrivateKey.from_private_bytes(number.to_bytes(32, "big")) for number in range(1, count + 1)]
    publics = [key.public_key() for key in keys]
    jwks = [
        {**PUBLIC, "kid": f"buyer-{at}", "x": b64url(public.public_bytes_raw())} for at, public in enumerate(publics)
    ]
    requests = [
        sign_by_hand(f"https://tenant-{at}.example.com/{path}/create_media_buy", keyid=f"buyer-{at}", key=key)
        for path in ("adcp", "v2")
        for at, key in enumerate(keys)
    ]
    accepting, found = verifier(keys=KeySet.from_jwks({"keys": jwks})), []
    for name, sent in (("the first request of each key", requests[:count]), ("the next requests", requests[count:])):
        floor, accepted = interleave(
            count,
            Side(
                lambda turn, sent=sent: publics[turn].verify(sent[turn].signature, sent[turn].base),
            ),
            Side(accepting.verify, lambda turn, sent=sent: sent[turn].request),
        )
        found.append(
            Row(f"verify, 1,000 senders, keys and URLs, cold: {name}", f"{_CHECK} by as many keys", accepted / floor)
        )
    return found


def _spellings(rounds: int) -> Row:
    """One sender of every URL that clients of the recorded requests wrote and that may be signed."""
    urls = itertools.cycle(_recorded_urls())
    requests = [_sign_to(next(urls)) for _ in range(rounds)]
    floor, accepted = interleave(
        rounds, Side(ed25519_floor()), Side(verifier().verify, lambda turn: Request("POST", *requests[turn], BODY))
    )
    return Row("verify, a recorded mix of spellings", _CHECK, accepted / floor)


def _recorded_urls() -> list[str]:
    listed = {
        f"https://{host}{sent['target']}"
        for sent in (recorded["wire"] for recorded in json.loads(_RECORDED.read_text()).values())
        for host in sent["hosts"]
        if sent["target"].startswith("/")
    }
    return [url for url in sorted(listed) if _may_be_signed(url)]


def _may_be_signed(url: str) -> bool:
    try:
        verifier().verify(Request("POST", *_sign_to(url), BODY))
    except UndersignedError:
        return False
    return True


def _sign_to(url: str) -> tuple[str, list[tuple[str, str]]]:
    """Return a URL as it was sent, and header fields that sign it."""
    host = url.removeprefix("https://").partition("/")[0]
    fields = [("Host", host), *FIELDS[1:]]
    return url, [*fields, *signer().sign(Request("POST", url, fields, BODY))]


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
    base, signature = other.verify(first).signature_base.encode(), other.screen(first)[0].signature
    floor, accepted = interleave(
        rounds,
        Side(lambda _: public.verify(signature, base)),
        Side(accepting.verify, lambda turn: Request("GET", bare.url, signed[turn])),
    )
    return Row("verify, Web Bot Auth, a GET", _CHECK, accepted / floor)


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
