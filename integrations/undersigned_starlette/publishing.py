"""The route of a public JWK set, or of the signed key directory of Web Bot Auth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

    from undersigned.publishing import PublishedKeys


def jwks_route(published: PublishedKeys, path: str | None = None) -> Route:
    """Return a route that serves public keys: `Starlette(routes=[jwks_route(PublishedKeys("keys/public.jwks.json"))])`.

    In FastAPI: `app.routes.append(jwks_route(...))`. Receivers do not sign their request for it, so let unsigned
    requests pass: with `mode="optional"` or a policy.

    Args:
        published: a `PublishedKeys` or `PublishedDirectory` of `undersigned.publishing`.
        path: the path of the route, if it is another than `published.path`.
    """

    async def jwks(request: Request) -> Response:
        response = published.response(request.method)
        return Response(response.body, headers=dict(response.fields))

    return Route(path or published.path, jwks, methods=["GET"])
