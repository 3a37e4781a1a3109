"""The guard: the part that the ASGI and the WSGI middleware share.

A middleware makes an `Exchange` for each request. The guard gets the request from it, verifies the request, and returns
what the exchange makes for the application.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Generic

from undersigned.errors import ConfigurationError, MalformedURL, SignatureError
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.answer import ErrorResponse, UnreadRequest
from undersigned.middleware.authority import (
    check_framing,
    check_method,
    check_names,
    check_version,
    is_plain,
    matched_origin,
    target_error,
)
from undersigned.middleware.decision import Recorder
from undersigned.middleware.exchange import Exchange, Forwarded_co, Received
from undersigned.middleware.options import checked_mode
from undersigned.middleware.rejection_log import log_missing, logger
from undersigned.middleware.start_line import start_line
from undersigned.policy.route import RouteResolver
from undersigned.verification.gate import Gate
from undersigned.verification.screening import SIGNATURE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.message.request_target import RequestTarget
    from undersigned.middleware.decision import Decision
    from undersigned.middleware.inspector import Inspector
    from undersigned.policy.policy import Policy
    from undersigned.url import Origin, Origins
    from undersigned.verification.server import GateVerifier


class Rejected(Exception):
    """Raised when the guard rejects a request.

    Attributes:
        response: the response to send.
    """

    def __init__(self, response: ErrorResponse) -> None:
        super().__init__(response.code)
        self.response = response


class Visit:
    """One request in the guard, with what is known of it so far.

    Attributes:
        begun: when its verification began, by `time.perf_counter`.
        method: its method, or None.
        origin: its origin, or None.
        route: the path of its route, or None.
        fields: its header fields, or None.
        url: its URL, or None.
        shown_target: returns its target as the server shows it.
    """

    method: str | None = None
    origin: Origin | None = None
    route: str | None = None
    fields: HeaderFields | None = None
    url: str | None = None

    def __init__(self, shown_target: Callable[[], str]) -> None:
        self.begun = time.perf_counter()
        self.shown_target = shown_target


class Guard(Generic[Forwarded_co]):
    """A guard that verifies every request of a service before the application gets it.

    Args:
        verifier: the verifier, which is awaited.
        clock: the verifier's clock.
        origins: the public origins of the service.
        policy: which operations must be signed, or None to let the mode decide.
        fallback: whether the application has another authenticator.
        max_unsigned_body: upper bound on the bytes of content that the policy may read without a valid signature.
        http2_server: the HTTP/2 server that compares `:authority` with Host, or None.
        on_decision: gets a `Decision` for every request, or None.
        inspector: keeps the last decisions with their evidence, or None.

    Attributes:
        recorder: records the decisions, also those of the application's routes.
    """

    __slots__ = (
        "_gate",
        "_http2_server",
        "_is_routed",
        "_origins",
        "_policy",
        "_profile",
        "_unchecked",
        "_verifier",
        "recorder",
    )

    def __init__(
        self,
        verifier: GateVerifier,
        origins: Origins,
        *,
        clock: Callable[[], float],
        policy: Policy | None,
        fallback: bool,
        max_unsigned_body: int,
        http2_server: str | None,
        on_decision: Callable[[Decision], object] | None,
        inspector: Inspector | None,
    ) -> None:
        if verifier.profile.message != "request":
            raise ConfigurationError(f"verifier: its profile, {verifier.profile.name}, is for responses")
        self._verifier = verifier
        self._profile = verifier.profile
        self._origins = origins
        self._policy = policy
        self._is_routed = policy is not None and isinstance(policy.resolver, RouteResolver)
        self._unchecked = policy if self._is_routed else None
        self._http2_server = http2_server
        self._gate = Gate(verifier, policy, fallback=fallback, max_unsigned_body=max_unsigned_body)
        self.recorder = Recorder(verifier.profile, clock, on_decision, inspector)

    def announce(self, mode: object) -> None:
        """Log what is verified and where.

        The level is WARNING. Python shows no lower level if nobody has configured logging, and uvicorn, gunicorn and
        Flask configure their own loggers only.

        Args:
            mode: the mode of the middleware, or the function that returns it.
        """
        logger.warning("%s", start_line(self._profile, self._origins, mode=mode, policy=self._policy))

    async def admit(self, exchange: Exchange[Forwarded_co]) -> Forwarded_co:
        """Verify one request, and return what the application gets.

        Raises:
            Rejected: the application must not get the request.
        """
        visit = Visit(exchange.shown_target)
        handled = sys.exception()
        try:
            return await self._admit(exchange, visit)
        except SignatureError as error:
            self.recorder.record_rejection(error, visit)
            _drop_frames(error, handled)
            raise Rejected(ErrorResponse.of(error)) from None
        except UnreadRequest as unread:
            self.recorder.record_unread(unread.response, visit)
            raise Rejected(unread.response) from None

    async def _admit(self, exchange: Exchange[Forwarded_co], visit: Visit) -> Forwarded_co:
        received = exchange.received_request()
        visit.method, visit.fields = received.method, received.fields
        signed = not SIGNATURE_FIELDS.isdisjoint(received.fields.combined)
        if not signed and self._policy is None:
            self._check_mode(exchange, received)
            self.recorder.record_acceptance(None, None, visit)
            return exchange.forward_unsigned()
        fields = received.fields
        if self._unchecked is not None:
            # An application may declare routes until it gets its first request.
            unchecked, self._unchecked = self._unchecked, None
            log_missing(unchecked)
        try:
            if not is_plain(received):
                check_version(received.version, self._http2_server, detect=exchange.server, profile=self._profile)
                check_names(received.names, self._profile)
                check_framing(fields, self._profile)
                check_method(received.method)
            origin = visit.origin = matched_origin(self._origins, fields, received.version)
            target, query_unknown = exchange.target()
            if "host" in fields.repeated:
                fields = _with_one_host(fields)
            has_body = bool(received.has_body)
            request = Request.unread(
                received.method, target, origin, fields, has_body=has_body, query_unknown=query_unknown
            )
            visit.url = request.url
            if signed and origin.authority in self._origins.prefixes:
                origin, request = await self._signed_prefix(request, target, origin)
                visit.origin, visit.url = origin, request.url
            routed = partial(_router_input, exchange, request, origin) if self._is_routed else None
            undeclared = received.has_body is None
            try:
                admitted = await self._gate.verify(
                    request, exchange, signed=signed, undeclared=undeclared, dispatched=routed
                )
            except SignatureError as error:
                if not self._is_unknown(error, exchange):
                    raise
                self.recorder.record_unknown(error, visit)
                return exchange.forward_unsigned()
            verified = request.canonical_url() if admitted.signature is None else admitted.signature.target
            forwarded = exchange.forward(admitted, verified, origin, has_body=has_body)
        except MalformedURL as malformed:
            hosts, shown = received.fields.values("host"), exchange.shown_target()
            raise target_error(self._profile, malformed, hosts=hosts, target=shown) from None
        if self.recorder.listens or admitted.warning is not None:
            visit.route = None if admitted.operation is None else admitted.operation.route
            self.recorder.record_acceptance(admitted.signature, admitted.warning, visit)
        return forwarded

    async def _signed_prefix(self, request: Request, target: RequestTarget, first: Origin) -> tuple[Origin, Request]:
        """Return the origin whose prefix was signed, and the request for it; the first origin if none was signed.

        A proxy has stripped the prefix, so only the signature says which one it was. Nothing is claimed here.
        """
        for origin in self._origins.prefixes[first.authority]:
            candidate = replace(request, url=target.url(origin))
            try:
                await self._verifier.authenticate(candidate)
            except SignatureError as error:
                if error.reason != "signature_invalid":
                    break
            else:
                return origin, candidate
        return first, request

    def _is_unknown(self, error: SignatureError, exchange: Exchange[Forwarded_co]) -> bool:
        """Return whether the sender is merely unknown, and the mode lets unsigned requests through."""
        unknown = self._policy is None and error.reason in self._profile.answers.unknown
        return unknown and checked_mode(exchange.mode()) != "required"

    def _check_mode(self, exchange: Exchange[Forwarded_co], received: Received) -> None:
        checked = checked_mode(exchange.mode())
        if checked == "required":
            # Nothing of the target is checked yet. What is asked for depends on whether it has a query.
            shown, has_body = exchange.shown_target(), bool(received.has_body)
            message = Request(received.method, shown, received.fields, has_body=has_body)
            raise self._profile.error("signature_required", step=0, detail="the request is not signed", message=message)
        if checked == "observe":
            self.recorder.log.log_unsigned()


def _drop_frames(error: SignatureError, handled: BaseException | None) -> None:
    """Drop the frames of a recorded error and of what caused it, so that the memory of the request is free at once.

    Some frames refer to the error, so only the garbage collector would find them. An exception of an operator's source
    keeps its frames. So does the exception that the caller of the middleware is handling: an error page may be an
    application too.

    Args:
        error: the error.
        handled: that exception, or None.
    """
    found: BaseException | None = error
    while found is not None and found is not handled:
        found.__traceback__ = None
        found = None if found.__cause__ else found.__context__


def _router_input(exchange: Exchange[object], request: Request, origin: Origin) -> Mapping[str, object]:
    return exchange.router_input(request.canonical_url(), origin)


def _with_one_host(fields: HeaderFields) -> HeaderFields:
    """Return `fields` with one of several equal Host values."""
    host = ("host", fields.repeated["host"][0])
    return HeaderFields([*(field for field in fields if field[0] != "host"), host])
