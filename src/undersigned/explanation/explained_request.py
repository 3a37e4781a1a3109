"""Explanation of a recorded request: each step of the checklist, the signature base, and the cause of a rejection."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from undersigned.cavage.digest import legacy_digest
from undersigned.errors import MalformedURL, printable
from undersigned.explanation.base_difference import BaseDifference, compare_bases
from undersigned.explanation.body_digest import ALGORITHM_NAMES, digest_fault, is_base64url
from undersigned.explanation.cause import CauseSearch, find_cause
from undersigned.explanation.draft import DRAFT, content_digest_of, is_in_authorization
from undersigned.explanation.profile_guess import guess, others, rejection, signing_time
from undersigned.explanation.recorded_signature import RecordedSignature, other_spellings, rebuilt_base
from undersigned.explanation.values import signed_target
from undersigned.message.content_digest import ContentDigest, content_digest
from undersigned.message.structured_fields import MalformedField
from undersigned.signature.components import UnresolvableComponent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from undersigned.errors import SignatureError, Step
    from undersigned.explanation.budget import Budget
    from undersigned.explanation.draft import DraftInput
    from undersigned.message.content_digest import DigestAlgorithm
    from undersigned.message.request import Request
    from undersigned.message.signature_input import SignatureInput
    from undersigned.message.structured_fields import Encoding
    from undersigned.signature.key_source import KeySource
    from undersigned.signature.profile import Profile
    from undersigned.url import Origin

CHECKS: Final[Mapping[Step, str]] = {
    0: "presence of a signature",
    1: "syntax of the signature fields",
    2: "required parameters",
    3: "tag",
    4: "algorithm",
    5: "validity period",
    6: "covered components",
    7: "key lookup",
    8: "key purpose",
    9: "key revocation",
    "9a": "nonce limit of the key",
    10: "target, authority and signature",
    11: "content digest",
    12: "nonce replay",
    13: "nonce storage",
    14: "repeated JSON keys",
}
"""The steps of the verifier's checklist, in order."""

_NOT_CHECKED: Final[frozenset[Step]] = frozenset({9, "9a", 12, 13})
"""Steps that need a revocation list or a replay store. A recorded request has neither."""

_SPELLING, _WINDOW, _PROOF, _CONTENT = 1, 5, 10, 11

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
        field: the name of the field: Content-Digest, or Digest for the draft.
        computed: the field value for the content as it was received, by the same algorithms.
        declared: the field value that was received, or None.
        matches: whether the content has each digest that the field declares.
    """

    field: str
    computed: str
    declared: str | None
    matches: bool


@dataclass(frozen=True, slots=True)
class ExplainedRequest:
    """The result of verifying a recorded request.

    Attributes:
        profile: the name of the profile by which it was verified.
        error: the error that rejected the request, or `None` if every checked step passed.
        base: the signature base rebuilt from the request; `None` if it cannot be rebuilt.
        signers_base: the base that the sender signed, if it was given or found; else `None`.
        difference: the first difference from the signer's base; `None` if they are equal or it is not known.
        search: the search for the cause.
        causes: the likely causes of the rejection, in sentences of printable ASCII.
        validity: when the signature is valid; `None` if it cannot be read.
        digests: the digests of the content; `None` if there is neither content nor Content-Digest.
    """

    profile: str
    error: SignatureError | None
    base: str | None
    signers_base: str | None
    difference: BaseDifference | None
    search: CauseSearch
    causes: tuple[str, ...]
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
    budget: Budget | None = None,
    clock: Callable[[], float] = time.time,
) -> ExplainedRequest:
    """Verify a recorded request, assume a new nonce and an unrevoked key, and find the cause of a rejection.

    Args:
        request: the request as it was received, with its content.
        profile: the profile to verify it by, or None for a guess.
        keys: the keys to verify it with.
        now: the verifier's clock, seconds since the epoch, or None to verify it at the time when it was signed.
        signers_base: the signature base that the signer signed, if it is known.
        origins: the origins of the service, which name hosts and prefixes that the sender may have signed.
        budget: how much the search for the cause may try.
        clock: the real clock.
    """
    profile = guess(request, keys, now=now) if profile is None else profile
    judged_at = signing_time(request, profile) if now is None else now
    error = rejection(request, profile, keys, now=judged_at)
    signature = RecordedSignature.of(request, profile)
    base = None if signature is None else _base(request, signature.read, profile)
    difference = _difference(base, signers_base, request.body)
    search = CauseSearch(None)
    if error is not None and difference is None:
        search = find_cause(request, profile, keys, now=judged_at, origins=origins, budget=budget)
        found = None if search.cause is None else search.cause.signature_base
        if found is not None:
            signers_base = found.encode("ascii")
            difference = _difference(base, signers_base, request.body)
    validity = None
    if signature is not None:
        validity = _validity(signature, profile, judged_at=judged_at, is_signing_time=now is None, now=clock())
    explained = ExplainedRequest(
        profile.name, error, base, None if signers_base is None else signers_base.decode("latin-1"), difference,
        search, (), validity, _digests(request, profile),
    )  # fmt: skip
    also = () if error is None else tuple(others(request, profile, keys, now=now))
    return replace(explained, causes=tuple(_causes(explained, request, profile, also=also)))


def _difference(base: str | None, signers_base: bytes | None, body: bytes) -> BaseDifference | None:
    return None if base is None or signers_base is None else compare_bases(base, signers_base, body=body)


def _validity(
    signature: RecordedSignature, profile: Profile, *, judged_at: float, is_signing_time: bool, now: float
) -> ValidityPeriod:
    created, expires = signature.created, signature.expires
    _, fault = profile.validity.window(created, expires, now=now)
    return ValidityPeriod(created, expires, judged_at, is_signing_time and created is not None, now, fault)


def _digests(request: Request, profile: Profile) -> ContentDigests | None:
    """Return the digest of the content, and the declared one."""
    field = "Digest" if profile is DRAFT else "Content-Digest"
    declared = request.fields.combined.get(field.lower())
    if declared is None and not request.body:
        return None
    try:
        parsed = ContentDigest.parse(content_digest_of(request, profile), "base64", "base64url")
    except MalformedField:
        parsed = ContentDigest({})
    declares: tuple[DigestAlgorithm, ...] = tuple(name for name in ALGORITHM_NAMES if name in parsed.expected)
    encoding: Encoding = "base64url" if declared is not None and is_base64url(declared) else "base64"
    computed = content_digest(request.body, encoding, algorithms=declares or ALGORITHM_NAMES[:1])
    if profile is DRAFT:
        computed = legacy_digest(content_digest(request.body, "base64"))
    return ContentDigests(field, computed, declared, parsed.running_digest(request.body).matches())


def _causes(
    explained: ExplainedRequest, request: Request, profile: Profile, *, also: Sequence[Profile]
) -> Iterator[str]:
    """Yield the causes of a rejection: those that are proven, or else what the step suggests."""
    cause = explained.search.cause
    if cause is not None:
        yield from map(str, cause.changes)
    elif explained.difference is not None:
        yield printable(explained.difference.cause)
    if cause is None and explained.error is not None:
        yield from _suggest(explained, explained.error.step, request, profile)
    if also and (cause is None or cause.changes[0].part != "profile"):
        names = " and ".join([other.name for other in also])
        yield f"the profile: the request is verified by {names}, and not by {profile.name}"


def _suggest(explained: ExplainedRequest, step: Step, request: Request, profile: Profile) -> Iterator[str]:
    """Yield the likely causes of a rejection at this step."""
    validity = explained.validity
    if step == 0 and is_in_authorization(request):
        yield "Authorization has a signature by draft-cavage-12: send it in the Signature field, where it is read"
    elif step == _SPELLING:
        for other in other_spellings(request, profile):
            yield f"{other.field} is in {other.found}: the profile {profile.name} expects {other.expected}"
    elif step == _WINDOW and validity is not None and not validity.is_signing_time:
        period = f"from {validity.created!r} to {validity.expires!r} (seconds since the epoch)"
        yield f"the signature is valid {period}: set --now accordingly"
    elif step == _CONTENT:
        yield from filter(None, [digest_fault(content_digest_of(request, profile))])
    elif step == _PROOF and explained.signers_base is not None and explained.difference is None:
        yield "the two bases are equal: another key signed, or the signature was changed"


def _base(request: Request, read: SignatureInput | DraftInput, profile: Profile) -> str | None:
    try:
        target = signed_target(request, profile)
        return rebuilt_base(read, request, target, reading=profile.coverage.reading)
    except (MalformedURL, UnresolvableComponent):
        return None
