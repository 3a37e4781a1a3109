"""The route of a public JWK set, or of the signed key directory of Web Bot Auth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.urls import path as url_path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from undersigned.publishing import PublishedKeys


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
