"""Checks before signing, for what every receiver would reject, or read with other values than the signer.

Every check raises a `SigningError`, which says what to change before signing. No check is about a size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.errors import SigningError
from undersigned.message.signature_input import labels_of_inputs
from undersigned.message.structured_fields import MalformedField, is_list, labels_of
from undersigned.url import canonicalize_authority

if TYPE_CHECKING:
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.structured_fields import Encoding
    from undersigned.url import CanonicalURL


def check_fields(request: Request | Response, target: CanonicalURL) -> None:
    """Check that a receiver reads the header fields as they are signed, and the authority as the URL's."""
    if not request.fields.are_valid:
        raise SigningError("headers: a name is not a token, or a value contains CR, LF or NUL: correct them")
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
        raise SigningError("headers: Content-Type has several values, which receivers reject; send one")


def check_label(request: Request | Response, label: str, *, encoding: Encoding) -> None:
    """Check that signatures the request already has can be read, and that none has this label.

    A receiver reads the two fields as a whole: because of one that is not a dictionary, it would reject ours too.
    """
    inputs, signatures = request.fields.combined.get("signature-input"), request.fields.combined.get("signature")
    try:
        labels: set[str] = set() if inputs is None else labels_of_inputs(inputs)
        if signatures is not None:
            labels |= labels_of(signatures, encoding)
    except MalformedField as malformed:
        raise SigningError(
            f"headers: Signature-Input or Signature cannot be read: {malformed}; remove both, or correct them"
        ) from None
    if label in labels:
        raise SigningError(f"headers: the request already has a signature labelled {label}; pass another label=")
