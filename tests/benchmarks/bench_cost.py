"""The most expensive request that a stranger can send within the bounds, in accepted requests."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import statistics
import time
from typing import TYPE_CHECKING

from tests.benchmarks.row import Row
from tests.benchmarks.traffic import BODY, signed_fields
from tests.keys import FULL, KEY, URL, covering, verifier

from undersigned import A2AResolver, JSONRPCResolver, PathResolver, Policy, Request, SignatureError, profiles
from undersigned.limits import (
    LONGEST_BASE,
    LONGEST_FIELD,
    LONGEST_NAMES,
    LONGEST_TARGET,
    MOST_COMPONENTS,
    MOST_DELIMITERS,
    MOST_FIELDS,
)
from undersigned.message.structured_fields import count_delimiters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.benchmarks.traffic import Fields

_MOST = 10.0
_MOST_UNSIGNED = 5.0
_SHOWN = 8
"""The contents of unsigned requests that cost most are shown."""
_ORIGIN = "https://seller.example.com"
_SPARE = 2048
"""Characters of the base for its names and the derived components."""


def rows(*, quick: bool) -> list[Row]:
    """Compare the message with a request that is accepted, one after the other, by the processor time of both."""
    verifying = verifier()
    url, fields = expensive()

    def seconds(url: str, fields: Fields) -> float:
        begun = time.thread_time()
        with contextlib.suppress(SignatureError):
            verifying.verify(Request("POST", url, fields, BODY))
        return time.thread_time() - begun

    accepted: list[float] = []
    rejected: list[float] = []
    for good in signed_fields(2 if quick else 200):
        accepted.append(seconds(URL, good))
        rejected.append(seconds(url, fields))
    ratio = statistics.median(rejected) / statistics.median(accepted)
    measured = [unsigned(name, content, rounds=1 if quick else 5) for name, content in CONTENTS.items()]
    return [
        Row("every part of a message at its bound, signed by nobody", "an accepted request", ratio, _MOST),
        *sorted(measured, key=lambda row: row.ratio, reverse=True)[:_SHOWN],
    ]


_SIZE = 1 << 20
_WORDS = b'"push_notification_config":{"authentication":null}'


def _filled(head: bytes, piece: bytes, tail: bytes, between: bytes = b",") -> bytes:
    """Return 1 MiB of a piece again and again."""
    return head + between.join([piece] * ((_SIZE - len(head + tail)) // len(piece + between))) + tail


CONTENTS = {
    "strings": _filled(b"[", b'"%s"' % (b"x" * 60), b"]"),
    "registrations without credentials": _filled(b"[", b"{%s}" % _WORDS, b"]"),
    "members": b"{%s}" % b",".join(b'"member%d":{}' % at for at in range(_SIZE // 18)),
    "lists in lists": b"[%s]" % b",".join([b"[" * 400 + b"]" * 400] * (_SIZE // 801)),
    "long numbers": _filled(b"[", b"9" * 4200, b"]"),
    "parts of a message": _filled(
        b'{"jsonrpc":"2.0","method":"message/send","params":{"message":{"parts":[', b'{"text":""}', b"]}}}"
    ),
    "not JSON": b"{" + b"x" * _SIZE,
} | {
    f"{piece!r} in {head + tail!r}": _filled(head, piece, tail, between)
    for head, tail, between in (
        (b'{"a":"', b'"}', b""), (b'{"', b'":1}', b""), (b'["', b'"]', b'","'), (b'[{"', b'":1}]', b'":1},{"'),
        (b"{%s," % _WORDS + b'"a":"', b'"}', b""), (b'{"a":"', b'",}', b""), (b'{"a":NaN,"b":"', b'"}', b""),
    )
    for piece in (
        rb"\u003c", rb"\u00e9", rb"\u4e2d", rb"\ud83d\ude00", rb"\u0022", rb"\u0061", rb"\u005c", rb"\\", rb"\n",
        rb"\nx", rb"\/", rb"\"", rb"\\u003c", rb"\\u00", rb"\\users", rb"\\\u003c", rb"\\\\u00e9", b"x", b"webhoo",
        b"authentication", b" ", rb"authentication\\\" ", "\u00e9".encode(), "\u017f".encode(),
    )
}  # fmt: skip
"""Contents of unsigned requests, of 1 MiB each."""


def unsigned(name: str, content: bytes, *, rounds: int) -> Row:
    """Compare a policy's decision with reading the content: with its own, or with that of strings, which is less."""
    policies = [
        Policy(required_for=["create_media_buy"], resolver=one)
        for one in (PathResolver(), JSONRPCResolver(), A2AResolver(adcp=False))
    ]
    request = Request("POST", URL.replace("create_media_buy", "x"), [("content-type", "application/json")], content)

    def decide(policy: Policy) -> None:
        operation = policy.resolve(request)
        policy.decide(operation, "unsigned", request, fallback=False, profile=profiles.ADCP_3_2)

    def load() -> None:
        for one in (content, CONTENTS["strings"]):
            begun = time.thread_time()
            with contextlib.suppress(ValueError, RecursionError):
                json.loads(one)
            loading.append(time.thread_time() - begun)

    loading: list[float] = []
    deciding: list[float] = []
    for _ in range(rounds):
        load()
        for policy in policies:
            begun = time.thread_time()
            decide(policy)
            deciding.append(time.thread_time() - begun)
    floor = max(statistics.median(loading[::2]), statistics.median(loading[1::2]))
    most = max(statistics.median(deciding[at :: len(policies)]) for at in range(len(policies)))
    return Row(f"1 MiB, unsigned: {name}", "json.loads", most / floor, _MOST_UNSIGNED)


def expensive() -> tuple[str, list[tuple[str, str]]]:
    """Return the URL and the fields of a request that takes as long as a stranger can make it take."""
    # Each triplet must be decoded or put in upper case, and each segment looked at.
    segment = "/%c3%7e"
    url = f"{_ORIGIN}/adcp/.{segment * ((LONGEST_TARGET - len(_ORIGIN) - 7) // len(segment))}"
    # What http-sf takes longest for: decimals, which are parsed, compared and serialized.
    decimals = _within("k=1", (f";p{at}=-99999.999" for at in itertools.count()))
    size = len(f"{url}{decimals}") + _SPARE
    covered = [f"c{at}" for at in range(MOST_COMPONENTS - len(FULL) - 1)]
    value = "v" * ((LONGEST_BASE - size) // len(covered))
    name = "n" * (LONGEST_NAMES // MOST_FIELDS)
    signed = covering(*FULL, '"priority";sf', *covered)
    signed = _within(signed, (f", l{at}=();p=-1.5" for at in itertools.count()))
    signature = f"sig1=:{base64.b64encode(KEY.sign(b'another message')).decode()}:"
    fields = [
        ("host", "seller.example.com"),
        ("content-type", "application/json"),
        ("content-length", str(len(BODY))),
        ("content-digest", _long(f"sha-256=:{'A' * 43}=:")),
        ("signature-input", signed),
        ("signature", _long(signature)),
        ("priority", decimals),
        *((name, value) for name in covered),
    ]
    return url, [*fields, *((f"{name}{at}", "v") for at in range(MOST_FIELDS - len(fields)))]


def _within(text: str, pieces: Iterable[str]) -> str:
    """Return a text with as many pieces more as a parser reads."""
    for piece in pieces:
        longer = text + piece
        if count_delimiters(longer) > MOST_DELIMITERS or len(longer) > LONGEST_FIELD:
            return text
        text = longer
    raise AssertionError("unreachable: the pieces never end")


def _long(member: str) -> str:
    """Return a byte sequence with the longest parameters."""
    return member + "".join(f";p{at}=1.5" for at in range((LONGEST_FIELD - len(member)) // 10))
