"""With the middleware, an application is as without it but for the signature: on real servers, by the same requests.

Compared are what a client gets, what a layer outside and an access log see, and the files that the process has open.
`tests/servers/test_unsigned.py` drives the same applications by more unsigned requests.
"""

from __future__ import annotations

import gc
import logging
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.integrations.every_framework import FRAMEWORKS, optional
from tests.integrations.unsigned import HOST, Answer, Unsigned, ask, requests
from tests.keys import Party

from undersigned import MalformedSignature, MalformedURL, Request, Signer, SigningError, profiles

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ACCESS = ("aiohttp.access", "tornado.access", "sanic.access", "uvicorn.access", "gunicorn.access")
ORIGIN = f"http://{HOST}"
LARGEST = 200_000
"""The content that is sent where nobody reads it. A server may reset the connection if there is more."""
LAST = "/open/end"
OURS = {"undersigned", "signature", "state"}
NUMBERS = re.compile(r"[\d.]+ ?ms|\[.*?\]|:\d+\b|0x[0-9a-f]+")
CALLER = re.compile(rb'"caller": ?(?:"[^"]*"|null)')


@dataclass
class Outside:
    """What a layer outside and an access log saw of each request."""

    seen: list[object] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def asgi(self, app):
        async def layer(scope, receive, send) -> None:
            sent = []

            async def noting(message) -> None:
                # An access log reads the scope when the response starts.
                if "status" in message:
                    sent.append((message["type"], message["status"], self._shown(scope)))
                await send(message)

            before = set(scope)
            try:
                await app(scope, receive, noting)
            finally:
                ended = {name: NUMBERS.sub("", repr(scope[name])) for name in sorted({*scope} - before - OURS)}
                self.seen.append((sent, {**ended, "state": sorted({*scope.get("state", {})} - OURS)}))

        return layer

    @staticmethod
    def _shown(scope) -> list[str]:
        names = ("method", "path", "raw_path", "query_string", "root_path", "path_params", "scheme", "client")
        return [repr(scope.get(name)) for name in names if name != "client"]

    def wsgi(self, app):
        def layer(environ, start_response):
            def noting(status, fields, *rest):
                self.seen.append((status, sorted(name for name, _ in fields)))
                return start_response(status, fields, *rest)

            before = {name: environ[name] for name in ("PATH_INFO", "QUERY_STRING", "SCRIPT_NAME", "REQUEST_METHOD")}
            answer = app(environ, noting)
            added = sorted(name for name in environ if not name.startswith(("undersigned", "wsgi.", "werkzeug.")))
            self.seen.append(([environ[name] == value for name, value in before.items()], added))
            return answer

        return layer

    @contextmanager
    def logged(self) -> Iterator[None]:
        handler = logging.Handler()
        handler.emit = lambda record: self.lines.append(NUMBERS.sub("", record.getMessage()))
        loggers = [logging.getLogger(name) for name in ACCESS]
        levels = [logger.level for logger in loggers]
        for logger in loggers:
            logger.addHandler(handler)
            logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            for logger, level in zip(loggers, levels, strict=True):
                logger.removeHandler(handler)
                logger.setLevel(level)


def layered(framework, outside: Outside):
    """The framework's server, with a layer outside of everything where the server takes a plain application."""
    if framework.name.startswith(("django", "aiohttp", "tornado")) or framework.name == "sanic":
        return framework
    wrap = (
        outside.wsgi
        if framework.name.startswith(("flask", "falcon")) and framework.name != "falcon-asgi"
        else outside.asgi
    )
    return replace(framework, make=lambda options: wrap(framework.make(options)))


def messages(party: Party, framework: str) -> list[Unsigned]:
    """The requests: each signed if it can be, else unsigned, and forms both ways."""
    signer, verifier = Signer(party.key), party.verifier(profiles.DEFAULT)
    chosen: list[Unsigned] = []
    for given in requests():
        if given.target == "/nothing" and len(given.body or b"") > LARGEST:
            continue
        signed = None
        whole = Request(given.method, f"{ORIGIN}{given.target}", list(given.fields), given.body or b"")
        with suppress(MalformedURL, SigningError, MalformedSignature):
            if str(whole.canonical_url()) == whole.url and given.host == HOST:
                fields = (*given.fields, *signer.sign(whole))
                # It rejects JSON that two programs read differently.
                verifier.verify(Request(whole.method, whole.url, list(fields), given.body or b""))
                # What was verified has a length. Django reads no content without one.
                signed = replace(given, fields=fields, chunked=given.chunked and not framework.startswith("django"))
        # aiohttp decompresses content before its middlewares run.
        if framework == "aiohttp" and "gzip" in str(given.fields):
            signed = None
        if signed is None or given.target == "/form":
            chosen.append(given)
        if signed is not None:
            chosen.append(signed)
    return chosen


def files() -> list[str]:
    """The files that this process has open, without sockets, pipes and those of the interpreter."""
    gc.collect()
    paths = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            paths.append(str(descriptor.readlink()))
    return sorted(path for path in paths if path.startswith("/") and not path.startswith(("/dev/", "/proc/")))


def without_caller(answer: Answer | str) -> Answer | str:
    if isinstance(answer, str):
        return answer
    fields = tuple(one for one in answer.fields if one[0] not in {"content-length", "etag"})
    return Answer(answer.status, fields, CALLER.sub(b"", answer.content))


def driven(
    framework, options, sent: list[Unsigned]
) -> tuple[list[tuple[str, Answer | str]], list[str], list[str], list[str]]:
    """Serve the application, send it the requests, and return what each party has seen."""
    outside = Outside()
    before = files()
    # A request that is sent twice would be seen twice.
    with layered(framework, outside).running(options) as port, outside.logged():
        answers = [(str(one), without_caller(ask(port, one, at_once=True))) for one in sent]
        # What a server does after its last answer has been done when it has given two more.
        for _ in range(2):
            ask(port, Unsigned("GET", LAST))
    left = [path for path in files() if path not in before]
    # The end of a response may be seen after the next request.
    seen, lines = (sorted(one for one in map(str, told) if LAST not in one) for told in (outside.seen, outside.lines))
    return answers, seen, lines, left


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the open files are those of /proc")
@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)
def test_difference_is_the_signature_alone(framework):
    party = Party.make()
    sent = messages(party, framework.name)
    assert len(sent) > 200
    options = {**optional(party), "verifier": party.verifier(profiles.DEFAULT), "origins": [ORIGIN]}
    options["max_body"] = 6_000_000
    alone, behind = (driven(framework, None, sent), driven(framework, options, sent))
    for (name, one), (_, other) in zip(alone[0], behind[0], strict=True):
        assert other == one, name
    for at, (one, other) in enumerate(zip(alone[1], behind[1], strict=True)):
        assert other == one, at
    assert behind[2:] == alone[2:]
