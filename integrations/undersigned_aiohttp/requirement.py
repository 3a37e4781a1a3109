"""The requirement of a signature for a handler."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, TypeVar, cast

from aiohttp import web

from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from undersigned import SignatureError

Handler = TypeVar("Handler", bound="Callable[..., Awaitable[web.StreamResponse]]")


class SignatureRequired(web.HTTPUnauthorized):
    """The 401 for an unsigned request, with the code as its `reason`; `error` is the reason, for the log.

    Middlewares of the application that handle `web.HTTPException` get it.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(headers=answer.headers)
        self.body = answer.body
        self.headers["Content-Type"] = answer.content_type
        self.set_status(answer.status, answer.code)
        self.error = error


def route_of(request: web.Request) -> str | None:
    """Return the path of the route that aiohttp found, such as `/plans/{plan}`."""
    resource = request.match_info.route.resource
    return None if resource is None else resource.canonical


PUBLISHED = Published[web.Request](
    lambda request: vars(request)["_state"],  # aiohttp warns of a key that is a string
    error=lambda _request, error: SignatureRequired(error),
    route=route_of,
    advice="pass web.Application(middlewares=[SignatureMiddleware(...)])",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(handler: Handler) -> Handler:
    """Let a handler run only for a signed request. An unsigned one raises `SignatureRequired`.

    Args:
        handler: the async function of a request, or the method of a `web.View`.

    Raises:
        ConfigurationError: `handler` is not an async function; or, during a request, no middleware has verified it.
    """
    given = handler if iscoroutinefunction(handler) else None
    guarded = PUBLISHED.guarded(given, decorate="an async function, or the methods of a web.View", request_of=_request)
    return cast("Handler", guarded)


def _request(target: web.Request | web.View, *_args: object, **_kwargs: object) -> web.Request:
    return target.request if isinstance(target, web.View) else target


def response(rejection: ErrorResponse) -> web.Response:
    """Return the response to a request that is rejected."""
    return web.Response(status=rejection.status, body=rejection.body, headers=dict(rejection.fields))
