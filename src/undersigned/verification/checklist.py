"""The verifier's checklist from top to bottom (RFC 9421 section 3.2, AdCP verifier checklist).

    screen(message) -> ReceivedSignature     steps 0 to 6: what the message says about its signature
    usable_keys(signature, keys)             steps 7 and 8: the keys that may verify it
    unrevoked_keys(signature, keys, lists)   step 9
    prove(signature, keys, full)             steps 9a and 10: a key signed the base that is rebuilt here
    check_content(signature, digest)         step 11
    check_claim(signature, claim)            steps 12 and 13
    complete(signature, claim, content)      step 14 -> VerifiedSignature

Nothing here does IO. `undersigned.verification.verifier` takes the steps in this order, and asks the key source, the
revocation list and the replay store between them.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from undersigned.errors import MalformedURL, SignatureError, cut_name
from undersigned.limits import LONGEST_BASE, LONGEST_FIELD, LONGEST_NAMES, MOST_CANDIDATES, MOST_SELECTED
from undersigned.message.component import whole_field
from undersigned.message.content import is_json
from undersigned.message.content_digest import ContentDigest, RunningDigest
from undersigned.message.request import Request
from undersigned.message.request_target import received_target, typed_target
from undersigned.message.signature_input import choose_signature_inputs
from undersigned.message.strict_json import AmbiguousJSON
from undersigned.message.structured_fields import MalformedField, is_list, parse_byte_sequences
from undersigned.signature.components import (
    QUERY_COMPONENTS,
    OutOfBounds,
    UnresolvableComponent,
    signature_base,
    values_of,
    with_empty_query,
)
from undersigned.signature.key_source import KeyLookup
from undersigned.signature.own_parameters import fault_of_own
from undersigned.signature.rules import PARAMETERS
from undersigned.signature.verification_key import VerificationKey
from undersigned.url import CanonicalURL
from undersigned.verification.verified_signature import VerifiedSignature

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.message.component import Coverage
    from undersigned.message.content import Content
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.response import Response
    from undersigned.message.signature_input import SignatureInput
    from undersigned.message.structured_fields import Parameter
    from undersigned.replay.store import Claim
    from undersigned.signature.profile import Profile
    from undersigned.verification.revocation import RevocationList

SIGNATURE_FIELDS: Final = frozenset({"signature", "signature-input"})
"""The header fields of a signature: a message with any of them is signed (RFC 9421 section 4)."""

_WHOLE_DIGEST: Final = whole_field("content-digest")
_MEMBER_OF_DIGEST: Final = re.compile(r'"content-digest"(?:;sf)?;key="([^"\\]*)"(?:;sf)?')
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_NOT_OVER_THIS_BASE: Final = (
    "the key did not sign this base: compare it with the sender's base line by line. Another scheme or prefix in "
    "@target-uri: correct origins=. Another path, query or @authority: a proxy rewrites the target or Host. Equal "
    "bases: another key, or a changed signature"
)

_Registered: TypeAlias = tuple[int | None, int | None, str | None, str | None, str | None, str | None]
"""The registered signature parameters in the order of `PARAMETERS`, None for each that is absent or ignored."""


@dataclass(slots=True, eq=False, repr=False)
class ReceivedSignature:
    """A signature of a message, with what is known of it so far.

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
        key: the key that verified it. `prove` sets this and the next two.
        target: the canonical target that was signed.
        signature_base: the base that was signed.
        others: the other signatures of the message, if the profile asks for all of them.
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
    key: VerificationKey = field(init=False)
    target: CanonicalURL = field(init=False)
    signature_base: str = field(init=False)
    others: tuple[ReceivedSignature, ...] = field(init=False, default=())

    def __repr__(self) -> str:
        """Return the keyid only, as the message may contain secrets."""
        return f"<{type(self).__name__}: keyid {self.keyid!r}>"

    def lookup(self, *, again: bool = False) -> KeyLookup:
        """Return the question to a key source (step 7).

        Args:
            again: whether it is asked a second time, because its first keys do not verify the signature.
        """
        request, coverage = self.request, self.coverage
        return KeyLookup(
            self.keyid, self.parameters, coverage.names, request.method, request.url, request.fields, again,
            self.label, coverage.texts,
        )  # fmt: skip

    def rebuilt_base(self, target: CanonicalURL) -> str:
        """Return the signature base of the message as it was received (step 10).

        Args:
            target: its target, in the form that the profile signs.

        Raises:
            UnresolvableComponent: the message has no value for a covered component.
        """
        values = values_of(self.request, target, reading=self.profile.coverage.reading)
        return signature_base(values, self.coverage.components, self.text)

    def running_digest(self, begun: bytes = b"") -> RunningDigest | None:
        """Return the digest to feed with the content, or None if nothing covers the content.

        Args:
            begun: content that has been read already. The digest starts with it.
        """
        return None if self.digest is None else RunningDigest(self.digest, begun)

    def algorithm_by(self, key: VerificationKey) -> str:
        """Return the algorithm that the signature names, else the only one of a key that the profile accepts."""
        return self.algorithm or key.only_algorithm(self.profile.algorithms)


# Steps 0 to 6: what the message says.


def screen(
    message: Request | Response, profile: Profile, *, now: float
) -> Sequence[ReceivedSignature | SignatureError]:
    """Read and check the signatures of a message that a profile selects (steps 0 to 6).

    Args:
        message: the message.
        profile: the profile to verify it by.
        now: seconds since the epoch.

    Returns:
        The signatures to verify, in their order. If the profile takes `any` of several, one that is not what the
        profile asks for is returned as its error.

    Raises:
        SignatureError: the message is not signed, or a signature that must be valid is malformed or not what the
            profile asks for. The error is of the first step that fails.
    """
    try:
        members, signatures = _selected(message.fields, profile)
        if len(members) == 1 or profile.selection.pick == "all":
            return [_screened(message, profile, member, signatures, now) for member in members]
    except (MalformedField, SignatureError) as error:
        raise _with_answer(error, profile, message) from None
    screened: list[ReceivedSignature | SignatureError] = []
    for member in members:
        try:
            screened.append(_screened(message, profile, member, signatures, now))
        except (MalformedField, SignatureError) as error:
            screened.append(_with_answer(error, profile, message))
    return screened


def _with_answer(
    error: MalformedField | SignatureError, profile: Profile, message: Request | Response
) -> SignatureError:
    if isinstance(error, MalformedField):
        return profile.error("signature_header_malformed", step=1, detail=str(error), message=message)
    return profile.add_answer(error, message)


def _selected(
    fields: HeaderFields, profile: Profile
) -> tuple[Sequence[tuple[str, SignatureInput]], Mapping[str, bytes]]:
    """Return the members of Signature-Input to verify, at least one, and the signatures by label (steps 0 and 1)."""
    given, signature = fields.combined.get("signature-input"), fields.combined.get("signature")
    if given is None and signature is None:
        raise profile.error("signature_required", step=0, detail="the request is not signed")
    check_fields(fields)
    if given is None or signature is None:
        raise MalformedField("Signature and Signature-Input must come together")
    selection = profile.selection
    members = choose_signature_inputs(given, selection.labels)
    signatures = parse_byte_sequences(signature, profile.encoding)
    for label, _ in members:
        if label not in signatures:
            raise MalformedField("the label to verify is in Signature-Input and not in Signature")
    if len(members) > MOST_SELECTED:
        raise MalformedField(f"more than {MOST_SELECTED} signatures are of this profile: send at most {MOST_SELECTED}")
    if not members:
        raise profile.error("signature_required", step=0, detail="no signature of the message is of this profile")
    return members, signatures


def check_fields(fields: HeaderFields) -> None:
    """Check the names and values of all header fields, before one of them is read.

    Raises:
        MalformedField: the names are too long together, one is not a token, or a value has CR, LF or NUL.
    """
    names = sum(map(len, fields.combined))
    if names > LONGEST_NAMES:
        raise MalformedField(
            f"the names of the header fields have {names:,} characters together, and at most {LONGEST_NAMES:,} are "
            "read: send fewer fields or shorter names"
        )
    if not fields.are_valid:
        raise MalformedField("a field name is not a token, or a field value has CR, LF or NUL")


def _screened(
    message: Request | Response,
    profile: Profile,
    member: tuple[str, SignatureInput],
    signatures: Mapping[str, bytes],
    now: float,
) -> ReceivedSignature:
    """Read and check one signature of the message (steps 1 to 6). Raises SignatureError or MalformedField."""
    label, (coverage, parameters, text) = member
    rule = profile.parameters
    fault = rule.fault_of_types(parameters)
    if fault:
        raise MalformedField(fault)
    given = tuple(map(parameters.get, PARAMETERS))
    nonce = cast("str | None", given[2])
    if nonce is not None and rule.nonce_pattern is not None and rule.nonce_pattern.fullmatch(nonce) is None:
        raise MalformedField(f"the nonce is not unpadded Base64url of at least {rule.nonce_bytes} bytes")
    digest = _covered_digest(message.fields, coverage, profile)
    if rule.ignored:
        given = tuple([None if name in rule.ignored else value for name, value in zip(PARAMETERS, given, strict=True)])
    created, expires, nonce, keyid, algorithm, tag = cast("_Registered", given)
    _check_parameters(parameters, profile, message)
    if not profile.selection.accepts(tag):
        raise profile.error("signature_tag_invalid", step=3, detail="tag is not the profile's")
    if algorithm is not None and algorithm not in profile.algorithms:
        raise profile.error("signature_alg_not_allowed", step=4, detail="alg is not one of the profile's algorithms")
    until, fault = profile.validity.window(created, expires, now=now)
    if fault:
        raise profile.error("signature_window_invalid", step=5, detail=fault)
    _check_coverage(coverage, message, profile, label)
    return ReceivedSignature(
        message, profile, now, label, coverage, parameters, text, signatures[label], digest, keyid or "",
        algorithm or "", nonce or "", created, expires, until,
    )  # fmt: skip


def _covered_digest(fields: HeaderFields, coverage: Coverage, profile: Profile) -> ContentDigest | None:
    """Return the covered Content-Digest, and check that a covered Content-Type has one value (step 1)."""
    if "content-type" in coverage.names:
        value = fields.combined.get("content-type", "")
        if len(value) > LONGEST_FIELD:
            raise MalformedField(
                f"the covered Content-Type has {len(value):,} characters, and at most {LONGEST_FIELD:,} are read: send "
                "a shorter value"
            )
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
    digest = ContentDigest.parse(value, *profile.digest.encodings).of(profile.digest.algorithms)
    # Anybody can change a member that is not covered. So without one that is, no content matches.
    return digest if not keys or any(key in digest.expected for key in keys) else ContentDigest({})


def _check_parameters(parameters: Mapping[str, Parameter], profile: Profile, message: Request | Response) -> None:
    """Check the signature parameters that a profile requires, forbids or defines itself (step 2)."""
    rule = profile.parameters
    if not parameters.keys() >= rule.required:
        missing = rule.missing(parameters)
        raise profile.error("signature_params_incomplete", step=2, detail=f"no {', '.join(missing)} parameter")
    if not rule.forbidden.isdisjoint(parameters):
        unexpected = sorted(rule.forbidden.intersection(parameters))
        detail = f"the profile forbids the {', '.join(unexpected)} parameter"
        raise profile.error("signature_params_unexpected", step=2, detail=detail)
    fault = fault_of_own(profile, parameters, message) if rule.own else None
    if fault is not None:
        reason, detail = fault
        raise profile.error(reason, step=2, detail=detail)


def _check_coverage(coverage: Coverage, message: Request | Response, profile: Profile, label: str) -> None:
    """Check that required components are covered without parameters, and that forbidden ones are not covered (step 6).

    Args:
        coverage: what the signature covers.
        message: the message.
        profile: what must be covered.
        label: the label of the signature.
    """
    rule = profile.coverage
    if rule.is_conditional:
        if rule.sent and (absent := rule.absent(message)):
            raise profile.error("signature_identity_missing", step=6, detail=f"no {', '.join(absent)} field")
        missing = rule.faults(coverage, message, label)
        if profile.digest.policy == "required" and message.has_body and "content-digest" not in coverage.bare:
            missing.append("content-digest must be covered")
        if missing:
            raise profile.error("signature_components_incomplete", step=6, detail="; ".join(missing))
        if rule.never and (unexpected := rule.unexpected_components(coverage)):
            detail = f"{', '.join(unexpected)} must not be covered"
            raise profile.error("signature_components_unexpected", step=6, detail=detail)
    else:
        required = profile.required_components[message.has_body]
        if not coverage.bare.issuperset(required):
            lacking = ", ".join([name for name in required if name not in coverage.bare])
            raise profile.error("signature_components_incomplete", step=6, detail=f"{lacking} must be covered")
    if profile.digest.policy == "forbidden" and "content-digest" in coverage.names:
        raise profile.error("signature_components_unexpected", step=6, detail="content-digest must not be covered")


# Steps 7 to 10: what the keys say.


def usable_keys(signature: ReceivedSignature, keys: Sequence[VerificationKey]) -> list[VerificationKey]:
    """Return the keys that may verify a signature, at most four, of those that a source found (steps 7 and 8).

    Raises:
        SignatureError: no key was found, none of them may verify the signature, or the source's answer is no keys.
    """
    profile, algorithm = signature.profile, signature.algorithm
    usable: list[VerificationKey] = []
    misuse = ""
    for key in keys if isinstance(keys, (tuple, list, Sequence)) else (None,):
        if not isinstance(key, VerificationKey):
            raise profile.error(
                "signature_jwks_unavailable",
                step=7,
                detail="the key source returned something other than a sequence of keys: fix the source",
            )
        fault = key.misuse(algorithm, profile.key)
        if not fault and not signature.algorithm_by(key):
            fault = "the key is not for exactly one of the profile's algorithms"
        if fault:
            misuse = misuse or fault
        elif len(usable) < MOST_CANDIDATES:
            usable.append(key)
    if usable:
        return usable
    if misuse:
        raise profile.error("signature_key_purpose_invalid", step=8, detail=misuse)
    raise profile.error("signature_key_unknown", step=7, detail="no key source knows the keyid")


def verifying_keys(signature: ReceivedSignature, keys: Sequence[VerificationKey]) -> Sequence[VerificationKey]:
    """Return the one of several keys that verifies a signature, or all of them if none does.

    With several keys, the list and the cap of each would be asked for. But the keys of one name may be of different
    owners, and the list of one must not delay or reject the requests of another.
    """
    if len(keys) > 1:
        with suppress(SignatureError):
            return [prove(signature, keys, ()).key]
    return keys


def unrevoked_keys(
    signature: ReceivedSignature, keys: Sequence[VerificationKey], lists: Sequence[RevocationList | None]
) -> list[VerificationKey]:
    """Return the keys that are not revoked and whose revocation list is not stale (step 9).

    Args:
        signature: the signature.
        keys: the keys that may verify it.
        lists: for each key, the revocation list that applies to it, or None.

    Raises:
        SignatureError: no key is left. It is the error of the first key.
    """
    faults = [_revocation_fault(signature, key, revocations) for key, revocations in zip(keys, lists, strict=True)]
    left = [key for key, fault in zip(keys, faults, strict=True) if fault is None]
    if not left and faults[0] is not None:
        raise faults[0]
    return left


def _revocation_fault(
    signature: ReceivedSignature, key: VerificationKey, revocations: RevocationList | None
) -> SignatureError | None:
    if revocations is None:
        return None
    # A signature may name its key by the thumbprint, or not at all if a token names it.
    if not revocations.revoked.isdisjoint((signature.keyid, key.keyid, key.thumbprint)):
        return signature.profile.error("signature_key_revoked", step=9, detail="the revocation list names the key")
    if revocations.is_stale(signature.now):
        detail = "the revocation list is too old: fetch a new one"
        return signature.profile.error("signature_revocation_stale", step=9, detail=detail)
    return None


def prove(
    signature: ReceivedSignature, keys: Sequence[VerificationKey], full: Sequence[VerificationKey]
) -> ReceivedSignature:
    """Check the cap, the target, the authority and the signature over the base (steps 9a and 10).

    Args:
        signature: the signature. It gets the key, the target and the base.
        keys: the keys that may verify it.
        full: those of them whose cap in the replay store is reached.

    Raises:
        SignatureError: a check failed.
    """
    message, profile = signature.request, signature.profile
    if full:
        keys = [key for key in keys if key not in full]
        if not keys:
            raise _rate_abuse(profile)
    request = message if isinstance(message, Request) else cast("Request", message.request)
    try:
        target = received_target(request)
        base = signature.rebuilt_base(target if profile.target == "canonical" else typed_target(request.url, target))
    except MalformedURL as malformed:
        # Except for a length, the detail has only the name of the rule, because the message may quote the URL.
        detail = f"the rule {malformed.rule!r} rejects the target URI or an authority"
        detail = str(malformed) if malformed.rule == "length" else detail
        raise profile.error("target_uri_malformed", step=10, detail=detail) from None
    except OutOfBounds as beyond:
        # The signature may be valid, so it is not called invalid.
        raise profile.error("signature_header_malformed", step=10, detail=str(beyond)) from None
    except UnresolvableComponent as unresolvable:
        raise profile.error("signature_invalid", step=10, detail=str(unresolvable)) from None
    if len(base) > LONGEST_BASE:
        detail = (
            f"the signature base has {len(base):,} characters, and at most {LONGEST_BASE:,} are verified: cover fewer "
            "or shorter fields"
        )
        raise profile.error("signature_header_malformed", step=10, detail=detail)
    if _is_signed(signature, keys, target, base):
        return signature
    if message.query_unknown and target.query is None and not QUERY_COMPONENTS.isdisjoint(signature.coverage.names):
        # The server does not show a lone `?` at the end of the target, and it would change what is signed.
        shown = CanonicalURL(f"{target.target_uri}?", target.authority)
        if _is_signed(signature, keys, shown, with_empty_query(base, signature.coverage.components)):
            return signature
    # The signature may be by a key whose cap is reached. The check of the cap comes before the signature's check.
    error = _rate_abuse(profile) if full else profile.error("signature_invalid", step=10, detail=_NOT_OVER_THIS_BASE)
    error.signature_base = base
    raise error


def _is_signed(signature: ReceivedSignature, keys: Sequence[VerificationKey], target: CanonicalURL, base: str) -> bool:
    """Return whether one of the keys signed the base. If so, note the key, the target and the base."""
    octets = base.encode("ascii")
    for key in keys:
        if key.verifies(signature.signature, octets, algorithm=signature.algorithm_by(key)):
            signature.key, signature.target, signature.signature_base = key, target, base
            return True
    return False


def _rate_abuse(profile: Profile) -> SignatureError:
    return profile.error("signature_rate_abuse", step="9a", detail="the key's cap of live nonces is reached")


# Steps 11 to 14: what the content and the replay store say.


def check_content(signature: ReceivedSignature, digest: RunningDigest | None, *, now: float) -> float:
    """Check the digest of the content (step 11). Return when a replay store may forget the signature (step 13).

    Args:
        signature: the signature.
        digest: the digest of `running_digest`, fed with the content.
        now: the verifier's clock after the content was read. If the signature expired in the meantime, the store
            may have forgotten its nonce. So a sender could delay the body and replay the request.

    Raises:
        SignatureError: the signature has expired, or the content has another digest than the signed one.
    """
    profile, until = signature.profile, signature.until
    if now > until:
        raise profile.error("signature_window_invalid", step=5, detail="the signature expired while the body was read")
    if signature.digest is not None and (digest is None or not digest.matches()):
        raise profile.error(
            "signature_digest_mismatch", step=11, detail="the body does not match the signed Content-Digest"
        )
    keeps_for = profile.replay.keeps_for
    if keeps_for is None:
        return until
    return now + keeps_for if math.isinf(until) else max(until, now + keeps_for)


def remembered(signature: ReceivedSignature) -> str | None:
    """Return what a replay store remembers of a signature, or None for nothing (step 12, RFC 9421 section 7.2.2)."""
    rule = signature.profile.replay
    if rule.remembers == "nonce" and signature.nonce:
        return signature.nonce
    if rule.remembers == "nothing":
        return None
    if rule.remembers == "field":
        value = signature.request.fields.combined.get(rule.field)
        if value:
            return value
        if value is None and signature.request.method in _SAFE:
            return None
    # Never the signature: anybody can turn an ECDSA signature into another valid one over the same base.
    return f"base:{hashlib.sha256(signature.signature_base.encode('ascii')).hexdigest()}"


def repeatable(signature: ReceivedSignature) -> str | None:
    """Return a digest of method, target and content, by which a replay store recognizes a repeated request (step 12).

    None if the profile does not accept a request again.
    """
    request, rule = signature.request, signature.profile.replay
    if not rule.accepts_repeats or rule.field not in request.fields.combined:
        return None
    declared = () if signature.digest is None else sorted(signature.digest.expected.items())
    digests = " ".join([f"{name}={digest.hex()}" for name, digest in declared])
    text = f"{request.method} {signature.target.target_uri} {digests}"
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def check_claim(signature: ReceivedSignature, claim: Claim) -> None:
    """Check that the replay store says that the signature is not replayed (steps 12 and 13).

    Raises:
        SignatureError: the nonce was seen or may have been, the cap is reached, or the answer is no claim.
    """
    profile = signature.profile
    if claim == "fresh" or (claim == "same" and profile.replay.accepts_repeats):
        return
    if claim == "seen":
        raise profile.error("signature_replayed", step=12, detail="the keyid and nonce were seen before")
    if claim == "forgotten":
        raise profile.error(
            "signature_replayed",
            step=12,
            detail="the store has forgotten nonces that ended later than this one, so it may have been used: the "
            "clock of a verifier was ahead or is behind; synchronize the clocks by NTP",
        )
    if claim == "full":
        raise profile.error("signature_rate_abuse", step=13, detail="the key's cap of live nonces is reached")
    raise profile.error(
        "signature_store_unavailable",
        step=13,
        detail="the replay store returned something other than fresh, same, seen, forgotten or full: fix the store",
    )


def complete(signature: ReceivedSignature, claim: Claim, content: Content) -> VerifiedSignature:
    """Check that JSON content can be read in one way only (step 14), and return what the application gets.

    Args:
        signature: the signature, which passed the steps before.
        claim: the answer of the replay store.
        content: the content as it was read. It is parsed only if its type is JSON.

    Raises:
        SignatureError: a JSON object repeats a key.
    """
    request = signature.request
    if request.has_body and is_json(request.fields):
        try:
            content.json()
        except AmbiguousJSON as ambiguous:
            raise _ambiguous(signature, ambiguous, content) from None
        except ValueError:
            # No JSON reader accepts this content, so two readers cannot disagree. The application may reject it.
            pass
    return VerifiedSignature(
        keyid=signature.keyid,
        signer=signature.key.owner,
        label=signature.label,
        tag=cast("str", signature.parameters.get("tag", "")),
        algorithm=signature.algorithm_by(signature.key),
        created=signature.created,
        expires=signature.expires,
        nonce=signature.nonce,
        components=signature.coverage.texts,
        method=request.method,
        target=signature.target,
        signature_base=signature.signature_base,
        content=content,
        repeated=claim == "same",
    )


def _ambiguous(signature: ReceivedSignature, ambiguous: AmbiguousJSON, content: Content) -> SignatureError:
    repeated = ", ".join(cut_name(name) for name in ambiguous.duplicates)
    return signature.profile.error(
        "body_malformed",
        step=14,
        detail=str(ambiguous),
        received=f"nonce {signature.nonce}, {len(content)} bytes, repeated keys: {repeated}",
    )
