"""The page of an application in development: its decisions appear as they are made."""

from __future__ import annotations

import contextlib
import http.client

import pytest
from tests.browser.test_page import HOSTILE
from tests.keys import KEY, KEYS
from tests.serving import uvicorn_server, waitress_server

from undersigned import MemoryReplayStore, Request, Signer, Verifier, asgi, wsgi
from undersigned.profiles import ADCP_3_2
from undersigned_inspector import Inspector


async def over_asgi(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def over_wsgi(_environ, start_response):
    start_response("200 OK", [])
    return [b""]


@contextlib.contextmanager
def application(kind, inspector):
    """Serve an application with an inspector; yields its origin."""
    verifier = Verifier(ADCP_3_2, keys=KEYS, replay=MemoryReplayStore())
    made, serve, app = {"asgi": (asgi, uvicorn_server, over_asgi), "wsgi": (wsgi, waitress_server, over_wsgi)}[kind]
    current = {}
    with serve(lambda *given: current["app"](*given)) as port:  # noqa: PLW0108 - it is made when the port is known
        # The inspector listens for an origin on loopback only.
        options = {"verifier": verifier, "origins": [f"http://127.0.0.1:{port}"], "on_decision": inspector}
        current["app"] = made.SignatureMiddleware(app, **options)
        yield f"http://127.0.0.1:{port}"


def send(origin, target, *, signed=None, fields=()):
    host = origin.removeprefix("http://")
    lines = [("Host", host), *fields]
    signer = Signer(KEY, profile=ADCP_3_2, components=[name.lower() for name, _ in fields])
    signature = signer.sign(Request("GET", origin + (signed or target), lines))
    connection = http.client.HTTPConnection(host, timeout=10)
    try:
        connection.putrequest("GET", target, skip_host=True, skip_accept_encoding=True)
        for name, value in [*lines, *signature]:
            connection.putheader(name, value)
        connection.endheaders()
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("kind", ["asgi", "wsgi"])
def test_decisions_appear_as_they_are_made_and_are_explained(person, kind):
    inspector = Inspector()
    with application(kind, inspector) as origin:
        assert send(origin, "/first") == 200
        person.open(inspector.url)
        assert [one.text for one in person.all(".live li")] == ["1. Verified: GET /first"]
        assert send(origin, "/b", signed="/a", fields=[("Authorization", "Bearer c4nary"), ("X-A", HOSTILE[1])]) == 401
        # The page is loaded again by itself.
        person.until(lambda: "2. Rejected: request_signature_invalid: GET /b" in person.driver.page_source)
        person.open(f"{inspector.url}2")
        assert person.text("#verdict") == "2. Rejected: request_signature_invalid: GET /b"
        assert person.text(".failed").startswith("target, authority and signature failed")
        assert f'"@target-uri": {origin}/b' in person.text("table")
        assert '"authorization": (masked)' in person.text("table")
        assert HOSTILE[1] in person.text("pre")
        assert person.driver.title == "undersigned inspect"
        assert "c4nary" not in person.driver.page_source
    inspector.stop()
