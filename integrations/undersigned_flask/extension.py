"""The Flask extension, which verifies requests, and the requirement of a signature for a view or a blueprint."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast, overload

from flask import Blueprint, Flask, Request, Response, current_app, request
from werkzeug.exceptions import Unauthorized
from werkzeug.local import LocalProxy

from undersigned import ConfigurationError, SignatureError, VerifiedSignature
from undersigned.middleware import ErrorResponse, Published, WSGIOptions, configured_verifier
from undersigned.wsgi import ADMISSION, SignatureMiddleware

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import Unpack

    from undersigned import Verifier
    from undersigned.middleware import ConfiguredOrigins
    from undersigned.wsgi import Environ

EXTENSION = "undersigned"
"""The key of `app.extensions`."""

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
AnyBlueprint = TypeVar("AnyBlueprint", bound=Blueprint)


@overload
def signature_required(view: AnyBlueprint) -> AnyBlueprint: ...


@overload
def signature_required(view: Callable[Parameters, Awaitable[Result]]) -> Callable[Parameters, Result]: ...


@overload
def signature_required(view: Callable[Parameters, Result]) -> Callable[Parameters, Result]: ...


def signature_required(view: object) -> object:
    """Let a view, or every view of a blueprint and its nested blueprints, run only for a signed request.

    Put `@signature_required` below `@app.route`; in a class-based view it is one of the `decorators`. Call
    `signature_required(blueprint)` before the blueprint is registered. An unsigned request raises
    `SignatureRequired`, for which the application may have an `errorhandler(401)`. Without one, it gets 401 with the
    code only, in JSON. The guard of a blueprint lets the CORS preflights pass that Flask answers itself, because no
    browser signs them.

    Args:
        view: the view function, or the blueprint.

    Returns:
        The guarded view, or the same blueprint.

    Raises:
        ConfigurationError: `view` is neither; or, during a request, no middleware has verified the request.
    """
    if isinstance(view, Blueprint):
        view.before_request(_require_in_blueprint)
        return view
    if isinstance(view, (type, Flask)) or not callable(view):
        raise ConfigurationError(
            "signature_required: decorate a view function; for a View class set decorators = [signature_required], and "
            'for a whole application UNDERSIGNED_MODE = "required"'
        )
    return _guard(view)


def _guard(view: Callable[..., object]) -> Callable[..., object]:
    @wraps(view)
    def guard(*args: object, **kwargs: object) -> object:
        verified_signature(request)
        result: object = current_app.ensure_sync(view)(*args, **kwargs)
        return result

    return guard


def find_signature(asked: Request) -> VerifiedSignature | None:
    """Return the verified signature of a request, or None if it is unsigned.

    Raises:
        ConfigurationError: no middleware has verified it.
    """
    return PUBLISHED.find(asked)


def verified_signature(asked: Request) -> VerifiedSignature:
    """Return the verified signature of a request.

    Raises:
        SignatureRequired: the request is unsigned.
        ConfigurationError: no middleware has verified it.
    """
    try:
        return PUBLISHED.require(asked)
    except SignatureError as error:
        raise SignatureRequired(error) from None


def _require_in_blueprint() -> None:
    """Require a signature, but not of a preflight that runs no view."""
    runs_no_view = getattr(request.url_rule, "provide_automatic_options", False)
    if not (runs_no_view and PUBLISHED.admission(request).received.is_preflight):
        verified_signature(request)


def _route(asked: Request) -> str | None:
    return None if asked.url_rule is None else asked.url_rule.rule


PUBLISHED = Published[Request](
    lambda asked: asked.environ.get(ADMISSION),
    route=_route,
    advice="call Undersigned(app) or init_app(app). In tests use app.test_client(), because "
    "app.test_request_context() runs no middleware. If a framework takes app.wsgi_app before that, as Connexion "
    "does, put a middleware around the application that the server calls",
)


def check_published() -> None:
    """Check that the middleware has verified the request: a `before_request` function.

    Raises:
        ConfigurationError: no middleware has verified the request.
    """
    PUBLISHED.admission(request)


def _current_signature() -> VerifiedSignature:
    signature = PUBLISHED.find(request)
    if signature is None:
        raise RuntimeError(
            "this request is not signed: put @signature_required on the view, or ask `if current_signature:` first"
        )
    return signature


current_signature = cast("VerifiedSignature", LocalProxy(_current_signature))
"""The signature of the current request: a proxy like `flask.request`. It is false if the request is unsigned.

Any other use raises RuntimeError if the request is unsigned or there is none, and ConfigurationError if no middleware
has verified it.
"""


class SignatureRequired(Unauthorized):
    """Raised when a view requires a signature and the request is unsigned: a 401 with the code as its `description`.

    Handlers of 401, `Unauthorized` and `HTTPException` get it. Without one, Flask sends its `response`.

    Attributes:
        error: the reason, for the log; `error.code` is the code that the caller gets.
    """

    def __init__(self, error: SignatureError) -> None:
        answer = ErrorResponse.of(error)
        super().__init__(answer.code, Response(answer.body, answer.status, answer.fields))
        self.code, self.error = answer.status, error


_PREFIX = "UNDERSIGNED_"
_OPTIONS = ("origins", *WSGIOptions.__optional_keys__)


class Undersigned:
    """An extension that verifies the requests of Flask applications. `current_signature` is the signature.

    One object may serve several applications. Each argument can also be a key of `app.config`, which overrides it:
    `UNDERSIGNED_ORIGINS` for `origins`, and so on. Without a verifier, the extension makes one of `UNDERSIGNED_JWKS` (a
    JWK set) and `UNDERSIGNED_PROFILE` (a profile or its name). It keeps nonces in its process: several worker processes
    need a verifier with a store that they share.

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
        self._verifier = verifier
        self._options: dict[str, Any] = {
            "origins": origins if isinstance(origins, str) or callable(origins) else tuple(origins),
            **options,
        }
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Put the middleware around `app`, outside of any middleware that is there already.

        A request that comes to a view without the middleware gets 500.

        Raises:
            ConfigurationError: a setting is missing, has a wrong value or contradicts another, or `app` has been set up
                before. `app` is then left as it was.
        """
        if EXTENSION in app.extensions:
            raise ConfigurationError("init_app: this application is already set up; call init_app once for each one")
        configured = cast("Mapping[str, object]", app.config)
        config = {name.removeprefix(_PREFIX): given for name, given in configured.items() if name.startswith(_PREFIX)}
        own = {name: config[name.upper()] for name in _OPTIONS if config.get(name.upper()) is not None}
        options: dict[str, Any] = {**self._options, **own}
        verifier = configured_verifier(config, otherwise=self._verifier, key=_PREFIX.__add__)
        try:
            middleware = SignatureMiddleware(app.wsgi_app, verifier=verifier, **options)
        except ConfigurationError as error:
            key = f"{_PREFIX}{error.option.upper()} (or {error.option}= of Undersigned)"
            raise ConfigurationError(f"{key}: {error.fix}") from None
        app.wsgi_app = middleware  # type: ignore[method-assign]  # as Flask documents it
        app.extensions[EXTENSION] = self
        # Something may have taken the `wsgi_app` that was there before, and call that. Then no view may run.
        app.before_request_funcs.setdefault(None, []).insert(0, check_published)
