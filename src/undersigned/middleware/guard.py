"""The guard: the part that the ASGI and the WSGI middleware share.

A middleware makes an `Exchange` for each request. The guard gets the request from it, verifies the request, and returns
what the exchange makes for the application.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Generic
from urllib.parse import quote, unquote

from undersigned.errors import ConfigurationError, MalformedURL, SignatureError
from undersigned.limits import LONGEST_TARGET
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.answer import TARGET_TOO_LONG, ErrorResponse, UnreadRequest
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
from undersigned.middleware.rejection_log import logger
from undersigned.middleware.requirement import is_preflight
from undersigned.middleware.start_line import start_line
from undersigned.policy.policy import is_of_adcp
from undersigned.verification.checklist import SIGNATURE_FIELDS
from undersigned.verification.gate import Gate

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.middleware.decision import Decision
    from undersigned.middleware.options import Mode
    from undersigned.policy.policy import Policy
    from undersigned.url import Origin, Origins
    from undersigned.verification.gate import GateVerifier


_NO_ORIGIN = "https://unsigned.invalid"
"""The origin in the URL of an unsigned request, which a policy reads: it may have come with any Host."""


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
        fields: its header fields, or None.
        version: its HTTP version.
        url: its URL, or None.
        shown_target: returns its target as the server shows it.
        client: the address of its client, if the server shows it.
    """

    method: str | None = None
    origin: Origin | None = None
    fields: HeaderFields | None = None
    version: str = "1.1"
    url: str | None = None

    def __init__(self, shown_target: Callable[[], str], client: str | None = None) -> None:
        self.begun = time.perf_counter()
        self.shown_target = shown_target
        self.client = client


class Guard(Generic[Forwarded_co]):
    """A guard that verifies every request of a service before the application gets it.

    Args:
        verifier: the verifier, which is awaited.
        clock: the verifier's clock.
        replay: the verifier's replay store, for the log.
        origins: the public origins of the service.
        mode: what happens to an unsigned request if there is no policy.
        policy: which operations must be signed, or None to let the mode decide.
        fallback: whether the application has another authenticator.
        max_unsigned_body: upper bound on the bytes of content that the policy may read without a valid signature.
        http2_server: the HTTP/2 server that compares `:authority` with Host, or None.
        on_decision: gets a `Decision` for every request, or None.

    Attributes:
        recorder: records the decisions, also those of the application's routes.
    """

    __slots__ = (
        "_gate",
        "_http2_server",
        "_mode",
        "_origins",
        "_policy",
        "_profile",
        "_replay",
        "_verifier",
        "recorder",
    )

    def __init__(
        self,
        verifier: GateVerifier,
        origins: Origins,
        *,
        clock: Callable[[], float],
        replay: object,
        mode: Mode,
        policy: Policy | None,
        fallback: bool,
        max_unsigned_body: int,
        http2_server: str | None,
        on_decision: Callable[[Decision], object] | None,
    ) -> None:
        if verifier.profile.message != "request":
            raise ConfigurationError(f"verifier: its profile, {verifier.profile.name}, is for responses")
        self._verifier = verifier
        self._profile = verifier.profile
        self._origins = origins
        self._replay = replay
        self._mode: Mode = mode
        self._policy = policy
        self._http2_server = http2_server
        self._gate = Gate(verifier, policy, fallback=fallback, max_unsigned_body=max_unsigned_body)
        self.recorder = Recorder(verifier.profile, clock, on_decision, origins=origins)

    def announce(self) -> None:
        """Log what is verified and where, and whether nonces are kept in this process only."""
        line = start_line(self._profile, self._origins, mode=self._mode, policy=self._policy, replay=self._replay)
        logger.info("%s", line)

    async def admit(self, exchange: Exchange[Forwarded_co]) -> Forwarded_co:
        """Verify one request, and return what the application gets.

        Raises:
            Rejected: the application must not get the request.
        """
        visit = exchange.visit
        try:
            return await self._admit(exchange, visit)
        except SignatureError as error:
            response = exchange.shaped(ErrorResponse.of(error))
            self.recorder.record_rejection(error, visit, response)
            raise Rejected(response) from None
        except UnreadRequest as unread:
            response = exchange.shaped(unread.response)
            self.recorder.record_unread(unread.response, visit, response)
            raise Rejected(response) from None

    async def _admit(self, exchange: Exchange[Forwarded_co], visit: Visit) -> Forwarded_co:
        received = exchange.received_request()
        visit.method, visit.version, visit.fields = received.method, received.version, received.fields
        signed = not SIGNATURE_FIELDS.isdisjoint(received.fields.combined)
        if not signed:
            try:
                return await self._admit_unsigned(exchange, received, visit)
            except SignatureError:
                if len(exchange.shown_target()) > LONGEST_TARGET:
                    raise UnreadRequest(TARGET_TOO_LONG) from None
                raise
        fields = received.fields
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
            undeclared = received.has_body is None
            try:
                admitted = await self._gate.verify(request, exchange, signed=True, undeclared=undeclared)
            except SignatureError as error:
                if not self._is_unknown(error):
                    raise
                self.recorder.record_unknown(error, visit)
                return exchange.forward_unsigned()
            verified = request.canonical_url() if admitted.signature is None else admitted.signature.target
            forwarded = exchange.forward(admitted, verified, origin, has_body=has_body)
        except MalformedURL as malformed:
            hosts, shown = received.fields.values("host"), exchange.shown_target()
            raise target_error(self._profile, malformed, hosts=hosts, target=shown) from None
        if self.recorder.listens or admitted.warning is not None:
            self.recorder.record_acceptance(admitted.signature, admitted.warning, visit)
        return forwarded

    async def _admit_unsigned(self, exchange: Exchange[Forwarded_co], received: Received, visit: Visit) -> Forwarded_co:
        """Apply the policy, or the mode, to an unsigned request. Its Host does not matter to a policy."""
        if self._policy is None:
            self._check_mode(exchange, received)
            self.recorder.record_acceptance(None, None, visit, warns=self._mode == "observe")
            return exchange.forward_unsigned()
        method, has_body = received.method, bool(received.has_body)
        if is_preflight(method, received.fields.combined) and not has_body:
            self.recorder.record_acceptance(None, None, visit)
            return exchange.forward_unsigned(closed=True)
        exchange.server()
        path, (target, mark, query) = exchange.routed_path(), exchange.shown_target().partition("?")
        url = f"{_NO_ORIGIN}{quote(path, errors='replace')}{mark}{query}"
        raw = unquote(target, errors="replace")
        if target and raw != path:
            # Some routers read the one and some the other, so neither may contain a listed operation.
            path = f"{path}\n{raw}"
        request = Request(method, url, received.fields, has_body=has_body)
        undeclared = received.has_body is None
        admitted = await self._gate.verify(request, exchange, signed=False, undeclared=undeclared, path=path)
        self.recorder.record_acceptance(None, admitted.warning, visit)
        is_read = self._policy.resolver.reads_body or is_of_adcp(self._profile)
        return exchange.forward_unsigned(admitted, closed=is_read and received.has_body is False)

    def _is_unknown(self, error: SignatureError) -> bool:
        """Return whether the sender is merely unknown, and the mode lets unsigned requests through."""
        unknown = self._policy is None and error.reason in self._profile.answers.unknown
        return unknown and self._mode != "required"

    def _check_mode(self, exchange: Exchange[Forwarded_co], received: Received) -> None:
        if self._mode == "required":
            # Nothing of the target is checked yet. What is asked for depends on whether it has a query.
            shown, has_body = exchange.shown_target(), bool(received.has_body)
            message = Request(received.method, shown, received.fields, has_body=has_body)
            raise self._profile.error("signature_required", step=0, detail="the request is not signed", message=message)


def _with_one_host(fields: HeaderFields) -> HeaderFields:
    """Return `fields` with one of several equal Host values."""
    host = ("host", fields.repeated["host"][0])
    return HeaderFields([*(field for field in fields if field[0] != "host"), host])
