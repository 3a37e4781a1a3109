"""The gate: it verifies a request and applies a policy, in the same order for every server.

`Gate.verify` is a coroutine. For everything that needs IO, it awaits a verifier and a `Server`. The ASGI middleware
awaits it. The WSGI middleware runs it with `finish`, as it never waits over WSGI.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from undersigned.errors import SignatureError
from undersigned.limits import BYTES_PER_DELIMITER, DEFAULT_MAX_UNSIGNED_BODY, MOST_ON_LOOP
from undersigned.message.content import Content
from undersigned.policy.operation import UnresolvedOperation
from undersigned.policy.policy import is_forgivable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.message.request import Request
    from undersigned.policy.operation import Operation, OperationResolver
    from undersigned.policy.policy import Policy, SignatureResult
    from undersigned.policy.route import RouteResolver
    from undersigned.verification.server import GateVerifier, Server
    from undersigned.verification.verified_signature import AuthenticatedSignature, VerifiedSignature

Answer = TypeVar("Answer")


class Admitted(NamedTuple):
    """A request that the application gets.

    Attributes:
        signature: the verified signature, or None if another credential or none identifies the caller.
        operation: the operation of the request, if a policy has resolved it.
        content: the content, or None if nothing had to read it.
        warning: the error of a signature that the policy forgave.
    """

    signature: VerifiedSignature | None
    operation: Operation | None
    content: Content | None
    warning: SignatureError | None = None


class Gate:
    """A gate that verifies requests and, if there is a policy, applies it.

    Args:
        verifier: the verifier.
        policy: which operations must be signed, or None if the gate only gets signed requests.
        fallback: whether the application has another authenticator to ask.
        max_unsigned_body: upper bound on the bytes of content that the policy may read without a valid signature.
    """

    __slots__ = ("_fallback", "_max_unsigned_body", "_policy", "_profile", "_verifier")

    def __init__(
        self,
        verifier: GateVerifier,
        policy: Policy | None = None,
        *,
        fallback: bool = False,
        max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
    ) -> None:
        self._verifier = verifier
        self._profile = verifier.profile
        self._policy = policy
        self._fallback = fallback
        self._max_unsigned_body = max_unsigned_body

    async def verify(
        self,
        request: Request,
        server: Server,
        *,
        signed: bool,
        undeclared: bool = False,
        dispatched: Callable[[], Mapping[str, object]] | None = None,
    ) -> Admitted:
        """Verify a request whose content has not been read.

        Args:
            request: the request as it was on the wire.
            server: the server that has the request. It reads the content and asks the other authenticator.
            signed: whether the request has any signature field.
            undeclared: whether content may come that no field declares, as over HTTP/2 without Content-Length.
            dispatched: returns the scope or environ that the application will get, if the policy asks its router.

        Raises:
            SignatureError: the request is rejected.
        """
        policy = self._policy
        message = _Message(request, self._verifier, server, undeclared=undeclared, dispatched=dispatched)
        if policy is None:
            return Admitted(await message.verify(), None, message.content)
        operation: Operation | UnresolvedOperation | None = None
        if policy.resolver.comes_first:
            operation = await self._first_operation(policy, message, signed=signed)
        resolved_from = message.request
        signature: VerifiedSignature | None = None
        result: SignatureResult = "unsigned"
        if signed and not isinstance(operation, UnresolvedOperation):
            try:
                signature, result = await message.verify(), "verified"
            except SignatureError as error:
                if not self._fallback or not is_forgivable(error):
                    raise
                result = error
        if operation is None or message.request is not resolved_from:
            operation = await self._operation(policy, message, result)
        warning = await self._warning(policy, operation, message, result)
        # The policy has rejected an unresolved operation, so this is an `Operation`.
        resolved = cast("Operation", operation)
        if signature is not None:
            signature = replace(signature, operation=resolved)
        return Admitted(signature, resolved, message.content, warning)

    async def _first_operation(
        self, policy: Policy, message: _Message, *, signed: bool
    ) -> Operation | UnresolvedOperation | None:
        """Return the operation, so that its error is reported first; or None if the signature is to be verified first.

        If the signature over the header fields is not valid, at most `max_unsigned_body` bytes of content are read.
        """
        failure = await message.authenticate() if signed else None
        if not signed or failure is not None:
            return await self._unverified_operation(policy, message, failure or "unsigned")
        await message.read()
        # The signed fields may be copied from another request, which only the digest of the content shows. It is
        # checked later, so long content is not parsed on the event loop yet.
        return message.operation(policy.resolver) if message.is_short else None

    async def _operation(
        self, policy: Policy, message: _Message, result: SignatureResult
    ) -> Operation | UnresolvedOperation:
        """Return the operation. Read the content only if the resolver or the webhook rule needs it."""
        if result == "verified":
            if policy.resolver.reads_body:
                await message.read()
            return message.operation(policy.resolver)
        if not policy.resolver.reads_body and message.is_unread:
            operation = message.operation(policy.resolver)
            if policy.decide(operation, result, fallback=self._fallback, profile=self._profile).outcome == "reject":
                return operation
        # An application may read content of any type as JSON, and register a webhook with it.
        return await self._unverified_operation(policy, message, result)

    async def _unverified_operation(
        self, policy: Policy, message: _Message, result: SignatureResult
    ) -> Operation | UnresolvedOperation:
        """Return the operation of a request without a valid signature.

        Raises:
            SignatureError: the content is longer than `max_unsigned_body`, or has too many delimiters. It is not
                searched, so it must be signed.
        """
        most = self._max_unsigned_body
        if not await message.read_unverified(most):
            raise self._unsearched_error(message, result, "the body is longer than max_unsigned_body")
        if message.is_dense(max(most, DEFAULT_MAX_UNSIGNED_BODY) // BYTES_PER_DELIMITER):
            why = "the body has too many brackets, commas, colons or escapes to be searched"
            raise self._unsearched_error(message, result, why)
        if not message.is_short:
            # Parsing and resolving each take some milliseconds. In between, the event loop has a turn.
            await message.server.run_apart(message.parse)
        return await message.run_apart(partial(message.operation, policy.resolver))

    def _unsearched_error(self, message: _Message, result: SignatureResult, why: str) -> SignatureError:
        if isinstance(result, SignatureError):
            return result
        detail = f"{why}, so the request must be signed"
        return self._profile.error("signature_required", step=0, detail=detail, message=message.request)

    async def _warning(
        self, policy: Policy, operation: Operation | UnresolvedOperation, message: _Message, result: SignatureResult
    ) -> SignatureError | None:
        """Apply the policy. Return the error that it forgives, or None if there was no error.

        Raises:
            SignatureError: the policy rejects the request.
        """
        decide = partial(policy.decide, operation, result, fallback=self._fallback, profile=self._profile)
        verdict = decide() if result == "verified" else await message.run_apart(decide)
        if verdict.error is None:
            return None
        if verdict.outcome == "reject" or await message.server.accepts_caller() is not True:
            if not isinstance(operation, UnresolvedOperation):
                verdict.error.route = operation.route
            raise self._profile.add_answer(verdict.error, message.request)
        return result if isinstance(result, SignatureError) else None


class _Message:
    """A request that is being verified, with its content once it has been read."""

    __slots__ = ("_authenticated", "_dispatched", "_undeclared", "_verifier", "content", "request", "server")

    def __init__(
        self,
        request: Request,
        verifier: GateVerifier,
        server: Server,
        *,
        undeclared: bool,
        dispatched: Callable[[], Mapping[str, object]] | None,
    ) -> None:
        self.request, self._undeclared, self._dispatched = request, undeclared, dispatched
        self._verifier, self.server = verifier, server
        self._authenticated: AuthenticatedSignature | SignatureError | None = None
        self.content: Content | None = None

    @property
    def is_unread(self) -> bool:
        """Whether the request has, or may have, content that has not been read."""
        return self.content is None and (self.request.has_body or self._undeclared)

    @property
    def is_short(self) -> bool:
        """Whether the content that has been read is short enough to be parsed on the event loop."""
        return self.content is None or len(self.content) <= MOST_ON_LOOP

    def parse(self) -> None:
        """Parse the content that has been read. The resolver gets the result, or the error."""
        with suppress(ValueError):
            cast("Content", self.content).json()

    def is_dense(self, most: int) -> bool:
        """Return whether the content that has been read has more than `most` delimiters."""
        return self.content is not None and len(self.content) > most and self.content.delimiters() > most

    async def run_apart(self, call: Callable[[], Answer]) -> Answer:
        """Run a function that reads unverified content: off the event loop if the content is long."""
        return call() if self.is_short else await self.server.run_apart(call)

    def operation(self, resolver: OperationResolver) -> Operation | UnresolvedOperation:
        """Return the operation that `resolver` finds in the content read so far, or the error that it raises."""
        request = self.request if self.content is None else self.request.with_content(self.content)
        try:
            if self._dispatched is None:
                return resolver.resolve(request)
            return cast("RouteResolver", resolver).resolve_dispatched(request, self._dispatched)
        except UnresolvedOperation as unresolved:
            unresolved.__context__ = unresolved.__traceback__ = None  # the frames refer to it, and it to them
            return unresolved

    async def read(self) -> None:
        """Read the content, unless it has been read or there is none."""
        if self.is_unread:
            self._keep(await self.server.read_content(None))

    async def read_unverified(self, most: int) -> bool:
        """Read the content as `read`, and return whether it is at most `most` bytes long."""
        if self.is_unread:
            content = await self.server.read_unverified(most)
            if content is None:
                return False
            self._keep(content)
        return self.content is None or len(self.content) <= most

    def _keep(self, content: Content) -> None:
        self.content = content
        if self._undeclared:
            # Now it is known whether there is content. If there is, the signature must cover it.
            self.request = self.request.with_content(content)
            self._authenticated = None

    async def authenticate(self) -> SignatureError | None:
        """Take the steps that need no content, and return the error that rejects the signature, if any."""
        try:
            self._authenticated = await self._verifier.authenticate(self.request)
        except SignatureError as error:
            self._authenticated = error
            return error
        return None

    async def verify(self) -> VerifiedSignature:
        """Verify the signature. Read the content only after the signature is authentic, and only if it is covered."""
        verifier, authenticated = self._verifier, self._authenticated
        if isinstance(authenticated, SignatureError):
            raise authenticated
        if authenticated is None:
            authenticated = await verifier.authenticate(self.request)
        covered, digest = self.content, authenticated.running_digest()
        if digest is None:
            # Nothing covers the content. Content that no field declares is then not passed to the application either.
            covered, self._undeclared = Content(), False
        elif covered is None:
            covered = self.content = await self.server.read_content(digest)
            if not self.request.has_body and len(covered) > 0:
                # No field declared this content. A signature over content must cover more than one over none.
                self.request, self._authenticated = self.request.with_content(covered), None
                return await self.verify()
        else:
            for chunk in covered.chunks:
                digest.update(chunk)
        return await verifier.complete(authenticated, covered, digest=digest)
