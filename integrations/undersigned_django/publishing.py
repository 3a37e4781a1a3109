"""The route of a public JWK set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.urls import path as url_path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from undersigned.publishing import DEFAULT_MAX_AGE, JWKS_PATH, PublishedKeys

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping


def jwks_route(
    keys: Mapping[str, object] | str | os.PathLike[str], path: str = JWKS_PATH, *, max_age: int = DEFAULT_MAX_AGE
) -> URLPattern:
    """Return a URL pattern that serves a public JWK set: `urlpatterns = [jwks_route("keys/public.jwks.json")]`.

    Receivers do not sign their request for it, so let unsigned requests pass: with `"MODE": "optional"` or a policy.

    Args:
        keys: the JWK set as json.loads reads it, or the path of a file with it, which is read again when it changes.
        path: the path of the route; the root URLconf adds its slash.
        max_age: the seconds that receivers may keep the set.

    Raises:
        ConfigurationError: the set has private material or is not one that may be published.
    """
    published = PublishedKeys(keys, max_age=max_age)

    @csrf_exempt  # so that another method is answered by 405
    @require_safe
    def jwks(request: HttpRequest) -> HttpResponse:
        response = published.response(request.method or "GET", request.headers.get("If-None-Match"))
        return HttpResponse(response.body, status=response.status, headers=dict(response.fields))

    return url_path(path.lstrip("/"), jwks)
