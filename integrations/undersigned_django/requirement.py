"""The setting `UNDERSIGNED`, the requirement of a signature for a view, and the route of the public keys."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.urls import path as url_path
from django.utils.module_loading import import_string
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from undersigned import ConfigurationError, SignatureError
from undersigned.eventloop import AsyncGuard
from undersigned.middleware import ErrorResponse, Published, configured_options
from undersigned.wsgi import SyncGuard

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

    from django.http.response import HttpResponseBase

    from undersigned.publishing import PublishedKeys

_KEY = 'UNDERSIGNED["{}"]'.format
_CALLED = ("POLICY", "FALLBACK", "ON_DECISION", "REJECTION")
_SHARED = ("ORIGINS", "MODE", "MAX_BODY", "MAX_UNSIGNED_BODY", "HTTP2_SERVER", "LOG_WHOLE", *_CALLED)
_IMPORTED = ("ORIGINS", "VERIFIER", *_CALLED, "USER")
_KNOWN = {*_SHARED, "RECONSTRUCT", "SERVER_ADDS_ROOT_PATH", "VERIFIER", "JWKS", "PROFILE", "USER"}


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
                raise ConfigurationError(f"{_KEY(name)}: cannot import {path}: {error}") from None
    return chosen


def guards() -> tuple[SyncGuard, AsyncGuard]:
    """Return the two guards that the setting `UNDERSIGNED` describes. They have one verifier, and so one replay store.

    Raises:
        ConfigurationError: the setting is missing or has a wrong value.
    """
    chosen = read_setting()
    options = configured_options(chosen, map(str.lower, _SHARED), key=_KEY)
    reconstruct: Any = chosen.get("RECONSTRUCT") or False
    try:
        return SyncGuard(**options, reconstruct=reconstruct), AsyncGuard(**options)
    except ConfigurationError as error:
        raise ConfigurationError(f"{_KEY(error.option.upper())}: {error.fix}") from None


View = TypeVar("View", bound="Callable[..., object]")


def route(request: HttpRequest) -> str | None:
    """Return the path of the route as the URLconf spells it, or None before Django has resolved the request."""
    match = request.resolver_match
    return None if match is None else match.route


def note_denial(request: HttpRequest, detail: str, applies: Callable[[], bool] = lambda: True) -> None:
    """Let `answered_by_view` know why a view may be about to reject a request, before the view decides.

    After the response, `applies` returns whether that can be the reason.
    """
    vars(request)["signature_denial"] = detail, applies


def answered_by_view(request: HttpRequest, answered: HttpResponseBase) -> HttpResponseBase:
    """Return the response to a request, after a view has answered it.

    Django answers `SignatureRequired` of a middleware with its 403, and REST framework that of a view: then it becomes
    the 401, and the body stays that of REST framework.
    If `note_denial` was called and the view answered so, that rejection is recorded. `UNDERSIGNED["REJECTION"]` shapes
    whatever a view has rejected. Without it, the view's own response is sent. That to an unsigned request that was
    denied then also has Accept-Signature (RFC 9421 section 5), if the profile sends it.
    """
    admission = PUBLISHED.admission(request)
    received, is_shaped, shaped = admission.received, admission.service.rejection is not None, None
    detail, applies = vars(request).pop("signature_denial", ("", lambda: False))
    if received.answers:
        answer = received.answers[-1]
        if answered.status_code == HTTPStatus.FORBIDDEN:
            shaped = None if hasattr(answered, "data") else answer
            answered.status_code = answer.status
            for name, value in answer.headers.items():
                answered[name] = value
        if is_shaped:
            shaped = received.replacement(answered.status_code) or shaped
    elif answered.status_code in {401, 403} and applies():
        sent = None if is_shaped else answered.status_code
        answer = admission.reject(admission.unsigned_error(detail), route=route(request), sent=sent)
        shaped = answer if is_shaped else None
        asked = dict(answer.others).get("Accept-Signature")
        if asked is not None and not is_shaped and admission.signature is None:
            answered["Accept-Signature"] = asked
    if shaped is None:
        return answered
    replaced = response(shaped, request)
    for name, value in shaped.merged(answered.items()):
        replaced[name] = value
    replaced.cookies = answered.cookies
    return replaced


class SignatureRequired(PermissionDenied):
    """Raised when a view requires a signature and the request is unsigned. The middleware answers 401 with the code.

    Django has no exception for 401. Without the middleware, this is its 403. Its `error` is the reason, for the log.
    """

    def __init__(self, error: SignatureError) -> None:
        super().__init__(error.code)
        self.error = error


def _place(request: HttpRequest) -> MutableMapping[str, Any]:
    """Return the environ or the scope of a request, or its attributes if no server made it."""
    return getattr(request, "environ", None) or getattr(request, "scope", None) or vars(request)


PUBLISHED = Published[HttpRequest](
    _place,
    is_request=lambda argument: hasattr(argument, "META"),
    error=lambda _request, error: SignatureRequired(error),
    route=route,
    advice='add "undersigned_django.middleware.SignatureMiddleware" as the first of MIDDLEWARE',
)
find_signature = PUBLISHED.find_signature
verified_signature = PUBLISHED.verified_signature


def signature_required(view: View) -> View:
    """Let a view run only for a signed request. An unsigned one raises `SignatureRequired`.

    The view is exempt from Django's CSRF check: that check protects cookies, and another site cannot sign. For a view
    class use `method_decorator(signature_required, name="dispatch")`.

    Args:
        view: the view function, sync or async.

    Raises:
        ConfigurationError: `view` is not a function; or, during a request, no middleware has verified the request.
    """
    decorate = 'a view function; for a class use method_decorator(..., name="dispatch")'
    return csrf_exempt(PUBLISHED.guarded(view, decorate=decorate))


def response(answer: ErrorResponse, request: HttpRequest) -> HttpResponse:
    """Return the response that rejects a request. Django has no handler for 401."""
    # Some servers send the content of a response to HEAD, although the client expects the next response there.
    content = b"" if request.method == "HEAD" else answer.body
    return HttpResponse(content, status=answer.status, headers=dict(answer.fields))


def jwks_route(published: PublishedKeys, path: str | None = None) -> URLPattern:
    """Return a URL pattern that serves public keys: `urlpatterns = [jwks_route(PublishedKeys("keys.json"))]`.

    Receivers do not sign their request for it, so let unsigned requests pass: with `"MODE": "optional"` or a policy.

    Args:
        published: a `PublishedKeys` or `PublishedDirectory` of `undersigned.publishing`.
        path: the path of the route, if it is another than `published.path`; the root URLconf adds its slash.
    """

    @csrf_exempt  # so that another method is answered by 405
    @require_safe
    def jwks(request: HttpRequest) -> HttpResponse:
        response = published.response(request.method or "GET")
        return HttpResponse(response.body, headers=dict(response.fields))

    return url_path((path or published.path).lstrip("/"), jwks)
