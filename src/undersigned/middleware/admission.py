"""What a middleware publishes of a request that the application gets."""

from __future__ import annotations

import dataclasses
from inspect import isawaitable
from operator import is_
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from undersigned.errors import SignatureError, VerificationUnavailable
from undersigned.limits import LONGEST_NAMES, LONGEST_TARGET
from undersigned.message.request import Request
from undersigned.middleware.decision_log import record
from undersigned.middleware.error_response import ErrorResponse, UnreadRequest, logger
from undersigned.policy.route import RouteResolver
from undersigned.reasons import fix_of
from undersigned.verification.verifier import SIGNATURE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, MutableMapping

    from undersigned.message.content import Content
    from undersigned.middleware.options import Service
    from undersigned.middleware.received import Received
    from undersigned.policy.operation import Operation
    from undersigned.policy.policy import Verdict
    from undersigned.policy.route import MatchedRoute
    from undersigned.signature.profile import Profile
    from undersigned.verification.verified_signature import VerifiedSignature

_CLOSED: Final = 403
"""The status of a handshake that a server can only close (ASGI, WebSocket close)."""

ADMISSION = "undersigned"
"""The key of a scope or environ for the `Admission`: everything that the middleware found out."""


class Admission(NamedTuple):
    """The admission of a request to the application, as a middleware publishes it. Nothing in it reads the wire.

    Attributes:
        service: the service that the request came to.
        received: the facts of the request.
        signature: the verified signature, or None if the request is unsigned.
        operation: the operation that the policy resolved, or None.
        warning: the error of a signature that failed, and that another credential of the caller excuses, or None.
        request: the request as it was rebuilt; None if nothing had to be. If a policy reads content, it has it.
    """

    service: Service
    received: Received
    signature: VerifiedSignature | None = None
    operation: Operation | None = None
    warning: SignatureError | None = None
    request: Request | None = None

    @property
    def profile(self) -> Profile:
        """The profile that the middleware verifies by."""
        return self.service.profile

    @property
    def message(self) -> Request:
        """The request as it was rebuilt, or else what the server shows of it, which nothing has checked."""
        if self.request is not None:
            return self.request
        received = self.received
        shown, has_body = received.shown_target(), bool(received.has_body)
        return Request(received.method, shown, received.fields, has_body=has_body)

    def as_signed(self, lines: Callable[[], Iterable[tuple[str, str]]]) -> list[tuple[str, str]] | None:
        """Return the server's `lines` in the form of `HeaderFields.as_signed`, or None to leave them as they are."""
        fields = self.received.fields
        if self.signature is None or fields.are_as_given:
            return None
        came = list(lines())
        texts = [text for one in (self.signature, *self.signature.others) for text in one.components]
        kept = fields.as_signed(texts, came)
        return None if kept == came else kept

    async def check_route(self, route: MatchedRoute) -> Admission:
        """Apply the policy to the route that is about to run, and return the admission with its operation.

        No method is exempt here, not even a CORS preflight: what a framework answers by itself runs no route.

        Raises:
            SignatureError: the policy rejects the request. The answer is recorded as one by the route.
        """
        policy, signature, outer = self.service.policy, self.signature, self.received.outer
        if isinstance(outer, Admission):
            await outer.check_route(route)
        if policy is None or not isinstance(policy.resolver, RouteResolver):
            return self
        operation = policy.resolver.operation_of(route, listed=policy.required_for)
        if signature is not None:
            signature = dataclasses.replace(signature, operation=operation)
        verdict = policy.decide(
            operation,
            "unsigned" if signature is None else "verified",
            self.message,
            fallback=self.service.fallback is not None,
            profile=self.profile,
        )
        admission = self._replace(signature=signature, operation=operation)
        try:
            await admission.settle(verdict)
        except SignatureError as error:
            self.reject(error, route=route.path)
            raise
        return admission

    async def settle(self, verdict: Verdict) -> None:
        """Settle what a policy has decided, for the guard and for a route alike.

        Raises:
            SignatureError: the verdict rejects the request, or asks for another credential and none is valid.
        """
        error = verdict.error
        if error is None or (verdict.outcome == "ask" and await self._accepts_caller()):
            return
        raise self._final(error)

    async def _accepts_caller(self) -> bool:
        """Return whether another authenticator of the application accepts the caller."""
        fallback = self.service.fallback
        accepted = fallback is not None and fallback(self.received.context())
        return (await accepted if isawaitable(accepted) else accepted) is True

    def unsigned_error(self, detail: str) -> SignatureError:
        """Return the error for a request that has no signature and needs one. The detail is for the operator's log."""
        return self._final(self.profile.error("signature_required", step=0, detail=detail))

    def _final(self, error: SignatureError) -> SignatureError:
        """Return the error as this request gets it. An unsigned request may be too large to be signed."""
        received = self.received
        if SIGNATURE_FIELDS.isdisjoint(received.fields.combined):
            why = "the request must be signed, and its %s longer than what can be verified"
            if len(received.shown_target()) > LONGEST_TARGET:
                return UnreadRequest("uri_too_long", why % "target is")
            if sum(map(len, received.fields.combined)) > LONGEST_NAMES:
                return UnreadRequest("request_header_fields_too_large", why % "header names are")
        return self.profile.add_answer(error, self.message)

    def reject(
        self,
        error: SignatureError,
        *,
        route: str | None = None,
        sent: int | None = None,
        by_route: bool = True,
        content: Content | None = None,
    ) -> ErrorResponse:
        """Return the answer to a rejected request, shaped as the application wants it, and record its status.

        The error keeps the answer, so that `ErrorResponse.of` returns the same.

        Args:
            error: why it is rejected.
            route: the path of the route as the framework spells it, for the `Decision`.
            sent: the status with which the application has answered already, or None.
            by_route: whether a route of the application rejects it, which the guard had let pass.
            content: its content, if it was read and the guard rejects it.
        """
        service, received = self.service, self.received
        advice = received.advice(error)
        if advice:
            error.fix = f"{advice}. Otherwise: {fix_of(error)}"
        answer = ErrorResponse.of(error)
        if service.rejection is not None:
            answer = _reshaped(answer, service.rejection, received.context())
        sent = _CLOSED if received.is_closed_only else sent
        if sent is not None:
            answer = dataclasses.replace(answer, status=sent)
        elif by_route:
            received.answers.append(answer)
        error.answer = answer
        record(
            "unavailable" if isinstance(error, VerificationUnavailable) else "rejected",
            received, service, error, request=self.request, content=content, status=answer.status, route=route,
            by_route=by_route,
        )  # fmt: skip
        return answer


def _reshaped(
    answer: ErrorResponse, rejection: Callable[[ErrorResponse, Any], object], context: object
) -> ErrorResponse:
    """Return the answer that the application's function makes of one; the same answer if it fails."""
    try:
        made = rejection(answer, context)
        if isinstance(made, ErrorResponse):
            return made
        raise TypeError(f"it returned an object of type {type(made).__name__}")  # noqa: TRY301 - logged as any other
    except Exception as failure:  # noqa: BLE001 - a rejected request stays rejected
        logger.error("rejection raised an exception, or returned no ErrorResponse; ignored", exc_info=failure)
        return answer


def shown_outside(outer: MutableMapping[str, Any], inner: Mapping[str, Any]) -> Callable[[], None]:
    """Return a function that shows the layers outside of a middleware what the application has written so far.

    Metrics and access logs read the route, the user and such there. What the middleware itself has put into `inner`,
    such as the target that was verified, stays there.

    Args:
        outer: the scope or environ of the server.
        inner: the one that the application gets.
    """
    given = {**inner}

    def show() -> None:
        nonlocal given
        # A thread of the application may write meanwhile: a copy is made at once.
        now = {**inner}
        if len(now) != len(given) or not all(map(is_, now.values(), given.values())):
            for key, value in now.items():
                if value is not given.get(key, given) and key != ADMISSION:
                    outer[key] = value
            given = now

    return show
