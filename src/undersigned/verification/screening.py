"""Screening: read and check the signature fields of a message, before any key is looked up (AdCP steps 0 to 6)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from undersigned.errors import SignatureError
from undersigned.limits import MOST_SELECTED
from undersigned.message.component import whole_field
from undersigned.message.content_digest import ContentDigest
from undersigned.message.signature_input import choose_signature_inputs
from undersigned.message.structured_fields import MalformedField, ParserBudget, is_list, parse_byte_sequences
from undersigned.signature.components import QUERY_COMPONENTS
from undersigned.signature.key_source import KeyLookup
from undersigned.signature.plain_base import rebuilt_base
from undersigned.signature.rules.parameters import PARAMETERS
from undersigned.verification.requirements import check_coverage, check_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from undersigned.message.component import Coverage
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.signature_input import SignatureInput
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.profile import Profile
    from undersigned.signature.rules import ParameterRule
    from undersigned.url import CanonicalURL

SIGNATURE_FIELDS = frozenset({"signature", "signature-input"})
"""The header fields of a signature: a message with any of them is signed (RFC 9421 section 4)."""

_WHOLE_DIGEST = whole_field("content-digest")
_MEMBER_OF_DIGEST = re.compile(r'"content-digest"(?:;sf)?;key="([^"\\]*)"(?:;sf)?')

_Parameters: TypeAlias = tuple[int | None, int | None, str | None, str | None, str | None, str | None]
"""The registered signature parameters in the order of `PARAMETERS`, None for each that is absent or ignored."""


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
        keyid: the key id it names, or "".
        algorithm: the RFC 9421 algorithm name it names, or "".
        nonce: its nonce, or "".
        created: seconds since the epoch, or None.
        expires: seconds since the epoch, or None.
        until: the time after which no clock within the skew accepts the signature, or infinity (step 13).
        parsing: the effort of parsing the signature fields and the digest.
        rebuilt: returns the base of this signature for a target. It raises `UnresolvableComponent`.
    """

    request: Request | Response
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
    created: int | None
    expires: int | None
    until: float
    parsing: int
    rebuilt: Callable[[ParsedSignature, CanonicalURL], str]

    def lookup(self, *, again: bool = False) -> KeyLookup:
        """Return the question to a key source (step 7).

        Args:
            again: whether it is asked a second time, because its first keys do not verify the signature.
        """
        request = self.request
        return KeyLookup(
            self.keyid, self.parameters, self.coverage.names, request.method, request.url, request.fields, again,
            self.label, self.coverage.texts,
        )  # fmt: skip

    @property
    def covers_unseen_query(self) -> bool:
        """Whether a lone `?` that the server could not show would change what is signed."""
        return self.request.query_unknown and not QUERY_COMPONENTS.isdisjoint(self.coverage.names)


def screen(request: Request | Response, profile: Profile, *, now: float) -> ParsedSignature:
    """Return the first signature that `screen_all` finds in a message (steps 0 to 6).

    Raises:
        SignatureError: as `screen_all`, or the first signature is not what the profile asks for.
    """
    first = screen_all(request, profile, now=now)[0]
    if isinstance(first, SignatureError):
        raise first
    return first


def screen_all(
    request: Request | Response, profile: Profile, *, now: float
) -> Sequence[ParsedSignature | SignatureError]:
    """Read and check the signatures of a message that the profile selects (steps 0 to 6).

    Args:
        request: the message.
        profile: the profile to verify it by.
        now: seconds since the epoch.

    Returns:
        The signatures to verify, in their order. If the profile takes `any` of several, one that is not what the
        profile asks for is returned as its error.

    Raises:
        SignatureError: the message is not signed, or a signature that must be valid is malformed or not what the
            profile asks for. The error is of the first step that fails.
    """
    budget = ParserBudget()
    try:
        members, signatures = _signatures(request.fields, profile, budget)
        if len(members) > 1:
            return _parse_each(request, profile, members, signatures, budget, now)
        return (_parse(request, profile, members[0], signatures, budget, now),)
    except MalformedField as malformed:
        raise _malformed_error(malformed, profile, request) from None
    except SignatureError as error:
        raise profile.add_answer(error, request) from None


def _malformed_error(malformed: MalformedField, profile: Profile, message: Request | Response) -> SignatureError:
    return profile.error("signature_header_malformed", step=1, detail=str(malformed), message=message)


def _parse_each(
    request: Request | Response,
    profile: Profile,
    members: Sequence[tuple[str, SignatureInput]],
    signatures: Mapping[str, bytes],
    budget: ParserBudget,
    now: float,
) -> list[ParsedSignature | SignatureError]:
    """Check several signatures of the message. Raise the error of one only if all must be valid; else return it."""
    parsed: list[ParsedSignature | SignatureError] = []
    for member in members:
        try:
            parsed.append(_parse(request, profile, member, signatures, budget, now))
        except MalformedField as malformed:
            if profile.selection.pick == "all":
                raise
            parsed.append(_malformed_error(malformed, profile, request))
        except SignatureError as error:
            if profile.selection.pick == "all":
                raise
            parsed.append(profile.add_answer(error, request))
    return parsed


def _signatures(
    fields: HeaderFields, profile: Profile, budget: ParserBudget
) -> tuple[Sequence[tuple[str, SignatureInput]], Mapping[str, bytes]]:
    """Return the members of Signature-Input to verify, at least one, and the signatures by label (steps 0 and 1)."""
    given, signature = fields.combined.get("signature-input"), fields.combined.get("signature")
    if given is None and signature is None:
        raise profile.error("signature_required", step=0, detail="the request is not signed")
    if not fields.are_valid:
        raise MalformedField("a field name is not a token, the names are too long, or a field value has CR, LF or NUL")
    if given is None or signature is None:
        raise MalformedField("Signature and Signature-Input must come together")
    selection = profile.selection
    only_one = selection.pick == "preferred"
    members = choose_signature_inputs(given, selection.labels, budget=budget, only_one=only_one)
    signatures = parse_byte_sequences(signature, profile.encoding, budget=budget)
    for label, _ in members:
        if label not in signatures:
            raise MalformedField("the label to verify is in Signature-Input and not in Signature")
    if len(members) > MOST_SELECTED:
        raise MalformedField(f"more than {MOST_SELECTED} signatures are of this profile")
    if not members:
        raise profile.error("signature_required", step=0, detail="no signature of the message is of this profile")
    return members, signatures


def _parse(
    request: Request | Response,
    profile: Profile,
    member: tuple[str, SignatureInput],
    signatures: Mapping[str, bytes],
    budget: ParserBudget,
    now: float,
) -> ParsedSignature:
    """Parse and check one signature of the message (steps 1 to 6). Raises SignatureError or MalformedField."""
    label, (coverage, parameters, text, registered) = member
    rule, selection = profile.parameters, profile.selection
    # `registered` is set only if every value has the type of its parameter.
    given: _Parameters = registered or _registered_parameters(parameters, rule)
    nonce = given[2]
    if nonce is not None and rule.nonce_pattern is not None and rule.nonce_pattern.fullmatch(nonce) is None:
        raise MalformedField(f"the nonce is not unpadded Base64url of at least {rule.nonce_bytes} bytes")
    digest = _covered_digest(request.fields, coverage, profile, budget)
    if rule.ignored:
        values = [None if name in rule.ignored else value for name, value in zip(PARAMETERS, given, strict=True)]
        given = cast("_Parameters", tuple(values))
    created, expires, nonce, keyid, algorithm, tag = given
    if rule.asks_more or None in given:
        check_parameters(parameters, profile, request)
    if tag not in selection.tags and not selection.accepts(tag):
        raise profile.error("signature_tag_invalid", step=3, detail="tag is not the profile's")
    if algorithm is not None and algorithm not in profile.algorithms:
        raise profile.error("signature_alg_not_allowed", step=4, detail="alg is not one of the profile's algorithms")
    until, fault = profile.validity.window(created, expires, now=now)
    if fault:
        raise profile.error("signature_window_invalid", step=5, detail=fault)
    if profile.asks_more or not coverage.bare.issuperset(profile.required_components[request.has_body]):
        check_coverage(coverage, request, profile, label)
    # By position, because so many arguments by name take half a microsecond more.
    return ParsedSignature(
        request, profile, now, label, coverage, parameters, text, signatures[label], digest, keyid or "",
        algorithm or "", nonce or "", created, expires, until, budget.spent, rebuilt_base,
    )  # fmt: skip


def _registered_parameters(parameters: Mapping[str, Parameter], rule: ParameterRule) -> _Parameters:
    """Return the registered parameters, and check the types of all (step 1)."""
    fault = rule.fault_of_types(parameters)
    if fault:
        raise MalformedField(fault)
    return cast("_Parameters", tuple([parameters.get(name) for name in PARAMETERS]))


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
    keys: list[str] = []
    if _WHOLE_DIGEST.isdisjoint(coverage.texts):
        keys = [match[1] for match in map(_MEMBER_OF_DIGEST.fullmatch, coverage.texts) if match is not None]
        if not keys:
            # What is covered is the field of the request that a response answers, or a trailer field.
            return None
    value = fields.combined.get("content-digest", "")
    digest = ContentDigest.parse(value, *profile.digest.encodings, budget=budget)
    digest = digest if profile.digest.takes_all else digest.of(profile.digest.algorithms)
    # Anybody can change a member that is not covered. So without one that is, no content matches.
    return digest if not keys or any(key in digest.expected for key in keys) else ContentDigest({})
