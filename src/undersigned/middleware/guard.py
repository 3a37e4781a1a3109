"""The guard: the part that all middlewares share, from the request as received to the answer or what is published.

A server makes an `Incoming` for each request. The guard rebuilds the request as it was on the wire, verifies it and
applies the policy, in the same order for every server. Its methods are coroutines. The ASGI middleware awaits them. The
WSGI middleware runs them with `finish`, as they never wait over WSGI.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, unquote

from undersigned.errors import ConfigurationError, MalformedURL, SignatureError, printable
from undersigned.limits import (
    DEFAULT_BODY_TIMEOUT,
    DEFAULT_MAX_BODY,
    DEFAULT_MAX_UNSIGNED_BODY,
    LONGEST_IN_LINE,
    LONGEST_ON_LOOP,
    LONGEST_TARGET,
)
from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields
from undersigned.message.request import Request
from undersigned.middleware.answer import (
    ErrorResponse,
    UnreadRequest,
    logger,
    shaped,
    target_too_long,
)
from undersigned.middleware.authority import check_head, check_version, matched_origin, target_error
from undersigned.middleware.decision import Recorder
from undersigned.middleware.evidence import without_query
from undersigned.middleware.options import check_options, start_line
from undersigned.middleware.requirement import Verification, is_preflight
from undersigned.policy.operation import Operation, UnresolvedOperation, check_path
from undersigned.policy.policy import is_forgivable, is_of_adcp
from undersigned.policy.route import RouteResolver
from undersigned.replay.memory import MemoryReplayStore
from undersigned.url import Origins
from undersigned.verification.verifier import SIGNATURE_FIELDS, AsyncVerifier

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from undersigned.middleware.decision import Decision
    from undersigned.middleware.incoming import Incoming
    from undersigned.middleware.options import Mode
    from undersigned.policy.operation import OperationResolver
    from undersigned.policy.policy import Policy, SignatureResult, Verdict
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.verification.verified_signature import VerifiedSignature


Answer = TypeVar("Answer")

_NO_CONTENT = Content()
_NO_ORIGIN = "https://unsigned.invalid"
"""The origin in the URL of an unsigned request, which a policy reads: it may have come with any Host."""


class Guard:
    """A guard that verifies every request of a service before the application gets it.

    Args:
        verifier: the verifier, which is awaited.
        origins: the public origins of the service.
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
        in_memory: whether nonces are kept in the memory of this process only.
        unsigned_bounds: the options that bound JSON without a valid signature, in bytes.

    Raises:
        ConfigurationError: an option has a wrong value, or the verifier's profile is for responses.
    """

    def __init__(
        self,
        verifier: AsyncVerifier,
        origins: ConfiguredOrigins,
        *,
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
        self._mode: Mode = mode
        self._http2_server = http2_server
        self._has_noted_unnamed = False
        self._verifier = verifier
        self.unsigned_bounds = {"max_unsigned_body": max_unsigned_body, "max_body": max_body}
        self.in_memory = (
            isinstance(verifier.replay, MemoryReplayStore) and verifier.profile.replay.remembers != "nothing"
        )
        self.recorder = Recorder(verifier.profile, verifier.clock, on_decision, origins=self._origins)

    def announce(self) -> None:
        """Log what is verified and where, and whether nonces are kept in this process only."""
        level, line = start_line(
            self.profile, self._origins, mode=self._mode, policy=self.policy, in_memory=self.in_memory
        )
        logger.log(level, "%s", line)

    async def verify(self, incoming: Incoming) -> Verification | ErrorResponse:
        """Verify one request. Return what to publish to the application, or the answer to a rejected request."""
        try:
            if incoming.has_too_many_fields:
                raise UnreadRequest("request_header_fields_too_large", "there are too many header fields")
            if SIGNATURE_FIELDS.isdisjoint(incoming.fields.combined):
                return await self._accept_unsigned(incoming)
            return await self._accept_signed(incoming)
        except SignatureError as error:
            answer = shaped(ErrorResponse.of(error), self.rejection, incoming.context)
            self.recorder.record_error(error, incoming, status=answer.status)
            await self.let_others_first()
            return answer

    async def _accept_signed(self, incoming: Incoming) -> Verification:
        """Verify a signed request, and apply the policy.

        Raises:
            SignatureError: it is rejected, or not read to its end.
        """
        fields, profile, method = incoming.fields, self.profile, incoming.method
        try:
            check_version(incoming.version, self._http2_server, detect=incoming.server, profile=profile)
            check_head(method, fields, incoming.names, profile)
            origin = incoming.origin = matched_origin(self._origins, fields, incoming.version)
            target, query_unknown = incoming.target()
            if "host" in fields.repeated:
                fields = _with_one_host(fields)
            has_body = bool(incoming.has_body)
            request = Request.unread(method, target, origin, fields, has_body=has_body, query_unknown=query_unknown)
            try:
                verification = await self.admit(incoming, request)
            except SignatureError as error:
                if not self._is_unknown(error):
                    raise
                self.recorder.record_error(error, incoming, outcome="unknown")
                return Verification(None, incoming)
            signature = verification.signature
            incoming.accept(request.canonical_url() if signature is None else signature.target, origin)
        except MalformedURL as malformed:
            hosts, shown = incoming.fields.values("host"), without_query(incoming.shown_target())
            raise target_error(profile, malformed, hosts=hosts, target=shown) from None
        if signature is not None and not (signature.signer or self._has_noted_unnamed):
            self._note_unnamed(signature.keyid)
        if verification.warning is None:
            self.recorder.record_acceptance(signature, incoming)
        else:
            self.recorder.record_error(verification.warning, incoming, outcome="warned")
        return verification

    async def _accept_unsigned(self, incoming: Incoming) -> Verification:
        """Apply the policy, or the mode, to an unsigned request. Its Host does not matter to a policy.

        Raises:
            SignatureError: it is rejected, not read to its end, or its target is too long to be signed.
        """
        try:
            verification = Verification(None, incoming)
            if self.policy is None:
                self._check_mode(incoming)
            elif is_preflight(incoming.method, incoming.fields.combined) and not incoming.has_body:
                # A framework may find a view that runs for every method.
                incoming.is_closed = True
            else:
                verification = await self._admit_unsigned(incoming)
        except SignatureError:
            if len(incoming.shown_target()) > LONGEST_TARGET:
                raise target_too_long() from None
            raise
        observed = self.policy is None and self._mode == "observe"
        self.recorder.record_acceptance(None, incoming, observed=observed)
        return verification

    def _check_mode(self, incoming: Incoming) -> None:
        if self._mode == "required":
            # Nothing of the target is checked yet. What is asked for depends on whether it has a query.
            shown, has_body = incoming.shown_target(), bool(incoming.has_body)
            message = Request(incoming.method, shown, incoming.fields, has_body=has_body)
            raise self.profile.error("signature_required", step=0, detail="the request is not signed", message=message)

    async def _admit_unsigned(self, incoming: Incoming) -> Verification:
        incoming.server()
        path, (target, mark, query) = incoming.routed_path(), incoming.shown_target().partition("?")
        url = f"{_NO_ORIGIN}{quote(path, errors='replace')}{mark}{query}"
        raw = unquote(target, errors="replace")
        if (target and raw != path) or "#" in target:
            # Some routers read the one and some the other, and some cut off a fragment, which no target may have. So
            # neither may contain a listed operation.
            path = f"{path}\n{raw}"
        request = Request(incoming.method, url, incoming.fields, has_body=bool(incoming.has_body))
        return await self.admit(incoming, request, path=path)

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of a slow function; in a thread, if the server has one thread for all requests."""
        return call()

    async def let_others_first(self) -> None:
        """Let other requests go first, if the server has one thread for all requests."""

    async def admit(self, incoming: Incoming, request: Request, *, path: str | None = None) -> Verification:
        """Verify a request whose content has not been read, and apply the policy.

        Args:
            incoming: the request. It reads the content, and asks the other authenticator.
            request: what it was on the wire; for an unsigned request, what the policy reads.
            path: the percent-decoded path of an unsigned request as the application's router reads it. None: the
                request has signature fields.

        Raises:
            SignatureError: it is rejected.
        """
        incoming.request, policy = request, self.policy
        result: SignatureResult = "unsigned"
        signature = None
        if path is None:
            try:
                signature, result = await self._verified(incoming), "verified"
            except SignatureError as error:
                if self.fallback is None or not is_forgivable(error):
                    raise
                # Its frames refer to this one, and so to the error.
                result = error.with_traceback(None)
        if policy is None:
            verification = Verification(signature, incoming)
        else:
            verification = await self._judge(incoming, policy, signature, result, path)
        incoming.is_closed = self._is_without_content(incoming, signature)
        return verification

    def _is_without_content(self, incoming: Incoming, signature: VerifiedSignature | None) -> bool:
        """Return whether a request without content was accepted, and one with content might not be."""
        profile, policy = self.profile, self.policy
        if signature is not None and profile.required_components[True] != profile.required_components[False]:
            return not incoming.has_body
        is_read = policy is not None and (is_of_adcp(profile) or policy.resolver.reads_body)
        return is_read and incoming.has_body is False

    async def _judge(
        self,
        incoming: Incoming,
        policy: Policy,
        signature: VerifiedSignature | None,
        result: SignatureResult,
        path: str | None,
    ) -> Verification:
        """Apply the policy to a request whose signature has been looked at."""

        def decide() -> tuple[Operation | UnresolvedOperation, Verdict]:
            operation, fallback = _resolve(policy.resolver, incoming.request, path), self.fallback is not None
            # Only of an unsigned request does a policy look at the path.
            verdict = policy.decide(
                operation, result, incoming.request, fallback=fallback, profile=self.profile, path=path or ""
            )
            return operation, verdict

        if result != "verified" and (
            policy.resolver.reads_body or (is_of_adcp(self.profile) and decide()[1].outcome != "reject")
        ):
            await self._read_unverified(incoming)
        is_long = result != "verified" and incoming.content is not None and len(incoming.content) > LONGEST_ON_LOOP
        operation, verdict = await self.run(decide) if is_long else decide()
        if verdict.error is not None and (verdict.outcome == "reject" or await incoming.accepts_caller() is not True):
            raise self.profile.add_answer(verdict.error, incoming.request)
        if isinstance(operation, UnresolvedOperation):
            operation = Operation(is_unknown=True)
        if signature is not None:
            signature = replace(signature, operation=operation)
        return Verification(signature, incoming, operation, result if isinstance(result, SignatureError) else None)

    async def _verified(self, incoming: Incoming) -> VerifiedSignature:
        """Verify the signature. Read content once the signature is authentic, if it is covered or a policy reads it."""
        verifier, resolver = self._verifier, None if self.policy is None else self.policy.resolver
        first = resolver if resolver is not None and resolver.comes_first else None
        try:
            authentic = await verifier.authenticate(incoming.request)
        except SignatureError:
            if first is not None:
                await self._read_unverified(incoming)
                self._check_resolved(incoming, first)
            raise
        content, digest = _NO_CONTENT, authentic.running_digest()
        if digest is not None or (resolver is not None and resolver.reads_body and incoming.has_body is not False):
            content = await incoming.read_content(digest)
            self._keep(incoming, content)
        if first is not None:
            self._check_resolved(incoming, first)
        if not incoming.has_body and len(content) > 0:
            # No field declared this content. A signature over content must cover more than one over none.
            authentic = await verifier.authenticate(incoming.request)
            digest = authentic.running_digest(bytes(content))
        return await verifier.complete(authentic, _NO_CONTENT if digest is None else content, digest=digest)

    def _check_resolved(self, incoming: Incoming, resolver: OperationResolver) -> None:
        """Check that the operation of a signed request is resolved: AdCP reports that before its signature."""
        operation = _resolve(resolver, incoming.request, None)
        if isinstance(operation, UnresolvedOperation):
            raise self.profile.add_answer(operation.as_error(self.profile), incoming.request)

    async def _read_unverified(self, incoming: Incoming) -> None:
        """Read content that no valid signature covers, if it begins as JSON. Its beginning can be read only once."""
        if incoming.content is None and incoming.has_body is not False and not incoming.is_begun:
            incoming.is_begun = True
            content = await incoming.read_unverified()
            if content is not None:
                self._keep(incoming, content)

    def _keep(self, incoming: Incoming, content: Content) -> None:
        incoming.content = content
        if self.policy is not None or not incoming.has_body:
            # Only a policy reads it. A request with its content joins the chunks: it holds them twice.
            incoming.request = incoming.request.with_content(content)

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


def _resolve(resolver: OperationResolver, request: Request, path: str | None) -> Operation | UnresolvedOperation:
    """Return the operation that the resolver finds in what has been read, or the error that it raises."""
    try:
        if path is not None and not isinstance(resolver, RouteResolver):
            check_path(path)
        return resolver.resolve(request)
    except UnresolvedOperation as unresolved:
        unresolved.__context__ = unresolved.__traceback__ = None  # the frames refer to it, and it to them
        return unresolved


def _with_one_host(fields: HeaderFields) -> HeaderFields:
    """Return `fields` with one of several equal Host values."""
    host = ("host", fields.repeated["host"][0])
    return HeaderFields([*(field for field in fields if field[0] != "host"), host])
