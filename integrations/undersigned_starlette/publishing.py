"""The routes of public JWK sets: of a plain one, and of the signed key directory of Web Bot Auth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from undersigned.publishing import DEFAULT_MAX_AGE, DIRECTORY_PATH, JWKS_PATH, PublishedDirectory, PublishedKeys

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request

    from undersigned import RemoteKey


def jwks_route(
    keys: Mapping[str, object] | str | os.PathLike[str],
    path: str = JWKS_PATH,
    *,
    keyid: str | None = None,
    max_age: int = DEFAULT_MAX_AGE,
) -> Route:
    """Return a route that serves a public JWK set: `Starlette(routes=[jwks_route("keys/public.jwks.json")])`.

    In FastAPI: `app.routes.append(jwks_route("keys/public.jwks.json"))`. Receivers do not sign their request for it, so
    let unsigned requests pass: with `mode="optional"` or a policy.

    Args:
        keys: the JWK set as json.loads reads it, or the path of a file with it or with a public key in PEM. The file is
            read again when it changes.
        path: the path of the route.
        keyid: the `kid` of a key in PEM; by default its thumbprint.
        max_age: the seconds that receivers may keep the set.

    Raises:
        ConfigurationError: the set has private material or is not one that may be published.
    """
    return _route(PublishedKeys(keys, keyid=keyid, max_age=max_age), path)


def directory_route(
    keys: Mapping[str, object] | str | os.PathLike[str],
    signing_keys: Sequence[RemoteKey],
    *,
    origin: str,
    path: str = DIRECTORY_PATH,
    max_age: int = DEFAULT_MAX_AGE,
) -> Route:
    """Return a route that serves the signed key directory of Web Bot Auth, for bots known by `origin`.

    In FastAPI: `app.routes.append(directory_route(...))`. Receivers do not sign their request for it.

    Args:
        keys: the public JWK set, or the path of a file with it. Each `kid` is the thumbprint of its key.
        signing_keys: the private keys, one for each public key: `SigningKey` objects, or keys in a KMS.
        origin: the origin at which the bots are known, such as `https://bot.example`. The directory is for this origin
            only, whatever the Host of a request is.
        path: the path of the route.
        max_age: the seconds that receivers may keep the directory.

    Raises:
        ConfigurationError: the set cannot be published, or the private keys are not those of the set.
    """
    return _route(PublishedDirectory(keys, signing_keys, origin=origin, max_age=max_age), path)


def _route(published: PublishedKeys, path: str) -> Route:
    async def jwks(request: Request) -> Response:
        response = published.response(request.method, request.headers.get("if-none-match"))
        return Response(response.body, response.status, dict(response.fields))

    return Route(path, jwks, methods=["GET"])
