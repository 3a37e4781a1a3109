"""Screening of plain messages: what nearly every signer sends, accepted at one look (AdCP steps 0 to 6).

Plain means: one line of each signature field, in the plain spelling with the parameters in a signer's order, and
nothing to refuse. Whatever is not plain is None here and is judged by `undersigned.screening`, which says what is wrong
with it, if anything is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.message.content_digest import DIGEST_ALGORITHMS, ContentDigest
from undersigned.message.plain_fields import IN_ORDER, plain_byte_sequence, plain_coverage
from undersigned.verification.candidate import ParsedSignature

if TYPE_CHECKING:
    from undersigned.message.request import Request
    from undersigned.message.structured_fields import Coverage
    from undersigned.signature.profile import Profile

LONGEST_PLAIN = 512
"""The longest signature field or digest that is looked at for being plain."""


def plain_candidate(request: Request, profile: Profile, *, now: float) -> ParsedSignature | None:
    """Return what `undersigned.screening.screen` returns for a plain message that it accepts, None for any other."""
    try:
        (value,), (signed,) = request.fields.values("signature-input"), request.fields.values("signature")
    except ValueError:
        return None
    if len(value) > LONGEST_PLAIN or len(signed) > LONGEST_PLAIN or not request.fields.are_valid:
        return None
    match, sequence = IN_ORDER.fullmatch(value), plain_byte_sequence(signed, profile.encoding)
    if match is None or sequence is None:
        return None
    label, text, names, since, till, nonce, keyid, algorithm, tag = match.groups()
    coverage, created, expires, skew = plain_coverage(names), int(since), int(till), profile.clock_skew
    if (
        coverage is None
        or label != sequence[0]
        or tag != profile.tag
        or algorithm not in profile.algorithms
        or not created < expires <= created + profile.longest_validity
        or not (created <= now + skew and expires >= now - skew)
        or not profile.accepts_nonce(nonce)
        or not coverage.bare.issuperset(profile.required_components(has_body=request.has_body))
    ):
        return None
    digest = _covered_digest(request, coverage, profile)
    if digest is _UNREAD:
        return None
    return ParsedSignature(
        request=request,
        profile=profile,
        now=now,
        label=label,
        coverage=coverage,
        text=text,
        signature=sequence[1],
        digest=digest,
        keyid=keyid,
        algorithm=algorithm,
        nonce=nonce,
        created=created,
        expires=expires,
        until=float(expires + skew),
    )


def _covered_digest(request: Request, coverage: Coverage, profile: Profile) -> ContentDigest | None:
    """Return the digest that is covered, None where none is, and `_UNREAD` where a second look is needed."""
    names, fields = coverage.names, request.fields
    if "content-type" in names:
        types = fields.values("content-type")
        if len(types) != 1 or "," in types[0] or '"' in types[0]:
            return _UNREAD
    if "content-digest" not in names:
        return None
    values = fields.values("content-digest")
    if len(values) != 1 or len(values[0]) > LONGEST_PLAIN or profile.digest == "forbidden":
        return _UNREAD
    member = plain_byte_sequence(values[0], *profile.digest_encodings)
    return ContentDigest(dict([member])) if member is not None and member[0] in DIGEST_ALGORITHMS else _UNREAD


_UNREAD = ContentDigest({})
"""What no plain Content-Digest is read as."""
