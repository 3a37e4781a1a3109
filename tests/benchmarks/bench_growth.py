"""How the time grows: with what a sender chooses, linear or flat, and never past one verification before its key."""

from __future__ import annotations

import asyncio
import contextlib
import math
import secrets
import time
from typing import TYPE_CHECKING

from tests.benchmarks.bench_middleware import ORIGINS, application, scope_of
from tests.benchmarks.row import Row, Side, interleave, interleave_async
from tests.benchmarks.traffic import BODY, receive, signed_fields
from tests.keys import BARE, FULL, JSON_FIELD, NONCE, URL, b64url, covering, parameters, signer, verifier

from undersigned import MemoryReplayStore, Request, SignatureError, asgi
from undersigned.limits import LONGEST_FIELD, LONGEST_TARGET, MOST_FIELDS
from undersigned.replay.memory import UncheckedReplay
from undersigned.signature.rules import Caps

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.traffic import Fields

_SIZE = 65_536
_SIGNATURE = ("Signature", f"sig1=:{'A' * 86}==:")
_DIGEST = ("Content-Digest", "sha-256=:AAAA:")
_BY_PROXY = '("@method" "@authority");created=1776520800;keyid="proxy"'
_LINEAR = 1.2
"""The exponent up to which a measured growth is called linear: an exact line measures 0.9 to 1.1."""


def rows(*, quick: bool) -> list[Row]:
    """Measure the growth, the nonces, and the hostile fields."""
    return [*_growth(quick=quick), *_nonces(quick=quick), *_hostile(quick=quick)]


def _sign(url: str = URL, extra: Fields = (), body: bytes = BODY) -> Request:
    bare = [("Host", "seller.example.com"), JSON_FIELD, *extra]
    return Request("POST", url, [*bare, *signer().sign(Request("POST", url, bare, body), nonce=NONCE)], body)


def _label(count: int) -> Request:
    """A request with `count` signatures: proxies add theirs."""
    fields = [*_sign().fields]
    for at in range(1, count):
        fields += [("Signature-Input", f"l{at}={_BY_PROXY}"), ("Signature", f"l{at}=:{'A' * 86}==:")]
    return Request("POST", URL, fields, BODY)


def _growth(*, quick: bool) -> list[Row]:
    """Measure each dimension over a factor of eight, up to about as much as one message may have."""
    dimensions: list[tuple[str, Callable[[int], Request], int]] = [
        ("header fields", lambda size: _sign(extra=[(f"x-{at}", "v") for at in range(size)]), 10),
        ("characters of a header field", lambda size: _sign(extra=[("x", "v" * size)]), 4000),
        ("labels", _label, 1),
        ("characters of the target", lambda size: _sign(f"{URL}?{'a' * size}"), (LONGEST_TARGET - 3000) // 8),
        ("octets of the body", lambda size: _sign(body=b'"' + b"x" * size + b'"'), 125_000),
    ]
    rounds, found = (2 if quick else 15), []
    for name, request_of, size in dimensions:
        small, large = _times(request_of, size // 8 or 1 if quick else size, rounds)
        found.append(
            Row(f"growth with {name}", f"{size:,} to {8 * size:,}, exponent", math.log(large / small, 8), _LINEAR)
        )
    return found


def _times(request_of: Callable[[int], Request], size: int, rounds: int) -> list[float]:
    verifying = verifier(replay=UncheckedReplay())

    def verified(request: Request) -> None:
        # Made again each time: reading the fields is part of it, and content is parsed once.
        verifying.verify(Request(request.method, request.url, request.fields.lines, request.body))

    requests = [request_of(size * factor) for factor in (1, 8)]
    for request in requests:
        verified(request)
    return interleave(rounds, *(Side(verified, lambda _, request=request: request) for request in requests))


def _nonces(*, quick: bool) -> list[Row]:
    """Measure a claim among one and ten million live nonces, relative to one among a thousand."""
    counts = (1000, 2000, 4000) if quick else (1000, 1_000_000, 10_000_000)
    store, caps, times = MemoryReplayStore(), Caps(per_key=2_000_000, total=None), []
    for count in counts:
        for number in range(len(store), count):
            # Nonces of 16 bytes as text, made of the number: random enough for a hash table.
            keyid, nonce = f"key{number % 10}", b64url(number.to_bytes(16, "big"))
            store.claim(keyid, nonce, now=0, until=30 * (number % 12) + 30, caps=caps)
        times.append(_claims(store, caps))
    return [
        Row(f"a claim among {count:,} live nonces", f"one among {counts[0]:,}", taken / times[0], 3.0)
        for count, taken in zip(counts[1:], times[1:], strict=True)
    ]


def _claims(store: MemoryReplayStore, caps: Caps) -> float:
    taken = []
    for _ in range(500):
        nonce = secrets.token_urlsafe(16)
        begun = time.perf_counter()
        store.claim("key1", nonce, now=0, until=100, caps=caps)
        taken.append(time.perf_counter() - begun)
    return sorted(taken)[len(taken) // 2]


def hostile(size: int) -> dict[str, Fields]:
    """Signature fields of `size` characters, each the worst of its kind."""
    covered = " ".join(f'"{name}"' for name in FULL)
    fine = covering(*FULL)

    def inputs(value: str) -> Fields:
        return [("Signature-Input", value[:size]), _SIGNATURE, _DIGEST, JSON_FIELD]

    return {
        "labels": inputs(", ".join(f"l{at}=()" for at in range(size // 8))),
        "parameters": inputs("sig1=()" + "".join(f";p{at}=1" for at in range(size // 7))),
        "components": inputs("sig1=(" + " ".join(f'"x{at}"' for at in range(size // 8)) + ")" + parameters()),
        "component parameters": inputs(
            "sig1=(" + " ".join(f'"x";key="k{at}"' for at in range(size // 15)) + ")" + parameters()
        ),
        "query parameters": inputs(
            f"sig1=({covered} "
            + " ".join(f'"@query-param";name="k{at}"' for at in range(size // 27))
            + ")"
            + parameters()
        ),
        "quotes": inputs('"' * size),
        "an open string": inputs('sig1=("' + "a" * size),
        "backslashes": inputs('sig1=("' + "\\" * size),
        "display strings": inputs(f'{fine};d=%"' + "%41" * (size // 3)),
        "a long token": inputs(f"{fine};d=" + "t" * size),
        "parentheses": inputs("(" * size),
        "spaces": inputs("sig1=(" + " " * size),
        "a keyid": inputs(covering(*BARE, keyid='"' + "k" * size + '"')),
        "a nonce": inputs(covering(*BARE, nonce='"' + "k" * size + '"')),
        "colons in the signature": [("Signature-Input", fine), ("Signature", ":" * size)],
        "labels in the signature": [
            ("Signature-Input", fine),
            ("Signature", ", ".join(f"l{at}=:AAAA:" for at in range(size // 14))),
        ],
        "colons in the digest": [("Signature-Input", fine), _SIGNATURE, JSON_FIELD, ("Content-Digest", ":" * size)],
        "quotes in the content type": [
            ("Signature-Input", fine),
            _SIGNATURE,
            _DIGEST,
            ("Content-Type", '"\\' * (size // 2)),
        ],
        "a host": [("Signature-Input", fine), _SIGNATURE, _DIGEST, JSON_FIELD, ("Host", "a." * (size // 2))],
    }


def _list_parsed(size: int) -> dict[str, tuple[Fields, str]]:
    """Messages that have `size` characters parsed for a covered component before the signature can be checked."""
    members = ", ".join(f"k{at}" for at in range(size // 7))
    query = "&".join(f"k{at}=1" for at in range(size // 7))

    def covered(component: str, *fields: tuple[str, str], url: str = URL) -> tuple[Fields, str]:
        return [("Signature-Input", covering(*FULL, component)), _SIGNATURE, _DIGEST, JSON_FIELD, *fields], url

    return {
        "a structured field": covered('"priority";sf', ("Priority", members)),
        "a member of a field": covered('"x";key="k1"', ("X", members)),
        "a field as bytes": covered('"x";bs', ("X", "v" * size)),
        "a query parameter": covered('"@query-param";name="k1"', url=f"{URL}?{query}"),
    }


def _hostile(*, quick: bool) -> list[Row]:
    """Measure rejecting each hostile message, relative to accepting a valid one."""
    found = []
    rounds = 3 if quick else 30
    for size in (_SIZE, LONGEST_FIELD, 512):
        worst = max((_time_rejection(fields, rounds), kind) for kind, fields in hostile(size).items())
        goal = 1.0 if size == _SIZE else None
        found.append(Row(f"reject {size:,} hostile characters, the worst: {worst[1]}", "verify", worst[0], goal))
        covered = max(
            (_time_rejection(fields, rounds, url), kind) for kind, (fields, url) in _list_parsed(size).items()
        )
        name = f"reject {size:,} characters covered with parameters, the worst: {covered[1]}"
        found.append(Row(name, "verify", covered[0]))
    plain: Fields = [("Signature-Input", covering(*FULL)), _SIGNATURE, _DIGEST, JSON_FIELD]
    for name, url, goal in (
        (f"a target of {2 * LONGEST_TARGET:,} characters", f"{URL}?{'a' * 2 * LONGEST_TARGET}", 1.0),
        ("a path of 64 KB of escapes", f"{URL}/{'%7e' * 20_000}", 1.0),
        ("a path of 2,700 escapes", f"{URL}/{'%7e' * 2700}", None),
    ):
        found.append(Row(f"reject {name}", "verify", _time_rejection(plain, rounds, url), goal))
    authority = [("Host", ".".join(["xn--mxaa4acd6f7abb3at2bg2de4bzal2a"] * 7))]
    found.append(Row("reject a Host of A-labels", "verify", _time_rejection([*authority, *plain], rounds), 1.0))
    return [*found, *asyncio.run(_many_fields(rounds))]


async def _many_fields(rounds: int) -> list[Row]:
    """Measure what the ASGI middleware takes to reject header fields too many to be read, and as many as it reads."""
    honest = signed_fields(rounds)
    middle = asgi.SignatureMiddleware(application, verifier=verifier(), origins=ORIGINS)
    signature = [("Host", "seller.example.com"), ("Signature-Input", covering(*FULL)), _SIGNATURE]

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": BODY, "more_body": False}

    async def send(_message: object) -> None:
        """Send it nowhere."""

    counts = {_SIZE // len("x1000: "): "64 KB of", MOST_FIELDS - len(signature): "the most that are read,"}
    # Kept, so that deleting them is not timed.
    scopes = {count: scope_of([*signature, *((f"x{at}", "") for at in range(count))]) for count in counts}
    accepted, *rejected = await interleave_async(
        rounds,
        lambda turn: middle(scope_of(honest[turn]), receive, send),
        *(lambda _, scope=scope: middle(scope, receive, send) for scope in scopes.values()),
    )
    return [
        Row(f"ASGI, reject {what} {count:,} header fields", "ASGI, an accepted request", taken / accepted, 1.0)
        for (count, what), taken in zip(counts.items(), rejected, strict=True)
    ]


def _time_rejection(fields: Fields, rounds: int, url: str = URL) -> float:
    honest, accepting, rejecting = signed_fields(rounds), verifier(), verifier()

    def reject(request: Request) -> None:
        with contextlib.suppress(SignatureError):
            rejecting.verify(request)

    accepted, rejected = interleave(
        rounds,
        Side(accepting.verify, lambda turn: receive(honest[turn])),
        Side(reject, lambda _: Request("POST", url, fields, BODY)),
    )
    return rejected / accepted
