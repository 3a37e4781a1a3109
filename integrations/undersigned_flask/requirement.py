"""The requirement: a view or a blueprint that runs only for a signed request, and the signature it sees."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast, overload

from flask import Blueprint, Flask, Response, current_app, request
from werkzeug.local import LocalProxy

from undersigned import ConfigurationError, VerifiedSignature, profiles

from .answer import unsigned_answer
from .settings import Settings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

EXTENSION = "undersigned"
"""The key of `app.extensions`."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
AnyBlueprint = TypeVar("AnyBlueprint", bound=Blueprint)


@overload
def required(view: AnyBlueprint) -> AnyBlueprint: ...


@overload
def required(view: Callable[Parameters, Awaitable[Result]]) -> Callable[Parameters, Result | Response]: ...


@overload
def required(view: Callable[Parameters, Result]) -> Callable[Parameters, Result | Response]: ...


def required(view: object) -> object:
    """Let a view, or every view of a blueprint and of those nested in it, run only for a signed request.

    `@required` stands below `@app.route`; in a class-based view it is one of its `decorators`. `required(blueprint)`
    is called before the blueprint is registered. An unsigned request is answered 401 with the code and nothing more,
    in JSON or, where Accept prefers it, in HTML.

    Args:
        view: the view function, or the blueprint.

    Returns:
        The guarded view, or the same blueprint.

    Raises:
        ConfigurationError: something else was given; or, at a request, no middleware has judged it.
    """
    if isinstance(view, Blueprint):
        view.before_request(_refusal)
        return view
    if isinstance(view, (type, Flask)) or not callable(view):
        raise ConfigurationError(
            "required: decorate a view function; for a View class set decorators = [required], and for a whole "
            'application UNDERSIGNED_MODE = "required"'
        )
    return _guarded(view)


def _guarded(view: Callable[..., object]) -> Callable[..., object]:
    @wraps(view)
    def guarded(*args: object, **kwargs: object) -> object:
        refusal = _refusal()
        if refusal is not None:
            return refusal
        result: object = current_app.ensure_sync(view)(*args, **kwargs)
        return result

    return guarded


def _refusal() -> Response | None:
    if _signature() is not None:
        return None
    settings = current_app.extensions.get(EXTENSION)
    # Where undersigned.wsgi's own middleware wraps the application no profile is told, and requests are judged.
    verifier = settings.verifier if isinstance(settings, Settings) else None
    profile = profiles.ADCP_3_2 if verifier is None else verifier.profile
    return unsigned_answer(request.environ, profile)


def _signature() -> VerifiedSignature | None:
    """Return what the middleware found: a signature, or None for an unsigned request."""
    judged = request.environ.get("undersigned.signature", _signature)
    if judged is None or isinstance(judged, VerifiedSignature):
        return judged
    raise ConfigurationError(
        "undersigned: no middleware has judged this request; call Undersigned(app) or init_app(app), and in tests use "
        "app.test_client(): app.test_request_context() runs no middleware"
    )


def _required_signature() -> VerifiedSignature:
    signature = _signature()
    if signature is None:
        raise RuntimeError(
            "this request is not signed: put @required on the view, or ask `if current_signature:` first"
        )
    return signature


current_signature = cast("VerifiedSignature", LocalProxy(_required_signature))
"""The signature of the current request, as `flask.request` is the request: false where it is unsigned.

Any other use raises RuntimeError where the request is unsigned or there is none, and ConfigurationError where no
middleware has judged it.
"""
