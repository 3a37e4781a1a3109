"""The routes of public JWK sets: of a plain one, and of the signed key directory of Web Bot Auth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern
from django.urls import path as url_path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from undersigned.publishing import DEFAULT_MAX_AGE, DIRECTORY_PATH, JWKS_PATH, PublishedDirectory, PublishedKeys

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from undersigned import RemoteKey


def jwks_route(
    keys: Mapping[str, object] | str | os.PathLike[str],
    path: str = JWKS_PATH,
    *,
    keyid: str | None = None,
    max_age: int = DEFAULT_MAX_AGE,
) -> URLPattern:
    """Return a URL pattern that serves a public JWK set: `urlpatterns = [jwks_route("keys/public.jwks.json")]`.

    Receivers do not sign their request for it, so let unsigned requests pass: with `"MODE": "optional"` or a policy.

    Args:
        keys: the JWK set as json.loads reads it, or the path of a file with it or with a public key in PEM. The file is
            read again when it changes.
        path: the path of the route; the root URLconf adds its slash.
        keyid: the `kid` of a key in PEM; by default its thumbprint.
        max_age: the seconds that receivers may keep the set.

    Raises:
        ConfigurationError: the set has private material or is not one that may be published.
    """
    return _pattern(PublishedKeys(keys, keyid=keyid, max_age=max_age), path)


def directory_route(
    keys: Mapping[str, object] | str | os.PathLike[str],
    signing_keys: Sequence[RemoteKey],
    *,
    origin: str,
    path: str = DIRECTORY_PATH,
    max_age: int = DEFAULT_MAX_AGE,
) -> URLPattern:
    """Return a URL pattern that serves the signed key directory of Web Bot Auth, for bots known by `origin`.

    `urlpatterns = [directory_route(...)]`. Receivers do not sign their request for it.

    Args:
        keys: the public JWK set, or the path of a file with it. Each `kid` is the thumbprint of its key.
        signing_keys: the private keys, one for each public key: `SigningKey` objects, or keys in a KMS.
        origin: the origin at which the bots are known, such as `https://bot.example`. The directory is for this origin
            only, whatever the Host of a request is.
        path: the path of the route; the root URLconf adds its slash.
        max_age: the seconds that receivers may keep the directory.

    Raises:
        ConfigurationError: the set cannot be published, or the private keys are not those of the set.
    """
    return _pattern(PublishedDirectory(keys, signing_keys, origin=origin, max_age=max_age), path)


def _pattern(published: PublishedKeys, path: str) -> URLPattern:
    @csrf_exempt  # so that another method is answered by 405
    @require_safe
    def jwks(request: HttpRequest) -> HttpResponse:
        response = published.response(request.method or "GET", request.headers.get("If-None-Match"))
        return HttpResponse(response.body, status=response.status, headers=dict(response.fields))

    return url_path(path.lstrip("/"), jwks)
