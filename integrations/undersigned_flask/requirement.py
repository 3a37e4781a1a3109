"""The requirement of a signature for a view or a blueprint."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from flask import Blueprint, Flask, Request, Response, request
from werkzeug.exceptions import Unauthorized

from undersigned.middleware import ErrorResponse, Published

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned import SignatureError

View = TypeVar("View", bound="Blueprint | Callable[..., object]")


class SignatureRequired(Unauthorized):
    """The 401 for an unsigned request, with the code as its `description`; `error` is the reason, for the log.

    Handlers of 401, `Unauthorized` and `HTTPException` get it. Without one, Flask sends its `response`.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.code, Response(answer.body, answer.status, answer.fields))
        self.code, self.error = answer.status, error


PUBLISHED = Published[Request](
    lambda asked: asked.environ,
    error=lambda _asked, error: SignatureRequired(error),
    route=lambda asked: None if asked.url_rule is None else asked.url_rule.rule,
    advice="call Undersigned(app) or init_app(app). In tests use app.test_client(), or put_signature of "
    "undersigned.testing, because app.test_request_context() runs no middleware. If a framework takes app.wsgi_app "
    "before that, as Connexion does, put a middleware around the application that the server calls",
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(view: View) -> View:
    """Let a view, or every view of a blueprint and its nested blueprints, run only for a signed request.

    Put `@signature_required` below `@app.route`; in a class-based view it is one of the `decorators`. Call
    `signature_required(blueprint)` before the blueprint is registered. An unsigned request raises
    `SignatureRequired`, for which the application may have an `errorhandler(401)`. Without one, it gets 401 with the
    code only, in JSON. The guard of a blueprint lets OPTIONS pass where Flask answers it by itself, because no
    browser signs a CORS preflight.

    Args:
        view: the view function, or the blueprint.

    Raises:
        ConfigurationError: `view` is neither; or, during a request, no middleware has verified the request.
    """
    if isinstance(view, Blueprint):
        view.before_request(_require_in_blueprint)
        return cast("View", view)
    decorate = (
        "a view function; for a View class set decorators = [signature_required], and for a whole application "
        'UNDERSIGNED_MODE = "required"'
    )
    called = None if isinstance(view, Flask) else view
    return cast("View", PUBLISHED.guarded(called, decorate=decorate, request_of=_request))


def _request(*_args: object, **_kwargs: object) -> Request:
    return request


def _require_in_blueprint() -> None:
    if not answers_itself(request):
        verified_signature(request)


def answers_itself(asked: Request) -> bool:
    """Return whether Flask answers OPTIONS by itself, and runs no view."""
    return asked.method == "OPTIONS" and bool(getattr(asked.url_rule, "provide_automatic_options", False))
