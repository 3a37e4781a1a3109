"""In-process transports: each either works, or is rejected with the reason."""

from __future__ import annotations

import asyncio
import json

import flask
import httpx
import pytest
from starlette.testclient import TestClient
from tests.keys import ORIGIN
from werkzeug.test import Client

from undersigned import asgi, wsgi

TARGETS = ["/p", "/p?", "/a%2Fb?b=2&a=1", "/caf%C3%A9", "/p?x=a+b%20c"]
BODY = b'{"plan_id":"plan_001"}'


async def asgi_told(scope, receive, send):
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    content = json.dumps({"target_uri": scope["undersigned"].signature.target_uri, "body": body.decode()}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": content})


def wsgi_told(environ, start_response):
    body = environ["wsgi.input"].read().decode()
    content = json.dumps({"target_uri": environ["undersigned"].signature.target_uri, "body": body}).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(content)))])
    return [content]


@pytest.fixture
def wsgi_app(party):
    return wsgi.SignatureMiddleware(wsgi_told, verifier=party.verifier(), origins=[ORIGIN])


def starlette(party, method, target, fields, body):
    app = asgi.SignatureMiddleware(asgi_told, verifier=party.verifier(), origins=[ORIGIN])
    return TestClient(app, base_url=ORIGIN).request(method, target, headers=dict(fields), content=body).json()


def by_httpx(party, method, target, fields, body):
    app = asgi.SignatureMiddleware(asgi_told, verifier=party.verifier(), origins=[ORIGIN])

    async def sent():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            return await client.request(method, ORIGIN + target, headers=fields, content=body)

    return asyncio.run(sent()).json()


def werkzeug(party, method, target, fields, body):
    app = wsgi.SignatureMiddleware(wsgi_told, verifier=party.verifier(), origins=[ORIGIN])
    return Client(app).open(target, method=method, base_url=ORIGIN, headers=fields, data=body).json


def of_flask(party, method, target, fields, body):
    app = flask.Flask(__name__)
    app.wsgi_app = wsgi.SignatureMiddleware(wsgi_told, verifier=party.verifier(), origins=[ORIGIN])
    return app.test_client().open(target, method=method, base_url=ORIGIN, headers=fields, data=body).json


@pytest.mark.parametrize("send", [starlette, by_httpx, werkzeug, of_flask])
@pytest.mark.parametrize(
    ("method", "target", "body"), [*(("GET", target, b"") for target in TARGETS), ("POST", "/p", BODY)]
)
def test_client_in_process_works(party, send, method, target, body):
    told = send(party, method, target, party.fields(method, ORIGIN + target, body), body)
    # ASGI shows no lone question mark.
    assert (told["target_uri"].rstrip("?"), told["body"]) == ((ORIGIN + target).rstrip("?"), body.decode())


def test_httpx_wsgi_transport_is_rejected_as_it_shows_no_target(wsgi_app, party, caplog):
    with httpx.Client(transport=httpx.WSGITransport(wsgi_app)) as client:
        answer = client.get(f"{ORIGIN}/p", headers=party.fields("GET", f"{ORIGIN}/p"))
    assert (answer.status_code, answer.json()) == (503, {"error": "request_signature_server_unsupported"})
    assert "gives neither RAW_URI nor REQUEST_URI" in caplog.text


def test_httpx_wsgi_transport_works_for_plain_targets_when_reconstruct_is_set(party):
    app = wsgi.SignatureMiddleware(wsgi_told, verifier=party.verifier(), origins=[ORIGIN], reconstruct=True)
    with httpx.Client(transport=httpx.WSGITransport(app)) as client:
        for target in ("/p", "/p?", "/a/b?x=a+b%20c"):
            told = client.get(ORIGIN + target, headers=party.fields("GET", ORIGIN + target)).json()
            assert told["target_uri"].rstrip("?") == (ORIGIN + target).rstrip("?")
        answer = client.get(f"{ORIGIN}/a%2Fb", headers=party.fields("GET", f"{ORIGIN}/a%2Fb"))
        assert answer.status_code == 401


def test_test_client_is_rejected_when_it_builds_another_target(wsgi_app, party):
    answer = Client(wsgi_app).get("//p", base_url=ORIGIN, headers=party.fields("GET", f"{ORIGIN}/p"))
    assert answer.status_code == 401
