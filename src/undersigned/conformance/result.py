"""Results: the gate's decision about a request whose body is in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from undersigned.errors import SignatureError
from undersigned.message.request import Request
from undersigned.verification.gate import Gate
from undersigned.verification.screening import SIGNATURE_FIELDS
from undersigned.verification.verifier import finish

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.message.content import Content
    from undersigned.message.content_digest import RunningDigest
    from undersigned.policy.policy import Policy
    from undersigned.verification.gate import Admitted
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.verification.verifier import Verifier

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Result:
    """The result for a request: the gate admitted it, or an error rejected it.

    Attributes:
        admitted: the admitted request, or None.
        error: the error that rejected it, or None.
        fallback: whether another credential was asked for and was valid.
    """

    admitted: Admitted | None
    error: SignatureError | None
    fallback: bool

    @property
    def signature(self) -> VerifiedSignature | None:
        """The verified signature of an admitted request."""
        return None if self.admitted is None else self.admitted.signature

    @property
    def source(self) -> str:
        """The source of the caller's identity: `signature`, `fallback` or `none`."""
        if self.signature is not None:
            return "signature"
        return "fallback" if self.admitted is not None and self.fallback else "none"


def verify(verifier: Verifier, request: Request, *, policy: Policy | None, fallback: bool = False) -> Result:
    """Verify a request by the gate of the middlewares, which reads the body only when it needs it.

    Args:
        verifier: the verifier.
        request: the request with its body.
        policy: the endpoint's policy, or None if every request has to be signed.
        fallback: whether another authenticator of the application accepts the caller.
    """
    server = _Server(request, accepts=fallback)
    gate = Gate(verifier.awaitable, policy, fallback=fallback)
    try:
        signed = not SIGNATURE_FIELDS.isdisjoint(request.fields.combined)
        admitted = finish(gate.verify(_head(request), server, signed=signed))
    except SignatureError as error:
        return Result(None, error, server.accepted)
    return Result(admitted, None, server.accepted)


class _Server:
    """A server that has the whole request in memory.

    Attributes:
        accepted: whether another credential was asked for and was valid.
    """

    __slots__ = ("_accepts", "_request", "accepted")

    def __init__(self, request: Request, *, accepts: bool) -> None:
        self._request = request
        self._accepts = accepts
        self.accepted = False

    async def read_content(self, digest: RunningDigest | None) -> Content:
        if digest is not None:
            digest.update(self._request.body)
        return self._request.content

    async def read_unverified(self, most: int) -> Content:  # noqa: ARG002 - the content is in memory
        return self._request.content

    async def run_apart(self, call: Callable[[], Answer]) -> Answer:
        return call()

    async def accepts_caller(self) -> bool:
        self.accepted = self._accepts
        return self._accepts


def _head(request: Request) -> Request:
    return Request(
        request.method, request.url, request.fields, has_body=request.has_body, query_unknown=request.query_unknown
    )
