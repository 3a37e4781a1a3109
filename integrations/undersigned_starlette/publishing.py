"""The route of a public JWK set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from undersigned.publishing import DEFAULT_MAX_AGE, JWKS_PATH, PublishedKeys

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from starlette.requests import Request


def jwks_route(
    keys: Mapping[str, object] | str | os.PathLike[str], path: str = JWKS_PATH, *, max_age: int = DEFAULT_MAX_AGE
) -> Route:
    """Return a route that serves a public JWK set: `Starlette(routes=[jwks_route("keys/public.jwks.json")])`.

    In FastAPI: `app.routes.append(jwks_route("keys/public.jwks.json"))`. Receivers do not sign their request for it, so
    let unsigned requests pass: with `mode="optional"` or a policy.

    Args:
        keys: the JWK set as json.loads reads it, or the path of a file with it, which is read again when it changes.
        path: the path of the route.
        max_age: the seconds that receivers may keep the set.

    Raises:
        ConfigurationError: the set has private material or is not one that may be published.
    """
    published = PublishedKeys(keys, max_age=max_age)

    async def jwks(request: Request) -> Response:
        response = published.response(request.method, request.headers.get("if-none-match"))
        return Response(response.body, response.status, dict(response.fields))

    return Route(path, jwks, methods=["GET"])
