"""The decision of the middlewares' gate about a request that is in memory with its content."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from undersigned import Request, SignatureError
from undersigned.verification.gate import Gate
from undersigned.verification.verifier import finish

if TYPE_CHECKING:
    from undersigned import Policy, VerifiedSignature, Verifier
    from undersigned.verification.gate import Admitted


class Result(NamedTuple):
    """The admitted request or the error, and whether another credential was asked for and was valid."""

    admitted: Admitted | None
    error: SignatureError | None
    fallback: bool

    @property
    def signature(self) -> VerifiedSignature | None:
        return None if self.admitted is None else self.admitted.signature

    @property
    def source(self) -> str:
        """The source of the caller's identity."""
        if self.signature is not None:
            return "signature"
        return "fallback" if self.admitted is not None and self.fallback else "none"


def decide(verifier: Verifier, request: Request, *, policy: Policy | None, fallback: bool = False) -> Result:
    """Decide about a request as the middlewares do. Without a policy, every request must be signed.

    `fallback` says whether another authenticator of the application accepts the caller.
    """
    server = _Server(request, accepts=fallback)
    head = Request(
        request.method, request.url, request.fields, has_body=request.has_body, query_unknown=request.query_unknown
    )
    signed = not {"signature", "signature-input"}.isdisjoint(request.fields.combined)
    try:
        admitted = finish(Gate(verifier, policy, fallback=fallback).verify(head, server, signed=signed))
    except SignatureError as error:
        return Result(None, error, server.accepted)
    return Result(admitted, None, server.accepted)


class _Server:
    """A server that has the whole request in memory."""

    def __init__(self, request: Request, *, accepts: bool) -> None:
        self._request, self._accepts, self.accepted = request, accepts, False

    async def read_content(self, digest):
        if digest is not None:
            digest.update(self._request.body)
        return self._request.content

    async def read_unverified(self, _most: int):
        return self._request.content

    async def accepts_caller(self) -> bool:
        self.accepted = self._accepts
        return self._accepts
