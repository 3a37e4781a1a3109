"""No honest request is rejected for its size or spelling: a seeded search over requests that another signer signed."""

from __future__ import annotations

import asyncio
import io
from random import Random
from urllib.parse import unquote

import pytest
from tests.honest.endpoints import PROFILES, rule_of, verifier
from tests.honest.sender import HOST, Sent, request

from undersigned import Request, SignatureError, asgi, wsgi

LONGEST_PATH = 7900
ROUNDS = 60


def sent(name: str, count: int = ROUNDS):
    random = Random(name)  # noqa: S311 - it has to be repeatable
    for _ in range(count):
        yield request(random, rule_of(PROFILES[name]), longest_path=LONGEST_PATH)


def shown(given: Sent) -> str:
    sizes = {name: len(value) for name, value in given.fields if len(value) > 200}
    return (
        f"{given.method} {len(given.target)} {given.target[:60]} {sizes} {len(given.fields)} fields, {len(given.body)}"
    )


@pytest.mark.parametrize("name", PROFILES)
def test_verifier_accepts_every_honest_request(name):
    receiver = verifier(PROFILES[name])
    for given in sent(name):
        got = Request(given.method, f"https://{HOST}{given.target}", list(given.fields), given.body)
        try:
            receiver.verify(got)
        except SignatureError as error:
            pytest.fail(f"{error}: {error.detail}: {shown(given)}")


def over_asgi(app, given: Sent) -> int:
    path, _, query = given.target.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": given.method, "scheme": "http",
        "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.fields],
        "client": None, "server": ("127.0.0.1", 8000), "extensions": {},
    }  # fmt: skip
    status: list[int] = []

    async def receive():
        return {"type": "http.request", "body": given.body, "more_body": False}

    async def send(message):
        if message["type"] == "http.response.start":
            status.append(message["status"])

    asyncio.run(app(scope, receive, send))
    return status[0]


async def answer(_scope, receive, send):
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("name", ["adcp-3.2", "adcp-3.1"])
def test_asgi_middleware_passes_every_honest_request(name):
    app = asgi.SignatureMiddleware(answer, verifier=verifier(PROFILES[name]), origins=[f"https://{HOST}"])
    for given in sent(name):
        assert over_asgi(app, given) == 200, shown(given)


def over_wsgi(app, given: Sent) -> str:
    path, _, query = given.target.partition("?")
    environ = {
        "REQUEST_METHOD": given.method, "SCRIPT_NAME": "", "PATH_INFO": unquote(path, "latin-1"), "QUERY_STRING": query,
        "RAW_URI": given.target, "SERVER_PROTOCOL": "HTTP/1.1", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
        "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(given.body), "wsgi.errors": io.StringIO(),
    }  # fmt: skip
    for name, value in given.fields:
        key = name.upper().replace("-", "_")
        key = key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"
        environ[key] = f"{environ[key]},{value}" if key in environ else value
    status: list[str] = []
    app(environ, lambda line, _fields, _error=None: status.append(line))
    return status[0]


def pages(_environ, start_response):
    start_response("200 OK", [])
    return [b""]


@pytest.mark.parametrize("name", ["adcp-3.2", "adcp-3.1"])
def test_wsgi_middleware_passes_every_honest_request(name):
    app = wsgi.SignatureMiddleware(pages, verifier=verifier(PROFILES[name]), origins=[f"https://{HOST}"])
    for given in sent(name):
        assert over_wsgi(app, given) == "200 OK", shown(given)
