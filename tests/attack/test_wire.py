"""A sample of the searches over real servers: their own parsers stand between the client and the middleware."""

from __future__ import annotations

import contextlib

import pytest
from tests.attack import bodies, targets
from tests.attack.applications import OPERATION, ROUTERS, Site
from tests.attack.asking import Socket
from tests.drive import Message, takes
from tests.keys import HOST
from tests.servers import http2
from tests.servers.conftest import running
from tests.servers.matrix import SERVERS
from tests.serving import uvicorn_server, waitress_server

NAMES = ("starlette", "fastapi", "flask", "bottle", "pyramid")


@pytest.mark.parametrize("name", NAMES)
def test_no_unsigned_target_runs_what_must_be_signed_on_a_real_server(search, name):
    [framework] = [one for one in ROUTERS if one.name == name]
    site = Site.routed(framework)
    start = uvicorn_server if framework.interface == "asgi" else waitress_server
    app = site.made(guarded=True)
    routes = [path for endpoint, (path, _) in site.paths.items() if endpoint.operation == OPERATION]

    def mutated(random) -> Message:
        return Message(targets.mutate(random, random.choice(routes)), "POST", targets.fields(random))

    some = (Message(target) for target in list(targets.first(routes[0]))[::7])
    with start(app) as port, contextlib.closing(Socket(port, site)) as socket:
        for message in search.of(some, mutated):
            if not takes(message):
                continue
            status, _ = socket.ask(message)
            if any(one.operation == OPERATION for one in site.told()):
                search.find(f"{name} {status}", message.target)
            search.reach()
    search.finish(reached=100)


@pytest.mark.parametrize("server", [server for server in SERVERS if server.http2], ids=lambda server: server.name)
def test_content_over_http2_reaches_the_application_whole_or_not_at_all(search, server):
    document = {"account": "acme", **bodies.REGISTRATION}

    def made(random) -> tuple[str, list[tuple[str, str]], bytes, bool]:
        fields, content = bodies.mutate(random, random.choice((document, {"account": "acme"})))
        return random.choice(("POST", "PUT", "PATCH", "POST")), fields, content, random.random() < 0.3

    first = [
        (method, [], content, declared)
        for method in ("POST", "PUT", "PATCH")
        for content in (b"{}", b"x", b"x" * 40_000, bodies.plain(document)[1])
        for declared in (True, False)
    ]
    with running(server, PROBE_POLICY="create_media_buy") as served:
        for method, fields, content, declared in search.of(first, made):
            pseudo = [(":method", method), (":scheme", "http"), (":authority", HOST), (":path", "/adcp/get_products")]
            length = [("content-length", str(len(content)))] if declared else []
            lower = [(name.lower(), value) for name, value in fields if value]
            answer = http2.exchange(served.port, [*pseudo, *length, *lower], content, tls=server.tls)
            calls = served.calls()
            for call in calls:
                search.reach()
                if call["body"].encode("latin-1") != content:
                    search.find(f"{method} {declared}", f"{content[:60]!r} became {call['body'][:60]!r}")
            if not calls and answer.status not in {400, 401, 413}:
                search.find(f"{method} {declared} neither runs nor rejects", f"{answer} {content[:60]!r}")
            if calls and content == bodies.plain(document)[1]:
                search.find("a registration passed", repr(content))
    search.finish(reached=10)
