"""Verification on one page: the checklist from a received message to a verified signature (RFC 9421 section 3.2; AdCP).

    _screened      steps 0 to 6    what the message says about a signature -> ReceivedSignature
    usable_keys    steps 7 and 8   the keys that may verify a signature
    _prove_by      steps 9, 9a     asks which of them are revoked, or at their cap of live nonces
    prove          steps 9a, 10    a key that is not at its cap signed the base that is rebuilt here
    check_content  step 11         the content is the one that was signed
    remembered     step 12         what the replay store is told to remember, and for how long
    check_claim    steps 12, 13    it was fresh, and is used up now
    complete       step 14         no duplicate keys in the JSON -> VerifiedSignature

Except `_prove_by`, these functions do no IO. The verifiers, below them, take the steps in this order. Between the
steps, they ask the key source, the revocation list, the replay store and the clock. An `AsyncVerifier` awaits the
answers. Those of a `Verifier`'s sources never have to be awaited, so `finish` runs the same coroutines to their end.
"""

# A Verifier has the methods of an AsyncVerifier, and none of them has to be awaited.
# mypy: disable-error-code="override"
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

import hashlib
import logging
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from undersigned.errors import (
    ConfigurationError,
    KeySourceError,
    MalformedURL,
    SignatureError,
    UndersignedError,
    VerificationUnavailable,
)
from undersigned.limits import (
    LONGEST_BASE,
    LONGEST_FIELD,
    LONGEST_IN_LINE,
    MOST_CANDIDATES,
    MOST_CAPS_KNOWN,
    MOST_LOGGED_HOSTS,
    MOST_SELECTED,
)
from undersigned.log_text import cut_name
from undersigned.message.content import Content, check_json
from undersigned.message.content_digest import RunningDigest, parse_content_digest
from undersigned.message.covered_components import whole_field
from undersigned.message.header_fields import check_fields
from undersigned.message.other_schemes import is_other_scheme, unsigned_detail, without_draft
from undersigned.message.request import Request
from undersigned.message.signature_input import choose_signature_inputs
from undersigned.message.strict_json import AmbiguousJSON
from undersigned.message.structured_fields import MalformedField, OversizedField, is_list, parse_byte_sequences
from undersigned.message.timestamps import system_clock
from undersigned.signature.components import (
    NO_FIELD,
    QUERY_COMPONENTS,
    ComponentValues,
    OutOfBounds,
    UnresolvableComponent,
    signature_base,
    with_empty_query,
)
from undersigned.signature.key_source import KeyLookup, KeySet, is_key_source
from undersigned.signature.own_parameters import fault_of_own
from undersigned.signature.profile import DEFAULT, Profile
from undersigned.signature.rules.parameters import PARAMETERS
from undersigned.signature.rules.validity import SECONDS_EXPECTED, is_in_milliseconds
from undersigned.signature.verification_key import VerificationKey
from undersigned.url import CanonicalURL
from undersigned.verification.blocking_calls import awaited, finish, from_tasks, from_threads, is_ready, may_block
from undersigned.verification.verified_signature import VerifiedSignature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.errors import Reason, Step
    from undersigned.message.covered_components import Coverage
    from undersigned.message.header_fields import HeaderFields
    from undersigned.message.response import Response
    from undersigned.message.signature_input import SignatureInput
    from undersigned.message.structured_fields import Parameter
    from undersigned.replay.store import AsyncReplayStore, Claim, ReplayStore
    from undersigned.signature.key_source import AsyncKeySource, KeySource
    from undersigned.signature.profile import MessageKind
    from undersigned.verification.revocation_list import AsyncRevocationSource, RevocationList, RevocationSource

_WARNED_BEFORE: Final = 3600
"""The seconds between the warning of a late revocation list and the first signature that is rejected for it."""

Part = Literal["keys", "revocations", "store"]
"""What a verifier asks: its key source, its source of revocation lists, its replay store."""

SIGNATURE_FIELDS: Final = frozenset({"signature", "signature-input"})
"""The headers of a signature: a message with any of them is signed (RFC 9421 section 4)."""

_WHOLE_DIGEST: Final = whole_field("content-digest")
_MEMBER_OF_DIGEST: Final = re.compile(r'"content-digest"(?:;sf)?;key="([^"\\]*)"(?:;sf)?')
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
_NOT_OVER_THIS_BASE: Final = (
    "the signature is not valid for the request as it arrived. If @target-uri has another scheme or prefix than the "
    "called URL, correct origins=. If it has another path, query or host, a proxy rewrites it. Otherwise the "
    "sender signed something else, or with another key"
)
_SAME_COMPONENTS: Final = (
    "the sender must send what it covers, and a proxy must forward it; otherwise the sender must not cover it"
)
_CAP_REACHED: Final = "the key's cap of live nonces is reached"
_FORGOTTEN: Final = (
    "the store has forgotten nonces that ended later than this one, so it may have been used: the clock of a verifier "
    "was ahead or is behind; synchronize the clocks by NTP"
)

_BELOW_CAP: Final = math.inf
"""Kept for a key below its cap, instead of the time at which its cap was found reached."""

_SECONDS_AT_CAP: Final = 1.0
"""How long a key counts as at its cap before the store is asked again."""

_PROBE: Final = "undersigned readiness"
"""The name under which the readiness check claims nonces. No key has it: a name of a key is a digest."""

_logger = logging.getLogger("undersigned")


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
        keyid: the key ID it names, or "".
        algorithm: the RFC 9421 algorithm name it names, or "".
        nonce: its nonce, or "".
        created: seconds since the epoch, or None.
        expires: seconds since the epoch, or None.
        until: the latest time at which a verifier may still accept it, or infinity if it never ends (step 13).
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
    digest: Mapping[str, bytes] | None
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
        """Return the key ID only, as the message may contain secrets."""
        return f"<{type(self).__name__}: keyid {self.keyid!r}>"

    def lookup(self, *, is_second_try: bool = False) -> KeyLookup:
        """Return the lookup for a key source (step 7), or the second one if its first keys did not verify."""
        request, coverage = self.request, self.coverage
        return KeyLookup(
            self.keyid, self.parameters, coverage.names, request.method, request.url, request.fields,
            is_second_try, self.label, coverage.texts,
        )  # fmt: skip

    def rebuilt_base(self, target: CanonicalURL) -> str:
        """Return the signature base of the message as it was received, with its target in the signed form (step 10).

        Raises:
            UnresolvableComponent: the message has no value for a covered component.
        """
        values = ComponentValues(self.request, target, reading=self.profile.reading)
        return signature_base(values, self.coverage.components, self.text)

    def covers(self, message: Request | Response) -> bool:
        """Return whether this and the other signatures also cover enough of the message with its content (step 6)."""
        try:
            for one in (self, *self.others):
                _check_coverage(one.coverage, message, self.profile, one.label)
        except SignatureError:
            return False
        return True

    def running_digest(self, begun: bytes = b"") -> RunningDigest | None:
        """Return the digest to feed with the content after what has `begun`, or None if nothing covers the content."""
        return None if self.digest is None else RunningDigest(self.digest, begun)


# Steps 0 to 6: what the message says.


def _rejection(error: MalformedField | SignatureError, profile: Profile, message: Request | Response) -> SignatureError:
    if isinstance(error, MalformedField):
        return field_error(error, profile, message)
    return profile.add_answer(error, message)


def field_error(
    malformed: MalformedField, profile: Profile, message: Request | Response | None = None
) -> SignatureError:
    """Return the error for a field that cannot be read (step 1)."""
    error = profile.error("signature_header_malformed", step=1, detail=str(malformed), message=message)
    if isinstance(malformed, OversizedField):
        error.too_large = "request_header_fields_too_large"
    return error


def _selected(fields: HeaderFields, profile: Profile) -> list[tuple[str, SignatureInput, bytes]]:
    """Return the label, the Signature-Input and the octets of each signature to verify, at least one (steps 0, 1)."""
    given, signature = fields.combined.get("signature-input"), fields.combined.get("signature")
    if not is_signed(fields, profile):
        raise profile.error("signature_required", step=0, detail=unsigned_detail(signature))
    check_fields(fields)
    if signature is not None and not profile.selection.is_exclusive:
        signature = without_draft(signature)
    if given is None or signature is None:
        raise MalformedField("Signature and Signature-Input must come together")
    try:
        members = choose_signature_inputs(given, profile.selection.labels)
    except MalformedField as malformed:
        raise type(malformed)(f"Signature-Input: {malformed}") from None
    try:
        signatures = parse_byte_sequences(signature, profile.encoding)
    except MalformedField as malformed:
        raise type(malformed)(f"Signature: {malformed}") from None
    for label, _ in members:
        if label not in signatures:
            raise MalformedField("the label to verify is in Signature-Input and not in Signature")
    if len(members) > MOST_SELECTED:
        raise OversizedField(f"more than {MOST_SELECTED} signatures are of this profile: send at most {MOST_SELECTED}")
    if not members:
        expected = f", whose tag is {' or '.join(profile.selection.tags)}" if profile.selection.tags else ""
        detail = f"no signature of the message is of this profile{expected}"
        raise profile.error("signature_required", step=0, detail=detail, received=given)
    return [(label, member, signatures[label]) for label, member in members]


def is_signed(fields: HeaderFields, profile: Profile) -> bool:
    """Return whether a message has a signature that is not another scheme's, which the profile leaves alone."""
    if SIGNATURE_FIELDS.isdisjoint(fields.combined):
        return False
    if "signature-input" in fields.combined or profile.selection.is_exclusive:
        return True
    return not is_other_scheme(fields.combined["signature"][:LONGEST_FIELD])


def _screened(
    message: Request | Response, profile: Profile, label: str, member: SignatureInput, signature: bytes, now: float
) -> ReceivedSignature:
    """Read and check one signature of the message (steps 1 to 6). Raises SignatureError or MalformedField."""
    coverage, parameters, text = member
    fault = profile.fault_of_types(parameters)
    if fault:
        raise MalformedField(fault)
    # The types were checked above.
    stated: Any = parameters
    pattern = profile.nonce_pattern
    if "nonce" in stated and pattern is not None and pattern.fullmatch(stated["nonce"]) is None:
        detail = f"the nonce is not unpadded Base64url of at least {profile.parameters.nonce_bytes} bytes"
        raise profile.error("signature_header_malformed", step=1, detail=detail, received=f"nonce {stated['nonce']}")
    _check_content_type(message.fields, coverage)
    digest = _covered_digest(message.fields, coverage, profile)
    if not parameters.keys() >= profile.required:
        missing = ", ".join(profile.missing_parameters(parameters))
        raise profile.error("signature_params_incomplete", step=2, detail=f"no {missing} parameter")
    if not profile.forbidden.isdisjoint(parameters):
        unexpected = ", ".join(sorted(profile.forbidden.intersection(parameters)))
        detail = f"the profile forbids the {unexpected} parameter"
        raise profile.error("signature_params_unexpected", step=2, detail=detail)
    own_fault = fault_of_own(profile, parameters, message) if profile.parameters.own else None
    if own_fault is not None:
        reason, detail = own_fault
        seen = [f"{name} {parameters[name]!r}" for name in profile.parameters.own if name in parameters]
        received = ", ".join([*seen, f"the URL {message.url.partition('?')[0]}"])
        raise profile.error(reason, step=2, detail=detail, received=received)
    if profile.ignored:
        stated = {name: value for name, value in parameters.items() if name not in profile.ignored}
    created, expires, nonce, keyid, algorithm, tag = map(stated.get, PARAMETERS)
    if not profile.selection.accepts(tag):
        detail = f"tag is not the profile's: expected {' or '.join(profile.selection.tags)}"
        raise profile.error("signature_tag_invalid", step=3, detail=detail, received=f"tag {tag or '(none)'}")
    if algorithm is not None and algorithm not in profile.algorithms:
        detail = f"alg is not one of the profile's algorithms: {', '.join(sorted(profile.algorithms))}"
        raise profile.error("signature_alg_not_allowed", step=4, detail=detail, received=f"alg {algorithm}")
    until, fault = profile.validity.window(created, expires, now=now)
    if fault:
        error = profile.error("signature_window_invalid", step=5, detail=fault)
        error.fix = SECONDS_EXPECTED if is_in_milliseconds(created, expires) else None
        raise error
    _check_coverage(coverage, message, profile, label)
    return ReceivedSignature(
        message, profile, now, label, coverage, parameters, text, signature, digest, keyid or "", algorithm or "",
        nonce or "", created, expires, until,
    )  # fmt: skip


def _check_content_type(fields: HeaderFields, coverage: Coverage) -> None:
    """Check that a covered Content-Type has one value, as two programs may read different ones of several (step 1)."""
    if "content-type" not in coverage.names:
        return
    value = fields.combined.get("content-type", "")
    if len(value) > LONGEST_FIELD:
        raise OversizedField(
            f"the covered Content-Type has {len(value):,} characters, and at most {LONGEST_FIELD:,} are read: send "
            "a shorter value"
        )
    if "content-type" in fields.repeated or is_list(value):
        raise MalformedField("the covered Content-Type has several values")


def _covered_digest(fields: HeaderFields, coverage: Coverage, profile: Profile) -> Mapping[str, bytes] | None:
    """Return the covered Content-Digest, or None if the content is not covered (step 1)."""
    if "content-digest" not in coverage.names:
        return None
    keys: list[str] = []
    if _WHOLE_DIGEST.isdisjoint(coverage.texts):
        keys = [match[1] for match in map(_MEMBER_OF_DIGEST.fullmatch, coverage.texts) if match is not None]
        if not keys:
            # What is covered is the field of the request that a response answers, or a trailer field.
            return None
    value = fields.combined.get("content-digest")
    if value is None:
        detail = f"Content-Digest: {NO_FIELD}"
        raise profile.error("signature_header_malformed", step=1, detail=detail, received='"content-digest"')
    try:
        digest = parse_content_digest(value, *profile.digest.encodings, algorithms=profile.digest.algorithms)
    except MalformedField as malformed:
        raise type(malformed)(f"Content-Digest: {malformed}") from None
    # Anyone can change a digest that is not covered. If no digest is covered, no content matches.
    return digest if not keys or any(key in digest for key in keys) else {}


def _check_coverage(coverage: Coverage, message: Request | Response, profile: Profile, label: str) -> None:
    """Check that required components are covered without parameters, and no forbidden ones at all (step 6)."""
    rule = profile.coverage
    missing: list[str] = []
    if profile.is_conditional:
        if rule.sent and (absent := rule.absent(message)):
            raise profile.error("signature_identity_missing", step=6, detail=f"no {', '.join(absent)} field")
        missing = rule.faults(coverage, message, label)
        if profile.digest.policy == "required" and message.has_body and "content-digest" not in coverage.bare:
            missing.append("content-digest must be covered")
    elif not coverage.bare.issuperset(required := profile.required_components[message.has_body]):
        missing = [f"{', '.join([name for name in required if name not in coverage.bare])} must be covered"]
    if missing:
        raise profile.error("signature_components_incomplete", step=6, detail="; ".join(missing))
    unexpected = sorted(coverage.names & rule.never)
    if profile.digest.policy == "forbidden" and "content-digest" in coverage.names:
        unexpected = unexpected or ["content-digest"]
    if unexpected:
        detail = f"{', '.join(unexpected)} must not be covered"
        raise profile.error("signature_components_unexpected", step=6, detail=detail)


# Steps 7 to 10: what the keys say.


def usable_keys(signature: ReceivedSignature, keys: Sequence[VerificationKey]) -> list[VerificationKey]:
    """Return the keys that may verify a signature, at most four, of those that a source found (steps 7 and 8)."""
    profile, algorithm = signature.profile, signature.algorithm
    usable: list[VerificationKey] = []
    faults: list[tuple[Reason, str, str]] = []
    if not isinstance(keys, (tuple, list, Sequence)) or [key for key in keys if not isinstance(key, VerificationKey)]:
        detail = "the key source returned something other than a sequence of keys: fix the source"
        raise profile.error("signature_jwks_unavailable", step=7, detail=detail)
    for key in keys:
        fault = key.misuse(algorithm, profile.key)
        is_unsupported = not key.algorithms
        if not fault and not algorithm and not key.only_algorithm(profile.algorithms):
            fault, is_unsupported = "the key is not for exactly one of the profile's algorithms", True
        if fault:
            reason: Reason = profile.key.unsupported if is_unsupported else "signature_key_purpose_invalid"
            faults.append((reason, fault, key.declared))
        elif len(usable) < MOST_CANDIDATES:
            usable.append(key)
    if usable:
        return usable
    if faults:
        reason, misuse, declared = faults[0]
        named = f"alg {algorithm}; " if algorithm else ""
        raise profile.error(reason, step=8, detail=misuse, received=f"{named}the JWK has {declared}")
    raise profile.error("signature_key_unknown", step=7, detail="no key source knows the key ID")


def prove(signature: ReceivedSignature, keys: Sequence[VerificationKey]) -> ReceivedSignature:
    """Check the target, the authority and the signature over the base (step 10). Note the key, target and base."""
    message, profile = signature.request, signature.profile
    target, base = _rebuilt(signature)
    if _is_signed(signature, keys, target, base):
        return signature
    if message.query_unknown and target.query is None and not QUERY_COMPONENTS.isdisjoint(signature.coverage.names):
        # The server does not show a lone `?` at the end of the target, and it would change what is signed.
        shown = CanonicalURL(f"{target.target_uri}?", target.authority)
        if _is_signed(signature, keys, shown, with_empty_query(base, signature.coverage.components)):
            return signature
    error = profile.error("signature_invalid", step=10, detail=_NOT_OVER_THIS_BASE)
    error.signature_base = base
    raise error


def _rebuilt(signature: ReceivedSignature) -> tuple[CanonicalURL, str]:
    """Return the canonical target and the signature base of the message, as they were received (step 10)."""
    message, profile = signature.request, signature.profile
    request = message if isinstance(message, Request) else cast("Request", message.request)
    try:
        target, signed = request.signed_target(is_typed=profile.target == "typed")
        base = signature.rebuilt_base(signed)
    except MalformedURL as malformed:
        # Except for a length, the detail has only the name of the rule, because the message may quote the URL.
        detail = f"the rule {malformed.rule!r} rejects the target URI or an authority"
        too_large = malformed.too_large
        error = profile.error("target_uri_malformed", step=10, detail=str(malformed) if too_large else detail)
        error.too_large = too_large
        raise error from None
    except OutOfBounds as beyond:
        # The signature may be valid, so it is not called invalid.
        raise _too_large(profile, str(beyond)) from None
    except UnresolvableComponent as unresolvable:
        error = profile.error("signature_invalid", step=10, detail=str(unresolvable), received=unresolvable.component)
        error.fix = _SAME_COMPONENTS
        raise error from None
    if len(base) > LONGEST_BASE:
        detail = (
            f"the signature base has {len(base):,} characters, and at most {LONGEST_BASE:,} are verified: cover fewer "
            "or shorter fields"
        )
        raise _too_large(profile, detail)
    return target, base


def _too_large(profile: Profile, detail: str) -> SignatureError:
    error = profile.error("signature_header_malformed", step=10, detail=detail)
    error.too_large = "request_header_fields_too_large"
    return error


def _is_signed(signature: ReceivedSignature, keys: Sequence[VerificationKey], target: CanonicalURL, base: str) -> bool:
    """Return whether one of the keys signed the base. If so, note the key, the target and the base."""
    octets, profile = base.encode("ascii"), signature.profile
    for key in keys:
        # The algorithm that the signature names, else the only one of the key that the profile accepts.
        algorithm = signature.algorithm or key.only_algorithm(profile.algorithms)
        if key.verifies(signature.signature, octets, algorithm=algorithm):
            signature.key, signature.target, signature.signature_base = key, target, base
            return True
    return False


# Steps 11 to 14: what the content and the replay store say.


def check_content(signature: ReceivedSignature, digest: RunningDigest | None, *, now: float) -> None:
    """Check the digest that was fed with the content (step 11)."""
    profile = signature.profile
    # The store may have forgotten the nonce meanwhile: a sender could delay the body and replay the request.
    if now > signature.until:
        raise profile.error("signature_window_invalid", step=5, detail="the signature expired while the body was read")
    if signature.digest is not None and (digest is None or not digest.matches(signature.digest)):
        detail = "the body does not match the signed Content-Digest"
        if signature.digest:
            is_empty = digest is not None and digest.value() == digest.anew().value()
            error = profile.error("signature_digest_mismatch", step=11, detail=detail + ": it is empty" * is_empty)
            if is_empty:
                error.fix = (
                    "find what drops the body in transit, or the layer outside the middleware that read it before"
                )
            raise error
        detail = f"no digest that is covered is by an accepted algorithm: {', '.join(profile.digest.algorithms)}"
        declared = signature.request.fields.combined.get("content-digest", "")
        error = profile.error(
            "signature_digest_mismatch", step=11, detail=detail, received=f"Content-Digest {declared}"
        )
        error.fix = "the sender must declare a digest by one of these algorithms"
        raise error


def remembered(signature: ReceivedSignature, *, now: float) -> tuple[str, float, str | None] | None:
    """Return what a replay store remembers of a signature, or None for nothing (step 12, RFC 9421 section 7.2.2).

    It is the nonce, or what the profile remembers instead. Then until when, seconds since the epoch. Then a digest of
    the query and the content, if the profile accepts the same request again, else None.
    """
    rule, request, until = signature.profile.replay, signature.request, signature.until
    if rule.remembers == "nothing":
        return None
    value = request.fields.combined.get(rule.field) if rule.remembers == "field" else None
    if rule.remembers == "field" and value is None and request.method in _SAFE:
        return None
    if rule.keeps_for is not None:
        until = now + rule.keeps_for if math.isinf(until) else max(until, now + rule.keeps_for)
    if value is not None and rule.accepts_repeats:
        # The value is unique for a client and an operation, so the same one at another path is another one.
        operation, _, query = signature.target.target_uri.partition("?")
        declared = () if signature.digest is None else sorted(signature.digest.items())
        digests = " ".join([f"{name}={digest.hex()}" for name, digest in declared])
        return f"{request.method} {operation} {value}", until, _sha_256(f"{query} {digests}")
    nonce = signature.nonce if rule.remembers == "nonce" else value
    if nonce:
        return nonce, until, None
    # Never the signature: anyone can turn an ECDSA signature into another valid one over the same base.
    base = _sha_256(signature.signature_base)
    return f"base:{base}", until, base if rule.accepts_repeats else None


def _sha_256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _replay_name(signature: ReceivedSignature, key: VerificationKey) -> str:
    """Return the name under which a replay store remembers a signature: that of the key, or of the signer.

    A field that a sender may repeat belongs to the signer, who may have several keys and replaces them.
    """
    rule = signature.profile.replay
    if not (rule.accepts_repeats and key.owner and rule.field in signature.request.fields.combined):
        return key.replay_name
    return f"signer:{hashlib.sha256(key.owner.encode('utf-8', 'surrogatepass')).hexdigest()}"


def check_claim(signature: ReceivedSignature, claim: Claim) -> None:
    """Check an answer of the replay store other than `fresh` (steps 12 and 13)."""
    profile = signature.profile
    if claim == "same" and profile.replay.accepts_repeats:
        return
    if claim == "seen":
        raise profile.error("signature_replayed", step=12, detail="this nonce was already used with this key")
    if claim == "forgotten":
        raise profile.error("signature_replayed", step=12, detail=_FORGOTTEN)
    if claim == "full":
        raise profile.error("signature_rate_abuse", step=13, detail=_CAP_REACHED)
    detail = "the replay store returned something other than fresh, same, seen, forgotten or full: fix the store"
    raise profile.error("signature_store_unavailable", step=13, detail=detail)


def complete(signature: ReceivedSignature, claim: Claim, content: Content) -> VerifiedSignature:
    """Check that JSON content can be read in one way only (step 14), and return what the application gets.

    With AdCP's profiles, it must be JSON in UTF-8 (RFC 8259), as a lenient reader may see a repeated key that others do
    not see.
    """
    request = signature.request
    try:
        check_json(request.fields, content, is_strict=signature.profile.is_of_adcp)
    except AmbiguousJSON as ambiguous:
        repeated = ", ".join(map(cut_name, ambiguous.duplicates))
        raise signature.profile.error(
            "body_malformed",
            step=14,
            detail=str(ambiguous),
            received=f"nonce {signature.nonce}, {len(content)} bytes, repeated keys: {repeated}",
        ) from None
    tag: Any = signature.parameters.get("tag", "")
    return VerifiedSignature(
        keyid=signature.keyid,
        signer=signature.key.owner,
        label=signature.label,
        tag=tag,
        algorithm=signature.algorithm or signature.key.only_algorithm(signature.profile.algorithms),
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


class AsyncVerifier:
    """A verifier that verifies messages with one profile, and awaits the answers of its sources.

    A subclass may override `screen`, and no other step: `verify` takes them itself.

    Args:
        profile: what makes a signature acceptable. By default it is `profiles.DEFAULT`, plain RFC 9421.
        keys: finds the key that a key ID names. A source that does not have to be awaited works; if it may block, it
            is asked in a thread. A source without a `blocking` attribute is taken to block.
        replay: tells whether a nonce is fresh. Any store works, as for `keys`.
        revocations: has the revocation list of a key; a `RevocationList` is one. None: no key is revoked.
        clock: returns seconds since the epoch.

    Raises:
        ConfigurationError: no key can verify a signature of the profile.
    """

    _asking = staticmethod(from_tasks)
    """Chooses how a method of a source is called."""

    def __init__(
        self,
        profile: Profile = DEFAULT,
        *,
        keys: AsyncKeySource,
        replay: AsyncReplayStore,
        revocations: AsyncRevocationSource | None = None,
        clock: Callable[[], float] = system_clock,
    ) -> None:
        if not isinstance(profile, Profile):
            raise ConfigurationError(
                "profile: pass one of undersigned.profiles, such as profiles.ADCP_3_2, or leave it out"
            )
        if not is_key_source(keys):
            raise ConfigurationError(
                "keys: pass a key source, such as KeySet.from_file(path), KeySet.from_jwks(jwks) or JWKSFile(path)"
            )
        if isinstance(keys, KeySet):
            keys.check_for(profile)
        self.profile, self.clock, self.replay = profile, clock, replay
        self._keys, self._revocations = keys, revocations
        self._find = self._asking(keys, "find", option="keys")
        self._full = self._asking(replay, "full", option="replay")
        self._claim = self._asking(replay, "claim", option="replay")
        self._current = None if revocations is None else self._asking(revocations, "current", option="revocations")
        # When each key was last found at its cap. Only keys that a key source knows are in it.
        self._full_at: dict[str, float] = {}
        self._store_failed = False
        self._late: set[tuple[str, float]] = set()

    def is_signed(self, fields: HeaderFields) -> bool:
        """Return whether a message with these fields is signed, for this verifier. Any other is verified by nobody."""
        return is_signed(fields, self.profile)

    def screen(self, message: Request | Response) -> Sequence[ReceivedSignature | SignatureError]:
        """Read and check the signatures of a message that the profile selects (steps 0 to 6).

        Returns:
            The signatures to verify, in their order. An error stands in for each one that does not meet the profile.

        Raises:
            SignatureError: the message is not signed, or its signature fields are malformed.
        """
        profile, now = self.profile, self.clock()
        try:
            selected = _selected(message.fields, profile)
        except (MalformedField, SignatureError) as error:
            raise _rejection(error, profile, message) from None
        screened: list[ReceivedSignature | SignatureError] = []
        for label, member, signature in selected:
            try:
                screened.append(_screened(message, profile, label, member, signature, now))
            except (MalformedField, SignatureError) as error:
                screened.append(_rejection(error.with_traceback(None), profile, message))
        return screened

    async def verify(self, request: Request) -> VerifiedSignature:
        """Verify a request whose body has been read.

        Raises:
            SignatureError: the request is rejected, or it cannot be verified now.
            ConfigurationError: the profile is for responses.
        """
        return await self._verify(request, "request")

    async def verify_response(self, response: Response) -> VerifiedSignature:
        """Verify a response whose body has been read, with the request that it answers.

        Raises:
            SignatureError: the response is rejected, or it cannot be verified now.
            ConfigurationError: the profile is for requests, or the response lacks its request.
        """
        if response.request is None:
            raise ConfigurationError("response: give it the request that it answers, Response(..., request=request)")
        return await self._verify(response, "response")

    async def _verify(self, message: Request | Response, kind: MessageKind) -> VerifiedSignature:
        if self.profile.message != kind:
            is_for = f"{self.profile.name} is for {self.profile.message}s"
            raise ConfigurationError(f"profile: {is_for}; pass one that is for {kind}s")
        signature = await self.authenticate(message)
        digest = signature.running_digest(message.body)
        # The application gets only content that was signed.
        content = Content() if digest is None and message.body else message.content
        return await self.complete(signature, content, digest=digest)

    async def authenticate(self, message: Request | Response) -> ReceivedSignature:
        """Take the steps that need no content: 0 to 10 (AdCP verifier checklist).

        Args:
            message: the request, or a response with the request that it answers.

        Returns:
            The first valid signature. If all must be valid, the others are in its `others`, and one that covers the
            content comes first.

        Raises:
            SignatureError: the message is rejected, or it cannot be verified now. Of several errors, it is the worst.
        """
        screened = self.screen(message)
        takes_all = self.profile.selection.pick == "all"
        authentic: list[ReceivedSignature] = []
        errors: list[SignatureError] = []
        for signature in screened:
            try:
                if isinstance(signature, SignatureError):
                    raise signature
                authentic.append(await self._prove(signature))
            except SignatureError as error:
                errors.append(error)
            else:
                if not takes_all:
                    break
        if errors and (takes_all or not authentic):
            try:
                # A signature that anyone may add, such as one by an unknown key, does not hide that another is forged.
                raise max(errors, key=self.profile.answers.gravity)
            finally:
                errors.clear()  # their tracebacks have this frame
        if len(authentic) > 1:
            authentic.sort(key=lambda one: one.digest is None)
            authentic[0].others = tuple(authentic[1:])
        return authentic[0]

    async def _prove(self, signature: ReceivedSignature) -> ReceivedSignature:
        """Find the keys of a signature and take the steps 7 to 10 with them."""
        try:
            found = await self._keys_of(signature.lookup())
            try:
                return await self._prove_by(signature, found)
            except SignatureError as error:
                others = await self._other_keys(signature, found, error)
                if not others:
                    raise
            return await self._prove_by(signature, others)
        except SignatureError as error:
            _add_evidence(error, signature)
            raise

    async def _other_keys(
        self, signature: ReceivedSignature, found: Sequence[VerificationKey], error: SignatureError
    ) -> Sequence[VerificationKey]:
        """Ask a source again that may have further keys. Return only the keys that it has not returned before.

        The key that signed may be there, even if a key with the same key ID is revoked or at its cap. If asking again
        fails, the `error` stands, unless the source says that the key that signed may be one that it cannot find now.
        """
        if not getattr(self._keys, "asks_again", False):
            return ()
        try:
            again = await self._keys_of(signature.lookup(is_second_try=True))
        except SignatureError as failed:
            is_told = isinstance(failed, VerificationUnavailable) and isinstance(failed.__cause__, KeySourceError)
            if is_told and error.reason == "signature_invalid":
                raise
            return ()
        return [key for key in again if key not in found] if isinstance(again, Sequence) else ()

    async def _keys_of(self, lookup: KeyLookup) -> Sequence[VerificationKey]:
        """Ask the key source (step 7)."""
        try:
            found: Any = self._find(lookup)
            keys: Sequence[VerificationKey] = await found if hasattr(found, "__await__") else found
        except KeySourceError as failure:
            error = self.profile.error(failure.reason, step=7, detail=str(failure))
            if failure.oversized:
                error.too_large = "request_header_fields_too_large"
            raise error from failure
        except Exception as failure:
            detail = "the key source raised an exception: see the cause in the log"
            raise self.profile.error("signature_jwks_unavailable", step=7, detail=detail) from failure
        return keys

    async def _prove_by(self, signature: ReceivedSignature, found: Sequence[VerificationKey]) -> ReceivedSignature:
        """Take the steps 8 to 10 with keys that were found. Each key is tried once."""
        keys = usable_keys(signature, found)
        failures: list[SignatureError] = []
        has_several = len(keys) > 1
        if has_several:
            # Different owners may have keys with one keyid. Only the list and the cap of the owner who signed count, so
            # the key that verifies is found first.
            try:
                keys = [prove(signature, keys).key]
            except SignatureError as error:
                failures = [error.with_traceback(None)]
        if self._current is not None:
            faults = [await self._revocation_fault(signature, key) for key in keys]
            keys = [key for key, fault in zip(keys, faults, strict=True) if fault is None]
            if not keys and faults[0] is not None:
                raise faults[0]
        if self.profile.replay.remembers != "nothing":
            for key in keys:
                name = _replay_name(signature, key)
                if self._full_at.get(name) != _BELOW_CAP and await self._is_full(name, signature.now):
                    full = self.profile.error("signature_rate_abuse", step="9a", detail=_CAP_REACHED)
                    full.signature_base = failures[0].signature_base if failures else None
                    raise full
        if failures:
            raise failures.pop()
        return signature if has_several else prove(signature, keys)

    async def _revocation_fault(self, signature: ReceivedSignature, key: VerificationKey) -> SignatureError | None:
        """Return why a key may not be used, by the revocation list that applies to it (step 9)."""
        try:
            found: RevocationList | None = await awaited(cast("Callable[[str], Any]", self._current)(key.owner))
        except Exception as failure:
            detail = "the revocation source raised an exception: see the cause in the log"
            raise self.profile.error("signature_revocation_stale", step=9, detail=detail) from failure
        if found is None:
            return None
        self._warn_of(found, signature.now)
        # A signature may name its key by the thumbprint, or not at all if a token names it.
        if not found.revoked.isdisjoint((signature.keyid, key.keyid, key.thumbprint, key.written)):
            return self.profile.error("signature_key_revoked", step=9, detail="the revocation list names the key")
        if found.is_stale(signature.now):
            detail = "the revocation list is too old: fetch a new one"
            return self.profile.error("signature_revocation_stale", step=9, detail=detail)
        return None

    def _warn_of(self, found: RevocationList, now: float) -> None:
        """Warn once of each list that is late, and once of an issuer whose lists end within an hour of being late."""
        grace = found.stale_after - found.next_update
        is_late = found.next_update <= now < found.stale_after
        known = (found.issuer, found.updated if is_late else -math.inf)
        if known in self._late or not (is_late or grace < _WARNED_BEFORE):
            return
        if len(self._late) >= MOST_LOGGED_HOSTS:
            self._late = set()
        self._late.add(known)
        issuer = ascii(found.issuer[:LONGEST_IN_LINE])
        if is_late:
            _logger.warning(
                "the revocation list of %s is late: the next one was due %d seconds ago. In %d seconds, the signatures "
                "that it applies to get 503 (revocation_stale). Publish the next one, or make its server reachable",
                issuer, now - found.next_update, found.stale_after - now,
            )  # fmt: skip
        else:
            _logger.warning(
                "the revocation lists of %s have a short interval: if the next one does not come, the signatures that "
                "it applies to get 503 (revocation_stale) %d seconds after it was due. 15 minutes would give an hour",
                issuer, grace,
            )  # fmt: skip

    async def _is_full(self, name: str, now: float) -> bool:
        """Return whether the cap of a key or signer is reached, as far as this process knows (step 9a).

        The store is asked about a key that this process has not seen yet, and about a key that was at its cap a second
        ago. For any other key, the store is not asked before the signature has been verified. The claim finds a cap
        that was reached in the meantime.
        """
        known = self._full_at
        full_at = known.get(name)
        if full_at is not None and abs(now - full_at) < _SECONDS_AT_CAP:
            return True
        if full_at is None and len(known) >= MOST_CAPS_KNOWN:
            known.clear()
        # Meanwhile, other requests read this instead of asking the store too.
        known[name] = _BELOW_CAP if full_at is None else now
        try:
            is_full: bool = await awaited(self._full(name, now=now, caps=self.profile.replay.caps))
        except Exception as failure:
            known.pop(name, None)
            raise self._store_unavailable(failure, step="9a") from failure
        known[name] = now if is_full else _BELOW_CAP
        return is_full

    async def complete(
        self, signature: ReceivedSignature, content: Content, *, digest: RunningDigest | None
    ) -> VerifiedSignature:
        """Take the steps that need the content: 11 to 14 (AdCP verifier checklist).

        Args:
            signature: what `authenticate` returned.
            content: the content as it was read.
            digest: what `signature.running_digest` returned, fed with the content.

        Raises:
            SignatureError: the message is rejected, or it cannot be verified now.
        """
        now = self.clock()
        try:
            check_content(signature, digest, now=now)
            claimed = remembered(signature, now=now)
            claim: Claim = "fresh" if claimed is None else await self._claim_once(signature, claimed, now)
            if claim != "fresh":
                check_claim(signature, claim)
            verified = complete(signature, claim, content)
        except SignatureError as error:
            _add_evidence(error, signature, signature.signature_base)
            raise
        if not signature.others:
            return verified
        others: list[VerifiedSignature] = []
        for other in signature.others:
            # A signature that covers the content too has the same digest. Any other gets no content.
            if other.digest == signature.digest:
                others.append(await self.complete(other, content, digest=digest))
            else:
                others.append(await self.complete(other, Content(), digest=None))
        return replace(verified, others=tuple(others))

    async def _claim_once(
        self, signature: ReceivedSignature, claimed: tuple[str, float, str | None], now: float
    ) -> Claim:
        """Claim in the replay store what it remembers of the signature (steps 12 and 13)."""
        name, (nonce, until, content) = _replay_name(signature, signature.key), claimed
        # Only a store for a profile that accepts repeats has to know `content`.
        more = {} if content is None else {"content": content}
        try:
            answer: Any = self._claim(name, nonce, now=now, until=until, caps=self.profile.replay.caps, **more)
            claim: Claim = await answer if hasattr(answer, "__await__") else answer
        except Exception as failure:
            raise self._store_unavailable(failure, step=12) from failure
        if self._store_failed:
            self._note_recovery()
        if claim == "full":
            self._full_at[name] = now
        return claim

    def _store_unavailable(self, failure: Exception, *, step: Step) -> SignatureError:
        self._store_failed = True
        # The text of an exception may have a password; a number of the system has none.
        causes, name = (failure, failure.__cause__, failure.__context__), type(failure).__name__
        numbers = (one.errno or 0 for one in causes if isinstance(one, OSError))
        told = next((f"{name} ({os.strerror(number)})" for number in numbers if number > 0), name)
        detail = f"the replay store raised {told}: see the cause in the log"
        if isinstance(failure, UndersignedError):
            detail = f"the replay store: {failure}"
        return self.profile.error("signature_store_unavailable", step=step, detail=detail)

    def _note_recovery(self) -> None:
        self._store_failed = False
        _logger.warning("the replay store answers again")

    async def unready(self) -> tuple[Part, ...]:
        """Return which of the sources cannot answer now; none if requests can be verified.

        Keys and revocation lists that are not there yet begin to be fetched, and are not waited for. In the replay
        store, a nonce is claimed that ends at once.
        """
        now = self.clock()
        parts: tuple[tuple[Part, bool], ...] = (
            ("keys", is_ready(self._keys)),
            ("revocations", is_ready(self._revocations, now)),
            ("store", await self._takes_claims(now)),
        )
        return tuple(part for part, is_ready in parts if not is_ready)

    async def _takes_claims(self, now: float) -> bool:
        if self.profile.replay.remembers == "nothing":
            return True
        try:
            # Any answer will do. The nonce ends at once.
            await awaited(self._claim(_PROBE, repr(now), now=now, until=now, caps=self.profile.replay.caps))
        except Exception:
            if not self._store_failed:
                _logger.exception("the replay store raised an exception")
            self._store_failed = True
            return False
        if self._store_failed:
            self._note_recovery()
        return True


class Verifier(AsyncVerifier):
    """A verifier that verifies messages with one profile. Safe to share between threads if its sources are.

    `verify`, `verify_response` and `unready` do what those of `AsyncVerifier` do, and return when they are done. The
    coroutines of the steps are for a server that reads the content between them: `finish` runs them.

    The arguments are those of `AsyncVerifier`, but no answer of a source may have to be awaited.

    Attributes:
        blocking: whether verifying may block on IO. A source without a `blocking` attribute is taken to block.

    Raises:
        ConfigurationError: no key can verify a signature of the profile, or the answers of a source have to be awaited.
    """

    _asking = staticmethod(from_threads)

    def __init__(
        self,
        profile: Profile = DEFAULT,
        *,
        keys: KeySource,
        replay: ReplayStore,
        revocations: RevocationSource | None = None,
        clock: Callable[[], float] = system_clock,
    ) -> None:
        super().__init__(profile, keys=keys, replay=replay, revocations=revocations, clock=clock)
        self.blocking = may_block(keys, replay, revocations)

    def for_tasks(self) -> AsyncVerifier:
        """Return a verifier that does the same in tasks of an event loop. What may block it is asked in a thread."""
        if not self.blocking:
            return self
        verifier = AsyncVerifier(
            self.profile, keys=self._keys, replay=self.replay, revocations=self._revocations, clock=self.clock
        )
        # A subclass may override them.
        vars(verifier).update(screen=self.screen, is_signed=self.is_signed)
        return verifier

    def verify(self, request: Request) -> VerifiedSignature:
        """Verify a request whose body has been read."""
        return finish(super().verify(request))

    def verify_response(self, response: Response) -> VerifiedSignature:
        """Verify a response whose body has been read, with the request that it answers."""
        return finish(super().verify_response(response))

    def unready(self) -> tuple[Part, ...]:
        """Return which of the sources cannot answer now."""
        return finish(super().unready())


def _add_evidence(error: SignatureError, signature: ReceivedSignature, base: str | None = None) -> None:
    error.keyid, error.created, error.algorithm = signature.keyid, signature.created, signature.algorithm
    if base is not None:
        error.signature_base = base
