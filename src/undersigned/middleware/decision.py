"""Decisions: what was decided about a request, for the log and for metrics.

A request that is rejected, or that passes although its signature failed, has one line in the log, and the evidence
below it.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from undersigned.errors import (
    CHECKS,
    SignatureError,
    UndersignedError,
    VerificationUnavailable,
    printable,
    without_credentials,
)
from undersigned.limits import LONGEST_IN_LINE
from undersigned.middleware.answer import UnreadRequest, logger
from undersigned.middleware.authority import matched_origin
from undersigned.middleware.evidence import Claims, Evidence, rebuilt_target_uri, without_query
from undersigned.reasons import fix_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.middleware.incoming import Incoming
    from undersigned.signature.profile import Profile
    from undersigned.url import Origins
    from undersigned.verification.verified_signature import VerifiedSignature

Outcome = Literal["verified", "unsigned", "unknown", "warned", "rejected", "unavailable"]
"""`unknown`: nobody knows the signer, so the request counts as unsigned, as profile and mode allow. `warned`: the
signature failed, and another credential excuses it. `unavailable`: the signature could not be verified."""


@dataclass(slots=True, kw_only=True)
class Decision:
    """The decision on one request. Every text in it is ours or has been escaped.

    It is not frozen, as that would cost each request a microsecond: do not change it.

    Attributes:
        outcome: what was decided.
        profile: the name of the verifier's profile.
        code: the code of the error, or None.
        step: the check that failed, by its name in the checklist (`undersigned.errors.CHECKS`), or None.
        method: the method, escaped and truncated, once the header fields were read.
        target: the request target as the server shows it, escaped and truncated; its query is withheld.
        origin: the origin the request was for, once it was found.
        target_uri: `@target-uri` as rebuilt from the request, its query withheld, if no key signed the base with it.
        client: the address of the client, if the server shows it. Behind a proxy that may be the proxy.
        status: the status of the answer with which the request was rejected.
        route: the path of the route, as the framework spells it, such as `/plans/{plan}`. It is known if the request
            was rejected when the route was about to run.
        keyid: the key id that the message names, escaped and truncated. Unless it is verified, anybody may claim it.
        algorithm: the algorithm that the signature names, once the signature was found to meet the profile.
        tag: the profile's tag, once the message was found to carry it.
        seconds: how long the decision took, including the time to read the content; 0 if a route rejected the request.
        skew: seconds from `created` to the verifier's clock at the decision; negative if `created` is in the future.
        seconds_off: if the signature is not valid now, how many seconds ago it ended; negative if it begins later.
        evidence: returns what the decision was made of. It is computed when it is called, so a listener that needs none
            pays nothing.
    """

    outcome: Outcome
    profile: str
    code: str | None = None
    step: str | None = None
    method: str | None = None
    target: str | None = None
    origin: str | None = None
    target_uri: str | None = None
    client: str | None = None
    status: int | None = None
    route: str | None = None
    keyid: str | None = None
    algorithm: str | None = None
    tag: str | None = None
    seconds: float
    skew: float | None = None
    seconds_off: float | None = None
    evidence: Callable[[], Evidence] = field(default=Evidence, repr=False, compare=False)


_LOGGED: Final = [
    "code",
    "step",
    "method",
    "target",
    "origin",
    "target_uri",
    "client",
    "status",
    "route",
    "keyid",
    "seconds_off",
]
"""The attributes of a `Decision` that a record of the log has, each with the prefix `signature_`."""

_NO_CLAIMS: Final = Claims()

_WORDS: Final[Mapping[Outcome, tuple[int, str]]] = {
    "warned": (logging.WARNING, "request accepted on another credential"),
    "unknown": (logging.INFO, "request accepted as unsigned"),
}


class Recorder:
    """A recorder that logs what was decided about requests and passes it to a callback.

    Args:
        profile: the verifier's profile.
        clock: the verifier's clock; seconds since the epoch.
        on_decision: gets a `Decision` for every request, or None.
        origins: the public origins of the service.
    """

    __slots__ = ("_clock", "_on_decision", "_origins", "_profile")

    def __init__(
        self,
        profile: Profile,
        clock: Callable[[], float],
        on_decision: Callable[[Decision], object] | None,
        *,
        origins: Origins,
    ) -> None:
        self._profile = profile
        self._clock = clock
        self._on_decision = on_decision
        self._origins = origins

    def record_acceptance(
        self, signature: VerifiedSignature | None, incoming: Incoming, *, observed: bool = False
    ) -> None:
        """Record a request that the application gets, without an error.

        Args:
            signature: the verified signature, or None.
            incoming: the request.
            observed: whether the mode only observes that the request is unsigned, so that a line is logged.
        """
        if observed or self._on_decision is not None:
            decision = self._decision("unsigned" if signature is None else "verified", incoming, signature)
            if observed:
                why = 'mode="observe" lets it pass, mode="required" would reject it'
                line = f"unsigned request accepted: {why} ({'; '.join(_request(decision))})"
                logger.warning("%s", line, extra=_fields(decision))
            self._publish(decision)

    def record_error(
        self,
        error: SignatureError,
        incoming: Incoming,
        *,
        outcome: Literal["warned", "unknown", "rejected"] = "rejected",
        status: int | None = None,
        route: str | None = None,
        by_route: bool = False,
    ) -> None:
        """Record an error: a request that is rejected, or that passes although its signature failed.

        Args:
            error: why the signature failed.
            incoming: the request.
            outcome: what was decided.
            status: the status of the answer, if the request is rejected.
            route: the path of the route as the framework spells it, such as `/plans/{plan}`.
            by_route: whether a route of the application rejects it, which the guard had let pass.
        """
        is_down = outcome == "rejected" and isinstance(error, VerificationUnavailable)
        decision = self._decision(
            "unavailable" if is_down else outcome, incoming, error, status=status, route=route, by_route=by_route
        )
        log_error(error, decision)
        self._publish(decision)

    def _decision(
        self,
        outcome: Outcome,
        incoming: Incoming,
        result: VerifiedSignature | SignatureError | None,
        *,
        status: int | None = None,
        route: str | None = None,
        by_route: bool = False,
    ) -> Decision:
        error = result if isinstance(result, SignatureError) else None
        keyid, created = (None, None) if result is None else (result.keyid, result.created)
        claims = _NO_CLAIMS if error is None else Claims.of(incoming.fields, self._profile)
        reason, now, shown = None if error is None else error.reason, self._clock(), incoming.shown_target()
        base = None if result is None else result.signature_base
        uri = rebuilt_target_uri(base) if base is not None and reason == "signature_invalid" else None
        detail, received = (None, None) if error is None else (error.detail, error.received)
        url = incoming.request.url or shown if incoming.origin is not None else shown
        fields, origins = incoming.fields, self._origins
        return Decision(
            outcome=outcome,
            profile=self._profile.name,
            code=None if error is None else error.code,
            step=None if error is None or isinstance(error, UnreadRequest) else CHECKS[error.step],
            method=_clean(incoming.method, 32),
            target=_clean(without_query(shown)),
            origin=self._origin_of(incoming),
            target_uri=None if uri is None else _clean(without_query(uri)),
            client=_clean(incoming.client, 64),
            status=status,
            route=route,
            keyid=_clean(keyid or claims.keyid, 128),
            algorithm=None if result is None else result.algorithm or None,
            tag=None if keyid is None else self._profile.selection.tag,
            seconds=0.0 if by_route else time.perf_counter() - incoming.begun,
            skew=None if created is None else now - created,
            seconds_off=claims.seconds_off(self._profile, now) if reason == "signature_window_invalid" else None,
            # It refers to no content, and nothing of it is in a repr.
            evidence=lambda: Evidence.of(
                url, fields, base=base, detail=detail, received=received, is_local=origins.are_loopback
            ),
        )

    def _origin_of(self, incoming: Incoming) -> str | None:
        if incoming.origin is None:
            # What is told of a request that was not for an origin, or whose origin did not matter, decides nothing.
            with suppress(Exception):
                return str(matched_origin(self._origins, incoming.fields, incoming.version))
        return None if incoming.origin is None else str(incoming.origin)

    def _publish(self, decision: Decision) -> None:
        if self._on_decision is None:
            return
        try:
            self._on_decision(decision)
        except Exception as failure:  # noqa: BLE001 - what counts or shows requests must not decide about them
            logger.error("on_decision raised an exception; ignored", exc_info=failure)


def log_error(error: SignatureError, decision: Decision) -> None:
    """Log a failed signature: one line at WARNING, because Python shows WARNING if nobody has configured logging.

    The line has the code, the check, the reason, the request and the fix. The record has the same as fields, such as
    `signature_code` and `signature_method`. The evidence, such as the rebuilt signature base, follows at INFO. The
    line is an ERROR only if a key source, a revocation source or a replay store raised an exception of another package.
    No sender can cause that while they work.
    """
    level, words = _WORDS.get(decision.outcome, (logging.WARNING, "request rejected"))
    is_down = isinstance(error, VerificationUnavailable) and decision.outcome not in _WORDS
    cause = None if isinstance(error.__cause__, UndersignedError) or not is_down else error.__cause__
    told = {**_fields(decision), "signature_detail": error.detail}
    line = line_of(error, decision)
    logger.log(level if cause is None else logging.ERROR, "%s: %s", words, line, extra=told, exc_info=cause)
    if logger.isEnabledFor(logging.INFO) and not isinstance(error, UnreadRequest):
        logger.info("evidence: %s", error.explain())


def line_of(error: SignatureError, decision: Decision) -> str:
    """Return one line about a rejected request: its code, check, reason, request, fix and what the sender wrote."""
    received = None if error.received is None else without_credentials(error.received)
    told = [
        *_request(decision),
        f"keyid: {decision.keyid}" if decision.keyid else "",
        f"@target-uri: {decision.target_uri}" if decision.target_uri else "",
        _off(decision.seconds_off),
        f"received: {printable(received, limit=LONGEST_IN_LINE)}" if received else "",
    ]
    check = "" if isinstance(error, UnreadRequest) else f" ({CHECKS[error.step]})"
    fix = fix_of(error)
    line = f"{error.code}{check}: {printable(error.detail.rstrip('.'))} ({'; '.join(filter(None, told))})"
    return f"{line}. Fix: {fix}" if fix else line


def _request(decision: Decision) -> list[str]:
    """Return which request it was, in parts."""
    named = (("route", decision.route), ("origin", decision.origin), ("client", decision.client))
    parts = [f"{name}: {value}" for name, value in (*named, ("answered", decision.status)) if value is not None]
    return [f"{decision.method or '?'} {decision.target or '?'}", *parts]


def _off(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"it ended {seconds:.0f} seconds ago" if seconds > 0 else f"it begins in {-seconds:.0f} seconds"


def _fields(decision: Decision) -> dict[str, object]:
    return {f"signature_{name}": getattr(decision, name) for name in _LOGGED}


def _clean(text: str | None, limit: int = LONGEST_IN_LINE) -> str | None:
    return None if text is None else printable(text, limit=limit)
