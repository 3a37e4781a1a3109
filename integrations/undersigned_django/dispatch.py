"""The view that Django is about to run: the policy must have decided about its operation."""

from __future__ import annotations

from dataclasses import replace
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, cast

from asgiref.sync import markcoroutinefunction
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.wsgi import WSGIRequest

from undersigned import SignatureError
from undersigned.asgi import find_signature
from undersigned.middleware import Verification
from undersigned.policy import MatchedRoute
from undersigned.wsgi import OPERATION, PROFILE, RECORDER, SIGNATURE

from .requirement import rejection_response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase
    from django.urls import ResolverMatch

SIGNATURE_MIDDLEWARE = "undersigned_django.middleware.SignatureMiddleware"
ROUTE_MIDDLEWARE = "undersigned_django.middleware.RouteMiddleware"
_PATH_VIEW = ("ninja.operation", "PathView")


class RouteMiddleware:
    """A middleware that checks that the policy has decided about the view that Django is about to run.

    Put it last in MIDDLEWARE if a policy has a `RouteResolver` and `undersigned.asgi.SignatureMiddleware` or
    `undersigned.wsgi.SignatureMiddleware` is around the application. `SignatureMiddleware` of this package is also one.
    """

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]) -> None:
        self._get_response = get_response
        self._is_async = iscoroutinefunction(get_response)
        if self._is_async:
            markcoroutinefunction(self)
        # Django would run a sync function in a thread.
        self.process_view = check_view_async if self._is_async else check_view

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Call the next middleware."""
        return self._get_response(request)


def check_view(
    request: HttpRequest, view: Callable[..., object], _arguments: object, parameters: Mapping[str, object]
) -> HttpResponse | None:
    """Return the response to an unsigned request if the policy has not decided about the view: a `process_view`.

    Args:
        request: the request, which Django has resolved.
        view: the view that is about to run.
        parameters: its arguments by keyword.
    """
    published = _published_values(request)
    operation = published.get(OPERATION)
    if operation is None:
        return None
    match = request.resolver_match
    route = matched_route(match) if match is not None and match.func is view else MatchedRoute(view)
    verified = Verification.of(published[SIGNATURE], published[PROFILE], published[RECORDER])
    try:
        verified.check_route(operation, replace(route, parameters=parameters), method=request.method)
    except SignatureError as error:
        return rejection_response(error)
    return None


async def check_view_async(
    request: HttpRequest, view: Callable[..., object], arguments: object, parameters: Mapping[str, object]
) -> HttpResponse | None:
    """Return the response as `check_view` does, for asyncio."""
    return check_view(request, view, arguments, parameters)


def matched_route(match: ResolverMatch) -> MatchedRoute:
    """Return the route that Django's URL resolver has found."""
    view = match.func
    names = tuple(name for name in (match.view_name, match.url_name) if name)
    # A view of django-ninja picks one of several functions by the method, and has the name of none of them.
    is_opaque = (view.__module__, getattr(view, "__qualname__", "").partition(".")[0]) == _PATH_VIEW
    return MatchedRoute(getattr(view, "view_class", view), names, match.kwargs, is_opaque, match.route, view)


def unguarded_middleware() -> str | None:
    """Return a middleware that could change which view runs without a check, or None if there is none."""
    listed = list(cast("Sequence[str]", settings.MIDDLEWARE))
    if SIGNATURE_MIDDLEWARE in listed or ROUTE_MIDDLEWARE in listed:
        return None
    return next((name for name in listed if name.partition(".")[0] != "django"), None)


def _published_values(request: HttpRequest) -> Mapping[str, object]:
    """Return what the middleware has published: over WSGI in the environ, and over ASGI in the scope."""
    if isinstance(request, ASGIRequest):
        return {**request.scope, SIGNATURE: find_signature(dict(request.scope))} if OPERATION in request.scope else {}
    return request.environ if isinstance(request, WSGIRequest) else {}
