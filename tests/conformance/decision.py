"""The decision of a verifier, a policy or a middleware about the request of a vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest
from tests.drive import Message, call_wsgi, environ_of

from undersigned import MalformedURL, SignatureError, VerificationUnavailable, canonicalize
from undersigned.explanation import CHECKS
from undersigned.policy import UnresolvedOperation
from undersigned.reasons import UNREAD
from undersigned.wsgi import SignatureMiddleware

if TYPE_CHECKING:
    from undersigned import Decision, Operation, Policy, Request, VerifiedSignature, Verifier


@dataclass
class Result:
    """What was decided, and what the application gets if the request is accepted.

    Attributes:
        code: the code of a rejection, or None.
        step: the check that failed, by its name.
        detail: what was wrong.
        unavailable: whether the request is rejected because it could not be verified.
        warning: the code of a failed signature that another credential excused.
        signature: the verified signature.
        operation: the operation that the policy found.
        fallback: whether another credential was asked for and was valid.
    """

    code: str | None = None
    step: str | None = None
    detail: str | None = None
    unavailable: bool = False
    warning: str | None = None
    signature: VerifiedSignature | None = None
    operation: Operation | None = None
    fallback: bool = False

    @classmethod
    def rejected(cls, error: SignatureError) -> Result:
        unavailable = isinstance(error, VerificationUnavailable)
        return cls(error.code, CHECKS[error.step], error.detail, unavailable)

    @property
    def source(self) -> str:
        """The source of the caller's identity."""
        if self.signature is not None:
            return "signature"
        return "fallback" if self.code is None and self.fallback else "none"


def decide(verifier: Verifier, request: Request, *, policy: Policy | None, fallback: bool = False) -> Result:
    """Return what is decided about a request. Without a policy, every request must be signed.

    `fallback` says whether another authenticator of the application accepts the caller.
    """
    if policy is None or request.fields.repeated or not request.method.isupper():
        # Over WSGI, nobody sees that a field was repeated, and the middlewares reject a method in lower case earlier.
        try:
            return Result(signature=verifier.verify(request))
        except SignatureError as error:
            return Result.rejected(error)
    if {"signature", "signature-input"}.isdisjoint(request.fields.combined):
        return _unsigned(verifier, request, policy, fallback=fallback)
    return _signed(verifier, request, policy, fallback=fallback)


def _unsigned(verifier: Verifier, request: Request, policy: Policy, *, fallback: bool) -> Result:
    try:
        operation = policy.resolver.resolve(request)
    except UnresolvedOperation as unresolved:
        operation = unresolved
    path, profile = unquote(urlsplit(request.url).path), verifier.profile
    verdict = policy.decide(operation, "unsigned", request, fallback=fallback, profile=profile, path=path)
    if verdict.outcome == "reject":
        return Result.rejected(verdict.error)
    return Result(operation=operation, fallback=verdict.outcome == "ask")


def _signed(verifier: Verifier, request: Request, policy: Policy, *, fallback: bool) -> Result:
    """Send the request through the middleware, as gunicorn shows it."""
    result, codes = Result(), list[str]()

    def accepts_caller(_environ) -> bool:
        result.fallback = True
        return True

    def record(decision: Decision) -> None:
        codes.append(decision.code)
        if decision.outcome == "warned":
            result.warning = decision.code
        else:
            result.code, result.step, result.detail = decision.code, decision.step, decision.evidence().detail
            result.unavailable = decision.outcome == "unavailable"

    def application(environ, start_response):
        result.signature = environ["undersigned"].signature
        result.operation = environ["undersigned"].operation
        start_response("200 OK", [])
        return []

    app = SignatureMiddleware(
        application,
        verifier=verifier,
        origins=[_origin(request.url)],
        policy=policy,
        fallback=accepts_caller if fallback else None,
        on_decision=record,
    )
    authority, fields = urlsplit(request.url).netloc, dict(request.fields.combined)
    host = fields.pop("host", authority)
    message = Message(request.url.partition(authority)[2], request.method, list(fields.items()), request.body)
    call_wsgi(app, {**environ_of(message, "gunicorn"), "HTTP_HOST": host})
    if UNREAD.keys() & codes:
        # A middleware answers what is too large by its size. The verifier names it as AdCP does.
        with pytest.raises(SignatureError) as caught:
            verifier.verify(request)
        return Result.rejected(caught.value)
    return result


def _origin(url: str) -> str:
    """The public origin that a URL is for, or any if it is for none."""
    try:
        canonical = canonicalize(url, received=True)
    except MalformedURL:
        return "https://seller.example.com"
    return f"{canonical.scheme}://{canonical.authority}"
