"""Accept-Signature in the answers of both middlewares: what a signature of this very request must cover."""

from __future__ import annotations

import http.client
import re

import pytest
from tests.keys import KEYS
from tests.serving import uvicorn_server, waitress_server

from undersigned import MemoryReplayStore, Policy, SignatureError, Verifier, asgi, wsgi
from undersigned.middleware import ErrorResponse
from undersigned.policy import PathResolver
from undersigned.profiles import ADCP_3_2, UCP

PARAMETERS = ';created;expires;nonce="...";tag="adcp/request-signing/v1"'
BODILESS = f'sig1=("@method" "@target-uri" "@authority"){PARAMETERS}'
WITH_CONTENT = f'sig1=("@method" "@target-uri" "@authority" "content-type" "content-digest"){PARAMETERS}'
KINDS = pytest.mark.parametrize("kind", ["asgi", "wsgi"])
ORIGINS = ["https://seller.example.com"]


async def asgi_application(scope, _receive, send) -> None:
    try:
        asgi.verified_signature(scope, route="/plans")
    except SignatureError as error:
        answer = ErrorResponse.of(error)
        headers = [(name.lower().encode(), value.encode()) for name, value in answer.fields]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})


def wsgi_application(environ, start_response):
    try:
        wsgi.verified_signature(environ, route="/plans")
    except SignatureError as error:
        answer = ErrorResponse.of(error)
        start_response(f"{answer.status} No", answer.fields)
        return [answer.body]


def serve(kind, profile=ADCP_3_2, **options):
    verifier = Verifier(profile, keys=KEYS, replay=MemoryReplayStore())
    options = {"verifier": verifier, "origins": ORIGINS, **options}
    if kind == "asgi":
        return uvicorn_server(asgi.SignatureMiddleware(asgi_application, **options))
    return waitress_server(wsgi.SignatureMiddleware(wsgi_application, **options))


def ask(port, method="GET", target="/plans", body=None, **fields):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, target, body, {"Host": "seller.example.com", **fields})
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    # Each response asks for a nonce of its own.
    asked = re.sub('nonce="[A-Za-z0-9_-]{22}"', 'nonce="..."', answer.getheader("Accept-Signature"))
    return answer.status, answer.getheader("WWW-Authenticate"), asked


@KINDS
@pytest.mark.parametrize(
    "options",
    [
        {"mode": "required"},
        {"mode": "optional"},
        {"policy": Policy(required_for=["plans"], resolver=PathResolver())},
    ],
    ids=["by the mode", "by a route", "by a policy"],
)
def test_answer_to_an_unsigned_request_says_what_to_cover(kind, options):
    challenge = 'Signature error="request_signature_required"'
    with serve(kind, **options) as port:
        assert ask(port) == (401, challenge, BODILESS)
        assert ask(port, "POST", body=b"{}") == (401, challenge, WITH_CONTENT)


@KINDS
def test_answer_asks_for_what_this_request_was_sent_with(kind):
    fields = {"UCP-Agent": 'profile="https://platform.example/ucp"'}
    with serve(kind, UCP, mode="required") as port:
        assert ask(port, target="/plans?a=1", **fields)[2].startswith(
            'sig1=("@method" "@authority" "@path" "@query" "ucp-agent")'
        )


@KINDS
def test_answer_to_a_signature_that_covers_too_little_says_what_to_cover(kind):
    given = 'sig1=("@method");created=1;expires=2;nonce="KXYnfEfJ0PBRZXQyVXfVQA";keyid="a";alg="ed25519"'
    fields = {"Signature-Input": f'{given};tag="other"', "Signature": "sig1=:AAAA:"}
    with serve(kind) as port:
        assert ask(port, "POST", body=b"{}", **fields) == (
            401, 'Signature error="request_signature_tag_invalid"', WITH_CONTENT,
        )  # fmt: skip
