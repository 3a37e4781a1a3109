"""Decisions: what was decided about a request, for the log and for metrics."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from undersigned.errors import SignatureError, VerificationUnavailable, printable
from undersigned.middleware.rejection_log import log_excused, log_rejection, log_unknown, log_unread, logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.errors import Step
    from undersigned.middleware.answer import ErrorResponse
    from undersigned.middleware.guard import Visit
    from undersigned.middleware.inspector import Inspector
    from undersigned.signature.profile import Profile
    from undersigned.url.origin import Origin
    from undersigned.verification.verified_signature import VerifiedSignature

Outcome = Literal["verified", "unsigned", "unknown", "warned", "rejected", "unavailable"]
"""`unknown`: nobody knows the signer, so the request counts as unsigned, as profile and mode allow. `warned`: the
signature failed, and another credential excuses it. `unavailable`: the signature could not be verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The decision on one request. Every text in it is ours or has been escaped.

    Attributes:
        outcome: what was decided.
        profile: the name of the verifier's profile.
        code: the code of the error, or None.
        step: the step of the checklist that failed, or None.
        method: the method, escaped and truncated, once the header fields were read.
        route: the path of the route, as the framework spells it, such as `/plans/{plan}`. It is known if the request
            was rejected when the route was about to run.
        keyid: the key id of the message, escaped and truncated, once its signature fields were parsed.
        algorithm: the algorithm that the signature names, once the signature was found to meet the profile.
        tag: the profile's tag, once the message was found to carry it.
        origin: the origin the request was for, once it was found.
        seconds: how long the decision took, including the time to read the content; 0 if a route rejected the request.
        skew: seconds from `created` to the verifier's clock at the decision; negative if `created` is in the future.
    """

    outcome: Outcome
    profile: str
    code: str | None = None
    step: Step | None = None
    method: str | None = None
    route: str | None = None
    keyid: str | None = None
    algorithm: str | None = None
    tag: str | None = None
    origin: str | None = None
    seconds: float
    skew: float | None = None


class Recorder:
    """A recorder that logs what was decided about requests and passes it to a callback.

    Args:
        profile: the verifier's profile.
        clock: the verifier's clock; seconds since the epoch.
        on_decision: gets a `Decision` for every request, or None.
        inspector: keeps the last decisions with their evidence, or None.

    Attributes:
        listens: whether there is such a callback or an inspector.
    """

    __slots__ = ("_clock", "_inspector", "_on_decision", "_profile", "listens")

    def __init__(
        self,
        profile: Profile,
        clock: Callable[[], float],
        on_decision: Callable[[Decision], object] | None,
        inspector: Inspector | None = None,
    ) -> None:
        self._profile = profile
        self._clock = clock
        self._on_decision = on_decision
        self._inspector = inspector
        self.listens = on_decision is not None or inspector is not None

    def record_acceptance(
        self, signature: VerifiedSignature | None, warning: SignatureError | None, visit: Visit
    ) -> None:
        """Record a request that the application gets.

        Args:
            signature: the verified signature, or None.
            warning: the error that the policy forgave, or None.
            visit: the request in the guard.
        """
        if warning is not None:
            log_excused(warning)
        if self.listens:
            outcome: Outcome = "verified" if signature is not None else "unsigned" if warning is None else "warned"
            self._report(outcome, warning or signature, visit)

    def record_unknown(self, error: SignatureError, visit: Visit) -> None:
        """Record a request that the application gets as unsigned, since nobody knows its signer."""
        log_unknown(error)
        if self.listens:
            self._report("unknown", error, visit)

    def record_rejection(self, error: SignatureError, visit: Visit) -> None:
        """Record a rejected request."""
        log_rejection(error)
        if self.listens:
            unavailable = isinstance(error, VerificationUnavailable)
            self._report("unavailable" if unavailable else "rejected", error, visit)

    def record_unread(self, response: ErrorResponse, visit: Visit) -> None:
        """Record a request that was rejected before it was read to its end."""
        log_unread(response)
        if self.listens:
            decision = Decision(
                outcome="rejected",
                profile=self._profile.name,
                code=response.code,
                method=_method(visit.method),
                origin=_text(visit.origin),
                seconds=_since(visit.begun),
            )
            self._publish(decision, visit)

    def record_rejection_by_route(
        self, error: SignatureError, *, method: str | None = None, route: str | None = None
    ) -> None:
        """Record a request that the middleware accepted and that a route of the application rejects.

        Args:
            error: why the route rejects the request.
            method: the method of the request.
            route: the path of the route as the framework spells it, such as `/plans/{plan}`.
        """
        log_rejection(error)
        if self.listens:
            decision = Decision(
                outcome="rejected",
                profile=self._profile.name,
                code=error.code,
                step=error.step,
                method=_method(method),
                route=route,
                seconds=0.0,
            )
            self._publish(decision, evidence=error)

    def _report(self, outcome: Outcome, evidence: VerifiedSignature | SignatureError | None, visit: Visit) -> None:
        error = evidence if isinstance(evidence, SignatureError) else None
        keyid = None if evidence is None else evidence.keyid
        created = None if evidence is None else evidence.created
        decision = Decision(
            outcome=outcome,
            profile=self._profile.name,
            code=None if error is None else error.code,
            step=None if error is None else error.step,
            method=_method(visit.method),
            keyid=None if keyid is None else printable(keyid, limit=128),
            algorithm=None if evidence is None else evidence.algorithm or None,
            tag=None if keyid is None else self._profile.selection.tag,
            origin=_text(visit.origin),
            seconds=_since(visit.begun),
            skew=None if created is None else self._clock() - created,
        )
        self._publish(decision, visit, evidence)

    def _publish(
        self,
        decision: Decision,
        visit: Visit | None = None,
        evidence: VerifiedSignature | SignatureError | None = None,
    ) -> None:
        if self._on_decision is not None:
            self._call("on_decision", partial(self._on_decision, decision))
        if self._inspector is not None:
            self._call("inspector", partial(self._inspector.record, decision, visit, evidence))

    def _call(self, option: str, listener: Callable[[], object]) -> None:
        try:
            listener()
        except Exception as failure:  # noqa: BLE001 - what counts or shows requests must not decide about them
            logger.error("%s raised an exception; ignored", option, exc_info=failure)


def _method(method: str | None) -> str | None:
    return None if method is None else printable(method, limit=32)


def _text(origin: Origin | None) -> str | None:
    return None if origin is None else str(origin)


def _since(begun: float) -> float:
    return time.perf_counter() - begun
