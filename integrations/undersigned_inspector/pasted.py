"""What is pasted into the page, as the form sends it: the request, the keys and the options, and what they tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from undersigned import ConfigurationError, profiles
from undersigned.errors import UndersignedError
from undersigned.explanation import explain_request
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField
from undersigned.pasted import MalformedRequest, PastedRequest, parse_pasted_keys, parse_pasted_request
from undersigned.signature.key_source import ExaminedKeys
from undersigned.url import Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned import Profile, Request
    from undersigned.explanation import ExplainedRequest

_MOST_FIELDS: Final = 1000


class Unusable(UndersignedError):
    """Raised when something that was pasted cannot be used. The message does not quote it.

    Attributes:
        field: the field of the form.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def explain_pasted(texts: Mapping[str, str], own: Mapping[str, Profile]) -> tuple[PastedRequest, ExplainedRequest]:
    """Return the request of a form and its explanation. A text that is not given is empty.

    `own` has profiles besides the published ones, by their names in the form.

    Raises:
        Unusable: a text cannot be used.
    """
    given = {name: text for name, text in texts.items() if text.strip()}
    try:
        origins = tuple(map(Origin.parse, given.get("origin", "").split()))
    except ConfigurationError as error:
        raise Unusable("origin", str(error)) from None
    if "request" not in given:
        raise Unusable("request", "paste a request")
    body = _octets(given["body"]) if "body" in given else None
    try:
        pasted = parse_pasted_request(_octets(given["request"]), origins=origins, body=body)
    except MalformedRequest as malformed:
        raise Unusable("request", str(malformed)) from None
    if len(pasted.request.fields) > _MOST_FIELDS:
        raise Unusable("request", f"the request has more than {_MOST_FIELDS:,} headers")
    try:
        keys = parse_pasted_keys(_octets(given["keys"]), keyid=_keyid(pasted.request)) if "keys" in given else None
    except ConfigurationError as error:
        raise Unusable("keys", str(error)) from None
    explained = explain_request(
        pasted.request,
        {**{one.name: one for one in profiles.FOR_REQUESTS}, **own}.get(given.get("profile", "")),
        keys or ExaminedKeys({}),
        now=pasted.received_at,
        signers_base=_octets(given["base"]) if "base" in given else None,
        origins=origins,
        clock_offsets=pasted.clock_offsets,
    )
    return pasted, explained


def _keyid(request: Request) -> str:
    """Return the key ID that a request names, under which a key in PEM is known."""
    try:
        members = parse_signature_input(request.fields.combined.get("signature-input") or "")
    except MalformedField:
        members = {}
    named = [member.parameters.get("keyid") for member in members.values()]
    return next((keyid for keyid in named if isinstance(keyid, str)), "pasted")


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
