"""The requirement of a signature in an ASGI application without a framework."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned.middleware.published import PUBLISHED

if TYPE_CHECKING:
    from undersigned.asgi.interface import ASGIApp

find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature
check_route = PUBLISHED.check_route


def signature_required(app: ASGIApp) -> ASGIApp:
    """Let an application, or a part of one, run only for a signed request. `SignatureMiddleware` outside answers 401.

    Args:
        app: the application: an async function of the scope, `receive` and `send`.

    Raises:
        ConfigurationError: `app` is not a function; or, during a request, no middleware has verified it.
    """
    return PUBLISHED.guarded(app, decorate="an async function of (scope, receive, send)")
