"""Screening: what a message's signature fields say, judged before any key is looked for (AdCP steps 0 to 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.message.content_digest import ContentDigest
from undersigned.message.plain_fields import plain_byte_sequence, plain_signature_input
from undersigned.message.structured_fields import MalformedField, is_list, parse_byte_sequences, parse_signature_input
from undersigned.signature.profile import PARAMETERS
from undersigned.verification.candidate import ParsedSignature
from undersigned.verification.plain_screening import LONGEST_PLAIN, plain_candidate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request
    from undersigned.message.structured_fields import Parameter, SignatureInput
    from undersigned.signature.profile import Profile

_INTEGERS = frozenset({"created", "expires"})
_REQUIRED = frozenset(PARAMETERS)

LONGEST_FIELD = 2048
"""The longest Signature-Input, Signature and Content-Digest that are read; an AdCP signature takes some 400 characters.

Reading a structured field costs up to a microsecond a character, more at a delimiter, and a stranger has it read.
"""
MOST_DELIMITERS = 64
"""The most commas, semicolons, colons, spaces, backslashes and percent signs in one: five signatures' worth."""
_DELIMITERS = ",;: \\%"


def is_signed(fields: HeaderFields) -> bool:
    """Return whether a message with these fields has Signature or Signature-Input."""
    return fields.has("signature") or fields.has("signature-input")


def screen(request: Request, profile: Profile, *, now: float) -> ParsedSignature:
    """Read and judge the signature fields of a message (steps 0 to 6).

    Raises:
        SignatureError: the first step that does not hold.
    """
    return plain_candidate(request, profile, now=now) or screen_any(request, profile, now=now)


def screen_any(request: Request, profile: Profile, *, now: float) -> ParsedSignature:
    """Do what `screen` does without the look for a plain message first, which tests hold it equal to."""
    if not is_signed(request.fields):
        raise profile.error("signature_required", step=0, detail="the request is not signed")
    try:
        label, read, signature = _read(request, profile)
        _check_types(read.parameters, profile)
        digest = _covered_fields(request, profile, read.coverage.names)
    except MalformedField as malformed:
        raise profile.error("signature_header_malformed", step=1, detail=str(malformed)) from None
    given = read.parameters
    if not _REQUIRED.issubset(given):
        missing = [name for name in PARAMETERS if name not in given]
        raise profile.error("signature_params_incomplete", step=2, detail=f"no {', '.join(missing)} parameter")
    if given["tag"] != profile.tag:
        raise profile.error("signature_tag_invalid", step=3, detail="tag is not the profile's")
    if given["alg"] not in profile.algorithms:
        raise profile.error("signature_alg_not_allowed", step=4, detail="alg is not one of the profile's algorithms")
    created, expires = _window(given, profile, now=now)
    _check_components(request, profile, read)
    return ParsedSignature(
        request=request,
        profile=profile,
        now=now,
        label=label,
        coverage=read.coverage,
        text=read.text,
        signature=signature,
        digest=digest,
        keyid=str(given["keyid"]),
        algorithm=str(given["alg"]),
        nonce=str(given["nonce"]),
        created=created,
        expires=expires,
        until=float(expires + profile.clock_skew),
    )


def _read(request: Request, profile: Profile) -> tuple[str, SignatureInput, bytes]:
    """Return the label that is processed, its Signature-Input member and its signature bytes (step 1)."""
    if not request.fields.are_valid:
        raise MalformedField("a field name is not a token, or a field value holds CR, LF or NUL")
    input_value, value = request.fields.combined("signature-input"), request.fields.combined("signature")
    if input_value is None or value is None:
        raise MalformedField("Signature and Signature-Input must come together")
    _check_size(value)
    inputs, sequence = _inputs(input_value), plain_byte_sequence(value, profile.encoding)
    signatures = parse_byte_sequences(value, profile.encoding) if sequence is None else dict([sequence])
    label = processed_label(inputs, profile)
    if label not in signatures:
        raise MalformedField("the label that is processed stands in Signature-Input and not in Signature")
    return label, inputs[label], signatures[label]


def _inputs(value: str) -> dict[str, SignatureInput]:
    """Read a Signature-Input, a short plain one whatever it holds, as it takes no parser (step 1)."""
    if len(value) > LONGEST_PLAIN:
        _check_size(value)
    plain = plain_signature_input(value)
    if plain is not None:
        return dict([plain])
    _check_size(value)
    return parse_signature_input(value)


def _check_size(value: str) -> None:
    """Refuse a field value that would take longer to read than a signature takes to verify (step 1)."""
    if len(value) > LONGEST_FIELD or sum(map(value.count, _DELIMITERS)) > MOST_DELIMITERS:
        raise MalformedField(
            f"a signature field or digest has more than {LONGEST_FIELD} characters or {MOST_DELIMITERS} delimiters"
        )


def processed_label(inputs: Mapping[str, SignatureInput], profile: Profile) -> str:
    """Return the one of the labels that is processed: the profile's, else the first with its tag, else the first."""
    if profile.label in inputs:
        return profile.label
    tagged = [label for label, read in inputs.items() if read.parameters.get("tag") == profile.tag]
    return tagged[0] if tagged else next(iter(inputs))


def _check_types(parameters: Mapping[str, Parameter], profile: Profile) -> None:
    """Refuse a parameter of the wrong structured field type, and a nonce of the wrong shape (step 1)."""
    for name in PARAMETERS:
        expected = int if name in _INTEGERS else str
        if name in parameters and type(parameters[name]) is not expected:
            raise MalformedField(f"the {name} parameter is not {'an integer' if expected is int else 'a string'}")
    nonce = parameters.get("nonce")
    if isinstance(nonce, str) and not profile.accepts_nonce(nonce):
        raise MalformedField(f"the nonce is not unpadded Base64url of at least {profile.nonce_bytes} bytes")


def _covered_fields(request: Request, profile: Profile, names: frozenset[str]) -> ContentDigest | None:
    """Hold a covered Content-Type to one value and a covered Content-Digest to the profile's spelling (step 1)."""
    if "content-type" in names:
        types = request.fields.values("content-type")
        if len(types) > 1 or (types and is_list(types[0], longest=LONGEST_FIELD)):
            raise MalformedField("the covered Content-Type has several values")
    if "content-digest" not in names:
        return None
    value = request.fields.combined("content-digest") or ""
    _check_size(value)
    return ContentDigest.parse(value, *profile.digest_encodings)


def _window(given: Mapping[str, Parameter], profile: Profile, *, now: float) -> tuple[int, int]:
    """Return `created` and `expires`, judged by the verifier's clock (step 5)."""
    created, expires = given["created"], given["expires"]
    assert isinstance(created, int)  # noqa: S101 - step 1 has judged the types; this tells the type checker
    assert isinstance(expires, int)  # noqa: S101 - the same
    fault = ""
    if expires <= created:
        fault = "expires is not after created"
    elif expires - created > profile.longest_validity:
        fault = f"the signature is valid for longer than {profile.longest_validity} seconds"
    elif created > now + profile.clock_skew:
        fault = "created lies in the future"
    elif expires < now - profile.clock_skew:
        fault = "the signature has expired"
    if fault:
        raise profile.error("signature_window_invalid", step=5, detail=fault)
    return created, expires


def _check_components(request: Request, profile: Profile, read: SignatureInput) -> None:
    """Hold the covered components to what the profile requires, without parameters, and forbids, with any (step 6)."""
    coverage, required = read.coverage, profile.required_components(has_body=request.has_body)
    if not coverage.bare.issuperset(required):
        missing = [name for name in required if name not in coverage.bare]
        raise profile.error("signature_components_incomplete", step=6, detail=f"{', '.join(missing)} must be covered")
    if profile.digest == "forbidden" and "content-digest" in coverage.names:
        raise profile.error("signature_components_unexpected", step=6, detail="content-digest must not be covered")
