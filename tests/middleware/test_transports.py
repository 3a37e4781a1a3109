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
JSON = [("Content-Type", "application/json")]
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
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]


@pytest.fixture
def asgi_app(party):
    return asgi.SignatureMiddleware(asgi_told, verifier=party.verifier(), origins=[ORIGIN])


@pytest.fixture
def wsgi_app(party):
    return wsgi.SignatureMiddleware(wsgi_told, verifier=party.verifier(), origins=[ORIGIN])


def matches(answer: dict, target: str) -> bool:
    return answer["target_uri"].rstrip("?") == (ORIGIN + target).rstrip("?")


@pytest.mark.parametrize("target", TARGETS)
def test_test_client_of_starlette_works(asgi_app, party, target):
    client = TestClient(asgi_app, base_url=ORIGIN)
    answer = client.get(target, headers=dict(party.fields("GET", ORIGIN + target)))
    assert matches(answer.json(), target)


def test_test_client_of_starlette_works_with_content(asgi_app, party):
    client = TestClient(asgi_app, base_url=ORIGIN)
    answer = client.post("/p", headers=dict(party.fields("POST", f"{ORIGIN}/p", BODY)), content=BODY)
    assert answer.json()["body"] == BODY.decode()


def by_httpx(app, method, target, fields, content=None):
    async def sent():
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            return await client.request(method, ORIGIN + target, headers=fields, content=content)

    return asyncio.run(sent())


@pytest.mark.parametrize("target", TARGETS)
def test_httpx_asgi_transport_works(asgi_app, party, target):
    assert matches(by_httpx(asgi_app, "GET", target, party.fields("GET", ORIGIN + target)).json(), target)


def test_httpx_asgi_transport_works_with_content(asgi_app, party):
    fields = party.fields("POST", f"{ORIGIN}/p", BODY)
    assert by_httpx(asgi_app, "POST", "/p", fields, BODY).json()["body"] == BODY.decode()


def test_httpx_wsgi_transport_is_rejected_as_it_shows_no_target(wsgi_app, party, caplog):
    with httpx.Client(transport=httpx.WSGITransport(wsgi_app)) as client:
        answer = client.get(f"{ORIGIN}/p", headers=party.fields("GET", f"{ORIGIN}/p"))
    assert (answer.status_code, answer.json()) == (503, {"error": "request_signature_server_unsupported"})
    assert "gives neither RAW_URI nor REQUEST_URI" in caplog.text


def test_httpx_wsgi_transport_works_for_plain_targets_when_reconstruct_is_set(party):
    app = wsgi.SignatureMiddleware(wsgi_told, verifier=party.verifier(), origins=[ORIGIN], reconstruct=True)
    with httpx.Client(transport=httpx.WSGITransport(app)) as client:
        for target in ("/p", "/p?", "/a/b?x=a+b%20c"):
            assert matches(client.get(ORIGIN + target, headers=party.fields("GET", ORIGIN + target)).json(), target)
        answer = client.get(f"{ORIGIN}/a%2Fb", headers=party.fields("GET", f"{ORIGIN}/a%2Fb"))
        assert answer.status_code == 401


@pytest.mark.parametrize("target", TARGETS)
def test_test_client_of_werkzeug_works(wsgi_app, party, target):
    answer = Client(wsgi_app).get(target, base_url=ORIGIN, headers=party.fields("GET", ORIGIN + target))
    assert json.loads(answer.data)["target_uri"] == ORIGIN + target


def test_test_client_of_werkzeug_works_with_content(wsgi_app, party):
    fields = party.fields("POST", f"{ORIGIN}/p", BODY)
    answer = Client(wsgi_app).post("/p", base_url=ORIGIN, headers=fields, data=BODY)
    assert json.loads(answer.data)["body"] == BODY.decode()


@pytest.mark.parametrize("target", TARGETS)
def test_test_client_of_flask_works(party, target):
    app = flask.Flask(__name__)
    app.add_url_rule("/<path:path>", view_func=lambda path: {"path": path, **seen()})
    app.wsgi_app = wsgi.SignatureMiddleware(app.wsgi_app, verifier=party.verifier(), origins=[ORIGIN])
    answer = app.test_client().get(target, base_url=ORIGIN, headers=party.fields("GET", ORIGIN + target))
    assert answer.json["target_uri"] == ORIGIN + target


def seen() -> dict:
    return {"target_uri": flask.request.environ["undersigned"].signature.target_uri}


def test_test_client_is_rejected_when_it_builds_another_target(wsgi_app, party):
    answer = Client(wsgi_app).get("//p", base_url=ORIGIN, headers=party.fields("GET", f"{ORIGIN}/p"))
    assert answer.status_code == 401
