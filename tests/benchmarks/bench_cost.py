"""The most expensive request that a stranger can send within the bounds, in accepted requests."""

from __future__ import annotations

import base64
import contextlib
import itertools
import statistics
import time
from typing import TYPE_CHECKING

from tests.benchmarks.row import Row
from tests.benchmarks.traffic import BODY, signed_fields
from tests.keys import FULL, KEY, URL, covering, verifier

from undersigned import Request, SignatureError
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
    return [Row("every part of a message at its bound, signed by nobody", "an accepted request", ratio, _MOST)]


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
