"""The requirement of a signature in a WSGI application without a framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.middleware.published import PUBLISHED

if TYPE_CHECKING:
    from undersigned.wsgi.interface import WSGIApp

find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature
check_route = PUBLISHED.check_route_now


def signature_required(app: WSGIApp) -> WSGIApp:
    """Let an application, or a part of one, run only for a signed request. `SignatureMiddleware` outside answers 401.

    Args:
        app: the application: a function of the environ and `start_response`.

    Raises:
        ConfigurationError: `app` is not a function; or, during a request, no middleware has verified it.
    """
    return PUBLISHED.guarded(app, decorate="a function of (environ, start_response)")
