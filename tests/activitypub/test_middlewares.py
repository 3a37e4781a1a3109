"""Requests of both schemes to real servers, through the ASGI and the WSGI middleware."""

from __future__ import annotations

import json

import pytest
from tests.activitypub.actors import (
    CREATE,
    INBOX,
    KEYID,
    NOW,
    POST,
    sign_by_draft,
    signing_key,
    verification_key,
    with_fields,
)
from tests.keys import OneKey
from tests.serving import uvicorn_server, waitress_server
from tests.wire import exchange, raw_request

from undersigned import Request, Signer
from undersigned.activitypub import ActivityPubVerifier, AsyncActivityPubVerifier
from undersigned.asgi import SignatureMiddleware as ASGIMiddleware
from undersigned.profiles import ACTIVITYPUB
from undersigned.wsgi import SignatureMiddleware as WSGIMiddleware

ORIGIN = "https://inbox.example"


async def asgi_inbox(scope, _receive, send):
    signature = scope["undersigned"].signature
    content = json.dumps([signature.keyid, signature.label, bytes(signature.content).decode()]).encode()
    await send({"type": "http.response.start", "status": 202, "headers": []})
    await send({"type": "http.response.body", "body": content})


def wsgi_inbox(environ, start_response):
    signature = environ["undersigned"].signature
    start_response("202 Accepted", [])
    return [json.dumps([signature.keyid, signature.label, environ["wsgi.input"].read().decode()]).encode()]


def by_rfc_9421(request: Request) -> Request:
    return with_fields(request, *Signer(signing_key(), profile=ACTIVITYPUB, clock=lambda: NOW).sign(request))


def asgi(kind, *, blocking):
    def start():
        verifier = kind(keys=OneKey(verification_key(), blocking=blocking), clock=lambda: NOW)
        return uvicorn_server(ASGIMiddleware(asgi_inbox, verifier=verifier, origins=[ORIGIN]))

    return start


def wsgi():
    verifier = ActivityPubVerifier(keys=OneKey(verification_key()), clock=lambda: NOW)
    return waitress_server(WSGIMiddleware(wsgi_inbox, verifier=verifier, origins=[ORIGIN]))


@pytest.fixture(
    params=[
        asgi(ActivityPubVerifier, blocking=False),
        asgi(ActivityPubVerifier, blocking=True),
        asgi(AsyncActivityPubVerifier, blocking=False),
        wsgi,
    ],
    ids=["asgi", "asgi-threads", "asgi-async", "wsgi"],
)
def ask(request):
    with request.param() as port:

        def ask(sent: Request, *, body: bytes | None = None) -> bytes:
            target = sent.url.removeprefix(ORIGIN)
            return exchange(port, raw_request(sent.method, target, sent.fields, sent.body if body is None else body))

        yield ask


@pytest.mark.parametrize(("sign", "label"), [(sign_by_draft, ""), (by_rfc_9421, "sig1")], ids=["draft", "rfc9421"])
def test_both_schemes_reach_the_application_with_their_content(ask, sign, label):
    request = sign(POST)
    answer = ask(request)
    assert answer.startswith(b"HTTP/1.1 202")
    assert json.dumps([KEYID, label, CREATE.decode()]).encode() in answer
    assert b" 401 " in ask(request, body=CREATE.replace(b"Create", b"Delete"))
    other = Request(request.method, INBOX.replace("1", "2"), request.fields, request.body)
    assert b" 401 " in ask(other)


@pytest.mark.parametrize("sign", [sign_by_draft, by_rfc_9421], ids=["draft", "rfc9421"])
def test_lone_question_mark_of_a_signed_target_is_verified_in_both_schemes(ask, sign):
    request = sign(with_url(POST, f"{ORIGIN}/inbox?"))
    assert ask(request).startswith(b"HTTP/1.1 202")
    assert b" 401 " in ask(with_url(request, f"{ORIGIN}/other?"))


def with_url(request: Request, url: str) -> Request:
    return Request(request.method, url, request.fields, request.body)
