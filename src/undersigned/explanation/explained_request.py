"""Explanation of a recorded request: the cause of a rejection, each step of the checklist, and the signature base."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal

from undersigned import profiles
from undersigned.errors import CHECKS, MalformedURL, SignatureError, printable
from undersigned.explanation.alternatives import ADVICE, alternatives
from undersigned.explanation.contents import digest_forms, other_contents, parse_digest
from undersigned.explanation.values import SignedValues, signed_target
from undersigned.limits import LONGEST_BASE, MOST_CANDIDATES
from undersigned.message.content_digest import content_digest, has_digests
from undersigned.message.signature_input import choose_signature_inputs, parse_signature_input
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences
from undersigned.reasons import REASONS
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base
from undersigned.signature.key_source import ExaminedKeys, KeyLookup, KeySet
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undersigned.errors import Step
    from undersigned.message.request import Request
    from undersigned.message.signature_input import SignatureInput
    from undersigned.message.structured_fields import Encoding
    from undersigned.signature.key_source import KeySource
    from undersigned.signature.profile import Profile
    from undersigned.url import Origin

MOST_SECONDS: Final = 0.75
"""The most seconds of a search for the cause: some thousand verifications."""

_NOT_CHECKED: Final[frozenset[Step]] = frozenset({9, "9a", 12, 13})
"""Steps that need a revocation list or a replay store. A recorded request has neither."""

_SPELLING: Final = 1
_CONTENT: Final = 11
_OTHERWISE: Final[frozenset[Step]] = frozenset({2, 3, 4, 6})
_SEARCHED: Final[frozenset[Step]] = frozenset({_SPELLING, 7, 8, 10})
_PROFILES: Final = tuple(profile for profile in profiles.BY_NAME.values() if profile.message == "request")
_OLDER: Final = re.compile(r'(?:^|[,\s])(?:keyid|headers)="', re.IGNORECASE)
_LONGEST_SHOWN, _BEFORE = 160, 20
_MOST_KEYS: Final = 64
_GZIP_TIMES: Final = 1 << 32

Outcome = Literal["passed", "failed", "not checked", "not reached"]
"""What became of a step of the checklist."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A proven cause of a rejection: the signature is valid over the changed values. Its texts are printable ASCII.

    Attributes:
        name: the name of the change, one of `NAMES`.
        signed: the part as the sender signed it, or an excerpt of it.
        received: the part as it was received, or an excerpt of it.
        advice: what usually causes the change, and what to do.
        keyid: the keyid of the key that verifies the signature, or "" if the key is not the question.
        base: the base that the sender signed; None if it is the base that is rebuilt from the request.
    """

    name: str
    signed: str
    received: str
    advice: str
    keyid: str = ""
    base: str | None = None

    @classmethod
    def of(cls, name: str, signed: str, received: str, *, keyid: str = "", base: str | None = None) -> Cause:
        """Return the cause with the advice for its name, and with excerpts of long texts."""
        start = 0
        if max(len(signed), len(received)) > _LONGEST_SHOWN:
            start = max(0, _common(signed, received) - _BEFORE)
        cut = "..." if start else ""
        return cls(
            name,
            f"{cut}{printable(signed[start:], limit=_LONGEST_SHOWN)}",
            f"{cut}{printable(received[start:], limit=_LONGEST_SHOWN)}",
            ADVICE[name],
            keyid,
            base,
        )

    def __str__(self) -> str:
        """Return the cause in a sentence."""
        words = {
            "another key": "the signature is by the key {0}, and names the key {1}",
            "another profile": "the request is verified by the profile {0}, and not by {1}",
        }.get(self.name, "the sender signed {0}; you received {1}")
        told = words.format(self.signed, self.received)
        return f"{self.name}: {told}. {self.advice[:1].upper()}{self.advice[1:]}"


@dataclass(frozen=True, slots=True)
class ValidityPeriod:
    """When a signature is valid, and as of which time it was verified.

    Attributes:
        created: when the signature was made, seconds since the epoch, or None.
        expires: when it expires, seconds since the epoch, or None.
        judged_at: the clock of the verifier in this explanation.
        is_signing_time: whether that clock is `created`, and not a given time.
        now: the real clock.
        fault: why the signature is not valid now, or "".
    """

    created: int | None
    expires: int | None
    judged_at: float
    is_signing_time: bool
    now: float
    fault: str


@dataclass(frozen=True, slots=True)
class ContentDigests:
    """The digest of the content of a request, and the one that its Content-Digest field declares.

    Attributes:
        computed: the field value for the content as it was received, by the same algorithms.
        declared: the field value that was received, or None.
        matches: whether the content has each digest that the field declares.
    """

    computed: str
    declared: str | None
    matches: bool


@dataclass(frozen=True, slots=True)
class BaseDifference:
    """The first difference of two signature bases.

    Attributes:
        offset: the number of leading bytes that the two have in common.
        line: the number of the first line that differs, from 1.
        column: the number of the first byte that differs in that line, from 1.
        rebuilt: the line of the rebuilt base; empty if the rebuilt base has ended.
        signers: the line of the signer's base; empty if the signer's base has ended.
    """

    offset: int
    line: int
    column: int
    rebuilt: str
    signers: str


@dataclass(frozen=True, slots=True)
class ExplainedRequest:
    """The result of verifying a recorded request.

    Attributes:
        profile: the name of the profile by which it was verified.
        error: the error that rejected the request, or `None` if every checked step passed.
        cause: the cause of the rejection, or None if none is proven.
        summary: the result in one line of printable ASCII.
        base: the signature base rebuilt from the request; `None` if it cannot be rebuilt.
        signers_base: the base that the sender signed, if it was given or found; else `None`.
        difference: the first difference from the signer's base; `None` if they are equal or it is not known.
        validity: when the signature is valid; `None` if it cannot be read.
        digests: the digests of the content; `None` if there is neither content nor Content-Digest.
    """

    profile: str
    error: SignatureError | None
    cause: Cause | None
    summary: str
    base: str | None
    signers_base: str | None
    difference: BaseDifference | None
    validity: ValidityPeriod | None
    digests: ContentDigests | None

    @property
    def steps(self) -> Iterator[tuple[Step, Outcome]]:
        """Each step with its outcome: `passed`, `failed`, `not checked` or `not reached`."""
        reached = True
        for step in CHECKS:
            if self.error is not None and self.error.step == step:
                reached = False
                yield step, "failed"
            else:
                yield step, ("not checked" if step in _NOT_CHECKED else "passed") if reached else "not reached"


def explain_request(
    request: Request,
    profile: Profile | None,
    keys: KeySource,
    *,
    now: float | None = None,
    signers_base: bytes | None = None,
    origins: Sequence[Origin] = (),
) -> ExplainedRequest:
    """Verify a recorded request, assume a new nonce and an unrevoked key, and find the cause of a rejection.

    Args:
        request: the request as it was received, with its content.
        profile: the profile to verify it by, or None for a guess.
        keys: the keys to verify it with. Of a `KeySet`, every key is tried; of another source, those that it names.
        now: the verifier's clock, seconds since the epoch, or None to verify it at the time when it was signed.
        signers_base: the signature base that the signer signed, if it is known.
        origins: the origins of the service, which name hosts and prefixes that the sender may have signed.
    """
    profile = _guess(request, keys, now) if profile is None else profile
    signature = _Signature.of(request, profile)
    judged_at = _signing_time(signature) if now is None else now
    error = _rejection(request, profile, keys, judged_at)
    base = None if signature is None else _base(request, signature.read, profile)
    cause = None
    if error is not None:
        cause = _find_cause(request, profile, keys, signature, error, judged_at, origins)
        if cause is not None and cause.base is not None and signers_base is None:
            signers_base = cause.base.encode("ascii")
    known = None if signers_base is None else signers_base.decode("latin-1").removesuffix("\n").removesuffix("\r")
    validity = None
    if signature is not None:
        created, expires, clock = signature.seconds("created"), signature.seconds("expires"), time.time()
        _, fault = profile.validity.window(created, expires, now=clock)
        is_signing_time = now is None and created is not None
        validity = ValidityPeriod(created, expires, judged_at, is_signing_time, clock, fault)
    difference = None if base is None or known is None else _compare(base, known)
    equal = known is not None and base == known
    summary = _summary(request, profile, error, cause, keys=keys, validity=validity, equal=equal)
    return ExplainedRequest(profile.name, error, cause, summary, base, known, difference, validity, _digests(request))


@dataclass(frozen=True, slots=True)
class _Signature:
    """The first signature of a request that a profile verifies, read in each Base64.

    Attributes:
        label: its label.
        read: its member of Signature-Input.
        octets: its bytes, or None if they cannot be read in any Base64.
    """

    label: str
    read: SignatureInput
    octets: bytes | None

    @classmethod
    def of(cls, request: Request, profile: Profile) -> _Signature | None:
        """Return the signature, or None if the request is not signed or the signature cannot be parsed."""
        fields = request.fields.combined
        try:
            chosen = choose_signature_inputs(fields.get("signature-input") or "", profile.selection.labels)
        except MalformedField:
            return None
        if not chosen:
            return None
        label, read = chosen[0]
        return cls(label, read, _sequences(fields.get("signature", "")).get(label))

    @property
    def keyid(self) -> str:
        """The keyid that it names, or ""."""
        keyid = self.read.parameters.get("keyid")
        return keyid if isinstance(keyid, str) else ""

    def seconds(self, name: str) -> int | None:
        """Return the value of a parameter that is a time, or None."""
        value = self.read.parameters.get(name)
        return value if type(value) is int else None


def _sequences(value: str, *encodings: Encoding) -> dict[str, bytes]:
    try:
        return parse_byte_sequences(value, *(encodings or ("base64", "base64url")))
    except MalformedField:
        return {}


def _signing_time(signature: _Signature | None) -> float:
    created = None if signature is None else signature.seconds("created")
    return time.time() if created is None else created


def _guess(request: Request, keys: KeySource, now: float | None) -> Profile:
    """Return the profile that the request was most likely signed by: one that has its tag and gets furthest.

    Of several, it is the one that asks for most. It is the first profile if no signature can be read.
    """
    try:
        members = parse_signature_input(request.fields.combined.get("signature-input") or "")
    except MalformedField:
        members = {}
    tags = {member.parameters.get("tag") for member in members.values()}
    tagged = [one for one in _PROFILES if not tags.isdisjoint(one.selection.tags)]
    if not tagged and members:
        tagged = [one for one in _PROFILES if not one.selection.tags and any(map(one.selection.accepts, tags))]

    def fits(one: Profile) -> tuple[int, int]:
        at = _signing_time(_Signature.of(request, one)) if now is None else now
        error = _rejection(request, one, keys, at)
        reached = len(CHECKS) if error is None else list(CHECKS).index(error.step)
        return reached, len(one.components_of(request))

    return max(tagged or _PROFILES[:1], key=fits)


def _rejection(request: Request, profile: Profile, keys: KeySource, now: float) -> SignatureError | None:
    """Return the error that rejects the request, or None. Its nonce counts as new, and its key as not revoked."""
    # `ExaminedKeys` accepts keys for another profile, so that the error of the request says so.
    examined = ExaminedKeys(keys.keys) if isinstance(keys, KeySet) else keys
    try:
        Verifier(profile, keys=examined, replay=MemoryReplayStore(), clock=lambda: now).verify(request)
    except SignatureError as error:
        return error
    return None


def _base(request: Request, read: SignatureInput, profile: Profile) -> str | None:
    try:
        target = signed_target(request, profile)
        return signature_base(ComponentValues(request, target, reading=profile.reading), read.components, read.text)
    except (MalformedURL, UnresolvableComponent):
        return None


def _find_cause(
    request: Request,
    profile: Profile,
    keys: KeySource,
    signature: _Signature | None,
    error: SignatureError,
    now: float,
    origins: Sequence[Origin],
) -> Cause | None:
    """Return the cause of a rejection, or None if none is proven."""
    spelled = _other_spelling(request, profile) if error.step == _SPELLING else None
    values = None
    if signature is not None and signature.octets is not None and error.step in _SEARCHED:
        values = _values(request, profile, keys, signature, origins)
    proof = None if signature is None or values is None or spelled is None else _prove(values, signature.read)
    if spelled is not None and proof is not None:
        return Cause.of("other Base64", *spelled, keyid=proof[0])
    # A signature of AdCP over a URL as it was typed would also be one of DEFAULT, which is not what happened.
    others = _PROFILES if error.step in _OTHERWISE else _PROFILES[1:]
    for other in others:
        if other is not profile and _rejection(request, other, keys, now) is None:
            return Cause.of("another profile", other.name, profile.name)
    if error.step == _CONTENT:
        return _other_content(request, signature)
    if signature is None or values is None or (error.step == _SPELLING and spelled is None):
        return None
    return _search(values, signature.read)


def _search(values: SignedValues, read: SignatureInput) -> Cause | None:
    """Return the first alternative that the signature is valid for, or None."""
    end = time.monotonic() + MOST_SECONDS
    for one in alternatives(values):
        proof = _prove(one.values, read)
        if proof is not None:
            return Cause.of(one.name, one.signed, one.received, keyid=proof[0], base=proof[1])
        if time.monotonic() > end:
            break
    return None


def _values(
    request: Request, profile: Profile, keys: KeySource, signature: _Signature, origins: Sequence[Origin]
) -> SignedValues | None:
    """Return what the signature covers, or None if the authority cannot be read."""
    read, coverage = signature.read, signature.read.coverage
    lookup = KeyLookup(
        signature.keyid, read.parameters, coverage.names, request.method, request.url, request.fields,
        label=signature.label, identifiers=coverage.texts,
    )  # fmt: skip
    try:
        named = tuple(keys.find(lookup))[:MOST_CANDIDATES]
    except Exception:  # noqa: BLE001 - a source may raise anything when it is not available
        named = ()
    known = keys if isinstance(keys, KeySet) else ()
    try:
        received = SignedValues.of(request, profile, read, signature.octets or b"", keys=named)
    except MalformedURL:
        return None
    return received._replace(
        others=tuple(islice((key for key in known if key not in named), _MOST_KEYS)),
        keyid=signature.keyid,
        authorities=tuple(origin.authority for origin in origins),
        prefixes=tuple(origin.prefix for origin in origins if origin.prefix),
    )


def _prove(values: SignedValues, read: SignatureInput) -> tuple[str, str] | None:
    """Return the keyid and the base if one of the keys verifies the signature over these values, or None."""
    try:
        base = values.base(read)
        octets = base.encode("ascii")
    except (UnresolvableComponent, UnicodeEncodeError):
        return None
    if len(octets) > LONGEST_BASE:
        return None
    named = read.parameters.get("alg")
    for key in values.keys:
        algorithms = [named] if isinstance(named, str) and named in key.algorithms else sorted(key.algorithms)
        if any(key.verifies(values.signature, octets, algorithm=algorithm) for algorithm in algorithms):
            return key.keyid, base
    return None


def _other_spelling(request: Request, profile: Profile) -> tuple[str, str] | None:
    """Return which fields are in another Base64 than the profile expects, and the expected one; None if none is."""
    found: list[str] = []
    expected = ""
    expects: dict[str, tuple[Encoding, ...]] = {
        "signature": (profile.encoding,),
        "content-digest": profile.digest.encodings,
    }
    for name, encodings in expects.items():
        value = request.fields.combined.get(name, "")
        if _sequences(value) and not _sequences(value, *encodings):
            is_base64 = "base64" in encodings
            found.append(f"{name} in {'Base64url' if is_base64 else 'padded Base64'}")
            expected = "what must be padded Base64 (RFC 8941)" if is_base64 else "what must be unpadded Base64url"
    return (" and ".join(found), expected) if found else None


def _other_content(request: Request, signature: _Signature | None) -> Cause | None:
    """Return the cause of a digest that is of other content, or None."""
    created = None if signature is None else signature.seconds("created")
    # The header of gzip has four octets for the time.
    signed_at = created if created is not None and 0 < created < _GZIP_TIMES else 0
    expected = parse_digest(request.fields.combined.get("content-digest", ""))
    if expected:
        for words, content in other_contents(request.body, signed_at=signed_at):
            if has_digests(content, expected):
                return Cause.of("other content", words, f"{len(request.body)} other bytes")
    return None


def _digests(request: Request) -> ContentDigests | None:
    """Return the digest of the content, and the declared one."""
    declared = request.fields.combined.get("content-digest")
    if declared is None and not request.body:
        return None
    algorithms, encoding = next(digest_forms(declared))
    computed = content_digest(request.body, encoding, algorithms=algorithms)
    return ContentDigests(computed, declared, has_digests(request.body, parse_digest(declared or "")))


def _common(one: str, other: str) -> int:
    """Return how many characters two texts have in common at their beginning."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def _compare(rebuilt: str, signers: str) -> BaseDifference | None:
    """Return the first difference of two bases, or None if they are equal."""
    if signers == rebuilt:
        return None
    ours, theirs = rebuilt.split("\n"), signers.split("\n")
    shared = range(min(len(ours), len(theirs)))
    at = next((number for number in shared if ours[number] != theirs[number]), len(shared))
    our_line, their_line = "".join(ours[at : at + 1]), "".join(theirs[at : at + 1])
    column = _common(our_line, their_line) + 1
    return BaseDifference(_common(rebuilt, signers), at + 1, column, our_line, their_line)


def _summary(
    request: Request,
    profile: Profile,
    error: SignatureError | None,
    cause: Cause | None,
    *,
    keys: KeySource,
    validity: ValidityPeriod | None,
    equal: bool,
) -> str:
    """Return the result in one line."""
    if error is None:
        fault = validity and validity.fault
        return f"Verified by the profile {profile.name}{f' as of when it was signed. Now: {fault}' if fault else ''}."
    if cause is not None:
        return f"Cause: {cause}"
    if equal:
        return "Cause: the two bases are equal, so another key signed, or the signature was changed"
    return _unproven(request, error, keys, validity)


def _unproven(request: Request, error: SignatureError, keys: KeySource, validity: ValidityPeriod | None) -> str:
    """Return what the step that failed says, or that nothing explains it."""
    fields = request.fields.combined
    older = fields.get("signature", "") if "signature-input" not in fields else ""
    if _OLDER.search(older) or _OLDER.search(fields.get("authorization", "")):
        return (
            "Cause: the request is signed by draft-cavage-http-signatures, the scheme before RFC 9421, which is not "
            "explained here. In Python, ActivityPubVerifier verifies it"
        )
    if error.reason == "signature_invalid":
        named = keys.keys.get(error.keyid or "", ()) if isinstance(keys, KeySet) else ()
        thumbprints = ", ".join(key.thumbprint for key in named if key.thumbprint)
        which = f" (the key here has the thumbprint {thumbprints})" if thumbprints else ""
        return (
            "No cause found: no usual change explains the signature. Either the sender has another key under that kid"
            f"{which}, or several parts changed: `undersigned doctor` shows what changes on the way"
        )
    if error.step == _CONTENT:
        return (
            "No cause found: neither JSON written again, other line ends nor usual compression explains the digest. "
            f"{error.detail[:1].upper()}{printable(error.detail[1:])}"
        )
    advice = f". Fix: {REASONS[error.reason].operator}" if error.reason is not None else ""
    if error.reason == "signature_window_invalid" and validity is not None and not validity.is_signing_time:
        advice = f" (valid from {validity.created!r} to {validity.expires!r}, seconds since the epoch){advice}"
    return f"Cause: {CHECKS[error.step]}: {printable(error.detail)}{advice}"
