"""Decisions: what was decided about a request, for the log and for metrics."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from undersigned.errors import CHECKS, SignatureError, VerificationUnavailable, printable
from undersigned.limits import LONGEST_IN_LINE
from undersigned.middleware.authority import matched_origin
from undersigned.middleware.evidence import Claims, Evidence, rebuilt_target_uri, without_query
from undersigned.middleware.rejection_log import (
    log_excused,
    log_rejection,
    log_unknown,
    log_unread,
    log_unsigned,
    logger,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.message.header_fields import HeaderFields
    from undersigned.middleware.answer import ErrorResponse
    from undersigned.middleware.incoming import Incoming
    from undersigned.signature.profile import Profile
    from undersigned.url import Origins
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
    known: Known | None = field(default=None, repr=False, compare=False)

    def evidence(self) -> Evidence:
        """Return what the decision was made of. It is computed now, so a listener that needs none pays nothing."""
        return Evidence() if self.known is None else Evidence.of(*self.known)


class Known(NamedTuple):
    """What a decision was made of, as it was received: not for a log. It refers to no content.

    Attributes:
        url: the URL, or the target as the server shows it.
        fields: the header fields.
        base: the signature base, if it was rebuilt.
        detail: what was wrong.
        received: other evidence.
        is_local: whether all origins of the middleware are loopback origins.
    """

    url: str
    fields: HeaderFields
    base: str | None
    detail: str | None
    received: str | None
    is_local: bool

    def __repr__(self) -> str:
        """Return nothing of it."""
        return "<Known>"


class Recorder:
    """A recorder that logs what was decided about requests and passes it to a callback.

    Args:
        profile: the verifier's profile.
        clock: the verifier's clock; seconds since the epoch.
        on_decision: gets a `Decision` for every request, or None.
        origins: the public origins of the service.

    Attributes:
        listens: whether there is such a callback.
    """

    __slots__ = ("_clock", "_on_decision", "_origins", "_profile", "listens")

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
        self.listens = on_decision is not None

    def record_acceptance(
        self,
        signature: VerifiedSignature | None,
        warning: SignatureError | None,
        incoming: Incoming,
        *,
        warns: bool = False,
    ) -> None:
        """Record a request that the application gets.

        Args:
            signature: the verified signature, or None.
            warning: the error that the policy forgave, or None.
            incoming: the request.
            warns: whether the mode only observes that the request is unsigned.
        """
        if warning is None and not warns and not self.listens:
            return
        outcome: Outcome = "verified" if signature is not None else "unsigned" if warning is None else "warned"
        decision = self._decision(outcome, incoming, warning or signature)
        if warning is not None:
            log_excused(warning, decision)
        if warns:
            log_unsigned(decision)
        self._publish(decision)

    def record_unknown(self, error: SignatureError, incoming: Incoming) -> None:
        """Record a request that the application gets as unsigned, since nobody knows its signer."""
        decision = self._decision("unknown", incoming, error)
        log_unknown(error, decision)
        self._publish(decision)

    def record_rejection(
        self,
        error: SignatureError,
        incoming: Incoming,
        response: ErrorResponse,
        *,
        by_route: bool = False,
        route: str | None = None,
    ) -> None:
        """Record a request that is rejected.

        Args:
            error: why it is rejected.
            incoming: the request.
            response: the answer.
            by_route: whether a route of the application rejects it, which the guard had let pass.
            route: the path of the route as the framework spells it, such as `/plans/{plan}`.
        """
        outcome: Outcome = "unavailable" if isinstance(error, VerificationUnavailable) else "rejected"
        decision = self._decision(outcome, incoming, error, status=response.status, route=route, by_route=by_route)
        log_rejection(error, decision)
        self._publish(decision)

    def record_unread(self, rejected: ErrorResponse, incoming: Incoming, response: ErrorResponse) -> None:
        """Record a request that was rejected before it was read to its end.

        Args:
            rejected: why it is rejected.
            incoming: the request.
            response: the answer.
        """
        decision = self._decision("rejected", incoming, None, status=response.status, code=rejected.code)
        log_unread(rejected, decision)
        self._publish(decision)

    def _decision(
        self,
        outcome: Outcome,
        incoming: Incoming,
        result: VerifiedSignature | SignatureError | None,
        *,
        code: str | None = None,
        status: int | None = None,
        route: str | None = None,
        by_route: bool = False,
    ) -> Decision:
        error = result if isinstance(result, SignatureError) else None
        keyid, created = (None, None) if result is None else (result.keyid, result.created)
        claims = Claims() if error is None and code is None else Claims.of(incoming.fields, self._profile)
        reason, now = None if error is None else error.reason, self._clock()
        base = error.signature_base if error is not None and reason == "signature_invalid" else None
        uri = None if base is None else rebuilt_target_uri(base)
        return Decision(
            outcome=outcome,
            profile=self._profile.name,
            code=code if error is None else error.code,
            step=None if error is None else CHECKS[error.step],
            method=_clean(incoming.method, 32),
            target=_clean(without_query(incoming.shown_target())),
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
            known=Known(
                incoming.url or incoming.shown_target(),
                incoming.fields,
                None if result is None else result.signature_base,
                None if error is None else error.detail,
                None if error is None else error.received,
                self._origins.are_loopback,
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


def _clean(text: str | None, limit: int = LONGEST_IN_LINE) -> str | None:
    return None if text is None else printable(text, limit=limit)
