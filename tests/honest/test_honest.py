"""No honest request is rejected for its size or spelling: a seeded search over requests that another signer signed."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from tests.drive import Message, call_asgi, call_wsgi, environ_of, scope_of
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


def message(given: Sent) -> Message:
    return Message(given.target, given.method, given.fields, given.body)


async def answer(_scope, receive, send):
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize("name", ["adcp-3.2", "adcp-3.1"])
def test_asgi_middleware_passes_every_honest_request(name):
    app = asgi.SignatureMiddleware(answer, verifier=verifier(PROFILES[name]), origins=[f"https://{HOST}"])
    for given in sent(name):
        assert asyncio.run(call_asgi(app, scope_of(message(given)), given.body)).status == 200, shown(given)


def pages(_environ, start_response):
    start_response("200 OK", [])
    return [b""]


@pytest.mark.parametrize("name", ["adcp-3.2", "adcp-3.1"])
def test_wsgi_middleware_passes_every_honest_request(name):
    app = wsgi.SignatureMiddleware(pages, verifier=verifier(PROFILES[name]), origins=[f"https://{HOST}"])
    for given in sent(name):
        assert call_wsgi(app, environ_of(message(given), "gunicorn")).status == 200, shown(given)
