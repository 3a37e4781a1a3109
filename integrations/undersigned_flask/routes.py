"""What Flask's views ask: the signature of their request, and the policy by route."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from flask import Flask, Request, request, request_started
from flask.sansio.app import App  # pyright: ignore[reportMissingTypeStubs]
from werkzeug.exceptions import HTTPException, Unauthorized
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.wrappers import Response

from undersigned import ConfigurationError, SignatureError
from undersigned.middleware import ErrorResponse, Published
from undersigned.policy import ListedRoute, MatchedRoute, Routes, called_applications, own_names
from undersigned.policy import RouteResolver as _RouteResolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flask.typing import ResponseReturnValue
    from werkzeug.routing import Rule
    from werkzeug.sansio.response import Response as SansIOResponse

    from undersigned.wsgi import Environ, StartResponse, WSGIApp


class SignatureRequired(Unauthorized):
    """The 401 for an unsigned request, with the code as its `description`; `error` is the reason, for the log.

    Handlers of 401, `Unauthorized` and `HTTPException` get it. Without one, Flask sends its `response`. Its `headers`
    have WWW-Authenticate and Accept-Signature, if the profile sends them.
    """

    response_class: Callable[[bytes, int, dict[str, str]], SansIOResponse] = Response

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.code, self.response_class(answer.body, answer.status, dict(answer.fields)))
        self.code, self.headers, self.error = answer.status, answer.headers, error


PUBLISHED = Published[Request](
    lambda asked: asked.environ,
    error=lambda _asked, error: SignatureRequired(error),
    route=lambda asked: None if asked.url_rule is None else asked.url_rule.rule,
    advice="call Undersigned(app) or init_app(app). If a framework takes app.wsgi_app before that, as Connexion does, "
    "put a middleware around the application that the server calls",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


class RouteResolver(_RouteResolver):
    """As `undersigned.policy.RouteResolver`: the operation is the view function that Flask is about to run.

    `operations` lists views by the function or by the endpoint, such as `plans.create` in a blueprint.

    The application asks the policy when all functions such as `before_request` have run. A function that answers a
    request itself is not a view: if such requests must be signed, use `signature_required`.

    The policy also decides about the views of the Flask applications that run inside the middleware, such as those that
    a `DispatcherMiddleware` of `app.wsgi_app` mounts. Requests for another application that it mounts must be signed,
    unless `operations` lists that application.
    """

    __slots__ = ()

    def routes_of(self, app: object) -> Routes:
        """Return the routes of an application; as `undersigned.policy.RouteResolver.routes_of`.

        Raises:
            ConfigurationError: the application overrides a method of Flask that leads to a view, such as
                `dispatch_request`.
        """
        _asks(app, [])
        return Routes(ask=lambda: _may_ask(app, []), listed=partial(_list, app), sees_handshakes=False)


def _list(app: object) -> Iterable[ListedRoute] | None:
    found: list[tuple[str, object]] = []
    return [one for prefix, app in found for one in listed_views(app, prefix)] if _may_ask(app, found) else None


def listed_views(app: object, prefix: str = "") -> Iterator[ListedRoute]:
    """Yield what an application of Flask or Quart may run, as it asks about it, or that another may run anything."""
    if not isinstance(app, App):
        yield ListedRoute("*", f"{prefix}/*", MatchedRoute(app, is_opaque=True))
        return
    for rule in app.url_map.iter_rules():
        for method in ["WEBSOCKET"] if rule.websocket else sorted(rule.methods or ()):
            if (matched := matched_view(app, rule, method, {})) is not None:
                yield ListedRoute(method, f"{prefix}{rule.rule}", matched)


_PACKAGES: Final = frozenset({"werkzeug"})
_PARAMETERS = "undersigned_flask.parameters"
"""The key of the environ that has the parameters as Flask found them: a function may remove some of them."""
_METHOD = "dispatch_request"
_METHODS = ("__call__", "wsgi_app", "full_dispatch_request", "preprocess_request", _METHOD)
"""The methods that take a request to its view. If one is overridden, any view may run."""


def guard_views(app: Flask) -> None:
    """Let an application ask the policy before it runs a view.

    Raises:
        ConfigurationError: the application overrides a method that takes a request to its view.
    """
    if is_guarded(app):
        return
    # A middleware may be the `wsgi_app` of an application, as Flask documents it.
    defined = own_names(type(app), {"flask"}) | vars(app).keys() - {"wsgi_app"}
    if own := [method for method in _METHODS if method in defined]:
        raise ConfigurationError(
            f"policy: {type(app).__name__} defines {own[0]}, so it is unknown which view runs: remove the method, "
            "or use PathResolver"
        )
    setattr(app, _METHOD, partial(_dispatch, app, app.dispatch_request))


def _dispatch(app: Flask, dispatch: Callable[..., ResponseReturnValue], *context: object) -> ResponseReturnValue:
    route = None
    # 404, 405, a redirect, and a Host that is not trusted run no view. Without a rule, Flask fails.
    if request.url_rule is not None and request.routing_exception is None:
        parameters = {**request.environ.get(_PARAMETERS, {}), **(request.view_args or {})}
        route = matched_view(app, request.url_rule, request.method, parameters)
    PUBLISHED.check_route_now(request, route)
    return dispatch(*context)


def is_guarded(app: Flask) -> bool:
    """Return whether the views of an application are guarded, and no other method has replaced the guard."""
    return getattr(vars(app).get(_METHOD), "func", None) is _dispatch


def _asks(outermost: object, found: list[tuple[str, object]], prefix: str = "") -> bool:
    """Guard the application that a middleware leads to, and those that a `DispatcherMiddleware` before it mounts.

    Put each of them with its path, which begins with `prefix`, into `found`. Return whether nothing else may run: every
    middleware leads to one application, and the last of them to Flask's.

    Raises:
        ConfigurationError: the application overrides a method that takes a request to its view.
    """
    for called in called_applications(outermost, packages=_PACKAGES):
        if isinstance(called, Flask):
            return _asks(called.wsgi_app, found, prefix)
        app = getattr(called, "__self__", None)
        if isinstance(app, Flask):
            guard_views(app)
            found.append((prefix, app))
            return is_guarded(app)
        if isinstance(called, (HTTPException, Response)):
            # The front of a dispatcher that has only mounts.
            return True
        if isinstance(called, DispatcherMiddleware):
            mounts: dict[str, WSGIApp] = called.mounts
            for path, mounted in mounts.items():
                if not isinstance(mounted, _GuardedMount) and not _may_ask(mounted, found, prefix + path):
                    mounts[path] = _GuardedMount(mounted)
            opaque = {path: one.mounted for path, one in mounts.items() if isinstance(one, _GuardedMount)}
            found += [(prefix + path, one) for path, one in opaque.items()]
    return False


def _may_ask(app: object, found: list[tuple[str, object]], prefix: str = "") -> bool:
    try:
        return _asks(app, found, prefix)
    except ConfigurationError:
        return False


@dataclass(frozen=True, eq=False)
class _GuardedMount:
    """A mounted application whose views are not known, which asks the policy before it is called."""

    mounted: WSGIApp

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        route = MatchedRoute(self.mounted, is_opaque=True)
        try:
            PUBLISHED.check_route_now(Request(environ, populate_request=False), route)
        except HTTPException as rejected:
            return rejected(environ, start_response)
        return self.mounted(environ, start_response)


def answers_options(rule: Rule | None, method: str) -> bool:
    """Return whether Flask or Quart answers a request for OPTIONS by itself when a rule has matched."""
    return method == "OPTIONS" and bool(getattr(rule, "provide_automatic_options", False))


def matched_view(app: App, rule: Rule, method: str, parameters: Mapping[str, object]) -> MatchedRoute | None:
    """Return what runs when a rule has matched, or None if Flask or Quart answers by itself."""
    if answers_options(rule, method):
        return None
    endpoint: str = rule.endpoint
    names = (endpoint, endpoint.rpartition(".")[2])
    return MatchedRoute(app.view_functions.get(endpoint), names, parameters, path=rule.rule)


def _prepare(app: Flask, **_sent: object) -> None:
    """Guard the views of every application inside the middleware: Flask calls this when it has matched a request."""
    try:
        find_signature(request)
    except ConfigurationError:
        # Another application of the process, which nothing verifies.
        return
    request.environ[_PARAMETERS] = dict(request.view_args or {})
    try:
        guard_views(app)
    except ConfigurationError:
        PUBLISHED.check_route_now(request, MatchedRoute(app, is_opaque=True))


request_started.connect(_prepare)
