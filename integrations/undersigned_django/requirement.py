"""The setting `UNDERSIGNED`, and the requirement of a signature for a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.module_loading import import_string
from django.views.decorators.csrf import csrf_exempt

from undersigned import ConfigurationError, SignatureError, VerifiedSignature
from undersigned.middleware import ErrorResponse, Verification, configured_verifier, shaped

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from django.http.response import HttpResponseBase

_CALLED = ("POLICY", "FALLBACK", "ON_DECISION", "REJECTION")
_SHARED = ("ORIGINS", "MODE", "MAX_BODY", "MAX_UNSIGNED_BODY", "HTTP2_SERVER", *_CALLED)
_WSGI = ("RECONSTRUCT",)
_ASGI = ("SERVER_ADDS_ROOT_PATH",)
_IMPORTED = ("ORIGINS", "VERIFIER", *_CALLED, "USER")
_KNOWN = {*_SHARED, *_WSGI, *_ASGI, "VERIFIER", "JWKS", "PROFILE", "USER"}


def read_setting() -> dict[str, object]:
    """Return the setting `UNDERSIGNED`, with dotted paths replaced by the objects that they name.

    Raises:
        ConfigurationError: it is not a dictionary, has an unknown key, or has a path that cannot be imported.
    """
    given: object = getattr(settings, "UNDERSIGNED", None)
    if not isinstance(given, Mapping):
        raise ConfigurationError('UNDERSIGNED: set it to a dictionary, such as {"ORIGINS": [...], "VERIFIER": ...}')
    chosen = dict(cast("Mapping[str, object]", given))
    unknown = sorted(set(map(str, chosen)) - _KNOWN)
    if unknown:
        raise ConfigurationError(f"UNDERSIGNED: {', '.join(unknown)} is not an option; use {', '.join(sorted(_KNOWN))}")
    for name in _IMPORTED:
        path = chosen.get(name)
        if isinstance(path, str) and "." in path and "://" not in path:
            try:
                chosen[name] = import_string(path)
            except ImportError as error:
                raise ConfigurationError(f"{key(name)}: cannot import {path}: {error}") from None
    return chosen


def key(name: str) -> str:
    """Return an option as it is written in the settings."""
    return f'UNDERSIGNED["{name}"]'


def options(chosen: Mapping[str, object], *, asgi: bool) -> dict[str, Any]:
    """Return the options of the ASGI or the WSGI guard.

    Raises:
        ConfigurationError: the settings do not describe a verifier. The guard checks everything else.
    """
    names = (*_SHARED, *(_ASGI if asgi else _WSGI))
    made: dict[str, Any] = {name.lower(): chosen[name] for name in names if chosen.get(name) is not None}
    return {"origins": (), **made, "verifier": configured_verifier(chosen, key=key)}


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_ADVICE = (
    'add "undersigned_django.middleware.SignatureMiddleware" as the first of MIDDLEWARE; in tests use '
    "django.test.Client, because a RequestFactory runs no middleware"
)


_DENIED = frozenset({401, 403})
_ASKS = "Accept-Signature"


def _always() -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Denial:
    """A reason for which a view may be about to reject a request, known before the view decides.

    Attributes:
        detail: the reason, for the log.
        applies: returns, after the response, whether it can be the reason.
    """

    detail: str
    applies: Callable[[], bool] = _always

    def note(self, request: HttpRequest) -> None:
        """Let `record_denial` know of it."""
        vars(request)["signature_denial"] = self


def record_denial(request: HttpRequest, response: HttpResponseBase) -> None:
    """Record that a view has rejected a request, if it noted a `Denial` and answered so.

    The answer to an unsigned request then also has Accept-Signature (RFC 9421 section 5), if the profile sends it.
    """
    denial: Denial | None = vars(request).pop("signature_denial", None)
    if denial is not None and response.status_code in _DENIED and denial.applies():
        published = verification(request)
        error = published.unsigned_error(denial.detail)
        published.reject(error, route=route(request))
        if published.signature is None:
            for name, value in ErrorResponse.of(error).others:
                if name == _ASKS:
                    response[name] = value


def publish(request: HttpRequest, published: Verification) -> None:
    """Let the application read the signature: `request.signature`, or None for an unsigned request."""
    vars(request).update(signature=published.signature, signature_verification=published)


def release(request: HttpRequest) -> None:
    """Forget the request in its own verification, when it has been answered: a cycle would hold both."""
    verification(request).incoming.context = None


def verification(request: HttpRequest) -> Verification:
    """Return the result of the verification, which the middleware stored in the request.

    Raises:
        ConfigurationError: no middleware has verified the request.
    """
    return Verification.of(vars(request).get("signature_verification"), advice=_ADVICE)


def verified_signature(request: HttpRequest) -> VerifiedSignature:
    """Return the verified signature of a request, in a view that `signature_required` guards.

    Raises:
        SignatureError: the request is unsigned.
        ConfigurationError: no middleware has verified the request.
    """
    return verification(request).require(route=route(request))


def route(request: HttpRequest) -> str | None:
    """Return the path of the route as the URLconf spells it, or None before Django has resolved the request."""
    match = request.resolver_match
    return None if match is None else match.route


def signature_required(
    view: Callable[Concatenate[HttpRequest, Parameters], Result],
) -> Callable[Concatenate[HttpRequest, Parameters], Result]:
    """Let a view run only for a signed request. An unsigned one gets 401 with the code in JSON.

    The view is exempt from Django's CSRF check: that check protects cookies, and another site cannot sign. For a view
    class use `method_decorator(signature_required, name="dispatch")`.

    Args:
        view: the view function, sync or async.

    Returns:
        The guarded view, sync or async as it was.

    Raises:
        ConfigurationError: `view` is not a function; or, during a request, no middleware has verified the request.
    """
    if isinstance(view, type) or not callable(view):
        raise ConfigurationError(
            'signature_required: decorate a view function; for a class use method_decorator(..., name="dispatch")'
        )
    guarded = _guard_async(view) if iscoroutinefunction(view) else _guard(view)
    return cast("Callable[Concatenate[HttpRequest, Parameters], Result]", csrf_exempt(guarded))


def _guard(view: Callable[..., object]) -> Callable[..., object]:
    @wraps(view)
    def guard(request: HttpRequest, *args: object, **kwargs: object) -> object:
        rejection = _rejection(request)
        return view(request, *args, **kwargs) if rejection is None else rejection

    return guard


def _guard_async(view: Callable[..., Awaitable[object]]) -> Callable[..., object]:
    @wraps(view)
    async def guard(request: HttpRequest, *args: object, **kwargs: object) -> object:
        rejection = _rejection(request)
        return await view(request, *args, **kwargs) if rejection is None else rejection

    return guard


def _rejection(request: HttpRequest) -> HttpResponse | None:
    """Return the response to an unsigned request, or None if it is signed."""
    try:
        verified_signature(request)
    except SignatureError as error:
        return rejection_response(request, error)
    return None


def rejection_response(request: HttpRequest, error: SignatureError) -> HttpResponse:
    """Return the response to a request that is rejected for `error`, as `UNDERSIGNED["REJECTION"]` shapes it.

    Django has no handler for 401 that could do that.
    """
    shape = read_setting().get("REJECTION") if hasattr(settings, "UNDERSIGNED") else None
    chosen = cast("Callable[[ErrorResponse, HttpRequest], ErrorResponse] | None", shape)
    rejection = shaped(ErrorResponse.of(error), chosen, request)
    return HttpResponse(rejection.body, status=rejection.status, headers=dict(rejection.fields))
