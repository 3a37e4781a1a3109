"""The operation of a request by the view that Django's URL resolver finds."""

from __future__ import annotations

from inspect import isclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpResponse
from django.middleware.locale import LocaleMiddleware
from django.urls import Resolver404, get_resolver
from django.utils import translation
from django.utils.module_loading import import_string

from undersigned.policy import MatchedRoute
from undersigned.policy import RouteResolver as _RouteResolver

if TYPE_CHECKING:
    from collections.abc import Mapping

    from undersigned.policy import RouteOperation


class RouteResolver(_RouteResolver):
    """A resolver for `Policy`: the operation is the view that Django runs.

    `operations` lists views by the function or the view class, by the name of the URL, or by both with a namespace,
    such as `plans:create`. It selects the language by LocaleMiddleware or a subclass of it, if one is in the settings.
    No other middleware may select the language, and none may change the path or set `request.urlconf`.

    Args:
        operations: as in `undersigned.policy.RouteResolver`.
        urlconf: the URL configuration if it is not ROOT_URLCONF.

    Raises:
        ConfigurationError: `operations` has a wrong value.
    """

    __slots__ = ("_urlconf",)

    def __init__(
        self, operations: Mapping[object, RouteOperation] | None = None, *, urlconf: str | None = None
    ) -> None:
        super().__init__(operations)
        self._urlconf = urlconf

    def find(self, dispatched: Mapping[str, object]) -> MatchedRoute | None:
        """Return the view for a scope or an environ; as `undersigned.policy.RouteResolver.find`."""
        given: dict[str, Any] = dict(dispatched)
        request = WSGIRequest(given) if "REQUEST_METHOD" in given else ASGIRequest(given, BytesIO())
        with translation.override(translation.get_language()):
            for middleware in map(import_string, settings.MIDDLEWARE):
                if isclass(middleware) and issubclass(middleware, LocaleMiddleware):
                    # It only selects the language here, and calls no view.
                    middleware(HttpResponse).process_request(request)
            try:
                match = get_resolver(self._urlconf).resolve(request.path_info)
            except Resolver404:
                return None
        endpoint = getattr(match.func, "view_class", match.func)
        names = tuple(name for name in (match.view_name, match.url_name) if name)
        return MatchedRoute(endpoint, names, match.kwargs, path=match.route)
