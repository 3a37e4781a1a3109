"""The route of a public JWK set, or of the signed key directory of Web Bot Auth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, request

if TYPE_CHECKING:
    from undersigned.publishing import PublishedKeys


def jwks_route(published: PublishedKeys, path: str | None = None) -> Blueprint:
    """Return a blueprint that serves public keys: `app.register_blueprint(jwks_route(PublishedKeys("keys.json")))`.

    Receivers do not sign their request for it, so let unsigned requests pass: with `mode="optional"` or a policy.

    Args:
        published: a `PublishedKeys` or `PublishedDirectory` of `undersigned.publishing`.
        path: the path of the route, if it is another than `published.path`.
    """
    blueprint = Blueprint(f"undersigned_{type(published).__name__}", __name__)

    def jwks() -> Response:
        response = published.response(request.method)
        # Without content, Werkzeug would replace Content-Length by 0.
        return Response(response.body or None, headers=response.fields)

    blueprint.add_url_rule(path or published.path, "jwks", jwks, methods=["GET"])
    return blueprint
