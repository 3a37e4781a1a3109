"""Checks before signing, for what a receiver would reject, or read with other values than the signer.

Every check raises a `SigningError`, which says what to change before signing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from undersigned.errors import MalformedURL, SigningError
from undersigned.limits import LONGEST_BASE, LONGEST_FIELD, MOST_EFFORT
from undersigned.message.request_target import RequestTarget, check_length
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField, is_list, parse_byte_sequences
from undersigned.signature.effort import BASE_CHARACTERS, effort
from undersigned.url import canonicalize_authority

if TYPE_CHECKING:
    from collections.abc import Sequence

    from undersigned.message.component import Component
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Encoding
    from undersigned.signature.signing_target import SigningTarget
    from undersigned.url import CanonicalURL

USUAL_BASE = 4096
"""The most characters of the base of a usual message: a longer one is checked."""

USUAL_EFFORT = 88
"""The most effort of a usual message without its components: 27 for fields, 5 for values, 41 for the URL, 15 for the
base. The fields and values include those that a signer adds."""

_USUAL_FIELDS = 24
_USUAL_CHARACTERS = 3000
_USUAL_TARGET = re.compile(r"[A-Za-z0-9._~/:-]{1,256}")


def is_usual(message: Request | Response, target: SigningTarget) -> bool:
    """Return whether a quick look shows that no check of this module rejects a message that covers plain components.

    Nearly every message is usual. Then `check_fields`, `check_signatures` and `check_content_type` need not be called.
    Neither need `check_base`, if the base is not too long and `USUAL_EFFORT` leaves enough for the components. They
    decide about any other message.
    """
    fields, own = message.fields, target.canonical.authority
    combined = fields.combined
    content_type = combined.get("content-type", "")
    return (
        target.is_usual
        and fields.are_valid
        # Several lines are combined with a comma.
        and combined.get("host", own) == own
        and not ("," in content_type or '"' in content_type or len(content_type) > LONGEST_FIELD)
        and not ("signature-input" in combined or "signature" in combined or ":authority" in combined)
        and len(fields.lines) <= _USUAL_FIELDS
        and sum(map(len, combined.values())) <= _USUAL_CHARACTERS
    )


def check_target(target: CanonicalURL) -> None:
    """Check that the verifier and the middlewares accept the target as a request target."""
    if _USUAL_TARGET.fullmatch(target.target_uri):
        return
    try:
        check_length(target.target_uri)
        RequestTarget.parse(target.target_uri.removeprefix(f"{target.scheme}://{target.authority}").encode("ascii"))
    except MalformedURL as malformed:
        raise SigningError(
            f"url: it would be rejected: {malformed}; shorten it, percent-encode what RFC 3986 does not allow, or pass "
            "check_limits=False for a receiver with other limits"
        ) from None


def check_fields(request: Request | Response, target: CanonicalURL) -> None:
    """Check that a receiver reads the header fields as they are signed, and the authority as the URL's."""
    if not request.fields.are_valid:
        raise SigningError(
            "headers: a name is not a token, names are too long, or a value contains CR, LF or NUL: correct them"
        )
    for name, field_name in ((":authority", ":authority"), ("Host", "host")):
        values = request.fields.values(field_name)
        if not values:
            continue
        if len(values) > 1:
            raise SigningError(f"headers: more than one {name}, which receivers reject; send one")
        own = target.authority
        if values[0] != own and canonicalize_authority(values[0], target.scheme) != own:
            raise SigningError(f"headers: {name} is not the URL's authority; sign the URL that is sent")


def check_content_type(request: Request | Response) -> None:
    """Check that the covered Content-Type has one value."""
    types = request.fields.values("content-type")
    if len(types) != 1:
        raise SigningError("headers: the signature covers Content-Type; add exactly one to the request")
    if is_list(types[0]):
        raise SigningError(
            f"headers: Content-Type has several values, or more than {LONGEST_FIELD} characters with quotes or "
            "commas, which receivers reject; send one short value"
        )


def check_signatures(request: Request | Response, label: str, *, encoding: Encoding) -> None:
    """Check that signatures the request already has can be read, and that none has this label.

    A receiver reads the two fields as a whole: because of one malformed signature, it would reject ours too.
    """
    inputs, signatures = request.fields.combined.get("signature-input"), request.fields.combined.get("signature")
    labels: set[str] = set()
    try:
        if inputs is not None:
            labels.update(parse_signature_input(inputs))
        if signatures is not None:
            labels.update(parse_byte_sequences(signatures, encoding))
    except MalformedField as malformed:
        raise SigningError(
            f"headers: Signature-Input or Signature cannot be read: {malformed}; remove both, or correct them"
        ) from None
    if label in labels:
        raise SigningError(f"headers: the request already has a signature labelled {label}; pass another label=")


def check_readable(
    request: Request | Response, added: tuple[tuple[str, str], ...], *, encoding: Encoding, unread: int
) -> None:
    """Check that the verifier reads the signature fields, each with the values that the request already has.

    A new field of at most `unread` characters needs no check.
    """
    for name, value in added:
        given = request.fields.combined.get(name.lower())
        if given is None and len(value) <= unread:
            continue
        combined = value if given is None else f"{given}, {value}"
        try:
            if name == "Signature":
                parse_byte_sequences(combined, encoding)
            else:
                parse_signature_input(combined)
        except MalformedField as malformed:
            raise SigningError(
                f"headers: {name} would be rejected: {malformed}; cover fewer components, use a shorter keyid, or "
                "pass check_limits=False for a receiver with other limits"
            ) from None


def check_base(
    base: str, message: Request | Response, components: Sequence[Component], *, most: int = MOST_EFFORT
) -> None:
    """Check that the base is not too long for the verifier, and that reading the message is not too much work.

    Args:
        base: the signature base.
        message: the message with the fields that the signer adds.
        components: the covered components.
        most: the effort that the profile allows.
    """
    if len(base) > LONGEST_BASE:
        raise SigningError(
            f"headers: the signature base has more than {LONGEST_BASE} characters: cover fewer or shorter fields, or "
            "pass check_limits=False for a receiver with other limits"
        )
    if effort(message, components) + len(base) // BASE_CHARACTERS > most:
        raise SigningError(
            "headers: header fields, target and covered components ask a receiver for too much work together. Send "
            "fewer header fields, percent signs in the path or covered components with parameters, or pass "
            "check_limits=False for a receiver with other limits"
        )
