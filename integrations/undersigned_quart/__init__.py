"""HTTP message signatures for Quart: `Undersigned(app, ...)` verifies, `signature_required` guards views."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

from undersigned import ConfigurationError, asgi
from undersigned.errors import needs_extra
from undersigned.middleware import ASGISetup, Published
from undersigned.policy import RouteResolver, Routes, called_applications, own_names

with needs_extra("quart"):
    from quart import Blueprint, Quart, Request, Response, Websocket, has_request_context, request, websocket

    from undersigned_flask.routes import SignatureRequired as FlaskSignatureRequired
    from undersigned_flask.routes import answers_options, listed_views, matched_view

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "RouteResolver",
    "SignatureMiddleware",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "signature_required",
    "verified_signature",
]

View = TypeVar("View", bound="Blueprint | Callable[..., object]")


class SignatureRequired(FlaskSignatureRequired):
    """The 401 for an unsigned request, with the code as its `description`; `error` is the reason, for the log.

    Handlers of 401, `Unauthorized` and `HTTPException` get it. Without one, Quart sends its `response`.
    """

    response_class = Response


PUBLISHED = Published[Request | Websocket](
    lambda asked: cast("dict[str, Any]", asked.scope),
    error=lambda _asked, error: SignatureRequired(error),
    route=lambda asked: None if asked.url_rule is None else asked.url_rule.rule,
    advice="call Undersigned(app, ...) before the application is served",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(view: View) -> View:
    """Let a view, or every view and WebSocket of a blueprint, run only for a signed request.

    Put `@signature_required` below `@app.route`. The guard of a blueprint lets OPTIONS pass where Quart answers it
    by itself, because no browser signs a CORS preflight.

    Args:
        view: the view function, sync or async, or the blueprint before it is registered.

    Returns:
        The guarded view, or the same blueprint.

    Raises:
        ConfigurationError: `view` is neither; or, during a request, no middleware has verified the request.
    """
    if isinstance(view, Blueprint):
        view.before_request(_require_in_blueprint)
        view.before_websocket(_require_in_blueprint)
        return cast("View", view)
    called = None if isinstance(view, Quart) else view
    return cast("View", PUBLISHED.guarded(called, decorate="a view function or a blueprint", request_of=_received))


async def _require_in_blueprint() -> None:
    if not answers_options((asked := _received()).url_rule, asked.method):
        verified_signature(asked)


def _received(*_args: object, **_kwargs: object) -> Request | Websocket:
    return request if has_request_context() else websocket


class Undersigned(asgi.SignatureMiddleware):
    """An extension that verifies the requests and handshakes of a Quart application, as its outermost middleware.

    A request that comes to a view without the middleware gets 500. With a `RouteResolver`, the policy decides about
    the view before any `before_request` function runs. Every request must be signed if a middleware of `asgi_app` may
    call several applications, or if the class of the application overrides a method that leads to a view.
    `SignatureMiddleware` is another name of it.

    Args:
        app: the application, or its `asgi_app`.
        options: those of `undersigned.asgi.SignatureMiddleware`: `verifier`, `origins`, `mode` and so on.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(self, app: Quart | Callable[..., Any], **options: Unpack[ASGISetup]) -> None:
        quart = getattr(app, "__self__", app)
        if not isinstance(quart, Quart):
            raise ConfigurationError("app: pass the Quart application")
        ask = partial(_leads_to_views, quart.asgi_app, quart)
        routes = Routes(quart.asgi_app, lambda: listed_views(quart) if ask() else None, ask)
        super().__init__(routes, **options)
        quart.asgi_app = self  # type: ignore[method-assign,assignment]  # as Quart documents it
        for hooks in (quart.before_request_funcs, quart.before_websocket_funcs):
            hooks[None].insert(0, partial(_ask, quart))


SignatureMiddleware = Undersigned

_STEPS = ("handle", "full_dispatch", "preprocess", "dispatch")
_METHODS = {"__call__", "asgi_app", *(f"{step}_{kind}" for step in _STEPS for kind in ("request", "websocket"))}
"""The methods that take a request or a handshake to its view. If one is overridden, any view may run."""


def _leads_to_views(asgi_app: object, quart: Quart) -> bool:
    """Return whether an application, or a middleware around it, runs nothing but views that ask the policy."""
    packages = {"starlette", "undersigned_quart"}
    called = called_applications(asgi_app, packages=packages, is_application=asgi.is_application)
    defined = own_names(type(quart), {"quart", "quart_trio", "flask"}) | vars(quart).keys() - {"asgi_app"}
    return defined.isdisjoint(_METHODS) and any(getattr(one, "__self__", None) is quart for one in called)


async def _ask(app: Quart) -> None:
    asked = _received()
    rule = None if asked.routing_exception is not None else asked.url_rule
    route = None if rule is None else matched_view(app, rule, asked.method, asked.view_args or {})
    await PUBLISHED.check_route(asked, route)
