"""The routes of public JWK sets: of a plain one, and of the signed key directory of Web Bot Auth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response, request

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
) -> Blueprint:
    """Return a blueprint that serves a public JWK set: `app.register_blueprint(jwks_route("keys/public.jwks.json"))`.

    Receivers do not sign their request for it, so let unsigned requests pass: with `mode="optional"` or a policy.

    Args:
        keys: the JWK set as json.loads reads it, or the path of a file with it or with a public key in PEM. The file is
            read again when it changes.
        path: the path of the route.
        keyid: the `kid` of a key in PEM; by default its thumbprint.
        max_age: the seconds that receivers may keep the set.

    Raises:
        ConfigurationError: the set has private material or is not one that may be published.
    """
    return _blueprint("undersigned_jwks", PublishedKeys(keys, keyid=keyid, max_age=max_age), path)


def directory_route(
    keys: Mapping[str, object] | str | os.PathLike[str],
    signing_keys: Sequence[RemoteKey],
    *,
    origin: str,
    path: str = DIRECTORY_PATH,
    max_age: int = DEFAULT_MAX_AGE,
) -> Blueprint:
    """Return a blueprint that serves the signed key directory of Web Bot Auth, for bots known by `origin`.

    `app.register_blueprint(directory_route(...))`. Receivers do not sign their request for it.

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
    published = PublishedDirectory(keys, signing_keys, origin=origin, max_age=max_age)
    return _blueprint("undersigned_directory", published, path)


def _blueprint(name: str, published: PublishedKeys, path: str) -> Blueprint:
    blueprint = Blueprint(name, __name__)

    def jwks() -> Response:
        response = published.response(request.method, request.headers.get("If-None-Match"))
        # Without content, Werkzeug would replace Content-Length by 0.
        return Response(response.body or None, response.status, response.fields)

    blueprint.add_url_rule(path, "jwks", jwks, methods=["GET"])
    return blueprint
