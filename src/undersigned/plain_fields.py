"""The plain spelling of the signature fields, which nearly every signer writes, read by pattern.

Plain means: one label, strings without escapes, integers without leading zeros, no optional white space. Such a value
is its own serialization, so a slice of it stands in the base as it is. Whatever is not plain is None here and is read
by `undersigned.fields`; what is plain reads the same there.
"""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from types import MappingProxyType
from typing import TYPE_CHECKING

from .fields import Component, SignatureInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .fields import Encoding, Parameter

_LABEL = r"(?P<label>[a-z*][a-z0-9_.*-]*+)"
_NAME = r'"[!#-@\[\]-~]++"'
_TEXT = r"[ !#-\[\]-~]*+"
_PARAMETER = rf';(?:[a-z*][a-z0-9_.*-]*+)=(?:0|[1-9][0-9]{{0,14}}+|"{_TEXT}")'
_SIGNATURE_INPUT = re.compile(
    rf"{_LABEL}=(?P<text>\((?P<components>{_NAME}(?: {_NAME})*+)\)(?P<parameters>(?:{_PARAMETER})++))"
)
_PARAMETERS = re.compile(rf';([a-z*][a-z0-9_.*-]*)=(?:([0-9]+)|"({_TEXT})")')
_PADDED = r"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
_UNPADDED_URL = r"(?:[A-Za-z0-9_-]{4})*+(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?"
_BYTES: Mapping[Encoding, re.Pattern[str]] = MappingProxyType(
    {
        "base64": re.compile(rf"{_LABEL}=:(?P<bytes>{_PADDED}):"),
        "base64url": re.compile(rf"{_LABEL}=:(?P<bytes>{_UNPADDED_URL}):"),
    }
)
_KNOWN: Mapping[str, Component] = MappingProxyType(
    {
        f'"{name}"': Component(name, f'"{name}"', bare=True)
        for name in ("@method", "@target-uri", "@authority", "content-type", "content-digest")
    }
)


def plain_signature_input(value: str) -> dict[str, SignatureInput] | None:
    """Return what `parse_signature_input` returns for a plain value, and None for any other."""
    match = _SIGNATURE_INPUT.fullmatch(value)
    if match is None:
        return None
    label, text, names, tail = match.group("label", "text", "components", "parameters")
    items = names.split(" ")
    found = _PARAMETERS.findall(tail)
    parameters: dict[str, Parameter] = {name: int(number) if number else string for name, number, string in found}
    if len(parameters) != len(found) or len(set(items)) != len(items) or '"@signature-params"' in items:
        return None
    components = tuple([_KNOWN.get(item) or Component(item[1:-1], item, bare=True) for item in items])
    return {label: SignatureInput(components, parameters, text)}


def plain_byte_sequences(value: str, *encodings: Encoding) -> dict[str, bytes] | None:
    """Return what `parse_byte_sequences` returns for a plain value of one member, and None for any other."""
    for encoding in encodings:
        match = _BYTES[encoding].fullmatch(value)
        if match is not None:
            text = match["bytes"]
            decoded = b64decode(text) if encoding == "base64" else urlsafe_b64decode(text + "=" * (-len(text) % 4))
            return {match["label"]: decoded}
    return None
