"""The guard: the part that all middlewares share.

A server makes an `Incoming` for each request. The guard verifies it, and returns what was accepted or the answer.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from undersigned.errors import ConfigurationError, MalformedURL, SignatureError
from undersigned.limits import LONGEST_TARGET
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.answer import TARGET_TOO_LONG, TOO_MANY_FIELDS, ErrorResponse, UnreadRequest, shaped
from undersigned.middleware.authority import (
    check_framing,
    check_method,
    check_names,
    check_version,
    matched_origin,
    target_error,
)
from undersigned.middleware.decision import Recorder
from undersigned.middleware.evidence import without_query
from undersigned.middleware.rejection_log import logger
from undersigned.middleware.requirement import Verification, is_preflight
from undersigned.middleware.start_line import start_line
from undersigned.policy.policy import is_of_adcp
from undersigned.verification.gate import Admitted, Gate
from undersigned.verification.verifier import SIGNATURE_FIELDS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from undersigned.message.content import Content
    from undersigned.middleware.decision import Decision
    from undersigned.middleware.incoming import Incoming
    from undersigned.middleware.options import Mode
    from undersigned.policy.policy import Policy
    from undersigned.url import Origins
    from undersigned.verification.gate import GateVerifier, InThread


_NO_ORIGIN = "https://unsigned.invalid"
"""The origin in the URL of an unsigned request, which a policy reads: it may have come with any Host."""


class Accepted(NamedTuple):
    """A request that the application gets.

    Attributes:
        verification: what to publish to the application.
        content: the content, or None if nothing had to read it to its end.
        is_closed: whether no content may reach the application, because a request without content was verified.
    """

    verification: Verification
    content: Content | None = None
    is_closed: bool = False


class Guard:
    """A guard that verifies every request of a service before the application gets it.

    Args:
        verifier: the verifier, which is awaited.
        origins: the public origins of the service.
        clock: the verifier's clock.
        replay: the verifier's replay store, for the log.
        mode: what happens to an unsigned request if there is no policy.
        policy: which operations must be signed, or None to let the mode decide.
        fallback: whether another authenticator accepts the caller; a function of the `context` of an `Incoming`.
        max_unsigned_body: upper bound on the bytes of content that the policy may read without a valid signature.
        http2_server: the HTTP/2 server that compares `:authority` with Host, or None.
        on_decision: gets a `Decision` for every request, or None.
        rejection: makes the answer to a rejected request of the usual one and the `context`, or None.
        in_thread: runs a slow function in a thread, if the server has one thread for all requests.

    Raises:
        ConfigurationError: the verifier's profile is for responses.
    """

    __slots__ = (
        "_fallback",
        "_gate",
        "_http2_server",
        "_mode",
        "_origins",
        "_policy",
        "_profile",
        "_recorder",
        "_rejection",
        "_replay",
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
        fallback: Callable[..., bool | Awaitable[bool]] | None,
        max_unsigned_body: int,
        http2_server: str | None,
        on_decision: Callable[[Decision], object] | None,
        rejection: Callable[..., ErrorResponse] | None,
        in_thread: InThread | None = None,
    ) -> None:
        if verifier.profile.message != "request":
            raise ConfigurationError(f"verifier: its profile, {verifier.profile.name}, is for responses")
        self._profile = verifier.profile
        self._origins = origins
        self._replay = replay
        self._mode: Mode = mode
        self._policy = policy
        self._fallback = fallback
        self._rejection = rejection
        self._http2_server = http2_server
        self._gate = Gate(
            verifier,
            policy,
            fallback=fallback is not None,
            max_unsigned_body=max_unsigned_body,
            in_thread=in_thread,
        )
        self._recorder = Recorder(verifier.profile, clock, on_decision, origins=origins)

    def announce(self) -> None:
        """Log what is verified and where, and whether nonces are kept in this process only."""
        line = start_line(self._profile, self._origins, mode=self._mode, policy=self._policy, replay=self._replay)
        logger.info("%s", line)

    async def verify(self, incoming: Incoming) -> Accepted | ErrorResponse:
        """Verify one request. Return what the application gets, or the answer to a request that it must not get."""
        if self._fallback is not None:
            incoming.ask = partial(self._fallback, incoming.context)
        try:
            if incoming.has_too_many_fields:
                return self._unread(TOO_MANY_FIELDS, incoming)
            if SIGNATURE_FIELDS.isdisjoint(incoming.fields.combined):
                return await self._accept_unsigned(incoming)
            return await self._accept_signed(incoming)
        except SignatureError as error:
            answer = shaped(ErrorResponse.of(error), self._rejection, incoming.context)
            self._recorder.record_rejection(error, incoming, answer)
            return answer
        except UnreadRequest as unread:
            return self._unread(unread.response, incoming)

    def _unread(self, response: ErrorResponse, incoming: Incoming) -> ErrorResponse:
        """Return the answer to a request that is not read to its end."""
        answer = shaped(response, self._rejection, incoming.context)
        self._recorder.record_unread(response, incoming, answer)
        return answer

    async def _accept_signed(self, incoming: Incoming) -> Accepted:
        """Verify a signed request, and apply the policy.

        Raises:
            SignatureError: it is rejected.
            UnreadRequest: its content is not read to its end.
        """
        fields, profile = incoming.fields, self._profile
        try:
            check_version(incoming.version, self._http2_server, detect=incoming.server, profile=profile)
            check_names(incoming.names, profile)
            check_framing(fields, profile)
            check_method(incoming.method)
            origin = incoming.origin = matched_origin(self._origins, fields, incoming.version)
            target, query_unknown = incoming.target()
            if "host" in fields.repeated:
                fields = _with_one_host(fields)
            has_body = bool(incoming.has_body)
            request = Request.unread(
                incoming.method, target, origin, fields, has_body=has_body, query_unknown=query_unknown
            )
            incoming.url = request.url
            undeclared = incoming.has_body is None
            try:
                admitted = await self._gate.verify(request, incoming, signed=True, undeclared=undeclared)
            except SignatureError as error:
                if not self._is_unknown(error):
                    raise
                self._recorder.record_unknown(error, incoming)
                return Accepted(self._verification(incoming, None))
            incoming.accept(
                request.canonical_url() if admitted.signature is None else admitted.signature.target, origin
            )
        except MalformedURL as malformed:
            hosts, shown = incoming.fields.values("host"), without_query(incoming.shown_target())
            raise target_error(profile, malformed, hosts=hosts, target=shown) from None
        self._recorder.record_acceptance(admitted.signature, admitted.warning, incoming)
        return Accepted(self._verification(incoming, admitted), admitted.content, is_closed=not has_body)

    async def _accept_unsigned(self, incoming: Incoming) -> Accepted:
        """Apply the policy, or the mode, to an unsigned request. Its Host does not matter to a policy.

        Raises:
            SignatureError: it is rejected.
            UnreadRequest: its content is not read to its end, or its target is too long to be signed.
        """
        try:
            return await (self._accept_by_mode if self._policy is None else self._accept_by_policy)(incoming)
        except SignatureError:
            if len(incoming.shown_target()) > LONGEST_TARGET:
                raise UnreadRequest(TARGET_TOO_LONG) from None
            raise

    async def _accept_by_mode(self, incoming: Incoming) -> Accepted:
        if self._mode == "required":
            # Nothing of the target is checked yet. What is asked for depends on whether it has a query.
            shown, has_body = incoming.shown_target(), bool(incoming.has_body)
            message = Request(incoming.method, shown, incoming.fields, has_body=has_body)
            raise self._profile.error("signature_required", step=0, detail="the request is not signed", message=message)
        self._recorder.record_acceptance(None, None, incoming, warns=self._mode == "observe")
        return Accepted(self._verification(incoming, None))

    async def _accept_by_policy(self, incoming: Incoming) -> Accepted:
        policy = self._policy
        method, has_body = incoming.method, bool(incoming.has_body)
        if is_preflight(method, incoming.fields.combined) and not has_body:
            self._recorder.record_acceptance(None, None, incoming)
            # A framework may find a view that runs for every method.
            published = self._verification(incoming, None)._replace(policy=policy, ask=incoming.ask)
            return Accepted(published, is_closed=True)
        incoming.server()
        path, (target, mark, query) = incoming.routed_path(), incoming.shown_target().partition("?")
        url = f"{_NO_ORIGIN}{quote(path, errors='replace')}{mark}{query}"
        raw = unquote(target, errors="replace")
        if (target and raw != path) or "#" in target:
            # Some routers read the one and some the other, and some cut off a fragment, which no target may have. So
            # neither may contain a listed operation.
            path = f"{path}\n{raw}"
        request = Request(method, url, incoming.fields, has_body=has_body)
        undeclared = incoming.has_body is None
        admitted = await self._gate.verify(request, incoming, signed=False, undeclared=undeclared, path=path)
        self._recorder.record_acceptance(None, admitted.warning, incoming)
        is_read = is_of_adcp(self._profile) or (policy is not None and policy.resolver.reads_body)
        closed = is_read and incoming.has_body is False
        return Accepted(self._verification(incoming, admitted), admitted.content, is_closed=closed)

    def _verification(self, incoming: Incoming, admitted: Admitted | None) -> Verification:
        """Return what is published of a request that the application gets; None: the policy does not touch it."""
        outer = incoming.outer if isinstance(incoming.outer, Verification) else None
        if admitted is None:
            return Verification(None, self._profile, self._recorder, incoming, outer=outer)
        return Verification(
            admitted.signature,
            self._profile,
            self._recorder,
            incoming,
            self._policy,
            incoming.ask,
            admitted.operation,
            admitted.request,
            outer,
        )

    def _is_unknown(self, error: SignatureError) -> bool:
        """Return whether the sender is merely unknown, and the mode lets unsigned requests through."""
        unknown = self._policy is None and error.reason in self._profile.answers.unknown
        return unknown and self._mode != "required"


def _with_one_host(fields: HeaderFields) -> HeaderFields:
    """Return `fields` with one of several equal Host values."""
    host = ("host", fields.repeated["host"][0])
    return HeaderFields([*(field for field in fields if field[0] != "host"), host])
