"""The gate: the one order in which a request is judged, asked of no server and of no store.

`Gate.judge` is a generator. It yields questions, and a driver (the ASGI middleware awaits, the WSGI one blocks) sends
back the answers, or throws the `SignatureError` that asking has raised. What only a driver knows stays there; what
must not differ between the two stands here.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from undersigned.errors import MalformedSignature, SignatureError
from undersigned.message.content import Content
from undersigned.policy.operation import UnresolvedOperation

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from undersigned.message.content_digest import RunningDigest
    from undersigned.message.request import Request
    from undersigned.policy.operation import Operation
    from undersigned.policy.policy import Policy
    from undersigned.policy.settlement import Judgement, Settlement
    from undersigned.signature.profile import Profile
    from undersigned.verification.checklist import AuthenticatedSignature, VerifiedSignature
    from undersigned.verification.verifier import AsyncVerifier, Verifier


class Authenticate(NamedTuple):
    """Asks a verifier to take the steps that need no content: a `AuthenticatedSignature`."""

    request: Request

    def ask(self, verifier: Verifier | AsyncVerifier) -> AuthenticatedSignature | Awaitable[AuthenticatedSignature]:
        """Ask `verifier`; what an `AsyncVerifier` answers is to be awaited.

        Raises:
            SignatureError: as `Verifier.authenticate`.
        """
        return verifier.authenticate(self.request)


class ReadContent(NamedTuple):
    """Asks for the content of the request, fed to `digest` while it is read: a `Content`."""

    digest: RunningDigest | None


class Complete(NamedTuple):
    """Asks a verifier to take the steps that need the content: a `VerifiedSignature`."""

    proven: AuthenticatedSignature
    content: Content
    digest: RunningDigest | None

    def ask(self, verifier: Verifier | AsyncVerifier) -> VerifiedSignature | Awaitable[VerifiedSignature]:
        """Ask `verifier`; what an `AsyncVerifier` answers is to be awaited.

        Raises:
            SignatureError: as `Verifier.complete`.
        """
        return verifier.complete(self.proven, self.content, digest=self.digest)


class AskFallback:
    """Asks whether another authenticator of the application accepts the caller: a `bool`."""

    __slots__ = ()


Question: TypeAlias = Authenticate | ReadContent | Complete | AskFallback


class Judged(NamedTuple):
    """A request that goes on.

    Attributes:
        signature: the verified signature, or None where another credential or none says who the caller is.
        operation: what the request asks for, where a policy has found that out.
        content: the content, or None where nothing had to read it.
        warning: the failure of a signature that was forgiven, to be recorded.
    """

    signature: VerifiedSignature | None
    operation: Operation | None
    content: Content | None
    warning: SignatureError | None = None


Judging: TypeAlias = Generator[Question, Any, Judged]
"""A request under judgement. What is sent to it is what the question asks for."""


def drive(judging: Judging, answer: Callable[[Question], object]) -> Judged:
    """Answer every question of `judging`; a driver that has to await its answers does the same and awaits them.

    Args:
        judging: what `Gate.judge` returned.
        answer: returns what a question asks for.

    Raises:
        SignatureError: the request is refused.
    """
    go_on: Callable[[], Question] = partial(next, judging)
    while True:
        # Around this step alone: what answering raises is no end of the judging.
        try:
            question = go_on()
        except StopIteration as done:
            return cast("Judged", done.value)
        try:
            go_on = partial(judging.send, answer(question))
        except SignatureError as error:
            go_on = partial(judging.throw, error)


class Gate:
    """Judges requests by a profile and, where there is one, a policy.

    Args:
        profile: the verifier's.
        policy: which operations must be signed, or None where every request that comes here is signed.
        fallback: whether the application has another authenticator to ask.
    """

    __slots__ = ("_fallback", "_policy", "_prefix")

    def __init__(self, profile: Profile, policy: Policy | None = None, *, fallback: bool = False) -> None:
        self._prefix = profile.prefix
        self._policy = policy
        self._fallback = fallback

    def judge(self, request: Request, *, signed: bool) -> Judging:
        """Judge a request whose content is not read yet.

        Args:
            request: the request as it was on the wire.
            signed: whether it carries any signature field.

        Raises:
            SignatureError: the request is refused.
        """
        policy, held = self._policy, _Held(request)
        if policy is None:
            return Judged((yield from held.verified()), None, held.content)
        operation: Operation | UnresolvedOperation | None = None
        if policy.resolver.comes_first:
            yield from held.read()
            operation = held.resolved(policy)
        signature: VerifiedSignature | None = None
        judgement: Judgement = "unsigned"
        if signed and not isinstance(operation, UnresolvedOperation):
            try:
                signature = yield from held.verified()
                judgement = "verified"
            except SignatureError as error:
                self._refuse_beyond_forgiveness(error)
                judgement = error
        if operation is None:
            operation = yield from self._operation(policy, held, judgement)
        settlement = yield from self._settlement(policy, operation, judgement)
        if settlement.outcome == "reject" or isinstance(operation, UnresolvedOperation):
            raise cast("SignatureError", settlement.error)
        if signature is not None:
            signature = replace(signature, operation=operation)
        return Judged(signature, operation, held.content, settlement.error)

    def _refuse_beyond_forgiveness(self, error: SignatureError) -> None:
        """Raise what no credential mends, or nobody could mend, before anything else is asked or read."""
        if isinstance(error, MalformedSignature) or not self._fallback:
            raise error

    def _operation(
        self, policy: Policy, held: _Held, judgement: Judgement
    ) -> Generator[Question, Any, Operation | UnresolvedOperation]:
        """Find out the operation, reading the content only where the resolver or the webhook rule needs it."""
        if policy.resolver.reads_body or judgement == "verified":
            if policy.resolver.reads_body:
                yield from held.read()
            return held.resolved(policy)
        head = held.resolved(policy)
        refused = policy.settle(head, judgement, fallback=True, prefix=self._prefix).outcome == "reject"
        hopeless = not self._fallback and (
            policy.settle(head, judgement, fallback=False, prefix=self._prefix).outcome == "reject"
        )
        if not refused and not hopeless:
            # Whatever its type says, an application may read it as JSON, and register a webhook by it.
            yield from held.read()
            return held.resolved(policy)
        return head

    def _settlement(
        self, policy: Policy, operation: Operation | UnresolvedOperation, judgement: Judgement
    ) -> Generator[Question, Any, Settlement]:
        """Settle without another credential first, and ask for one only where that could change the outcome."""
        settlement = policy.settle(operation, judgement, fallback=False, prefix=self._prefix)
        if settlement.outcome != "reject" or not self._fallback:
            return settlement
        forgiven = policy.settle(operation, judgement, fallback=True, prefix=self._prefix)
        if forgiven.outcome == "reject":
            return settlement
        return forgiven if (yield AskFallback()) is True else settlement


class _Held:
    """A request under judgement, and its content once it is read."""

    __slots__ = ("content", "request")

    def __init__(self, request: Request) -> None:
        self.request = request
        self.content: Content | None = None

    def read(self) -> Generator[Question, Any, None]:
        """Read the content, once."""
        if self.content is None and self.request.has_body:
            self.content = yield ReadContent(None)

    def resolved(self, policy: Policy) -> Operation | UnresolvedOperation:
        """Return what the resolver makes of what is read so far, or what it raises."""
        try:
            return policy.resolver.resolve(
                self.request if self.content is None else self.request.with_content(self.content)
            )
        except UnresolvedOperation as unresolved:
            return unresolved

    def verified(self) -> Generator[Question, Any, VerifiedSignature]:
        """Verify the signature, reading the content only after it holds and only where it is covered."""
        proven: AuthenticatedSignature = yield Authenticate(self.request)
        digest, covered = proven.running_digest(), self.content
        if digest is None:
            covered = Content()
        elif covered is None:
            covered = self.content = yield ReadContent(digest)
        else:
            for chunk in covered.chunks:
                digest.update(chunk)
        verified: VerifiedSignature = yield Complete(proven, covered, digest)
        return verified
