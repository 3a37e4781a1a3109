"""Screening: read and check the signature fields of a message, before any key is looked up (AdCP steps 0 to 6)."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from undersigned.message.content_digest import ContentDigest
from undersigned.message.signature_input import choose_signature_input
from undersigned.message.structured_fields import MalformedField, ParserBudget, is_list, parse_byte_sequences
from undersigned.signature.components import QUERY_COMPONENTS
from undersigned.signature.key_source import KeyLookup
from undersigned.signature.profile import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request
    from undersigned.message.signature_input import Coverage, SignatureInput
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.profile import Profile

SIGNATURE_FIELDS = frozenset({"signature", "signature-input"})
"""The header fields of a signature: a message with any of them is signed (RFC 9421 section 4)."""

_REQUIRED = frozenset(PARAMETERS)
_TYPES = [int if name in {"created", "expires"} else str for name in PARAMETERS]
_IN_ORDER = itemgetter(*PARAMETERS)
_Parameters: TypeAlias = tuple[int, int, str, str, str, str]
"""The signature parameters that a profile requires, in the order of `PARAMETERS` (RFC 9421 section 2.3)."""


class ParsedSignature(NamedTuple):
    """A signature that passed steps 0 to 6: it has the profile's shape, and its key is not yet looked up.

    Attributes:
        request: the message.
        profile: the profile it is verified by.
        now: the verifier's clock when verifying began, seconds since the epoch.
        label: the label of the signature.
        coverage: its covered components.
        parameters: its parameters by name.
        text: the value of `@signature-params`, as it appears in the base.
        signature: its bytes.
        digest: the Content-Digest it covers, or None.
        keyid: the key id it names.
        algorithm: the RFC 9421 algorithm name it names.
        nonce: its nonce.
        created: seconds since the epoch.
        expires: seconds since the epoch.
        until: when the nonce may be forgotten: no clock within the skew accepts the signature any more (step 13).
    """

    request: Request
    profile: Profile
    now: float
    label: str
    coverage: Coverage
    parameters: Mapping[str, Parameter]
    text: str
    signature: bytes
    digest: ContentDigest | None
    keyid: str
    algorithm: str
    nonce: str
    created: int
    expires: int
    until: float

    def lookup(self, *, again: bool = False) -> KeyLookup:
        """Return what a key source is asked (step 7)."""
        request = self.request
        return KeyLookup(
            self.keyid, self.parameters, self.coverage.names, request.method, request.url, request.fields, again
        )

    @property
    def covers_unseen_query(self) -> bool:
        """Whether a lone `?` that the server could not show would change what is signed."""
        return self.request.query_unknown and not QUERY_COMPONENTS.isdisjoint(self.coverage.names)


def screen(request: Request, profile: Profile, *, now: float) -> ParsedSignature:
    """Read and check the signature fields of a message (steps 0 to 6).

    Args:
        request: the message.
        profile: the profile to verify it by.
        now: seconds since the epoch.

    Raises:
        SignatureError: the message is not signed, or its signature is malformed or not what the profile asks for. The
            error is of the first step that fails.
    """
    fields = request.fields
    if SIGNATURE_FIELDS.isdisjoint(fields.combined):
        raise profile.error("signature_required", step=0, detail="the request is not signed")
    budget = ParserBudget()
    try:
        label, read, signature = _signature(fields, profile, budget)
        given = _typed(read.parameters, profile)
        digest = _covered_digest(fields, read.coverage, profile, budget)
    except MalformedField as malformed:
        raise profile.error("signature_header_malformed", step=1, detail=str(malformed)) from None
    if given is None:
        missing = [name for name in PARAMETERS if name not in read.parameters]
        raise profile.error("signature_params_incomplete", step=2, detail=f"no {', '.join(missing)} parameter")
    created, expires, nonce, keyid, algorithm, tag = given
    if tag != profile.tag:
        raise profile.error("signature_tag_invalid", step=3, detail="tag is not the profile's")
    if algorithm not in profile.algorithms:
        raise profile.error("signature_alg_not_allowed", step=4, detail="alg is not one of the profile's algorithms")
    _check_window(created, expires, profile, now=now)
    _check_coverage(read.coverage, request, profile)
    coverage, parameters, text = read
    until = float(expires + profile.clock_skew)
    # By position, since fifteen arguments by name take half a microsecond more.
    return ParsedSignature(
        request, profile, now, label, coverage, parameters, text, signature, digest, keyid, algorithm, nonce, created,
        expires, until,
    )  # fmt: skip


def processed_label(members: Mapping[str, Mapping[str, Parameter]], profile: Profile) -> str:
    """Return the label to verify: the profile's, else the first with the profile's tag, else the first.

    Args:
        members: the parameters of each signature by its label.
        profile: the profile.
    """
    if profile.label in members:
        return profile.label
    tagged = [label for label, parameters in members.items() if parameters.get("tag") == profile.tag]
    return tagged[0] if tagged else next(iter(members))


def _signature(fields: HeaderFields, profile: Profile, budget: ParserBudget) -> tuple[str, SignatureInput, bytes]:
    """Return the label to verify, its member of Signature-Input and its signature (step 1)."""
    if not fields.are_valid:
        raise MalformedField("a field name is not a token, or a field value has CR, LF or NUL")
    given, signature = fields.combined.get("signature-input"), fields.combined.get("signature")
    if given is None or signature is None:
        raise MalformedField("Signature and Signature-Input must come together")
    label, read = choose_signature_input(given, lambda members: processed_label(members, profile), budget=budget)
    signatures = parse_byte_sequences(signature, profile.encoding, budget=budget)
    if label not in signatures:
        raise MalformedField("the label to verify is in Signature-Input and not in Signature")
    return label, read, signatures[label]


def _typed(parameters: Mapping[str, Parameter], profile: Profile) -> _Parameters | None:
    """Check the types of the signature parameters and the shape of the nonce (step 1).

    Returns:
        The parameters that the profile requires, or None if one of them is not given.
    """
    typed: _Parameters | None = None
    if parameters.keys() >= _REQUIRED:
        typed = cast("_Parameters", _IN_ORDER(parameters))
        created, expires, nonce, keyid, algorithm, tag = typed
        # Comparing one by one takes a fifth of the time that a loop over names and types takes.
        if not (
            type(created) is int and type(expires) is int
            and type(nonce) is str and type(keyid) is str and type(algorithm) is str and type(tag) is str
        ):  # fmt: skip
            _check_types(parameters)
    else:
        _check_types(parameters)
    given = parameters.get("nonce")
    if given is not None and profile.nonce_pattern.fullmatch(cast("str", given)) is None:
        raise MalformedField(f"the nonce is not unpadded Base64url of at least {profile.nonce_bytes} bytes")
    return typed


def _check_types(parameters: Mapping[str, Parameter]) -> None:
    for name, expected in zip(PARAMETERS, _TYPES, strict=True):
        if name in parameters and type(parameters[name]) is not expected:
            raise MalformedField(f"the {name} parameter is not {'an integer' if expected is int else 'a string'}")


def _covered_digest(
    fields: HeaderFields, coverage: Coverage, profile: Profile, budget: ParserBudget
) -> ContentDigest | None:
    """Return the covered Content-Digest, and check that a covered Content-Type has one value (step 1)."""
    if "content-type" in coverage.names:
        value = fields.combined.get("content-type", "")
        # Nearly every value has neither of these characters, so it is not a list.
        if "content-type" in fields.repeated or (("," in value or '"' in value) and is_list(value)):
            raise MalformedField("the covered Content-Type has several values")
    if "content-digest" not in coverage.names:
        return None
    value = fields.combined.get("content-digest", "")
    return ContentDigest.parse(value, *profile.digest_encodings, budget=budget)


def _check_window(created: int, expires: int, profile: Profile, *, now: float) -> None:
    """Check that the signature is valid now, and for no longer than the profile allows (step 5)."""
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


def _check_coverage(coverage: Coverage, request: Request, profile: Profile) -> None:
    """Check that required components are covered without parameters, and forbidden ones not at all (step 6)."""
    required = profile.required_components[request.has_body]
    if not coverage.bare.issuperset(required):
        missing = [name for name in required if name not in coverage.bare]
        raise profile.error("signature_components_incomplete", step=6, detail=f"{', '.join(missing)} must be covered")
    if profile.digest == "forbidden" and "content-digest" in coverage.names:
        raise profile.error("signature_components_unexpected", step=6, detail="content-digest must not be covered")
