"""Policies by route: Django asks the policy about the view that it is about to run."""

from __future__ import annotations

from inspect import iscoroutinefunction, isfunction
from types import CodeType
from typing import TYPE_CHECKING, Any, cast

from asgiref.sync import async_to_sync, markcoroutinefunction, sync_to_async
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.core.handlers.wsgi import WSGIRequest
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils.module_loading import import_string
from django.views import View

from undersigned.middleware import ErrorResponse
from undersigned.policy import ListedRoute, MatchedRoute, Routes
from undersigned.policy import RouteResolver as _RouteResolver
from undersigned.verification import finish

from .requirement import PUBLISHED, SignatureRequired, response

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence

    from django.http import HttpRequest, HttpResponse
    from django.http.response import HttpResponseBase


class RouteResolver(_RouteResolver):
    """As `undersigned.policy.RouteResolver`: the operation is the view that Django is about to run.

    `operations` lists views by the function or the view class, by the name of the URL, or by both with a namespace,
    such as `plans:create`.

    The middleware of this package asks the policy about the view, whichever way Django has found it. If
    `undersigned.asgi` or `undersigned.wsgi` verifies instead, `undersigned_django.middleware.RouteMiddleware` asks: add
    it as the last of MIDDLEWARE. Without it, every request must be signed. Answers without a view, such as the answers
    of `handler404` or of a middleware, need no signature.
    """

    __slots__ = ()

    def routes_of(self, app: object) -> Routes:  # noqa: ARG002 - the settings say what Django runs
        """Return the routes of Django; as `undersigned.policy.RouteResolver.routes_of`."""
        return Routes(listed=_listed, ask=_ask, is_complete=_is_complete, sees_handshakes=False)


def _middlewares() -> list[object]:
    return [import_string(name) for name in cast("Sequence[str]", settings.MIDDLEWARE)]


def _ask() -> bool:
    return any(isinstance(one, type) and issubclass(one, RouteMiddleware) for one in _middlewares())


def _is_complete() -> bool:
    """Return whether no middleware selects other URLs for a request, as those of subdomains do: none names them."""
    classes = [cls for one in _middlewares() if isinstance(one, type) for cls in one.__mro__[:-1]]
    held = [*_middlewares(), *(one for cls in classes for one in vars(cls).values())]
    codes = [one.__code__ for one in held if isfunction(one)]
    for code in codes:
        codes += [one for one in code.co_consts if isinstance(one, CodeType)]
    return not any("urlconf" in (*code.co_names, *code.co_consts) for code in codes)


def _listed(
    patterns: Iterable[URLPattern | URLResolver] | None = None, prefix: str = "/", namespaces: tuple[str, ...] = ()
) -> Iterator[ListedRoute]:
    """Yield each view of URL patterns, by default of those of the site, as a policy is asked about it."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = f"{prefix}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            inner = (*namespaces, pattern.namespace) if pattern.namespace else namespaces
            yield from _listed(pattern.url_patterns, path, inner)
            continue
        view: Any = pattern.callback
        names = (":".join((*namespaces, pattern.name)), pattern.name) if pattern.name else ()
        # Any method runs a function. The methods of a class are those that the framework does not answer by itself.
        is_class = isinstance(getattr(view, "view_class", None) or getattr(view, "cls", None), type)
        for method in [name.upper() for name in View.http_method_names] if is_class else ["*"]:
            if not _answers_itself(view, method):
                yield ListedRoute(method, path, _matched(view, names, {}, path))


class RouteMiddleware:
    """A middleware that asks the policy about the view that Django is about to run.

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
    request: HttpRequest, view: Callable[..., object], arguments: object, parameters: Mapping[str, object]
) -> HttpResponse | None:
    """Return the response to a request that may not run a view, or None: a `process_view`."""
    if isinstance(request, WSGIRequest):
        return finish(_checked(request, _route(request, view, parameters)))
    return async_to_sync(check_view_async)(request, view, arguments, parameters)


async def check_view_async(
    request: HttpRequest, view: Callable[..., object], arguments: object, parameters: Mapping[str, object]
) -> HttpResponse | None:
    """Return the response as `check_view` does, for asyncio."""
    if isinstance(request, ASGIRequest):
        return await _checked(request, _route(request, view, parameters))
    return await sync_to_async(check_view)(request, view, arguments, parameters)


async def _checked(request: HttpRequest, route: MatchedRoute | None) -> HttpResponse | None:
    try:
        await PUBLISHED.check_route(request, route)
    except SignatureRequired as rejected:
        return response(ErrorResponse.of(rejected.error), request)
    return None


def _route(request: HttpRequest, view: Callable[..., object], parameters: Mapping[str, object]) -> MatchedRoute | None:
    """Return the route that Django is about to run, or None if the framework's own class answers OPTIONS or 405."""
    if _answers_itself(view, request.method or ""):
        return None
    match = request.resolver_match
    if match is None or match.func is not view:
        return MatchedRoute(view, parameters=parameters)
    return _matched(view, (match.view_name, match.url_name), parameters, match.route)


def _matched(
    view: Callable[..., object], names: tuple[str | None, ...], parameters: Mapping[str, object], path: str
) -> MatchedRoute:
    """Return what Django runs for a URL pattern."""
    # A view of django-ninja picks one of several functions by the method, and has the name of none of them.
    kind = (view.__module__, getattr(view, "__qualname__", "").partition(".")[0])
    is_opaque = kind == ("ninja.operation", "PathView")
    return MatchedRoute(getattr(view, "view_class", view), names, parameters, is_opaque, path=path, view=view)


_FRAMEWORKS = frozenset({"django", "rest_framework"})
_LEADING = frozenset({
    "__init__", "__new__", "__getattr__", "__getattribute__", "setup", "dispatch", "initialize_request",
    "http_method_not_allowed",
})  # fmt: skip
"""The methods of a class that take a request to what answers it."""


def _answers_itself(view: Callable[..., object], method: str) -> bool:
    """Return whether a class-based view answers a method, such as OPTIONS, by the framework's own methods only."""
    kind: object = getattr(view, "view_class", None) or getattr(view, "cls", None)
    if not (isinstance(kind, type) and issubclass(kind, View) and _is_of_framework(view)):
        return False
    asked = {*_LEADING, method.lower(), *(["get"] if method == "HEAD" else [])}
    given: list[Iterable[object]] = [
        getattr(view, name, None) or () for name in ("view_initkwargs", "initkwargs", "actions")
    ]
    own = [vars(cls)[name] for cls in kind.__mro__[:-1] for name in asked if name in vars(cls)]
    return all(map(asked.isdisjoint, given)) and all(map(_is_of_framework, own))


def _is_of_framework(function: object) -> bool:
    """Return whether a function, and each one that it keeps and may call, is the framework's own."""
    kept, seen = [function], set[int]()
    for one in kept:
        if isinstance(one, (tuple, list)):
            kept.extend(cast("Sequence[object]", one))
        elif callable(one) and not isinstance(one, type) and id(one) not in seen:
            seen.add(id(one))
            if not isfunction(one) or one.__globals__["__name__"].partition(".")[0] not in _FRAMEWORKS:
                return False
            kept.extend(cell.cell_contents for cell in one.__closure__ or ())
    return True
