"""The guard: the part that all middlewares share, from what was received to the answer or what is published.

A server makes a `Received` and a `Body` for each request. The guard rebuilds the request as it was on the wire,
verifies it and applies the policy, in the same order for every server. Its methods are coroutines. The ASGI middleware
awaits them. The WSGI middleware runs them with `finish`, as they never wait over WSGI.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar, cast

from undersigned.errors import ConfigurationError, MalformedURL, SignatureError
from undersigned.limits import LONGEST_IN_LINE, LONGEST_ON_LOOP, MOST_FIELDS
from undersigned.log_text import printable
from undersigned.message.other_schemes import unsigned_detail
from undersigned.middleware.admission import Admission
from undersigned.middleware.decision_log import record
from undersigned.middleware.error_response import UnreadRequest, logger
from undersigned.middleware.rebuilding import rebuilt_request, routed_request, target_error
from undersigned.middleware.received import NO_FIELDS, UnsupportedServer
from undersigned.policy.misspelt_names import check_names
from undersigned.policy.operation import Operation, UnresolvedOperation
from undersigned.policy.policy import is_forgivable
from undersigned.policy.route import RouteResolver

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.message.request import Request
    from undersigned.middleware.body import Body
    from undersigned.middleware.decision import Outcome
    from undersigned.middleware.error_response import ErrorResponse
    from undersigned.middleware.options import Service
    from undersigned.middleware.received import Received
    from undersigned.policy.policy import Policy, SignatureResult
    from undersigned.url import Origin

Answer = TypeVar("Answer")

_UNNAMED: Final = (
    "signature.signer is empty, as the key %s has no owner: give its source owner=, or put the source into KeySources, "
    "and tell callers apart by the signer"
)


class Guard:
    """A guard that verifies every request of a service before the application gets it.

    Args:
        service: the service, which is also an attribute.
        app: the application, whose routes may have to ask the policy, or the `Routes` of it.

    Raises:
        ConfigurationError: the application cannot ask the policy.
    """

    def __init__(self, service: Service, app: object = None) -> None:
        policy = service.policy
        self.service = service if policy is None else replace(service, policy=policy.bound(app))
        self._has_noted_unnamed = False
        self._has_checked_names = False

    def check_names(self) -> None:
        """Check once, when the routes are known, that they can name what the policy lists.

        Raises:
            ConfigurationError: they cannot. No request is verified before that is mended.
        """
        try:
            warning = self.service.policy and check_names(self.service.policy)
        except ConfigurationError as error:
            logger.error("%s", printable(str(error)))
            raise
        self._has_checked_names = True
        if warning:
            logger.warning("%s. If it is misspelt, what should be signed may be open", printable(warning))

    async def verify(self, received: Received, body: Body) -> Admission | ErrorResponse:
        """Verify one request. Return what to publish to the application, or the answer to a rejected request."""
        service, request = self.service, None
        if not self._has_checked_names:
            self.check_names()
        try:
            try:
                if received.fields is NO_FIELDS:
                    many = f"there are too many headers: at most {MOST_FIELDS} are read"
                    raise UnreadRequest("request_header_fields_too_large", many)
                if service.verifier.is_signed(received.fields):
                    request = rebuilt_request(received, service)
                admission = await self._admit(received, body, request)
            except MalformedURL as malformed:
                raise target_error(malformed, received, service.profile) from None
            except UnsupportedServer as hidden:
                raise service.profile.error("signature_server_unsupported", step=10, detail=str(hidden)) from None
        except SignatureError as error:
            rejected = UnreadRequest(error.too_large, error.detail) if error.too_large else error
            rejection = Admission(service, received, request=request)
            answer = rejection.reject(rejected, by_route=False, content=body.content)
            await self.yield_to_others()
            return answer
        signature = admission.signature
        if signature is not None and not (signature.signer or self._has_noted_unnamed):
            self._has_noted_unnamed = True
            logger.warning(_UNNAMED, printable(signature.keyid, limit=LONGEST_IN_LINE))
        return admission

    async def run(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of a slow function; in a thread, if the server has one thread for all requests."""
        return call()

    async def yield_to_others(self) -> None:
        """Let other requests go first, if the server has one thread for all requests."""

    async def _admit(self, received: Received, body: Body, signed: Request | None) -> Admission:
        """Verify a request, or None for an unsigned one, whose content has not been read. Apply the policy or the mode.

        Raises:
            MalformedURL: the application cannot get the target that was verified.
            SignatureError: it is rejected, or not read to its end.
        """
        service, policy = self.service, self.service.policy
        request, signature, path = signed, None, ""
        result: SignatureResult = "unsigned"
        if signed is None:
            request, path = await self._unsigned(received, body)
        else:
            try:
                signature, result = await body.verified(signed), "verified"
            except SignatureError as error:
                if service.mode != "required" and error.reason in service.profile.answers.unknown:
                    record("unknown", received, service, error, request=signed)
                    return Admission(service, received, request=signed)
                if service.fallback is None or not is_forgivable(error):
                    raise
                # Its frames refer to this one, and so to the error.
                result = error.with_traceback(None)
        admission = Admission(service, received, signature, request=request)
        if policy is not None and request is not None:
            admission = await self._judge(policy, admission, body, result, path)
        # A request that the policy does not read has been found empty.
        body.keep_empty(signature)
        if signed is not None:
            # A request that was rebuilt has an origin.
            origin = cast("Origin", signed.origin)
            body.accept(signed.canonical_url() if signature is None else signature.target, origin)
        outcome: Outcome = "warned" if isinstance(result, SignatureError) else result
        record(outcome, received, service, admission.warning or signature, request=signed)
        return admission

    async def _unsigned(self, received: Received, body: Body) -> tuple[Request | None, str]:
        """Return what a policy reads of an unsigned request, and its path; None if nothing has to be decided.

        Raises:
            SignatureError: the mode rejects it, or it is not read to its end.
        """
        service, policy = self.service, self.service.policy
        if policy is None and service.mode == "required":
            detail = unsigned_detail(received.fields.combined.get("signature"))
            raise Admission(service, received).unsigned_error(detail)
        # A route asks the policy later, also about a preflight.
        if policy is None or (
            received.is_preflight and not isinstance(policy.resolver, RouteResolver) and await body.is_empty()
        ):
            return None, ""
        return routed_request(received)

    async def _judge(
        self, policy: Policy, admission: Admission, body: Body, result: SignatureResult, path: str
    ) -> Admission:
        """Apply the policy to a request whose signature has been looked at.

        `path` is the percent-decoded path of an unsigned request as the application's router reads it, else "".

        Raises:
            SignatureError: the request is rejected, or not read to its end.
        """
        resolver, signature, profile = policy.resolver, admission.signature, self.service.profile
        has_fallback = self.service.fallback is not None
        if result != "verified" and resolver.reads_body:
            await body.read_unverified()
        # Only a policy reads the content. A request with its content joins the chunks: it holds them twice.
        request = body.added_to(admission.message)
        operation = await self._work(body, partial(policy.resolve, request, path))
        if (
            admission.received.is_handshake
            and isinstance(resolver, RouteResolver)
            and not resolver.routes.sees_handshakes
        ):
            operation = Operation(is_unknown=True)
        if policy.needs_content(operation, result, fallback=has_fallback, profile=profile):
            await body.read_unverified()
            request = body.added_to(request)
        decide = partial(policy.decide, operation, result, request, fallback=has_fallback, profile=profile, path=path)
        verdict = await self._work(body, decide)
        await admission._replace(request=request).settle(verdict)
        if isinstance(operation, UnresolvedOperation):
            operation = Operation(is_unknown=True)
        if signature is not None:
            signature = replace(signature, operation=operation)
        warning = result if isinstance(result, SignatureError) else None
        return admission._replace(signature=signature, operation=operation, warning=warning, request=request)

    async def _work(self, body: Body, call: Callable[[], Answer]) -> Answer:
        """Return the result of a function that may look through content which no valid signature covers."""
        is_long = body.is_unverified and body.content is not None and len(body.content) > LONGEST_ON_LOOP
        return await self.run(call) if is_long else call()
