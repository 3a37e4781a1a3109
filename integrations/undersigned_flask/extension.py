"""The Flask extension: it puts the WSGI middleware around applications, each configured by its `app.config`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from undersigned import ConfigurationError
from undersigned.middleware import DEFAULT_MAX_BODY, DEFAULT_MAX_UNSIGNED_BODY

from .answer import BrowserMiddleware
from .requirement import EXTENSION, check_published
from .settings import Settings, checked_origins

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask import Flask

    from undersigned import Decision, Policy, Verifier
    from undersigned.middleware import ConfiguredOrigins, Mode
    from undersigned.wsgi import Fallback, Rejection


class Undersigned:
    """An extension that verifies the requests of Flask applications. `current_signature` is the signature.

    One object may serve several applications. Each argument can also be a key of `app.config`, which overrides it:
    `UNDERSIGNED_ORIGINS` for `origins`, and so on. Without a verifier, the extension makes one of `UNDERSIGNED_JWKS` (a
    JWK set) and `UNDERSIGNED_PROFILE` (a profile or its name). It keeps nonces in its process: several worker processes
    need a verifier with a store that they share.

    An unsigned request gets 401 with the code only, in JSON or, if Accept prefers it, in HTML. An invalid signature is
    always answered in JSON, because a program made it.

    Args:
        app: an application to set up at once, as `init_app` does.
        verifier: the verifier.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        mode: what happens to an unsigned request.
        max_body: the largest body that is read, in bytes. A larger one gets 413.
        max_unsigned_body: the largest body that is read for a policy if no valid signature covers it, in bytes. A
            request with a larger one must be signed.
        reconstruct: whether to rebuild the request target from the decoded path if the server shows no raw target.
        http2_server: the name of the server if it serves HTTP/2 and compares `:authority` with Host.
        policy: which operations must be signed. It replaces `mode`. The operation it resolves is in
            `request.environ["undersigned"].operation` and in the signature.
        fallback: tells whether another authenticator accepts the caller; a function of the environ. It is asked only
            if the policy would reject the request and another credential could change that.
        on_decision: gets a `Decision` for every request.
        rejection: shapes the answer to a rejected request: a function of the `ErrorResponse` and the environ that
            returns another, for example of `ErrorResponse.with_content`.

    Raises:
        ConfigurationError: as `init_app`, if `app` is given.
    """

    __slots__ = ("_settings",)

    def __init__(
        self,
        app: Flask | None = None,
        *,
        verifier: Verifier | None = None,
        origins: ConfiguredOrigins = (),
        mode: Mode = "required",
        max_body: int = DEFAULT_MAX_BODY,
        max_unsigned_body: int = DEFAULT_MAX_UNSIGNED_BODY,
        reconstruct: bool = False,
        http2_server: str | None = None,
        policy: Policy | None = None,
        fallback: Fallback | None = None,
        on_decision: Callable[[Decision], object] | None = None,
        rejection: Rejection | None = None,
    ) -> None:
        self._settings = Settings(
            verifier=verifier,
            origins=checked_origins(origins),
            mode=mode,
            max_body=max_body,
            max_unsigned_body=max_unsigned_body,
            reconstruct=reconstruct,
            http2_server=http2_server,
            policy=policy,
            fallback=fallback,
            on_decision=on_decision,
            rejection=rejection,
        )
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
        options = self._settings.options(app.config)
        try:
            middleware = BrowserMiddleware(app.wsgi_app, **options)
        except ConfigurationError as error:
            option, _, fix = str(error).partition(": ")
            raise ConfigurationError(f"UNDERSIGNED_{option.upper()} (or {option}= of Undersigned): {fix}") from None
        app.wsgi_app = middleware  # type: ignore[method-assign]  # as Flask documents it
        app.extensions[EXTENSION] = self
        # Something may have taken the `wsgi_app` that was there before, and call that. Then no view may run.
        app.before_request_funcs.setdefault(None, []).insert(0, check_published)
