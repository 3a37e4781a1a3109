"""The gate: it verifies a request and applies a policy, in the same order for every server.

`Gate.verify` is a coroutine. For everything that needs IO, it awaits a verifier and a `Server`. The ASGI middleware
awaits it. The WSGI middleware runs it with `finish`, as it never waits over WSGI.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from undersigned.errors import MalformedURL, SignatureError
from undersigned.limits import DEFAULT_MAX_UNSIGNED_BODY, LONGEST_ON_LOOP
from undersigned.message.content import Content
from undersigned.policy.operation import Operation, UnresolvedOperation, check_path
from undersigned.policy.policy import is_forgivable, is_of_adcp
from undersigned.policy.route import RouteResolver
from undersigned.verification.verifier import awaited

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.policy.policy import Policy, SignatureResult, Verdict
    from undersigned.signature.profile import Profile
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.verification.verifier import Part, ReceivedSignature


Answer = TypeVar("Answer")


class GateVerifier(Protocol):
    """What the gate asks of a verifier, as `Verifier` and `AsyncVerifier` are."""

    @property
    def profile(self) -> Profile:
        """The profile."""
        ...

    def unready(self) -> tuple[Part, ...] | Awaitable[tuple[Part, ...]]:
        """Return which of the sources cannot answer now, as `AsyncVerifier.unready`."""
        ...

    def authenticate(self, message: Request, /) -> ReceivedSignature | Awaitable[ReceivedSignature]:
        """Take the steps that need no content, as `AsyncVerifier.authenticate`."""
        ...

    def complete(
        self, signature: ReceivedSignature, content: Content, /, *, digest: RunningDigest | None
    ) -> VerifiedSignature | Awaitable[VerifiedSignature]:
        """Take the steps that need the content, as `AsyncVerifier.complete`."""
        ...


class InThread(Protocol):
    """Runs a slow function in a thread, so that other requests are served in the meantime."""

    async def __call__(self, call: Callable[[], Answer], /) -> Answer:
        """Return the result of `call`."""
        ...


class Server(Protocol):
    """A server with one request that the gate verifies. Every method may wait for IO."""

    def read_content(self, digest: RunningDigest | None) -> Coroutine[Any, Any, Content]:
        """Read the content of the request, and feed it to `digest` while reading."""
        ...

    def read_unverified(self, most: int) -> Coroutine[Any, Any, Content | None]:
        """Read the content of a request without a valid signature. Return None if it does not begin as JSON.

        Content that does not begin as JSON is read no further, and the application gets it from its beginning.
        """
        ...

    async def accepts_caller(self) -> bool:
        """Return whether another authenticator of the application accepts the caller."""
        ...


class Admitted(NamedTuple):
    """A request that the application gets.

    Attributes:
        signature: the verified signature, or None if another credential or none identifies the caller.
        operation: the operation of the request, if a policy has resolved it.
        content: the content, or None if nothing had to read it to its end.
        request: the request, with its content if that was read and there is a policy.
        warning: the error of a signature that the policy forgave.
    """

    signature: VerifiedSignature | None
    operation: Operation | None
    content: Content | None
    request: Request
    warning: SignatureError | None = None


class Gate:
    """A gate that verifies requests and, if there is a policy, applies it.

    Args:
        verifier: the verifier.
        policy: which operations must be signed, or None if the gate only gets signed requests.
        fallback: whether the application has another authenticator to ask.
        max_unsigned_body: upper bound on the bytes of content that the policy may read without a valid signature.
        in_thread: runs a slow function in a thread, or None if each request has a thread of its own.
    """

    __slots__ = ("_fallback", "_in_thread", "_max_unsigned_body", "_policy", "_profile", "_verifier")

    def __init__(
        self,
        verifier: GateVerifier,
        policy: Policy | None = None,
        *,
        fallback: bool = False,
        max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
        in_thread: InThread | None = None,
    ) -> None:
        self._verifier = verifier
        self._profile = verifier.profile
        self._policy = policy
        self._fallback = fallback
        self._max_unsigned_body = max_unsigned_body
        self._in_thread = in_thread

    async def verify(
        self,
        request: Request,
        server: Server,
        *,
        signed: bool,
        undeclared: bool = False,
        path: str | None = None,
    ) -> Admitted:
        """Verify a request whose content has not been read.

        Args:
            request: the request as it was on the wire.
            server: the server that has the request. It reads the content and asks the other authenticator.
            signed: whether the request has any signature field.
            undeclared: whether content may come that no field declares, as over HTTP/2 without Content-Length.
            path: the percent-decoded path of an unsigned request as the application's router reads it, or None if that
                is the path of the canonical URL.

        Raises:
            SignatureError: the request is rejected.
        """
        policy = self._policy
        message = _Message(request, self._verifier, server, undeclared=undeclared, by_policy=policy is not None)
        if policy is None:
            return Admitted(await message.verify(), None, message.content, message.request)
        result: SignatureResult = "unsigned"
        signature: VerifiedSignature | None = None
        if signed:
            if policy.resolver.comes_first:
                await self._resolve_first(policy, message)
            try:
                signature, result = await message.verify(), "verified"
            except SignatureError as error:
                if not self._fallback or not is_forgivable(error):
                    raise
                result = error
        if result == "verified":
            if policy.resolver.reads_body:
                await message.read()
        elif policy.resolver.reads_body or (
            is_of_adcp(self._profile) and self._decide(policy, request, result, path)[1].outcome != "reject"
        ):
            await message.read_unverified(self._max_unsigned_body)
        return await self._apply(policy, message, signature, result, path)

    async def _apply(
        self,
        policy: Policy,
        message: _Message,
        signature: VerifiedSignature | None,
        result: SignatureResult,
        path: str | None,
    ) -> Admitted:
        """Apply the policy to a request whose signature and content have been looked at.

        Args:
            policy: the policy.
            message: the request.
            signature: the verified signature, or None.
            result: the result of verifying the signature.
            path: as for `verify`.
        """
        decide = partial(self._decide, policy, message.request, result, path)
        is_long = result != "verified" and message.content is not None and len(message.content) > LONGEST_ON_LOOP
        operation, verdict = await self._in_thread(decide) if is_long and self._in_thread is not None else decide()
        if verdict.error is not None and (
            verdict.outcome == "reject" or await message.server.accepts_caller() is not True
        ):
            raise self._profile.add_answer(verdict.error, message.request)
        resolved = Operation(is_unknown=True) if isinstance(operation, UnresolvedOperation) else operation
        if signature is not None:
            signature = replace(signature, operation=resolved)
        warning = result if isinstance(result, SignatureError) else None
        return Admitted(signature, resolved, message.content, message.request, warning)

    async def _resolve_first(self, policy: Policy, message: _Message) -> None:
        """Resolve the operation of a signed request, so that an unresolved one is reported before its signature.

        Raises:
            SignatureError: the operation is not resolved.
        """
        if await message.authenticate() is None:
            await message.read()
        else:
            await message.read_unverified(self._max_unsigned_body)
        operation = _resolve(policy, message.request, None)
        if isinstance(operation, UnresolvedOperation):
            raise self._profile.add_answer(operation.as_error(self._profile), message.request)

    def _decide(
        self,
        policy: Policy,
        request: Request,
        result: SignatureResult,
        path: str | None,
    ) -> tuple[Operation | UnresolvedOperation, Verdict]:
        operation = _resolve(policy, request, path)
        shown = path if path is not None else _path_of(request)
        fallback, profile = self._fallback, self._profile
        return operation, policy.decide(operation, result, request, fallback=fallback, profile=profile, path=shown)


def _resolve(policy: Policy, request: Request, path: str | None) -> Operation | UnresolvedOperation:
    """Return the operation that the policy's resolver finds in what has been read, or the error that it raises."""
    try:
        if path is not None and not isinstance(policy.resolver, RouteResolver):
            check_path(path)
        return policy.resolver.resolve(request)
    except UnresolvedOperation as unresolved:
        unresolved.__context__ = unresolved.__traceback__ = None  # the frames refer to it, and it to them
        return unresolved


def _path_of(request: Request) -> str:
    try:
        return request.decoded_path()
    except (MalformedURL, UnicodeDecodeError):
        return request.url


class _Message:
    """A request that is being verified, with its content once it has been read."""

    __slots__ = (
        "_authenticated",
        "_by_policy",
        "_is_begun",
        "_undeclared",
        "_verifier",
        "content",
        "request",
        "server",
    )

    def __init__(
        self, request: Request, verifier: GateVerifier, server: Server, *, undeclared: bool, by_policy: bool
    ) -> None:
        self.request, self._undeclared, self._by_policy = request, undeclared, by_policy
        self._verifier, self.server = verifier, server
        self._authenticated: ReceivedSignature | SignatureError | None = None
        self._is_begun = False
        self.content: Content | None = None

    @property
    def is_unread(self) -> bool:
        """Whether the request has, or may have, content that has not been read."""
        return self.content is None and (self.request.has_body or self._undeclared)

    async def read(self) -> None:
        """Read the content, unless it has been read or there is none."""
        if self.is_unread:
            self._keep(await self.server.read_content(None))

    async def read_unverified(self, most: int) -> None:
        """Read the content as `read`, if it begins as JSON. Its beginning can be read only once."""
        if self.is_unread and not self._is_begun:
            self._is_begun = True
            content = await self.server.read_unverified(most)
            if content is not None:
                self._keep(content)

    def _keep(self, content: Content) -> None:
        if self._undeclared:
            # Now it is known whether there is content. If there is, the signature must cover it.
            self._authenticated = None
        self.content, self.request = content, self.request.with_content(content)

    async def authenticate(self) -> SignatureError | None:
        """Take the steps that need no content, and return the error that rejects the signature, if any."""
        try:
            self._authenticated = await awaited(self._verifier.authenticate(self.request))
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
            authenticated = await awaited(verifier.authenticate(self.request))
        covered, digest = self.content, authenticated.running_digest()
        if digest is None:
            # Nothing covers the content. Content that no field declares is then not passed to the application either.
            covered, self._undeclared = Content(), False
        elif covered is None:
            covered = await self.server.read_content(digest)
            self.content, has_body = covered, self.request.has_body
            if self._by_policy or not has_body:
                # Only a policy reads it. A request with its content joins the chunks: it holds them twice.
                self.request = self.request.with_content(covered)
            if not has_body and len(covered) > 0:
                # No field declared this content. A signature over content must cover more than one over none.
                self._authenticated = None
                return await self.verify()
        else:
            for chunk in covered.chunks:
                digest.update(chunk)
        return await awaited(verifier.complete(authenticated, covered, digest=digest))
