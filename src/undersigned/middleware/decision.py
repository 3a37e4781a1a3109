"""Decisions: what was decided of a request, for metrics and logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from undersigned.errors import VerificationUnavailable, printable

if TYPE_CHECKING:
    from undersigned.errors import SignatureError, Step
    from undersigned.signature.profile import Profile
    from undersigned.url.origin import Origin
    from undersigned.verification.checklist import VerifiedSignature

Outcome = Literal["verified", "unsigned", "warned", "refused", "unavailable"]
"""`warned`: the signature failed and another credential carries the request. `unavailable`: we could not find out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One judged request. Every text in it is ours or has been escaped.

    Attributes:
        outcome: what was decided.
        code: the code of the failure, or None.
        step: the step of the checklist that failed, or None.
        keyid: the key id the message named, escaped and cut, once its signature was of the profile's shape.
        tag: the profile's tag, once the message was found to carry it.
        origin: the origin the request was for, once it was found.
        seconds: how long judging took, reading the content included.
        skew: seconds from `created` to the verifier's clock when judging ended; negative where `created` lies ahead.
    """

    outcome: Outcome
    code: str | None = None
    step: Step | None = None
    keyid: str | None = None
    tag: str | None = None
    origin: str | None = None
    seconds: float
    skew: float | None = None

    @classmethod
    def of(
        cls,
        judged: VerifiedSignature | SignatureError | None,
        *,
        profile: Profile,
        origin: Origin | None,
        seconds: float,
        now: float,
        goes_on: bool,
    ) -> Decision:
        """Return the decision on a request.

        Args:
            judged: the signature that was verified, the failure, or None for an unsigned request that goes on.
            profile: the verifier's.
            origin: the origin, where it is known.
            seconds: how long judging took.
            now: the verifier's clock.
            goes_on: whether the application gets the request.
        """
        where = None if origin is None else str(origin)
        if judged is None:
            return cls(outcome="unsigned", origin=where, seconds=seconds)
        seen = judged.keyid is not None
        failure = judged if isinstance(judged, Exception) else None
        return cls(
            outcome=_outcome(failure, goes_on=goes_on),
            code=None if failure is None else failure.code,
            step=None if failure is None else failure.step,
            keyid=None if judged.keyid is None else printable(judged.keyid, limit=128),
            tag=profile.tag if seen else None,
            origin=where,
            seconds=seconds,
            skew=None if judged.created is None else now - judged.created,
        )


def _outcome(failure: SignatureError | None, *, goes_on: bool) -> Outcome:
    if failure is None:
        return "verified"
    if goes_on:
        return "warned"
    return "unavailable" if isinstance(failure, VerificationUnavailable) else "refused"
