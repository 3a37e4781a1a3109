"""The requirement of a signature, for an application that decides by route."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from undersigned.errors import ConfigurationError
from undersigned.limits import LONGEST_TARGET
from undersigned.message.header_fields import METHOD_OVERRIDES
from undersigned.message.request import Request
from undersigned.middleware.answer import ErrorResponse, target_too_long
from undersigned.policy.policy import WEBHOOK, required_detail
from undersigned.policy.route import RouteResolver

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.errors import SignatureError
    from undersigned.middleware.incoming import Incoming
    from undersigned.policy.operation import Operation
    from undersigned.policy.route import MatchedRoute
    from undersigned.signature.profile import Profile
    from undersigned.verification.verified_signature import VerifiedSignature

VERIFICATION = "undersigned"
"""The key of a scope or environ for the `Verification`: everything that the middleware found out."""

_WITH_CONTENT = frozenset({"POST", "PUT", "PATCH"})
"""The methods whose requests usually have content, so that the answer also asks for its digest."""

_UNKNOWN = (
    "nothing tells which operation the route has, so the request must be signed: list the route in operations= of the "
    "RouteResolver"
)
_ADVICE = "put SignatureMiddleware outside the application, with verifier= and origins="


class _Names(Protocol):
    """Names of header fields: a container of them in lower case, or one that ignores case."""

    def __contains__(self, name: str, /) -> bool:
        """Return whether there is a field of this name."""
        ...


def is_preflight(method: str | None, names: _Names) -> bool:
    """Return whether a request is a CORS preflight, which no browser can sign: guards of routes let it through.

    A browser adds no field that names another method, so a request that has one is no preflight.

    Args:
        method: the method of the request.
        names: its header fields, by names in lower case or in a container that ignores case.
    """
    asks = method == "OPTIONS" and "origin" in names and "access-control-request-method" in names
    return asks and not any(name in names for name in METHOD_OVERRIDES)


class Verification(NamedTuple):
    """The result of verifying a request, which a middleware published for the application.

    Attributes:
        signature: the verified signature, or None if the request is unsigned.
        incoming: the request as the middleware got it, for the decisions of routes.
        operation: the operation that the policy resolved, or None.
        warning: the error of a signature that failed, and that another credential of the caller excuses, or None.
    """

    signature: VerifiedSignature | None
    incoming: Incoming
    operation: Operation | None = None
    warning: SignatureError | None = None

    @property
    def profile(self) -> Profile:
        """The profile that the middleware verifies by."""
        return self.incoming.guard.profile

    @classmethod
    def of(cls, published: object, *, advice: str = _ADVICE) -> Verification:
        """Return the published result, if a middleware of this package published one.

        Args:
            published: the value in its place, or None.
            advice: how to add the middleware, for the error.

        Raises:
            ConfigurationError: no middleware has verified the request.
        """
        if isinstance(published, cls):
            return published
        raise ConfigurationError(f"no middleware has verified this request: {advice}")

    def require(self, *, route: str | None = None) -> VerifiedSignature:
        """Require a signature: return it, or record the rejection of an unsigned request and raise it.

        Args:
            route: the path of the route as the framework spells it, for the `Decision`.

        Raises:
            SignatureError: the request is unsigned. `ErrorResponse.of` makes the response of it.
        """
        if self.signature is not None:
            return self.signature
        error = self.unsigned_error("the route requires a signature; the request has none")
        self.reject(error, route=route)
        raise error

    async def check_route(self, route: MatchedRoute) -> Verification:
        """Apply the policy to the route that is about to run, if the policy has a `RouteResolver`.

        Returns:
            The verification with the operation of the route, also in its signature.

        Raises:
            SignatureError: the policy requires a signature and the request has none, and no other credential is valid.
                It is recorded as a rejection by the route.
        """
        incoming, policy = self.incoming, self.incoming.guard.policy
        if incoming.outer is not None:
            await incoming.outer.check_route(route)
        if policy is None or not isinstance(policy.resolver, RouteResolver):
            return self
        # The middleware let an unsigned preflight pass.
        is_passed = (
            self.signature is None and not incoming.has_body and is_preflight(incoming.method, incoming.fields.combined)
        )
        if is_passed and not route.takes_any_method:
            return self
        operation = policy.resolver.operation_of(route)
        if self.signature is not None:
            return self._replace(signature=replace(self.signature, operation=operation), operation=operation)
        detail = None
        if operation.is_unknown:
            detail = _UNKNOWN
        elif policy.registers_webhook(operation, incoming.request, self.profile):
            detail = WEBHOOK
        elif policy.demand(operation) == "required" and await incoming.accepts_caller() is not True:
            detail = required_detail(fallback=incoming.guard.fallback is not None)
        if detail is None:
            return self._replace(operation=operation)
        error = self.unsigned_error(detail)
        self.reject(error, route=route.path)
        raise error

    def unsigned_error(self, detail: str) -> SignatureError:
        """Return the error for a request that has no signature and needs one.

        Args:
            detail: one sentence for the operator's log.
        """
        incoming = self.incoming
        if len(incoming.shown_target()) > LONGEST_TARGET:
            return target_too_long()
        message = Request(incoming.method, "", has_body=incoming.method in _WITH_CONTENT)
        return self.profile.error("signature_required", step=0, detail=detail, message=message)

    def reject(self, error: SignatureError, *, route: str | None = None) -> None:
        """Record that a route rejects a request for `error`: in the log, and as a `Decision` if anybody listens."""
        status = ErrorResponse.of(error).status
        self.incoming.guard.recorder.record_error(error, self.incoming, status=status, by_route=True, route=route)


def find_signature(scope: Mapping[str, Any]) -> VerifiedSignature | None:
    """Return the verified signature of a request or handshake, or None if it is unsigned.

    Args:
        scope: the scope or environ that the middleware passed to the application.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return Verification.of(scope.get(VERIFICATION)).signature


def required_signature(scope: Mapping[str, Any], *, route: str | None = None) -> VerifiedSignature:
    """Return the verified signature of a request or handshake; record the rejection of an unsigned one.

    Args:
        scope: the scope or environ that the middleware passed to the application.
        route: the path of the route as the framework spells it, such as `/plans/{plan}`, for the `Decision`.

    Raises:
        SignatureError: it is unsigned. `undersigned.middleware.ErrorResponse.of` makes the response of it.
        ConfigurationError: no middleware has verified it.
    """
    return Verification.of(scope.get(VERIFICATION)).require(route=route)
