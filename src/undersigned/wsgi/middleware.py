"""The WSGI middleware: it verifies a request before the application sees it, and forwards what it verified."""

from __future__ import annotations

from collections.abc import Generator
from http import HTTPStatus
from itertools import islice
from typing import TYPE_CHECKING, Any

from undersigned.errors import ConfigurationError, SignatureError
from undersigned.fork_safety import is_first_time
from undersigned.middleware.admission import shown_outside
from undersigned.middleware.error_response import ErrorResponse, logger
from undersigned.middleware.guard import Guard
from undersigned.middleware.options import Service
from undersigned.middleware.readiness import Readiness
from undersigned.url import Origins
from undersigned.verification.blocking_calls import finish
from undersigned.verification.verifier import Verifier
from undersigned.wsgi.received import EnvironBody, EnvironReceived
from undersigned.wsgi.servers import OF_WERKZEUG, may_have_workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    from undersigned.middleware.admission import Admission
    from undersigned.middleware.options import WSGIOptions
    from undersigned.url.origin import ConfiguredOrigins
    from undersigned.wsgi.environ import Environ, StartResponse, WSGIApp

# http.HTTPStatus has older phrases for some of them until Python 3.13.
_PHRASES = {status.value: status.phrase for status in HTTPStatus} | {
    413: "Content Too Large",
    414: "URI Too Long",
    422: "Unprocessable Content",
}


class SyncGuard(Guard):
    """A guard that verifies requests without waiting. Its arguments are those of `SignatureMiddleware`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self, *, verifier: Verifier, origins: ConfiguredOrigins, app: object = None, **options: Unpack[WSGIOptions[Any]]
    ) -> None:
        if not isinstance(verifier, Verifier):
            raise ConfigurationError("verifier: pass a Verifier; an AsyncVerifier is for undersigned.asgi")
        super().__init__(Service(verifier=verifier, origins=Origins(origins), **options), app)

    def verify_now(self, received: EnvironReceived, body: EnvironBody) -> Admission | ErrorResponse:
        """Verify one request, as `verify` does."""
        if received.server == "werkzeug" and is_first_time(OF_WERKZEUG):
            logger.warning(OF_WERKZEUG)
        self.service.warn_of_workers(has_workers=may_have_workers(received.environ))
        return finish(self.verify(received, body))


class SignatureMiddleware:
    """A middleware that verifies HTTP requests.

    The application asks for the signature with `find_signature(environ)` and `verified_signature(environ)`. If the
    latter raises before a response has begun, and nothing else answers, this middleware does. Put it outside
    everything that rewrites the path, Host or headers, such as a ProxyFix or a dispatcher. A request with headers of
    more than 100 names gets 431, signed or not.

    Args:
        app: the application.
        verifier: the verifier.
        origins: the public origins of the service, such as `https://seller.example.com`, each with the path prefix
            that a proxy strips. It may have patterns or be a function: see `undersigned.url.Origins`.
        options: the options of every WSGI middleware, as `undersigned.middleware.WSGIOptions` lists them: `mode`,
            `policy` and so on. Their functions get the environ. The operation is also in
            `environ["undersigned"].operation`.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(
        self, app: WSGIApp, *, verifier: Verifier, origins: ConfiguredOrigins, **options: Unpack[WSGIOptions[Environ]]
    ) -> None:
        self.app = app
        self._guard = SyncGuard(verifier=verifier, origins=origins, app=app, **options)
        self._guard.service.announce()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Verify one request, then call the application with what was verified."""
        received = EnvironReceived.of(environ, start_response, reconstruct=self._guard.service.reconstruct)
        body = EnvironBody(self._guard.service, received)
        result = self._guard.verify_now(received, body)
        if isinstance(result, ErrorResponse):
            return _answer(environ, start_response, result)
        forwarded = body.forwarded(result)
        show = shown_outside(environ, forwarded)

        def call(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
            content = self.app(environ, start_response)
            return content if _is_known_to_servers(content, environ) else _Shown(content, show)

        try:
            if self._guard.service.rejection is None:
                return call(forwarded, start_response)
            return _replaced(call, forwarded, start_response, received)
        except SignatureError as error:
            # Nothing else answers for an application without a framework.
            if not isinstance(error.answer, ErrorResponse):
                raise
            return _answer(environ, start_response, error.answer)
        finally:
            show()


class ReadyRoute:
    """A middleware that answers one path itself: 200 if requests can be verified now, else 503.

    The arguments are those of `undersigned.asgi.ReadyRoute`, which does the same over ASGI.

    Raises:
        ConfigurationError: an option has a wrong value.
    """

    def __init__(self, app: WSGIApp, *, verifier: Verifier, path: str = "/ready") -> None:
        self.app = app
        self._readiness = Readiness(verifier, path)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Answer the check, or call the application."""
        answer = finish(self._readiness.answer(environ["REQUEST_METHOD"], environ.get("PATH_INFO", "")))
        return self.app(environ, start_response) if answer is None else _answer(environ, start_response, answer)


def _is_known_to_servers(content: object, environ: Environ) -> bool:
    """Return whether servers look at the type of a content: they know the length of a list, and send files."""
    wrapper = environ.get("wsgi.file_wrapper")
    is_wrapped = isinstance(wrapper, type) and isinstance(content, wrapper)
    return is_wrapped or hasattr(content, "__len__") or hasattr(content, "read")


class _Shown:
    """The content of an application that may still run, which then shows what it writes to the layers outside."""

    def __init__(self, content: Iterable[bytes], show: Callable[[], None]) -> None:
        self._content = content
        self._show = show
        # A generator begins its response only when it makes its first part.
        self._first = list(islice(self._content, 1)) if isinstance(content, Generator) else []

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._first
            yield from self._content
        finally:
            self._show()

    def close(self) -> None:
        close: Callable[[], object] | None = getattr(self._content, "close", None)
        try:
            if close is not None:
                close()
        finally:
            self._show()


def _replaced(
    app: WSGIApp, environ: Environ, start_response: StartResponse, received: EnvironReceived
) -> Iterable[bytes]:
    """Call the application. If a route rejects, the answer by `rejection=` is sent instead of its response."""
    answer: ErrorResponse | None = None

    def start(status: str, fields: list[tuple[str, str]], *exc_info: object) -> Callable[[bytes], object]:
        nonlocal answer
        answer = received.replacement(int(status[:3]))
        return start_response(status, fields if answer is None else answer.merged(fields), *exc_info)

    content = app(environ, start)
    if answer is None:
        return content
    close: Callable[[], object] | None = getattr(content, "close", None)
    if close is not None:
        close()
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [answer.body]


def _answer(environ: Environ, start_response: StartResponse, response: ErrorResponse) -> Iterable[bytes]:
    start_response(f"{response.status} {_PHRASES.get(response.status, 'Error')}", response.fields)
    # Some servers send the content of a response to HEAD, although the client expects the next response there.
    return [] if environ.get("REQUEST_METHOD") == "HEAD" else [response.body]
