"""The guard: the part that all middlewares share.

A server makes an `Incoming` for each request. The guard verifies it, and returns what was accepted or the answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from undersigned.errors import ConfigurationError, MalformedURL, SignatureError, printable
from undersigned.limits import (
    DEFAULT_BODY_TIMEOUT,
    DEFAULT_MAX_BODY,
    DEFAULT_MAX_UNSIGNED_BODY,
    LONGEST_IN_LINE,
    LONGEST_TARGET,
)
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.answer import (
    TOO_MANY_FIELDS,
    ErrorResponse,
    UnreadRequest,
    logger,
    shaped,
    target_too_long,
)
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
from undersigned.middleware.options import check_options, start_line
from undersigned.middleware.requirement import Verification, is_preflight
from undersigned.policy.policy import is_of_adcp
from undersigned.url import Origins
from undersigned.verification.gate import Admitted, Gate
from undersigned.verification.verifier import SIGNATURE_FIELDS, AsyncVerifier

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from undersigned.message.content import Content
    from undersigned.middleware.decision import Decision
    from undersigned.middleware.incoming import Incoming
    from undersigned.middleware.options import Mode
    from undersigned.policy.policy import Policy
    from undersigned.url.origin import ConfiguredOrigins
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
        verifier: the verifier.
        origins: the public origins of the service.
        ask: the verifier as the gate asks it, if it is another one.
        in_thread: runs a slow function in a thread, if the server has one thread for all requests.
        body_timeout: how many seconds reading a body may take, in a server with an event loop.
        http2_server: the HTTP/2 server that compares `:authority` with Host, or None.
        fallback: whether another authenticator accepts the caller; a function of the `context` of an `Incoming`.
        mode: as in `Options`, with the arguments that follow. `rejection` gets the `context`.
        max_body: as in `Options`.
        max_unsigned_body: as in `Options`.
        policy: as in `Options`.
        on_decision: as in `Options`.
        rejection: as in `Options`.

    Attributes:
        profile: the verifier's profile.
        recorder: logs and passes on what is decided.

    Raises:
        ConfigurationError: an option has a wrong value, or the verifier's profile is for responses.
    """

    def __init__(
        self,
        verifier: AsyncVerifier,
        origins: ConfiguredOrigins,
        *,
        ask: GateVerifier | None = None,
        in_thread: InThread | None = None,
        body_timeout: float = DEFAULT_BODY_TIMEOUT,
        http2_server: str | None = None,
        fallback: Callable[..., bool | Awaitable[bool]] | None = None,
        mode: Mode = "required",
        max_body: int = DEFAULT_MAX_BODY,
        max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
        policy: Policy | None = None,
        on_decision: Callable[[Decision], object] | None = None,
        rejection: Callable[..., ErrorResponse] | None = None,
    ) -> None:
        if not isinstance(verifier, AsyncVerifier):
            raise ConfigurationError("verifier: pass a Verifier or, over ASGI, an AsyncVerifier")
        if verifier.profile.message != "request":
            raise ConfigurationError(f"verifier: its profile, {verifier.profile.name}, is for responses")
        check_options(mode, policy, fallback, http2_server, max_body=max_body, max_unsigned_body=max_unsigned_body)
        self.profile = verifier.profile
        self.policy = policy
        self.fallback = fallback
        self.rejection = rejection
        self.max_body = max_body
        self.body_timeout = body_timeout
        self._origins = Origins(origins)
        self._replay = verifier.replay
        self._mode: Mode = mode
        self._http2_server = http2_server
        self._has_noted_unnamed = False
        self._gate = Gate(
            ask or verifier,
            policy,
            fallback=fallback is not None,
            max_unsigned_body=min(max_unsigned_body, max_body),
            in_thread=in_thread,
        )
        self.recorder = Recorder(verifier.profile, verifier.clock, on_decision, origins=self._origins)

    def announce(self) -> None:
        """Log what is verified and where, and whether nonces are kept in this process only."""
        line = start_line(self.profile, self._origins, mode=self._mode, policy=self.policy, replay=self._replay)
        logger.info("%s", line)

    async def verify(self, incoming: Incoming) -> Accepted | ErrorResponse:
        """Verify one request. Return what the application gets, or the answer to a request that it must not get."""
        try:
            if incoming.has_too_many_fields:
                raise UnreadRequest(TOO_MANY_FIELDS, "there are too many header fields")
            if SIGNATURE_FIELDS.isdisjoint(incoming.fields.combined):
                return await self._accept_unsigned(incoming)
            return await self._accept_signed(incoming)
        except SignatureError as error:
            answer = shaped(ErrorResponse.of(error), self.rejection, incoming.context)
            self.recorder.record_error(error, incoming, status=answer.status)
            return answer

    async def _accept_signed(self, incoming: Incoming) -> Accepted:
        """Verify a signed request, and apply the policy.

        Raises:
            SignatureError: it is rejected, or not read to its end.
        """
        fields, profile = incoming.fields, self.profile
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
                self.recorder.record_error(error, incoming, outcome="unknown")
                return Accepted(_verification(incoming))
            incoming.accept(
                request.canonical_url() if admitted.signature is None else admitted.signature.target, origin
            )
        except MalformedURL as malformed:
            hosts, shown = incoming.fields.values("host"), without_query(incoming.shown_target())
            raise target_error(profile, malformed, hosts=hosts, target=shown) from None
        return self._accept(incoming, admitted, is_closed=not has_body)

    async def _accept_unsigned(self, incoming: Incoming) -> Accepted:
        """Apply the policy, or the mode, to an unsigned request. Its Host does not matter to a policy.

        Raises:
            SignatureError: it is rejected, not read to its end, or its target is too long to be signed.
        """
        try:
            return await (self._accept_by_mode if self.policy is None else self._accept_by_policy)(incoming)
        except SignatureError:
            if len(incoming.shown_target()) > LONGEST_TARGET:
                raise target_too_long() from None
            raise

    async def _accept_by_mode(self, incoming: Incoming) -> Accepted:
        if self._mode == "required":
            # Nothing of the target is checked yet. What is asked for depends on whether it has a query.
            shown, has_body = incoming.shown_target(), bool(incoming.has_body)
            message = Request(incoming.method, shown, incoming.fields, has_body=has_body)
            raise self.profile.error("signature_required", step=0, detail="the request is not signed", message=message)
        self.recorder.record_acceptance(None, incoming, observed=self._mode == "observe")
        return Accepted(_verification(incoming))

    async def _accept_by_policy(self, incoming: Incoming) -> Accepted:
        policy = self.policy
        method, has_body = incoming.method, bool(incoming.has_body)
        if is_preflight(method, incoming.fields.combined) and not has_body:
            self.recorder.record_acceptance(None, incoming)
            # A framework may find a view that runs for every method.
            return Accepted(_verification(incoming), is_closed=True)
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
        is_read = is_of_adcp(self.profile) or (policy is not None and policy.resolver.reads_body)
        return self._accept(incoming, admitted, is_closed=is_read and incoming.has_body is False)

    def _accept(self, incoming: Incoming, admitted: Admitted, *, is_closed: bool) -> Accepted:
        """Record a request that the gate has admitted, and return what the application gets."""
        signature = admitted.signature
        if signature is not None and not (signature.signer or self._has_noted_unnamed):
            self._note_unnamed(signature.keyid)
        if admitted.warning is None:
            self.recorder.record_acceptance(admitted.signature, incoming)
        else:
            self.recorder.record_error(admitted.warning, incoming, outcome="warned")
        return Accepted(_verification(incoming, admitted), admitted.content, is_closed)

    def _note_unnamed(self, keyid: str) -> None:
        """Warn once that a key has no owner, so that the application cannot tell who signed."""
        self._has_noted_unnamed = True
        logger.warning(
            "signature.signer is empty, as the key %s has no owner: give its source owner=, or put the source into "
            "KeySources, and tell callers apart by the signer",
            printable(keyid, limit=LONGEST_IN_LINE),
        )

    def _is_unknown(self, error: SignatureError) -> bool:
        """Return whether the sender is merely unknown, and the mode lets unsigned requests through."""
        unknown = self.policy is None and error.reason in self.profile.answers.unknown
        return unknown and self._mode != "required"


def _verification(incoming: Incoming, admitted: Admitted | None = None) -> Verification:
    """Return what is published of a request that the application gets; None: no policy has read it."""
    outer = incoming.outer if isinstance(incoming.outer, Verification) else None
    if admitted is None:
        return Verification(None, incoming, outer=outer)
    return Verification(admitted.signature, incoming, admitted.operation, admitted.request, outer)


def _with_one_host(fields: HeaderFields) -> HeaderFields:
    """Return `fields` with one of several equal Host values."""
    host = ("host", fields.repeated["host"][0])
    return HeaderFields([*(field for field in fields if field[0] != "host"), host])
