"""The route of a public JWK set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, request

from undersigned.publishing import DEFAULT_MAX_AGE, JWKS_PATH, PublishedKeys

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping


def jwks_route(
    keys: Mapping[str, object] | str | os.PathLike[str], path: str = JWKS_PATH, *, max_age: int = DEFAULT_MAX_AGE
) -> Blueprint:
    """Return a blueprint that serves a public JWK set: `app.register_blueprint(jwks_route("keys/public.jwks.json"))`.

    Receivers do not sign their request for it, so let unsigned requests pass: with `mode="optional"` or a policy.

    Args:
        keys: the JWK set as json.loads reads it, or the path of a file with it, which is read again when it changes.
        path: the path of the route.
        max_age: the seconds that receivers may keep the set.

    Raises:
        ConfigurationError: the set has private material or is not one that may be published.
    """
    published = PublishedKeys(keys, max_age=max_age)
    blueprint = Blueprint("undersigned_jwks", __name__)

    def jwks() -> Response:
        response = published.response(request.method, request.headers.get("If-None-Match"))
        # Without content, Werkzeug would replace Content-Length by 0.
        return Response(response.body or None, response.status, response.fields)

    blueprint.add_url_rule(path, "jwks", jwks, methods=["GET"])
    return blueprint
