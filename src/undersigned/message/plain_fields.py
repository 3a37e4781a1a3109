"""The plain spelling of the signature fields, which nearly every signer writes, read by pattern.

Plain means: one label, strings without escapes, integers without leading zeros, no optional white space. Such a value
is its own serialization, so a slice of it stands in the base as it is. Whatever is not plain is None here and is read
by `undersigned.fields`; what is plain reads the same there.
"""

from __future__ import annotations

import re
from binascii import a2b_base64, b2a_base64
from types import MappingProxyType
from typing import TYPE_CHECKING

from undersigned.message.structured_fields import KEY, Component, Coverage, SignatureInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.structured_fields import Encoding, Parameter

_LABEL = r"(?P<label>[a-z*][a-z0-9_.*-]*+)"
_NAME = r'"[!#-@\[\]-~]++"'
_NAMES = rf"\((?P<components>{_NAME}(?>(?: {_NAME})*))\)"
_TEXT = r"[ !#-\[\]-~]*+"
_WHOLE = r"(?:0|[1-9][0-9]{0,14}+)"
IN_ORDER = re.compile(
    rf"{_LABEL}=(?P<text>{_NAMES};created=(?P<created>{_WHOLE});expires=(?P<expires>{_WHOLE})"
    rf';nonce="(?P<nonce>{_TEXT})";keyid="(?P<keyid>{_TEXT})";alg="(?P<alg>{_TEXT})";tag="(?P<tag>{_TEXT})")'
)
"""A whole value whose parameters stand in the order a signer writes them (`undersigned.profile.PARAMETERS`)."""
_PARAMETER = rf';(?:[a-z*][a-z0-9_.*-]*+)=(?:{_WHOLE}|"{_TEXT}")'
_ANY_ORDER = re.compile(rf"{_LABEL}=(?P<text>{_NAMES}(?P<parameters>(?>(?:{_PARAMETER})+)))")
_PARAMETERS = re.compile(rf';([a-z*][a-z0-9_.*-]*)=(?:([0-9]+)|"({_TEXT})")')
_USUAL_KEYS = frozenset({"sig1", "sha-256"})
_FROM_URL = str.maketrans("-_", "+/")
_BODILESS = ("@method", "@target-uri", "@authority")
_KNOWN: Mapping[str, Component] = MappingProxyType(
    {f'"{name}"': Component(name, f'"{name}"', bare=True) for name in (*_BODILESS, "content-type", "content-digest")}
)
_USUAL: Mapping[str, Coverage] = MappingProxyType(
    {
        " ".join(f'"{name}"' for name in names): Coverage.of(_KNOWN[f'"{name}"'] for name in names)
        for names in (_BODILESS, (*_BODILESS, "content-type"), (*_BODILESS, "content-type", "content-digest"))
    }
)
"""What nearly every signature covers, by how it is spelled: read once."""


def plain_signature_input(value: str) -> tuple[str, SignatureInput] | None:
    """Return the one member `parse_signature_input` finds in a plain value, and None for any other value."""
    match = IN_ORDER.fullmatch(value)
    if match is None:
        return _plain_in_any_order(value)
    label, text, names, created, expires, nonce, keyid, alg, tag = match.groups()
    coverage = plain_coverage(names)
    if coverage is None:
        return None
    parameters: dict[str, Parameter] = {
        "created": int(created),
        "expires": int(expires),
        "nonce": nonce,
        "keyid": keyid,
        "alg": alg,
        "tag": tag,
    }
    return label, SignatureInput(coverage, parameters, text)


def plain_byte_sequence(value: str, *encodings: Encoding) -> tuple[str, bytes] | None:
    """Return the one member `parse_byte_sequences` finds in a plain value, and None for any other value."""
    label, _, text = value.partition("=:")
    if text[-1:] != ":" or (label not in _USUAL_KEYS and KEY.fullmatch(label) is None):
        return None
    for encoding in encodings:
        spelled = text[:-1]
        if encoding == "base64url":
            if "+" in text or "/" in text or "=" in text:
                continue
            spelled = spelled.translate(_FROM_URL) + "=" * (-len(spelled) % 4)
        try:
            decoded = a2b_base64(spelled, strict_mode=True)
        except ValueError:
            continue
        # A second spelling of the same bytes, by bits behind the last, is not theirs.
        if b2a_base64(decoded, newline=False).decode("ascii") == spelled:
            return label, decoded
    return None


def _plain_in_any_order(value: str) -> tuple[str, SignatureInput] | None:
    match = _ANY_ORDER.fullmatch(value)
    if match is None:
        return None
    label, text, names, tail = match.groups()
    coverage, found = plain_coverage(names), _PARAMETERS.findall(tail)
    parameters: dict[str, Parameter] = {name: int(number) if number else string for name, number, string in found}
    if coverage is None or len(parameters) != len(found):
        return None
    return label, SignatureInput(coverage, parameters, text)


def plain_coverage(names: str) -> Coverage | None:
    """Return what a plain inner list covers, given without its brackets; None for one that is to be refused."""
    usual = _USUAL.get(names)
    if usual is not None:
        return usual
    items = names.split(" ")
    if len(set(items)) != len(items) or '"@signature-params"' in items:
        return None
    return Coverage.of([_KNOWN.get(item) or Component(item[1:-1], item, bare=True) for item in items])
