"""The requirement of a signature for a view or a blueprint, and the signature that the view reads."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast, overload

from flask import Blueprint, Flask, current_app, request
from werkzeug.local import LocalProxy

from undersigned import ConfigurationError, SignatureError, VerifiedSignature
from undersigned.middleware import Verification, is_preflight
from undersigned.wsgi import VERIFICATION

from .answer import rejection

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

EXTENSION = "undersigned"
"""The key of `app.extensions`."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
AnyBlueprint = TypeVar("AnyBlueprint", bound=Blueprint)


@overload
def signature_required(view: AnyBlueprint) -> AnyBlueprint: ...


@overload
def signature_required(view: Callable[Parameters, Awaitable[Result]]) -> Callable[Parameters, Result]: ...


@overload
def signature_required(view: Callable[Parameters, Result]) -> Callable[Parameters, Result]: ...


def signature_required(view: object) -> object:
    """Let a view, or every view of a blueprint and its nested blueprints, run only for a signed request.

    Put `@signature_required` below `@app.route`; in a class-based view it is one of the `decorators`. Call
    `signature_required(blueprint)` before the blueprint is registered. An unsigned request raises werkzeug's
    `Unauthorized`, for which the application may have an `errorhandler(401)`. Without one, it gets 401 with the code
    only, in JSON or, if Accept prefers it, in HTML. The guard of a blueprint lets the CORS preflights pass that Flask
    answers itself, because no browser signs them.

    Args:
        view: the view function, or the blueprint.

    Returns:
        The guarded view, or the same blueprint.

    Raises:
        ConfigurationError: `view` is neither; or, during a request, no middleware has verified the request.
    """
    if isinstance(view, Blueprint):
        view.before_request(_require_in_blueprint)
        return view
    if isinstance(view, (type, Flask)) or not callable(view):
        raise ConfigurationError(
            "signature_required: decorate a view function; for a View class set decorators = [signature_required], and "
            'for a whole application UNDERSIGNED_MODE = "required"'
        )
    return _guard(view)


def _guard(view: Callable[..., object]) -> Callable[..., object]:
    @wraps(view)
    def guard(*args: object, **kwargs: object) -> object:
        _require()
        result: object = current_app.ensure_sync(view)(*args, **kwargs)
        return result

    return guard


def _require() -> None:
    """Require a signature.

    Raises:
        HTTPException: the request is unsigned.
    """
    try:
        rule = request.url_rule
        published_verification().require(route=None if rule is None else rule.rule)
    except SignatureError as error:
        raise rejection(request.environ, error) from None


def _require_in_blueprint() -> None:
    """Require a signature, but not of a preflight that runs no view."""
    runs_no_view = getattr(request.url_rule, "provide_automatic_options", False)
    if not (runs_no_view and is_preflight(request.method, request.headers)):
        _require()


def published_verification() -> Verification:
    """Return the result of the verification, which the middleware published in the environ.

    Raises:
        ConfigurationError: no middleware has verified the request.
    """
    return Verification.of(
        request.environ.get(VERIFICATION),
        advice="call Undersigned(app) or init_app(app). In tests use app.test_client(), because "
        "app.test_request_context() runs no middleware. If a framework takes app.wsgi_app before that, as Connexion "
        "does, put a middleware around the application that the server calls",
    )


def check_published() -> None:
    """Check that the middleware has verified the request: a `before_request` function.

    Raises:
        ConfigurationError: no middleware has verified the request.
    """
    if VERIFICATION not in request.environ:
        published_verification()


def _current_signature() -> VerifiedSignature:
    signature = published_verification().signature
    if signature is None:
        raise RuntimeError(
            "this request is not signed: put @signature_required on the view, or ask `if current_signature:` first"
        )
    return signature


current_signature = cast("VerifiedSignature", LocalProxy(_current_signature))
"""The signature of the current request: a proxy like `flask.request`. It is false if the request is unsigned.

Any other use raises RuntimeError if the request is unsigned or there is none, and ConfigurationError if no middleware
has verified it.
"""
