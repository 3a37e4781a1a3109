"""Screening: read and check the signature fields of a message, before any key is looked up (AdCP steps 0 to 6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from undersigned.errors import SignatureError
from undersigned.limits import MOST_SELECTED
from undersigned.message.content_digest import ContentDigest
from undersigned.message.signature_input import choose_signature_inputs
from undersigned.message.structured_fields import MalformedField, ParserBudget, is_list, parse_byte_sequences
from undersigned.signature.components import QUERY_COMPONENTS
from undersigned.signature.key_source import KeyLookup
from undersigned.signature.own_parameters import fault_of_own
from undersigned.signature.plain_base import rebuilt_base
from undersigned.signature.rules.parameters import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from undersigned.message.component import Coverage
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.request import Request
    from undersigned.message.response import Response
    from undersigned.message.signature_input import SignatureInput
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.profile import Profile
    from undersigned.signature.rules import ParameterRule, Validity
    from undersigned.url import CanonicalURL

SIGNATURE_FIELDS = frozenset({"signature", "signature-input"})
"""The header fields of a signature: a message with any of them is signed (RFC 9421 section 4)."""

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
        until: when no clock within the skew accepts the signature any more, or infinity (step 13).
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
        """Return what a key source is asked (step 7)."""
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
    """Read and check the first signature of a message that `screen_all` returns (steps 0 to 6).

    Raises:
        SignatureError: as `screen_all`, or the signature is not what the profile asks for.
    """
    first = screen_all(request, profile, now=now)[0]
    if isinstance(first, SignatureError):
        raise first
    return first


def screen_all(
    request: Request | Response, profile: Profile, *, now: float
) -> Sequence[ParsedSignature | SignatureError]:
    """Read and check the signatures of a message that the profile is about (steps 0 to 6).

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
        if SIGNATURE_FIELDS.isdisjoint(request.fields.combined):
            raise profile.error("signature_required", step=0, detail="the request is not signed")
        selected = _signatures(request.fields, profile, budget)
        if len(selected) == 1:
            [(label, read, signature)] = selected
            return (_parsed(request, profile, label, read, signature, budget, now),)
        if not selected:
            raise profile.error("signature_required", step=0, detail="no signature of the message is of this profile")
        return _parsed_each(request, profile, selected, budget, now)
    except MalformedField as malformed:
        raise _malformed(malformed, profile, request) from None
    except SignatureError as error:
        raise profile.answered(error, request) from None


def _malformed(malformed: MalformedField, profile: Profile, message: Request | Response) -> SignatureError:
    return profile.error("signature_header_malformed", step=1, detail=str(malformed), message=message)


def _parsed_each(
    request: Request | Response,
    profile: Profile,
    selected: Iterable[tuple[str, SignatureInput, bytes]],
    budget: ParserBudget,
    now: float,
) -> list[ParsedSignature | SignatureError]:
    """Check several signatures of the message, unless one fails and all must be valid."""
    parsed: list[ParsedSignature | SignatureError] = []
    for label, read, signature in selected:
        try:
            parsed.append(_parsed(request, profile, label, read, signature, budget, now))
        except MalformedField as malformed:
            if profile.selection.pick == "all":
                raise
            parsed.append(_malformed(malformed, profile, request))
        except SignatureError as error:
            if profile.selection.pick == "all":
                raise
            parsed.append(profile.answered(error, request))
    return parsed


def _signatures(
    fields: HeaderFields, profile: Profile, budget: ParserBudget
) -> Sequence[tuple[str, SignatureInput, bytes]]:
    """Return the signatures to verify, each by its label, with its member of Signature-Input (step 1)."""
    if not fields.are_valid:
        raise MalformedField("a field name is not a token, or a field value has CR, LF or NUL")
    given, signature = fields.combined.get("signature-input"), fields.combined.get("signature")
    if given is None or signature is None:
        raise MalformedField("Signature and Signature-Input must come together")
    selection = profile.selection
    only_one = selection.pick == "preferred"
    members = choose_signature_inputs(given, selection.labels, budget=budget, only_one=only_one)
    signatures = parse_byte_sequences(signature, profile.encoding, budget=budget)
    if len(members) == 1:
        [(label, read)] = members
        if label in signatures:
            return ((label, read, signatures[label]),)
    if not all(label in signatures for label, _ in members):
        raise MalformedField("the label to verify is in Signature-Input and not in Signature")
    if len(members) > MOST_SELECTED:
        raise MalformedField(f"more than {MOST_SELECTED} signatures are of this profile")
    return [(label, read, signatures[label]) for label, read in members]


def _parsed(
    request: Request | Response,
    profile: Profile,
    label: str,
    read: SignatureInput,
    signature: bytes,
    budget: ParserBudget,
    now: float,
) -> ParsedSignature:  # fmt: skip
    """Check one signature of the message (steps 1 to 6). Raises SignatureError or MalformedField."""
    coverage, parameters, text, _ = read
    given = _given(read, profile.parameters)
    digest = _covered_digest(request.fields, coverage, profile, budget)
    created, expires, nonce, keyid, algorithm, tag = given
    if profile.parameters.asks_more or None in given:
        _check_presence(parameters, profile)
        _check_own(parameters, profile, request)
    if tag not in profile.selection.tags and not profile.selection.accepts(tag):
        raise profile.error("signature_tag_invalid", step=3, detail="tag is not the profile's")
    if algorithm is not None and algorithm not in profile.algorithms:
        raise profile.error("signature_alg_not_allowed", step=4, detail="alg is not one of the profile's algorithms")
    fault = window_fault(profile.validity, created, expires, now=now)
    if fault:
        raise profile.error("signature_window_invalid", step=5, detail=fault)
    _check_coverage(coverage, request, profile, label)
    # By position, since sixteen arguments by name take half a microsecond more.
    return ParsedSignature(
        request, profile, now, label, coverage, parameters, text, signature, digest, keyid or "", algorithm or "",
        nonce or "", created, expires, valid_until(created, expires, profile.validity), budget.spent, rebuilt_base,
    )  # fmt: skip


def _given(read: SignatureInput, rule: ParameterRule) -> _Parameters:
    """Return the registered parameters, and check the types of all and the shape of the nonce (step 1)."""
    # If there are exactly the registered ones, their types are known.
    given: _Parameters | None = read.registered
    if given is None:
        fault = rule.fault_of_types(read.parameters)
        if fault:
            raise MalformedField(fault)
        given = cast("_Parameters", tuple([read.parameters.get(name) for name in PARAMETERS]))
    nonce = given[2]
    if nonce is not None and rule.nonce_pattern is not None and rule.nonce_pattern.fullmatch(nonce) is None:
        raise MalformedField(f"the nonce is not unpadded Base64url of at least {rule.nonce_bytes} bytes")
    if rule.ignored:
        values = [None if name in rule.ignored else value for name, value in zip(PARAMETERS, given, strict=True)]
        return cast("_Parameters", tuple(values))
    return given


def _check_presence(parameters: Mapping[str, Parameter], profile: Profile) -> None:
    """Check that every required parameter is there, and no forbidden one (step 2)."""
    rule = profile.parameters
    if not parameters.keys() >= rule.required:
        missing = rule.missing(parameters)
        raise profile.error("signature_params_incomplete", step=2, detail=f"no {', '.join(missing)} parameter")
    if rule.forbidden and not rule.forbidden.isdisjoint(parameters):
        unexpected = sorted(rule.forbidden.intersection(parameters))
        detail = f"the profile forbids the {', '.join(unexpected)} parameter"
        raise profile.error("signature_params_unexpected", step=2, detail=detail)


def _check_own(parameters: Mapping[str, Parameter], profile: Profile, message: Request | Response) -> None:
    """Check that the profile's own parameters are about this message (step 2)."""
    fault = fault_of_own(profile, parameters, message)
    if fault is not None:
        reason, detail = fault
        raise profile.error(reason, step=2, detail=detail)


def window_fault(validity: Validity, created: int | None, expires: int | None, *, now: float) -> str:
    """Return why a signature with these parameters is not valid at `now`, or "" (step 5)."""
    if created is not None:
        if expires is not None and expires <= created:
            return "expires is not after created"
        if expires is not None and validity.longest is not None and expires - created > validity.longest:
            return f"the signature is valid for longer than {validity.longest} seconds"
        if created > now + validity.ahead:
            return "created lies in the future"
    end = expires if validity.longest_age is None and expires is not None else validity.end(created, expires)
    return "the signature has expired" if end is not None and end < now - validity.behind else ""


def valid_until(created: int | None, expires: int | None, validity: Validity) -> float:
    """Return when no clock within the skew accepts the signature any more, or infinity."""
    if expires is not None and validity.longest_age is None:
        return float(expires + validity.behind)
    end = validity.end(created, expires)
    return math.inf if end is None else float(end + validity.behind)


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
    digest = ContentDigest.parse(value, *profile.digest.encodings, budget=budget)
    return digest if profile.digest.takes_all else digest.of(profile.digest.algorithms)


def _check_coverage(coverage: Coverage, request: Request | Response, profile: Profile, label: str) -> None:
    """Check that required components are covered without parameters, and forbidden ones not at all (step 6)."""
    rule = profile.coverage
    if rule.is_conditional:
        if rule.sent and (absent := rule.absent(request)):
            raise profile.error("signature_identity_missing", step=6, detail=f"no {', '.join(absent)} field")
        missing = rule.faults(coverage, request, label)
        if profile.digest.policy == "required" and request.has_body and "content-digest" not in coverage.bare:
            missing.append("content-digest must be covered")
        if missing:
            raise profile.error("signature_components_incomplete", step=6, detail="; ".join(missing))
        if rule.never and (unexpected := rule.unexpected(coverage)):
            detail = f"{', '.join(unexpected)} must not be covered"
            raise profile.error("signature_components_unexpected", step=6, detail=detail)
    else:
        required = profile.required_components[request.has_body]
        if not coverage.bare.issuperset(required):
            lacking = ", ".join([name for name in required if name not in coverage.bare])
            raise profile.error("signature_components_incomplete", step=6, detail=f"{lacking} must be covered")
    if profile.digest.policy == "forbidden" and "content-digest" in coverage.names:
        raise profile.error("signature_components_unexpected", step=6, detail="content-digest must not be covered")
