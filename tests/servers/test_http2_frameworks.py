"""Every framework over HTTP/2, on hypercorn and gunicorn, which compare `:authority` with Host.

The servers of aiohttp, Tornado and Sanic speak no HTTP/2.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import pytest
from tests.integrations.every_framework import FRAMEWORKS, SECRET, optional
from tests.keys import BODY, HOST, JSON, KEYID, ORIGIN
from tests.servers.http2 import exchange
from tests.servers.hypercorn_server import hypercorn
from tests.serving import gunicorn_server

GUNICORN = {"worker_class": "gthread", "http_protocols": "h2,h1", "http2_cleartext": "prior-knowledge"}
NAMES = ("starlette", "fastapi", "litestar", "quart", "falcon-asgi", "sanic-asgi", "django-asgi")
PREFIXES = {"/signed", "/rest"}
NAMES += ("flask-gunicorn", "django-gunicorn")


def on_hypercorn(app):
    async def started(scope, receive, send):
        # hypercorn then goes on without it. Sanic can start once only, and has been started.
        assert scope["type"] != "lifespan"
        await app(scope, receive, send)

    return hypercorn(started)


@pytest.fixture(scope="module", params=[one for one in FRAMEWORKS if one.name in NAMES], ids=lambda one: one.name)
def served(request, party):
    """A framework, and the port at which its server speaks HTTP/2."""
    framework, name = request.param, "gunicorn" if "gunicorn" in request.param.name else "hypercorn"
    server = on_hypercorn if name == "hypercorn" else partial(gunicorn_server, **GUNICORN)
    is_django = framework.name.startswith("django")
    over_http2 = replace(framework, serve=partial(framework.serve, serve=server) if is_django else server)
    with over_http2.running(optional(party, http2_server=name)) as port:
        yield framework, port


def ask(port, path, fields, body=BODY):
    pseudo = [(":method", "POST"), (":scheme", "http"), (":authority", HOST), (":path", path)]
    lower = [(name.lower(), value) for name, value in fields]
    answer = exchange(port, [*pseudo, *lower], body, timeout=20)
    return answer.status, answer.content


@pytest.mark.parametrize("extra", [[("content-length", str(len(BODY)))], []], ids=["with a length", "without a length"])
def test_signed_request_reaches_the_route_once_with_its_caller(served, party, extra):
    framework, port = served
    for prefix in PREFIXES & framework.guards.keys():
        path = f"{prefix}/gold"
        fields = [*party.fields("POST", path, BODY), *extra]
        status, content = ask(port, path, fields)
        told = json.loads(content)
        assert (status, told["secret"], told["caller"], told["signed"]) == (200, SECRET, KEYID, ORIGIN + path)
        assert ask(port, path, fields) == (401, b'{"error": "request_signature_replayed"}')


def test_unsigned_request_and_a_changed_one_do_not_reach_the_route(served, party):
    framework, port = served
    for prefix in PREFIXES & framework.guards.keys():
        path = f"{prefix}/gold"
        assert ask(port, path, JSON)[0] == 401
        changed = ask(port, path, party.fields("POST", path, BODY), BODY.replace(b"1", b"2"))
        assert changed == (401, b'{"error": "request_signature_digest_mismatch"}')
