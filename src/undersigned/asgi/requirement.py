"""The signature of a request, as an ASGI application finds or requires it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.asgi.incoming import VERIFICATION
from undersigned.middleware.requirement import Verification

if TYPE_CHECKING:
    from undersigned.asgi.interface import Scope
    from undersigned.policy.route import MatchedRoute
    from undersigned.verification.verified_signature import VerifiedSignature


def find_signature(scope: Scope) -> VerifiedSignature | None:
    """Return the verified signature of a request or handshake, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return Verification.of(scope.get(VERIFICATION)).signature


def required_signature(scope: Scope, *, route: str | None = None) -> VerifiedSignature:
    """Return the verified signature of a request or handshake; record the rejection of an unsigned one.

    Args:
        scope: the scope that the middleware passed to the application.
        route: the path of the route as the framework spells it, such as `/plans/{plan}`, for the `Decision`.

    Raises:
        SignatureError: it is unsigned. `undersigned.middleware.ErrorResponse.of` makes the response of it.
        ConfigurationError: no middleware has verified it.
    """
    return Verification.of(scope.get(VERIFICATION)).require(route=route)


async def check_route(scope: Scope, route: MatchedRoute) -> VerifiedSignature | None:
    """Apply the policy of a `RouteResolver` to the route that is about to run. Call this before any of it runs.

    The scope then has the operation of the route, also in the signature.

    Args:
        scope: the scope that the middleware passed to the application.
        route: the route as the framework found it.

    Raises:
        SignatureError: the policy requires a signature and the request has none.
            `undersigned.middleware.ErrorResponse.of` makes the response of it.
        ConfigurationError: no middleware has verified the request.

    Returns:
        The signature, or None if the request is unsigned and needs none.
    """
    checked = await Verification.of(scope.get(VERIFICATION)).check_route(route)
    scope[VERIFICATION] = checked
    scope["state"] = {**scope["state"], "signature": checked.signature}
    return checked.signature
