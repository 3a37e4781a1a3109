"""Explanation of a recorded request: the cause of a rejection, each step of the checklist, and the signature base."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Final, Literal

from undersigned import profiles
from undersigned.errors import CHECKS, ConfigurationError, MalformedURL, SignatureError, signature_error
from undersigned.explanation.cause import (
    Cause,
    byte_sequences,
    common,
    find_change,
    find_content,
    find_digest,
    other_spelling,
)
from undersigned.explanation.mistakes import syntax_fault
from undersigned.explanation.other_contents import digest_forms
from undersigned.explanation.signed_values import SignedValues
from undersigned.limits import MOST_CANDIDATES
from undersigned.log_text import printable
from undersigned.message.content_digest import content_digest, has_digests, read_digests
from undersigned.message.request_target import check_length, typed_target
from undersigned.message.signature_input import choose_signature_inputs, parse_signature_input
from undersigned.message.structured_fields import MalformedField
from undersigned.reasons import fix_of
from undersigned.redaction import WITHHELD
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.key_source import ExaminedKeys, KeyLookup, KeySet
from undersigned.url import URL, CanonicalURL, canonicalize_authority
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undersigned.errors import Step
    from undersigned.message.request import Request
    from undersigned.message.signature_input import SignatureInput
    from undersigned.message.structured_fields import Parameter
    from undersigned.signature.key_source import KeySource
    from undersigned.signature.profile import Profile
    from undersigned.signature.verification_key import VerificationKey
    from undersigned.url import Origin

_NOT_CHECKED: Final[frozenset[Step]] = frozenset({9, "9a", 12, 13})
"""Steps that need a revocation list or a replay store. A recorded request has neither."""

_SYNTAX: Final = 1
_TAG: Final = 3
_WINDOW: Final = 5
_CONTENT: Final = 11
_SEARCHED: Final[frozenset[Step]] = frozenset({_SYNTAX, 7, 8, 10})
_OLDER: Final = re.compile(r'(?:^|[,\s])(?:keyid|headers)="', re.IGNORECASE)
_MOST_KEYS: Final = 64
_OF_QUERY: Final = ("@target-uri", "@request-target", "@query", "@query-param")
_ZONE, _MOST_OFF, _LONGEST_ZONE = 1800, 60, 14 * 3600

Outcome = Literal["passed", "failed", "not checked", "not reached"]
"""What became of a step of the checklist."""


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
    clock_offsets: Sequence[float] = (),
) -> ExplainedRequest:
    """Verify a recorded request, assume a new nonce and an unrevoked key, and find the cause of a rejection.

    Args:
        request: the request as it was received, with its content.
        profile: the profile to verify it by, or None for the published one that its tag names.
        keys: the keys to verify it with. Of a `KeySet`, every key is tried; of another source, those that it names.
        now: the verifier's clock, seconds since the epoch, or None to verify it at the time when it was signed.
        signers_base: the signature base that the signer signed, if it is known.
        origins: the origins of the service, which name hosts and prefixes that the sender may have signed.
        clock_offsets: by how many seconds requests of this sender are created after they were received.

    Raises:
        ConfigurationError: the profile is for responses.
    """
    if profile is not None and profile.message != "request":
        raise ConfigurationError(f"profile: {profile.name} signs responses; pass one that signs requests")
    candidates = _candidates(request)
    by = _furthest(request, candidates, keys, now) if profile is None else profile
    if by is None:
        return _without_profile(request)
    signature = _signature(request, by)
    error = _rejection(request, by, keys, now)
    values = None if signature is None else _values(request, by, signature, keys, origins)
    base = None if values is None else values.base
    # Nearly every signature is one of DEFAULT, so that says nothing.
    others = (one for one in candidates if one not in (by, profiles.DEFAULT))
    valid = (one.name for one in others if _rejection(request, one, keys, now) is None)
    cause = None if error is None else _cause(request, by, error, values, valid)
    validity = None
    if signature is not None:
        created, expires, clock = _seconds(signature[1], "created"), _seconds(signature[1], "expires"), time.time()
        _, fault = by.validity.window(created, expires, now=clock)
        is_signing_time = now is None and created is not None
        validity = ValidityPeriod(created, expires, _judged_at(signature, now), is_signing_time, clock, fault)
    known = None if signers_base is None else _as_saved(signers_base).decode("latin-1")
    theirs = cause.base if known is None and cause is not None else known
    difference = None if base is None or theirs is None else _compare(base, theirs)
    if error is None:
        late = validity and validity.fault
        summary = f"Verified with the profile {by.name}{f' as of when it was signed. Now: {late}' if late else ''}."
    elif cause is not None:
        summary = f"Cause: {cause}"
    else:
        of_base = "" if values is None or signers_base is None else _of_base(values, base, signers_base, error)
        summary = of_base or _unproven(request, error, keys, validity, values, clock_offsets)
    return ExplainedRequest(by.name, error, cause, summary, base, theirs, difference, validity, _digests(request))


def _signature(request: Request, profile: Profile) -> tuple[str, SignatureInput] | None:
    """Return the label of the first signature that a profile verifies, and what it covers; None if there is none."""
    with suppress(MalformedField):
        field = request.fields.combined.get("signature-input", "")
        return next(iter(choose_signature_inputs(field, profile.selection.labels)), None)
    return None


def _seconds(read: SignatureInput, name: str) -> int | None:
    """Return the value of a parameter that is a time, or None."""
    value = read.parameters.get(name)
    return value if type(value) is int else None


def _judged_at(signature: tuple[str, SignatureInput] | None, now: float | None) -> float:
    """Return the time of a verification: the verifier's clock, or when the request was signed."""
    created = None if signature is None else _seconds(signature[1], "created")
    return now if now is not None else time.time() if created is None else created


def _rejection(request: Request, profile: Profile, keys: KeySource, now: float | None) -> SignatureError | None:
    """Return the error that rejects the request, or None. Its nonce counts as new, and its key as not revoked."""
    # `ExaminedKeys` accepts keys for another profile, so that the error of the request says so.
    source = ExaminedKeys(keys.keys) if isinstance(keys, KeySet) else keys
    at = _judged_at(_signature(request, profile), now)
    try:
        Verifier(profile, keys=source, replay=MemoryReplayStore(), clock=lambda: at).verify(request)
    except SignatureError as error:
        return error
    return None


def _tags(request: Request) -> set[Parameter | None]:
    """Return the tags of the signatures of a request, None for one without a tag. If they cannot be read, none."""
    with suppress(MalformedField):
        members = parse_signature_input(request.fields.combined.get("signature-input") or "").values()
        return {member.parameters.get("tag") for member in members}
    return set()


def _candidates(request: Request) -> list[Profile]:
    """Return the published profiles that the request may be signed by: those of its tag.

    Without a signature it is the first, and without a tag those that ask for none.
    """
    tags = _tags(request)
    if not tags:
        return list(profiles.FOR_REQUESTS[:1])
    tagged = [one for one in profiles.FOR_REQUESTS if not tags.isdisjoint(one.selection.tags)]
    return tagged or [one for one in profiles.FOR_REQUESTS if not one.selection.tags and tags == {None}]


def _furthest(request: Request, candidates: Sequence[Profile], keys: KeySource, now: float | None) -> Profile | None:
    """Return the profile with which the most steps pass, and of several, the one that asks for most; None of none."""

    def fits(one: Profile) -> tuple[int, int]:
        error = _rejection(request, one, keys, now)
        reached = len(CHECKS) if error is None else list(CHECKS).index(error.step)
        if error is not None and error.step == _WINDOW:
            reached = len(CHECKS) - 1  # A wrong time does not speak against a profile. Later checks do.
        return reached, len(one.components_of(request))

    return max(candidates, key=fits, default=None)


def _cause(
    request: Request, profile: Profile, error: SignatureError, values: SignedValues | None, valid: Iterator[str]
) -> Cause | None:
    """Return the cause of a rejection, or None if none is proven. The request is `valid` with the profiles of names."""
    # What was received is tried first. If it is what was signed, there is no change to look for.
    key = None if values is None else values.signer((values.base or "").encode())
    spelled = other_spelling(request, profile) if key is not None and error.step == _SYNTAX else ()
    if key is not None and spelled:
        return Cause.of("other Base64", *spelled, keyid=key.keyid)
    for other in valid:
        return Cause.of("another profile", other, profile.name)
    found = find_change(values) if values is not None and key is None and error.step in _SEARCHED else None
    if found is None and error.step in {_SYNTAX, _CONTENT}:
        found = find_digest(request, profile)
    if found is None and error.step == _CONTENT:
        found = find_content(request, 0 if values is None else _seconds(values.read, "created") or 0)
    return found


def _values(
    request: Request,
    profile: Profile,
    signature: tuple[str, SignatureInput],
    keys: KeySource,
    origins: Sequence[Origin],
) -> SignedValues | None:
    """Return what the signature covers, or None if the authority cannot be read."""
    label, read = signature
    named = read.parameters.get("keyid")
    keyid = named if isinstance(named, str) else ""
    octets = byte_sequences(request.fields.combined.get("signature", "")).get(label, b"")
    try:
        check_length(request.url)
        typed = URL.parse(request.url)
        scheme = (typed.scheme or "").lower()
        authority = canonicalize_authority(typed.authority or "", scheme, received=True)
    except MalformedURL:
        return None
    # A path or a query without a canonical form is taken as it is.
    target = typed_target(request.url, CanonicalURL(f"{scheme}://{authority}/", authority))
    with suppress(MalformedURL):
        target = request.signed_target(is_typed=profile.target == "typed")[1]
    lookup = KeyLookup(
        keyid, read.parameters, read.coverage.names, request.method, request.url, request.fields, label=label,
        identifiers=read.coverage.texts,
    )  # fmt: skip
    found: tuple[VerificationKey, ...] = ()
    with suppress(Exception):  # a source may raise anything when it is not available
        found = tuple(keys.find(lookup))[:MOST_CANDIDATES]
    others = (key for key in keys if key.keyid != keyid) if isinstance(keys, KeySet) and keyid else ()
    return SignedValues(
        request.method, target.scheme, target.authority, target.path, target.query, request.fields, request.content,
        typed, profile.reading._replace(lower_case_methods=True), read, label, octets,
        found, tuple(islice(others, _MOST_KEYS)), origins,
    )  # fmt: skip


def _without_profile(request: Request) -> ExplainedRequest:
    """Return the explanation of a request whose tag no published profile has."""
    tag = printable(", ".join(sorted(str(tag or "(none)") for tag in _tags(request))))
    error = signature_error(
        "signature_tag_invalid", "signature_tag_invalid", step=_TAG, detail="the tag is of no published profile",
        received=f"tag {tag}",
    )  # fmt: skip
    summary = (
        f"Not verified: no published profile has the tag {tag}, so nothing is guessed. Give your profile: --profile "
        "main:PROFILE, where main is the module and PROFILE the name in it; in Python, explain_request(request, PROFILE"
        ", keys)"
    )
    return ExplainedRequest("", error, None, summary, None, None, None, None, _digests(request))


def _digests(request: Request) -> ContentDigests | None:
    """Return the digest of the content and the declared one, or None if there is no content or it is not known."""
    declared = request.fields.combined.get("content-digest")
    if not request.body and (declared is None or request.has_body):
        return None
    algorithms, encoding = next(digest_forms(declared))
    computed = content_digest(request.body, encoding, algorithms=algorithms)
    return ContentDigests(computed, declared, has_digests(request.body, read_digests(declared or "")))


def _compare(rebuilt: str, signers: str) -> BaseDifference | None:
    """Return the first difference of two bases, or None if they are equal."""
    for line, (ours, theirs) in enumerate(zip_longest(rebuilt.split("\n"), signers.split("\n")), 1):
        if ours != theirs:
            column = common(ours or "", theirs or "") + 1
            return BaseDifference(common(rebuilt, signers), line, column, ours or "", theirs or "")
    return None


def _as_saved(base: bytes) -> bytes:
    """Return a base without what an editor adds to a file: a byte order mark, CRLF and a line end after the last."""
    return base.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").removesuffix(b"\n")


def _of_base(values: SignedValues, base: str | None, signers_base: bytes, error: SignatureError) -> str:
    """Return what the signer's base tells about a signature that is not valid, or "" if the rejection is another."""
    every = values._replace(keys=(*values.keys, *values.others))
    if base is not None and every.signer(base.encode("latin-1")):
        return ""
    saved = _as_saved(signers_base)
    tried = ((one, every.signer(one)) for one in (saved, signers_base, signers_base.rstrip(b"\r\n")))
    signed, key = next((one for one in tried if one[1] is not None), (saved, None))
    gap = None if base is None else _compare(base, signed.decode("latin-1"))
    if key is None and gap is None and base is not None:
        return "Cause: if this base is the sender's, not the server's, another key signed, or the signature was changed"
    seen = f": {printable(error.received)} has no value" if error.received else ""
    where = f"the request has no base to compare with{seen}"
    if gap is not None:
        given, received = (printable(line) or "no more" for line in (gap.signers, gap.rebuilt))
        texts = f"the given one has {given}; you received {received}"
        where = f"the bases differ in line {gap.line}, column {gap.column}: {texts}"
    if key is None:
        return (
            "No cause found: the signature is not over the given base with any of the given keys. Either the base is "
            f"of another request ({where}), or the sender signed with another key: sign this base again with the "
            "sender's key, and compare the signatures"
        )
    return f"Cause: the key is right: the signature is valid over the given base with {printable(key.keyid)}; {where}"


def _unproven(
    request: Request,
    error: SignatureError,
    keys: KeySource,
    validity: ValidityPeriod | None,
    values: SignedValues | None,
    clock_offsets: Sequence[float],
) -> str:
    """Return what the step that failed says, or what is excluded and what is left."""
    fields = request.fields.combined
    older = fields.get("signature", "") if "signature-input" not in fields else ""
    if _OLDER.search(older) or _OLDER.search(fields.get("authorization", "")):
        return (
            "Cause: the request is signed by draft-cavage-http-signatures, the scheme before RFC 9421, which is not "
            "explained here. In Python, ActivityPubVerifier verifies it"
        )
    if error.reason == "signature_invalid" and error.received is None and values is not None:
        return _not_over_this(values)
    if error.step == _CONTENT and error.received is None:
        return _other_body(request)
    seen = f" (received: {printable(error.received)})" if error.received else ""
    if error.reason == "signature_key_unknown":
        known = ", ".join(map(printable, islice(keys.keys, 8))) if isinstance(keys, KeySet) else ""
        seen = f" (received: keyid {printable(error.keyid or '')}{f'; known: {known}' if known else ''})"
    if error.reason == "signature_window_invalid" and validity is not None:
        times = f"created {validity.created}, expires {validity.expires}"
        seen = f" (received: {times})" if error.fix else f" ({_window(validity, clock_offsets)})"
    misspelt = syntax_fault(fields.get("signature-input", "")) if error.step == _SYNTAX else ""
    seen += f": {misspelt}" if misspelt else ""
    fix = fix_of(error)
    return f"Cause: {CHECKS[error.step]}: {printable(error.detail)}{seen}{f'. Fix: {fix}' if fix else ''}"


def _not_over_this(values: SignedValues) -> str:
    """Return what is left if no alternative explains a signature."""
    lengths = sorted(frozenset[int]().union(*(key.signature_lengths for key in values.keys)))
    if lengths and len(values.signature) not in lengths:
        algorithms = " or ".join(sorted(frozenset[str]().union(*(key.algorithms for key in values.keys))))
        return (
            f"Cause: the signature has {len(values.signature)} bytes, and one by {algorithms} has "
            f"{' or '.join(map(str, lengths))}: it was cut or written in another form, or is by another algorithm"
        )
    texts = {**values.fields.combined, **dict.fromkeys(_OF_QUERY, values.query or "")}
    withheld = [name for name in sorted(values.read.coverage.names) if WITHHELD in texts.get(name, "")]
    if withheld:
        return (
            f"No cause found: {printable(', '.join(withheld))} is covered, and its value is withheld in this record. "
            "Put the value into it, or let the middleware log it: log_whole=True"
        )
    thumbprints = ", ".join(one.thumbprint for one in values.keys if one.thumbprint)
    which = f" (the key here has the thumbprint {thumbprints})" if thumbprints else ""
    # A prefix that was stripped is in no part of the request.
    url = "" if values.origins else "the URL that clients call, such as --origin https://api.example.com/prefix, then "
    return (
        "No cause found: no usual change of a client, proxy, server, framework or language explains the signature. "
        f"Left: {'a proxy strips a path prefix, ' if url else ''}the sender has another key under that kid{which}, or "
        f"something else was changed. To tell them apart, give {url}the base that the sender signed: --base"
    )


def _other_body(request: Request) -> str:
    """Return what is left if no other content has the digest."""
    length = printable(request.fields.combined.get("content-length", ""))
    if length.isdecimal() and length != str(len(request.body)):
        return f"Cause: the body has {len(request.body)} bytes, and Content-Length is {length}: it was cut in transit"
    if not request.body:
        return "Cause: the body is empty, and the digest is of another one: it was lost, or is not in this record"
    return (
        "No cause found: neither JSON written again, other line ends or charsets nor usual compression explains the "
        f"digest. Left: the body, of {len(request.body)} bytes, was cut or changed otherwise, or the sender digested "
        "other bytes. To tell them apart, compare it with the body that was sent"
    )


def _window(validity: ValidityPeriod, offsets: Sequence[float]) -> str:
    """Return when a signature is valid, and by how much a clock is off."""
    created, expires = validity.created, validity.expires
    told = f"valid from {created!r} to {expires!r}, seconds since the epoch"
    off = 0 if created is None or validity.is_signing_time else created - validity.judged_at
    if not off:
        return told
    # A request is on its way for a moment only, and the zones of nearly all clocks differ by half hours.
    zone = round(off / _ZONE) * _ZONE
    is_zone = zone and abs(off - zone) <= _MOST_OFF and abs(zone) <= _LONGEST_ZONE
    hours = abs(zone) / 3600
    hint = f", {hours:g} hour{'' if hours == 1 else 's'}, as when local time is taken for UTC" if is_zone else ""
    side = "ahead" if off > 0 else "behind"
    alike = [abs(one) for one in offsets if one * off > 0]
    if 1 < len(alike) == len(offsets):
        hint += f"; {len(alike)} requests show that the sender's clock is {min(alike):.0f} to {max(alike):.0f} s {side}"
    return f"{told}; created is {abs(off):.0f} seconds {side}{hint}"
