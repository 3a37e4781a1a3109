"""The operation of a request by the view that Django's URL resolver finds."""

from __future__ import annotations

from inspect import isclass
from typing import IO, TYPE_CHECKING, Any, cast

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.urls import Resolver404, get_resolver
from django.utils import translation
from django.utils.module_loading import import_string

from undersigned import ConfigurationError
from undersigned.policy import MatchedRoute, UnreadContent
from undersigned.policy import RouteResolver as _RouteResolver

from .dispatch import ROUTE_MIDDLEWARE, matched_route, unguarded_middleware

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest

    from undersigned.policy import RouteOperation


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the view that Django runs.

    `operations` lists views by the function or the view class, by the name of the URL, or by both with a namespace,
    such as `plans:create`. It selects the language by LocaleMiddleware or a subclass of it, if one is in the settings.

    Another middleware may change the path, the language or `request.urlconf`. So the middleware of this package checks
    the view again before Django runs it. An unsigned request gets 401 if the view has another operation than the
    resolver found. If `undersigned.asgi` or `undersigned.wsgi` verifies instead, `RouteMiddleware` checks the view. It
    must be in MIDDLEWARE if a middleware is there that is not Django's own. The resolver does not know of answers
    without a view, such as the answers of `handler404` or of a middleware.

    Args:
        operations: as in `undersigned.policy.RouteResolver`.
        urlconf: the URL configuration if it is not ROOT_URLCONF.

    Raises:
        ConfigurationError: `operations` has a wrong value. Or a middleware that is not Django's own may change the
            view, and MIDDLEWARE has none that checks the view.
    """

    __slots__ = ("_urlconf",)

    def __init__(
        self, operations: Mapping[object, RouteOperation] | None = None, *, urlconf: str | None = None
    ) -> None:
        super().__init__(operations)
        # A resolver that is made in the settings module exists before the settings are configured.
        unknown = unguarded_middleware() if settings.configured else None
        if unknown is not None:
            raise ConfigurationError(
                f"MIDDLEWARE: {unknown} may change which view runs: add {ROUTE_MIDDLEWARE!r} as the last, or use "
                "PathResolver"
            )
        self._urlconf = urlconf

    def find(self, dispatched: Mapping[str, object]) -> MatchedRoute | None:
        """Return the view for a scope or an environ; as `undersigned.policy.RouteResolver.find`."""
        if unguarded_middleware() is not None:
            raise LookupError("a middleware may change which view runs")
        given: dict[str, Any] = dict(dispatched)
        if "REQUEST_METHOD" in given:
            request: HttpRequest = WSGIRequest({**given, "wsgi.input": UnreadContent()})
        else:
            request = ASGIRequest(given, cast("IO[bytes]", UnreadContent()))
        with translation.override(translation.get_language()):
            for middleware in map(import_string, settings.MIDDLEWARE):
                if isclass(middleware) and issubclass(middleware, LocaleMiddleware):
                    # It only selects the language here, and calls no view.
                    middleware(HttpResponse).process_request(request)
            try:
                match = get_resolver(self._urlconf).resolve(request.path_info)
            except Resolver404:
                return None
        return matched_route(match)
