"""The signature of a request, as a WSGI application finds or requires it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.middleware.requirement import Verification
from undersigned.verification.verifier import finish
from undersigned.wsgi.incoming import SIGNATURE, VERIFICATION

if TYPE_CHECKING:
    from undersigned.policy.route import MatchedRoute
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.wsgi.middleware import Environ


def find_signature(environ: Environ) -> VerifiedSignature | None:
    """Return the verified signature of a request, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return Verification.of(environ.get(VERIFICATION)).signature


def required_signature(environ: Environ, *, route: str | None = None) -> VerifiedSignature:
    """Return the verified signature of a request; record the rejection of an unsigned one.

    Args:
        environ: the environ that the middleware passed to the application.
        route: the path of the route as the framework spells it, such as `/plans/{plan}`, for the `Decision`.

    Raises:
        SignatureError: it is unsigned. `undersigned.middleware.ErrorResponse.of` makes the response of it.
        ConfigurationError: no middleware has verified it.
    """
    return Verification.of(environ.get(VERIFICATION)).require(route=route)


def check_route(environ: Environ, route: MatchedRoute) -> VerifiedSignature | None:
    """Apply the policy of a `RouteResolver` to the route that is about to run. Call this before any of it runs.

    The environ then has the operation of the route, also in the signature.

    Args:
        environ: the environ that the middleware passed to the application.
        route: the route as the framework found it.

    Raises:
        SignatureError: the policy requires a signature and the request has none.
            `undersigned.middleware.ErrorResponse.of` makes the response of it.
        ConfigurationError: no middleware has verified the request.

    Returns:
        The signature, or None if the request is unsigned and needs none.
    """
    published = Verification.of(environ.get(VERIFICATION))
    checked = finish(published.check_route(route))
    environ[VERIFICATION] = checked
    environ[SIGNATURE] = checked.signature
    return checked.signature
