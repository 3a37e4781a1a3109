"""The cause of a rejection: the first alternative over which the signature, or the digest of the content, is valid."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Final, cast

from undersigned.explanation.advice import CHANGES
from undersigned.explanation.alternatives import alternatives
from undersigned.explanation.other_contents import cut_contents, other_contents, written_digest
from undersigned.log_text import printable
from undersigned.message.content_digest import content_digest, has_digests, read_digests
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.explanation.advice import Maker
    from undersigned.explanation.signed_values import SignedValues
    from undersigned.message.request import Request
    from undersigned.message.structured_fields import Encoding
    from undersigned.signature.profile import Profile

MOST_SECONDS: Final = 0.75
"""The most seconds of processor time of a search for the cause: some thousand verifications."""

_LONGEST_SHOWN, _BEFORE = 160, 20


@dataclass(frozen=True, slots=True)
class Cause:
    """A proven cause of a rejection: signature or digest is valid over the changed values. Its texts are ASCII.

    Attributes:
        name: the name of the change, one of `NAMES`; or two, joined by `and`, if one layer makes both.
        signed: the part as the sender signed it, or an excerpt of it.
        received: the part as it was received, or an excerpt of it. It differs from `signed`.
        advice: what usually causes the change, and what to do.
        makers: who usually makes the change: client, proxy, server, framework or language.
        keyid: the key ID of the key that verifies the signature, or "" if the key is not the question.
        base: the base that the sender signed; None if it is the base that is rebuilt from the request.
    """

    name: str
    signed: str
    received: str
    advice: str
    makers: tuple[Maker, ...]
    keyid: str = ""
    base: str | None = None

    @classmethod
    def of(cls, name: str, signed: str, received: str, *, keyid: str = "", base: str | None = None) -> Cause:
        """Return the cause with the advice for its name, and with excerpts of long texts."""
        start = 0
        if max(len(signed), len(received)) > _LONGEST_SHOWN:
            start = max(0, common(signed, received) - _BEFORE)
        cut = "..." if start else ""
        changes = [CHANGES[one].partition(": ") for one in name.split(" and ")]
        makers = cast("list[Maker]", [maker for who, _, _ in changes for maker in who.split(", ")])
        return cls(
            name,
            f"{cut}{printable(signed[start:], limit=_LONGEST_SHOWN)}",
            f"{cut}{printable(received[start:], limit=_LONGEST_SHOWN)}",
            "; ".join(advice for _, _, advice in changes),
            tuple(dict.fromkeys(makers)),
            keyid,
            base,
        )

    def __str__(self) -> str:
        """Return the cause in a sentence."""
        words = {
            "another key": "the signature is by the key {0}, and names the key {1}",
            "another profile": "the request is verified with the profile {0}, and not with {1}",
            "other base form": "the sender signed {0}, in place of {1}",
            "hashed base": "the sender signed {0}, in place of {1}",
            "another hash": "the sender signed with {0}, in place of {1}",
            "other signature form": "the sender sent {0}, in place of {1}",
            "other digest form": "Content-Digest has {0}; expected {1}",
        }.get(self.name, "the sender signed {0}; you received {1}")
        told = words.format(self.signed, self.received)
        return f"{self.name}: {told}. {self.advice[:1].upper()}{self.advice[1:]}"


def common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def find_change(values: SignedValues) -> Cause | None:
    """Return the first alternative that the signature is valid for, and that differs from what was received; or None.

    The values as they were received must not be valid: then no change explains anything.
    """
    received = values.base
    tried = {((received or "").encode(), values.signature, values.keys)}
    for one in takewhile(_in_time(), alternatives(values)):
        octets = one.octets or (one.values.base or "").encode()
        attempt = (octets, one.values.signature, one.values.keys)
        key = None if attempt in tried else one.values.signer(octets)
        tried.add(attempt)
        if key is not None:
            written = received if one.name == "hashed base" else octets.decode("latin-1")
            return Cause.of(one.name, *(one.told or one.values.texts(values)), keyid=key.keyid, base=written)
    return None


def _in_time() -> Callable[[object], bool]:
    """Return a function that is true for `MOST_SECONDS`."""
    end = time.thread_time() + MOST_SECONDS
    return lambda _: time.thread_time() <= end


def other_spelling(request: Request, profile: Profile) -> tuple[str, str] | None:
    """Return which fields are in another Base64 than the profile expects, and the expected one; None if none is."""
    found, expected = list[str](), ""
    of_signature: tuple[Encoding, ...] = (profile.encoding,)
    for name, encodings in (("signature", of_signature), ("content-digest", profile.digest.encodings)):
        value = request.fields.combined.get(name, "")
        if byte_sequences(value) and not byte_sequences(value, *encodings):
            is_base64 = "base64" in encodings
            found.append(f"{name} in {'Base64url' if is_base64 else 'padded Base64'}")
            expected = "what must be padded Base64 (RFC 8941)" if is_base64 else "what must be unpadded Base64url"
    return (" and ".join(found), expected) if found else None


def byte_sequences(value: str, *encodings: Encoding) -> dict[str, bytes]:
    """Return the members of a dictionary of byte sequences in one of these forms of Base64, or none."""
    try:
        return parse_byte_sequences(value, *(encodings or ("base64", "base64url")))
    except MalformedField:
        return {}


def find_digest(request: Request, profile: Profile) -> Cause | None:
    """Return the cause if Content-Digest has a digest of the body that is written in another form, or None."""
    declared = request.fields.combined.get("content-digest", "")
    rule = profile.digest
    accepted = byte_sequences(declared, *rule.encodings)
    expected = {name: digest for name, digest in accepted.items() if name in set[str](rule.algorithms)}
    written = "" if has_digests(request.body, expected) else written_digest(declared, request.body)
    if not written:
        return None
    right = content_digest(request.body, rule.encodings[0], algorithms=rule.algorithms[:1])
    return Cause.of("other digest form", written, right)


def find_content(request: Request, created: int) -> Cause | None:
    """Return the cause of a digest that is of other content, or None."""
    # The header of gzip has four octets for the time.
    signed_at = created if created.bit_length() <= 32 else 0  # noqa: PLR2004
    body = request.body
    expected = read_digests(request.fields.combined.get("content-digest", ""))
    if not expected or has_digests(body, expected):
        return None
    contents = chain(other_contents(body, signed_at=signed_at), cut_contents(body, expected))
    for words, content in takewhile(_in_time(), contents):
        if has_digests(content, expected) and content != body:
            return Cause.of("other content", words, f"{len(body)} other bytes")
    return None
