"""The requirement of a signature for a resource or a responder."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, TypeVar, cast

import falcon
import falcon.asgi

from undersigned import ConfigurationError
from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from undersigned import SignatureError


class SignatureRequired(falcon.HTTPUnauthorized):
    """Raised when a responder requires a signature and the request is unsigned: a 401 with the code as its `title`.

    Handlers of `falcon.HTTPUnauthorized` and `falcon.HTTPError` get it. Without one, Falcon answers it as any other.

    Attributes:
        error: the reason, for the log; `error.code` is the code that the caller gets.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(title=answer.code, headers=answer.headers)
        self.status, self.error = answer.status, error


def scope_of(request: falcon.Request) -> dict[str, Any]:
    """Return the scope of a request (ASGI) or its environ (WSGI)."""
    return request.scope if isinstance(request, falcon.asgi.Request) else request.env


PUBLISHED = Published[falcon.Request](
    scope_of,
    error=lambda _request, error: SignatureRequired(error),
    route=lambda request: request.uri_template,
    advice="serve SignatureMiddleware(app, ...) instead of the application",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature

Responder = TypeVar("Responder")


def signature_required(resource: Responder) -> Responder:
    """Let a responder, or every responder of a resource class, run only for a signed request.

    OPTIONS passes where Falcon answers it by itself, because no browser signs a CORS preflight.

    Args:
        resource: the class of a resource, or one of its responders, sync or async.

    Returns:
        The guarded class or responder.

    Raises:
        ConfigurationError: `resource` is neither; or, during a request, no middleware has verified the request.
    """
    given: Any = resource
    is_class = isinstance(given, type)
    responders = [getattr(given, name) for name in dir(given) if name.startswith("on_")] if is_class else [given]
    if not responders or not callable(given):
        raise ConfigurationError("signature_required: decorate a responder, or the class of a resource that has some")
    before: Any = falcon.before(_require_async if any(map(iscoroutinefunction, responders)) else _require)
    return cast("Responder", before(resource))


def _require(request: falcon.Request, *_rest: object) -> None:
    verified_signature(request)


async def _require_async(request: falcon.Request, *_rest: object) -> None:
    _require(request)
