"""A guess at the profile of a recorded request, and the other profiles by which it would be verified."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from undersigned import profiles
from undersigned.errors import SignatureError
from undersigned.explanation.draft import DRAFT, check_draft, is_draft
from undersigned.explanation.recorded_signature import RecordedSignature
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField
from undersigned.replay.memory import UncheckedReplay
from undersigned.signature.key_source import ExaminedKeys, KeySet
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.message.request import Request
    from undersigned.signature.key_source import KeySource
    from undersigned.signature.profile import Profile

REQUEST_PROFILES = (*(profile for profile in profiles.BY_NAME.values() if profile.message == "request"), DRAFT)
"""The published profiles that are for requests, and the scheme of draft-cavage-12."""


def guess(request: Request, keys: KeySource, *, now: float | None = None) -> Profile:
    """Return the profile that the request was most likely signed by; the draft if its Signature field is of the draft.

    It is one whose tag a signature has, and by which the request is verified or gets furthest. Of several, it is the
    one that asks for most. It is the first profile if no signature can be read.

    Args:
        request: the request.
        keys: the keys to verify it with.
        now: the verifier's clock, or None to verify it at the time when it was signed.
    """
    if is_draft(request):
        return DRAFT
    try:
        members = parse_signature_input(request.fields.combined.get("signature-input") or "")
    except MalformedField:
        members = {}
    tags = {member.parameters.get("tag") for member in members.values()}
    tagged = [one for one in REQUEST_PROFILES if not tags.isdisjoint(one.selection.tags)]
    if not tagged and members:
        tagged = [one for one in REQUEST_PROFILES if not one.selection.tags and any(map(one.selection.accepts, tags))]

    def fits(one: Profile) -> tuple[int, int]:
        return _reached_step(request, one, keys, now=now), len(one.components_of(request))

    return max(tagged or REQUEST_PROFILES[:1], key=fits)


def others(request: Request, profile: Profile, keys: KeySource, *, now: float | None = None) -> Iterator[Profile]:
    """Yield the other profiles by which the request is verified. `now` is as for `guess`."""
    for other in REQUEST_PROFILES:
        if other is not profile and rejection(request, other, keys, now=now) is None:
            yield other


def rejection(
    request: Request, profile: Profile, keys: KeySource, *, now: float | None = None
) -> SignatureError | None:
    """Return the error that rejects the request, or None. Its nonce counts as new, and its key as not revoked.

    `now` is as for `guess`.
    """
    at = signing_time(request, profile) if now is None else now
    # `ExaminedKeys` accepts keys for another profile, so that the error of the request says so.
    examined = ExaminedKeys(keys.keys) if isinstance(keys, KeySet) else keys
    try:
        if profile is DRAFT:
            check_draft(request, examined, now=at)
        else:
            Verifier(profile, keys=examined, replay=UncheckedReplay(), clock=lambda: at).verify(request)
    except SignatureError as error:
        return error
    return None


def signing_time(request: Request, profile: Profile) -> float:
    """Return when the request was signed, seconds since the epoch; the current time if its signature does not say."""
    signature = RecordedSignature.of(request, profile)
    created = None if signature is None else signature.created
    return time.time() if created is None else created


def _reached_step(request: Request, profile: Profile, keys: KeySource, *, now: float | None) -> int:
    """Return the step at which the request is rejected, or a larger number if it is verified."""
    error = rejection(request, profile, keys, now=now)
    return 100 if error is None else 9 if error.step == "9a" else error.step
