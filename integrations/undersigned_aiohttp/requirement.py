"""The requirement of a signature for a handler."""

from __future__ import annotations

from functools import wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from aiohttp import web

from undersigned import ConfigurationError, SignatureError
from undersigned.middleware import Admission, ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from undersigned import VerifiedSignature


class SignatureRequired(web.HTTPUnauthorized):
    """Raised when a handler requires a signature and the request is unsigned. The response is a 401 with the code.

    Middlewares of the application that handle `web.HTTPException` get it, with the code as its `reason`.

    Attributes:
        error: the reason, for the log; `error.code` is the code that the caller gets.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(headers=answer.headers)
        self.body = answer.body
        self.headers["Content-Type"] = answer.content_type
        self.set_status(answer.status, answer.code)
        self.error = error


Target = TypeVar("Target", web.Request, web.View)
Parameters = ParamSpec("Parameters")

ADMISSION = web.RequestKey("undersigned", Admission)
"""The key of a request for what the middleware published."""


def route_of(request: web.Request) -> str | None:
    """Return the path of the route that aiohttp found, such as `/plans/{plan}`."""
    resource = request.match_info.route.resource
    return None if resource is None else resource.canonical


PUBLISHED = Published[web.Request](
    lambda request: request.get(ADMISSION),
    route=route_of,
    advice="pass web.Application(middlewares=[SignatureMiddleware(...)])",
)


def find_signature(request: web.Request) -> VerifiedSignature | None:
    """Return the verified signature of a request, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return PUBLISHED.find(request)


def verified_signature(request: web.Request) -> VerifiedSignature:
    """Return the verified signature of a request.

    Raises:
        SignatureRequired: the request is unsigned. aiohttp answers 401 with the code in JSON.
        ConfigurationError: no middleware has verified it.
    """
    try:
        return PUBLISHED.require(request)
    except SignatureError as error:
        raise SignatureRequired(error) from None


def signature_required(
    handler: Callable[Concatenate[Target, Parameters], Awaitable[web.StreamResponse]],
) -> Callable[Concatenate[Target, Parameters], Awaitable[web.StreamResponse]]:
    """Let a handler run only for a signed request. An unsigned one raises `SignatureRequired`.

    Args:
        handler: the function of a request, or the method of a `web.View`.

    Returns:
        The guarded handler.

    Raises:
        ConfigurationError: `handler` is not an async function; or, during a request, no middleware has verified it.
    """
    if not iscoroutinefunction(handler):
        raise ConfigurationError("signature_required: decorate an async function, or the methods of a web.View")

    @wraps(handler)
    async def guard(target: Target, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> web.StreamResponse:
        verified_signature(target.request if isinstance(target, web.View) else target)
        return await handler(target, *args, **kwargs)

    return guard


def response(rejection: ErrorResponse) -> web.Response:
    """Return the response to a request that is rejected."""
    return web.Response(status=rejection.status, body=rejection.body, headers=dict(rejection.fields))
