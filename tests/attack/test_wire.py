"""A search over HTTP/2: the parsers of real servers stand between the client and the middleware."""

from __future__ import annotations

import pytest
from tests.attack import bodies
from tests.keys import HOST
from tests.servers import http2
from tests.servers.conftest import running
from tests.servers.matrix import SERVERS


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
