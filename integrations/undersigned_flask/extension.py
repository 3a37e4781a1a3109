"""The Flask extension: puts the WSGI middleware around applications, configured by each one's `app.config`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from undersigned import ConfigurationError
from undersigned.middleware import DEFAULT_MAX_BODY
from undersigned.wsgi import SignatureMiddleware

from .answer import HTMLRefusals
from .requirement import EXTENSION
from .settings import Settings, strings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flask import Flask

    from undersigned import Verifier
    from undersigned.wsgi import WSGIApp

    from .settings import ModeSetting


class Undersigned:
    """Verifies the requests of Flask applications; `current_signature` is what it found.

    One object may serve several applications. `app.config` goes before the arguments: `UNDERSIGNED_VERIFIER`,
    `UNDERSIGNED_ORIGINS`, `UNDERSIGNED_MODE` and `UNDERSIGNED_MAX_BODY`. Instead of a verifier, `UNDERSIGNED_JWKS` (a
    JWK set) and `UNDERSIGNED_PROFILE` (a profile or its name) make one. That one remembers nonces in its process:
    several worker processes need a verifier with a store they share.

    An unsigned request is answered 401 with the code and nothing more, in JSON or, where Accept prefers it, in HTML.
    A broken signature is always answered in JSON: a program has made it.

    Args:
        app: an application to set up at once, as `init_app` does.
        verifier: verifies the requests.
        origins: the public origins the service answers to, such as `https://seller.example.com`, with the path prefix
            that a proxy strips.
        mode: what becomes of an unsigned request, or a function of the environ that says so.
        max_body: the largest body that is read to be digested, in bytes; a larger one is answered 413.

    Raises:
        ConfigurationError: as `init_app`, where `app` is given.
    """

    __slots__ = ("_settings",)

    def __init__(
        self,
        app: Flask | None = None,
        *,
        verifier: Verifier | None = None,
        origins: Iterable[str] = (),
        mode: ModeSetting = "required",
        max_body: int = DEFAULT_MAX_BODY,
    ) -> None:
        self._settings = Settings(verifier=verifier, origins=strings(origins), mode=mode, max_body=max_body)
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask) -> None:
        """Put the middleware around `app`, outside of what has been put there before.

        Raises:
            ConfigurationError: a setting is absent, not what it must be or contradicts another, or `app` has been set
                up before. `app` is then left as it was.
        """
        if EXTENSION in app.extensions:
            raise ConfigurationError("init_app: the application has been set up before; call init_app once for each")
        settings = self._settings.configured(app.config)
        app.wsgi_app = _around(app.wsgi_app, settings)  # type: ignore[method-assign]  # as Flask documents it
        app.extensions[EXTENSION] = settings


def _around(app: WSGIApp, settings: Settings) -> HTMLRefusals:
    verifier = cast("Verifier", settings.verifier)
    try:
        middleware = SignatureMiddleware(
            app,
            verifier=verifier,
            origins=settings.origins,
            mode=settings.mode,
            max_body=settings.max_body,
        )
    except ConfigurationError as error:
        option, _, fix = str(error).partition(": ")
        raise ConfigurationError(f"UNDERSIGNED_{option.upper()} (or {option}= of Undersigned): {fix}") from None
    return HTMLRefusals(middleware, profile=verifier.profile, mode=settings.mode)
