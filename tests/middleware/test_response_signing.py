"""Signed responses over both middlewares, on real servers, and what cannot be signed."""

from __future__ import annotations

import asyncio
import http.client
from dataclasses import replace

import pytest
from tests.keys import OneKey, key_pair, verification_key
from tests.serving import uvicorn_server, waitress_server

from undersigned import (
    ConfigurationError,
    MemoryReplayStore,
    Request,
    Response,
    SignatureError,
    Signer,
    SigningError,
    Verifier,
    asgi,
    wsgi,
)
from undersigned.profiles import ADCP_3_2, FAPI_2_RESPONSE, UCP_RESPONSE

ORIGINS = ["https://shop.example"]
JSON = [("Content-Type", "application/json")]
PARTS = [b'{"id":', b"1}"]
SIGNER = Signer(key_pair("ed25519").signing_key(), profile=FAPI_2_RESPONSE)


class Application:
    """An application over both interfaces: it answers `PARTS`, or what it is told."""

    def __init__(self, status=201, headers=JSON, parts=PARTS) -> None:
        self.status, self.headers, self.parts = status, headers, parts
        self.closed = 0
        self.failed: list[BaseException] = []

    async def asgi(self, _scope, _receive, send) -> None:
        headers = [(name.encode(), value.encode()) for name, value in self.headers]
        try:
            await send({"type": "http.response.start", "status": self.status, "headers": headers})
            for part in self.parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body"})
        except SigningError as error:
            self.failed.append(error)
            raise

    def wsgi(self, _environ, start_response):
        write = start_response(f"{self.status} Some", self.headers)
        write(self.parts[0] if self.parts else b"")
        try:
            yield from self.parts[1:]
        except GeneratorExit:
            self.closed += 1
            raise


def serve(kind, application, **options):
    options = {"signer": SIGNER, "origins": ORIGINS, **options}
    if kind == "asgi":
        return uvicorn_server(asgi.ResponseSigningMiddleware(application.asgi, **options))
    return waitress_server(wsgi.ResponseSigningMiddleware(application.wsgi, **options))


def ask(port, method="POST", path="/p?q=%7e", headers=()) -> tuple[Request, Response]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request(method, path, headers={"Host": "shop.example", **dict(headers)})
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    request = Request(method, f"https://shop.example{path}", [("Host", "shop.example"), *headers])
    return request, Response(answer.status, answer.getheaders(), body, request=request)


def verify(response, profile=FAPI_2_RESPONSE):
    return Verifier(profile, keys=OneKey(verification_key("ed25519")), replay=MemoryReplayStore()).verify_response(
        response
    )


KINDS = pytest.mark.parametrize("kind", ["asgi", "wsgi"])


@KINDS
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_response_is_signed_and_bound_to_its_request(kind, method):
    with serve(kind, Application()) as port:
        request, response = ask(port, method)
    assert response.body == b"".join(PARTS)
    assert bytes(verify(response).content) == response.body
    with pytest.raises(SignatureError, match="signature_invalid"):
        verify(replace(response, request=replace(request, url="https://shop.example/other")))
    with pytest.raises(SignatureError, match="signature_invalid"):
        verify(replace(response, status=200))
    with pytest.raises(SignatureError, match="digest"):
        verify(replace(response, body=b"{}"))


@KINDS
def test_response_without_content_is_signed_without_a_digest(kind):
    with serve(kind, Application()) as port:
        head = ask(port, "HEAD")[1]
    with serve(kind, Application(status=204, headers=[], parts=[])) as port:
        empty = ask(port)[1]
    for response in (head, empty):
        assert response.body == b""
        assert '"content-digest"' not in verify(response).components


@KINDS
def test_response_is_not_signed_when_the_request_is_for_no_origin(kind):
    with serve(kind, Application()) as port:
        response = ask(port, headers=[("Host", "other.example")])[1]
    assert (response.status, "signature" in response.fields.combined) == (201, False)


@KINDS
@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/" + "a" * 9000, ()),
        ("/p", [("Signature", "\x80")]),
        ("/p", [("Content-Digest", "a\x80")]),
        ("/p", [(f"X-{at}", "v") for at in range(100)]),
    ],
    ids=["long path", "signature", "digest", "many headers"],
)
def test_response_is_not_signed_when_something_of_the_request_cannot_be_covered(kind, path, headers):
    with serve(kind, Application()) as port:
        response = ask(port, "GET", path, headers)[1]
    assert (response.status, response.body) == (201, b"".join(PARTS))
    assert "signature" not in response.fields.combined


@KINDS
@pytest.mark.parametrize(
    ("application", "options"),
    [
        (Application(parts=[b"x" * 60, b"x" * 60]), {"max_body": 100}),
        (Application(headers=[]), {"signer": Signer(key_pair("ed25519").signing_key(), profile=UCP_RESPONSE)}),
    ],
    ids=["too long", "no content type"],
)
def test_response_that_cannot_be_signed_is_not_begun(kind, application, options):
    with serve(kind, application, **options) as port:
        response = ask(port)[1]
    assert response.status == 500
    assert "signature" not in response.fields.combined


@pytest.mark.parametrize("middleware", [asgi.ResponseSigningMiddleware, wsgi.ResponseSigningMiddleware])
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"signer": None}, "signer"),
        ({"signer": Signer(key_pair("ed25519").signing_key(), profile=ADCP_3_2)}, "signer"),
        ({"origins": []}, "origins"),
    ],
)
def test_wrong_option_is_rejected_at_construction(middleware, options, named):
    with pytest.raises(ConfigurationError, match=f"^{named}: "):
        middleware(lambda *_: None, **{"signer": SIGNER, "origins": ORIGINS, **options})


def test_parts_in_a_list_are_signed_and_need_not_be_closed():
    def application(_environ, start_response):
        start_response("201 Created", JSON)
        return PARTS

    with waitress_server(wsgi.ResponseSigningMiddleware(application, signer=SIGNER, origins=ORIGINS)) as port:
        assert bytes(verify(ask(port)[1]).content) == b"".join(PARTS)


def test_other_messages_and_scopes_pass_as_they_are():
    seen = []

    async def application(scope, _receive, send):
        seen.append(scope)
        if scope["type"] == "http":
            await send({"type": "http.response.debug"})

    async def send(message):
        seen.append(message)

    middleware = asgi.ResponseSigningMiddleware(application, signer=SIGNER, origins=ORIGINS)
    asyncio.run(middleware({"type": "lifespan"}, None, send))
    scope = {
        "type": "http", "method": "GET", "path": "/p", "raw_path": b"/p", "query_string": b"", "http_version": "1.1",
        "headers": [(b"host", b"shop.example")],
        "extensions": {"http.response.pathsend": {}, "tls": {}},
    }  # fmt: skip
    asyncio.run(middleware(scope, None, send))
    assert seen == [{"type": "lifespan"}, {**scope, "extensions": {"tls": {}}}, {"type": "http.response.debug"}]
