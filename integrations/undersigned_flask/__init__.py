"""HTTP message signatures for Flask: `Undersigned(app, ...)` verifies, and `signature_required` guards views."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, Unpack, cast

from undersigned import ConfigurationError, Verifier
from undersigned.errors import needs_extra
from undersigned.middleware import ConfiguredOrigins, WSGIOptions, configured_options
from undersigned.policy import table_report
from undersigned.wsgi import Environ, SignatureMiddleware

with needs_extra("flask"):
    import click
    from flask import Blueprint, Flask, Response, current_app, request
    from flask.cli import AppGroup

    from .routes import PUBLISHED, RouteResolver, SignatureRequired, answers_options, find_signature, verified_signature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from undersigned.publishing import PublishedKeys

__all__ = [
    "RouteResolver",
    "SignatureRequired",
    "Undersigned",
    "find_signature",
    "jwks_route",
    "signature_required",
    "verified_signature",
]

View = TypeVar("View", bound="Blueprint | Callable[..., object]")


def signature_required(view: View) -> View:
    """Let a view, or every view of a blueprint and its nested blueprints, run only for a signed request.

    Put `@signature_required` below `@app.route`; in a class-based view it is one of the `decorators`. Call
    `signature_required(blueprint)` before the blueprint is registered. An unsigned request raises
    `SignatureRequired`, for which the application may have an `errorhandler(401)`. Without one, it gets 401 with the
    code only, in JSON. The guard of a blueprint lets OPTIONS pass where Flask answers it by itself, because no
    browser signs a CORS preflight.

    Args:
        view: the view function, or the blueprint.

    Raises:
        ConfigurationError: `view` is neither; or, during a request, no middleware has verified the request.
    """
    if isinstance(view, Blueprint):
        view.before_request(_require_in_blueprint)
        return cast("View", view)
    decorate = (
        "a view function; for a View class set decorators = [signature_required], and for a whole application "
        'UNDERSIGNED_MODE = "required"'
    )
    called = None if isinstance(view, Flask) else view
    return cast("View", PUBLISHED.guarded(called, decorate=decorate, request_of=lambda *_args, **_kwargs: request))


def _require_in_blueprint() -> None:
    if not answers_options(request.url_rule, request.method):
        verified_signature(request)


_commands = AppGroup("undersigned", help="HTTP message signatures.")


@_commands.command("routes")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list of objects.")
@click.option("--check", "kept", metavar="FILE", type=click.File(), help="Compare with a table that was kept.")
def _print_routes(*, as_json: bool, kept: TextIO | None) -> None:
    """Print what the policy demands for each route, or compare that with a table that was kept."""
    text, status = table_report(current_app.wsgi_app, as_json=as_json, kept=kept.read() if kept else None)
    click.echo(text, nl=False)
    sys.exit(status)


_PREFIX = "UNDERSIGNED_"
_OPTIONS = ("origins", *WSGIOptions.__optional_keys__)


class Undersigned:
    """An extension that verifies the requests of Flask applications.

    One object may serve several applications. Every argument can also be set in `app.config`, which overrides it:
    `UNDERSIGNED_ORIGINS` for `origins`, and so on. Without a verifier, the extension makes one of `UNDERSIGNED_JWKS` (a
    JWK set or a key source) and `UNDERSIGNED_PROFILE` (a profile or its name). It keeps nonces in its process: several
    worker processes need a verifier with a store that they share.

    Args:
        app: an application to set up at once, as `init_app` does.
        verifier: the verifier.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        options: the options of every WSGI middleware, as `undersigned.middleware.WSGIOptions` lists them: `mode`,
            `policy` and so on. Their functions get the environ. The operation is also in
            `request.environ["undersigned"].operation`.

    Raises:
        ConfigurationError: as `init_app`, if `app` is given.
    """

    def __init__(
        self,
        app: Flask | None = None,
        *,
        verifier: Verifier | None = None,
        origins: ConfiguredOrigins = (),
        **options: Unpack[WSGIOptions[Environ]],
    ) -> None:
        self._options: dict[str, Any] = {"verifier": verifier, "origins": origins, **options}
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Put the middleware around `app`, outside of any middleware that is there already.

        A request that comes to a view without the middleware gets 500.

        Raises:
            ConfigurationError: a setting is missing, has a wrong value or contradicts another, or `app` has been set up
                before. `app` is then left as it was.
        """
        if "undersigned" in app.extensions:
            raise ConfigurationError("init_app: this application is already set up; call init_app once for each one")
        configured = cast("Mapping[str, object]", app.config)
        config = {name.removeprefix(_PREFIX): given for name, given in configured.items() if name.startswith(_PREFIX)}
        options = configured_options(config, _OPTIONS, given=self._options, key=_PREFIX.__add__)
        try:
            middleware = SignatureMiddleware(app.wsgi_app, **options)
        except ConfigurationError as error:
            key = f"{_PREFIX}{error.option.upper()} (or {error.option}= of Undersigned)"
            raise ConfigurationError(f"{key}: {error.fix}") from None
        app.wsgi_app = middleware  # type: ignore[method-assign]  # as Flask documents it
        app.extensions["undersigned"] = self
        app.cli.add_command(_commands)
        # Something may have taken the `wsgi_app` that was there before, and call that. Then no view may run.
        app.before_request_funcs.setdefault(None, []).insert(0, _check_published)


def _check_published() -> None:
    PUBLISHED.admission(request)


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
