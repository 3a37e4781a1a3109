"""What the guard accepts and rejects, through both middlewares, on real servers."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field

import pytest
from tests.keys import HOST, ORIGIN
from tests.serving import gunicorn_server, uvicorn_server, waitress_server
from tests.wire import TOO_MANY, ask, assert_rejected, exchange, raw_request

from undersigned import asgi, wsgi

JSON = [("Content-Type", "application/json")]
BODY = b'{"plan_id":"plan_001"}'
STRIPS_ORIGIN = {"httptools"}
"""Servers that show only the path of an absolute-form target."""


@dataclass
class Application:
    """An application that answers with what it gets. It remembers its calls, unless the server runs it in a child."""

    calls: list[dict] = field(default_factory=list)

    async def over_asgi(self, scope, _receive, send) -> None:
        query = scope["query_string"].decode("latin-1")
        target = scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
        content = self.answer(target, scope["scheme"], scope["undersigned"].signature)
        length = str(len(content)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": content})

    def over_wsgi(self, environ, start_response):
        target = environ.get("RAW_URI") or environ.get("REQUEST_URI")
        content = self.answer(target, environ["wsgi.url_scheme"], environ["undersigned"].signature)
        start_response("200 OK", [("Content-Length", str(len(content)))])
        return [content]

    def answer(self, target, scheme, signature) -> bytes:
        self.calls.append({"target": target, "scheme": scheme, "target_uri": signature and signature.target_uri})
        return json.dumps(self.calls[-1]).encode()


@dataclass(frozen=True)
class Served:
    """A middleware on a real server, around an `Application`."""

    server: str
    port: int
    application: Application

    def accepts(self, raw: bytes) -> dict:
        return ask(self.port, raw).json

    def rejects(self, raw: bytes, code: str, status: int = 401) -> None:
        assert_rejected(ask(self.port, raw), code, status)

    def rejects_somehow(self, raw: bytes) -> bytes:
        """Check that the middleware or the server itself rejects the request, and return the answer."""
        answer = exchange(self.port, raw)
        assert b" 401 " in answer or b" 400 " in answer
        assert self.application.calls == []
        return answer


@contextlib.contextmanager
def serving(server, party, **options):
    application = Application()
    options = {"verifier": party.verifier(), "origins": [ORIGIN], **options}
    if server in {"h11", "httptools"}:
        running = uvicorn_server(asgi.SignatureMiddleware(application.over_asgi, **options), http=server)
    else:
        run = {"waitress": waitress_server, "gunicorn": gunicorn_server}[server]
        running = run(wsgi.SignatureMiddleware(application.over_wsgi, **options))
    with running as port:
        yield Served(server, port, application)


@pytest.fixture(scope="module", params=["h11", "httptools", "waitress", "gunicorn"])
def running(request, party):
    with serving(request.param, party) as served:
        yield served


@pytest.fixture
def served(running):
    running.application.calls.clear()
    return running


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"target": "/q"}, "request_signature_invalid"),
        ({"target": "/p?x=1"}, "request_signature_invalid"),
        ({"target": "/P"}, "request_signature_invalid"),
        ({"method": "PUT"}, "request_signature_invalid"),
        ({"host": "other.example.com"}, "request_target_uri_malformed"),
        ({"body": b'{"plan_id":"plan_002"}'}, "request_signature_digest_mismatch"),
        ({"body": b""}, "request_signature_digest_mismatch"),
    ],
)
def test_request_is_rejected_when_any_signed_part_was_changed(served, party, change, code):
    fields = party.fields("POST", f"{ORIGIN}/p", BODY)
    raw = raw_request(
        change.get("method", "POST"),
        change.get("target", "/p"),
        [("Host", change.get("host", HOST)), *fields],
        change.get("body", BODY),
    )
    served.rejects(raw, code)
    assert served.application.calls == []


def test_replay_is_rejected(served, party):
    raw = party.raw("POST", "/p", BODY)
    served.accepts(raw)
    served.rejects(raw, "request_signature_replayed")


def test_unsigned_request_is_rejected(served):
    served.rejects(raw_request("GET", "/p", [("Host", HOST)]), "request_signature_required")
    assert served.application.calls == []


@pytest.mark.parametrize(
    ("target", "signed_for"),
    [
        ("/admin%2Fx", "/admin/x"),
        ("/a/x%23f", "/a/x"),
        ("//seller.example.com/p", "/p"),
        ("/a%2e%2e/b", "/b"),
        ("/a/%2e%2e/b", "/b"),
        ("/p\\q", "/p"),
        ("/p%", "/p"),
        ("/p%4", "/p"),
        ("/p%zz", "/p"),
        ("/p|q", "/p"),
        ("/p?a[]=1", "/p"),
        ("*", "/"),
        ("p", "/p"),
    ],
)
def test_unsigned_target_never_reaches_the_application(served, party, target, signed_for):
    served.rejects_somehow(party.raw("GET", target, url=f"{ORIGIN}{signed_for}"))


@pytest.mark.parametrize("target", ["https://seller.example.com/p", "http://evil.example/p", "/p#f"])
def test_target_with_an_origin_or_a_fragment_is_rejected_unless_the_server_removes_it(served, party, target):
    raw = party.raw("GET", target, url=f"{ORIGIN}/p")
    if served.server in STRIPS_ORIGIN:
        assert served.accepts(raw)["target"] == "/p"
    else:
        served.rejects_somehow(raw)


@pytest.mark.parametrize(
    "hosts",
    [
        [],
        [""],
        [HOST, HOST],
        [HOST, "evil.example"],
        [f"user@{HOST}"],
        [f"{HOST}, evil.example"],
        [f"{HOST}/x"],
        [f"{HOST} evil"],
        [f"{HOST}:0x1bb"],
        [f"{HOST}:65536"],
        [f"{HOST}%2e"],
        [f"{HOST}.."],
        ["evil.example"],
    ],
)
def test_authority_of_no_configured_origin_never_reaches_the_application(served, party, hosts):
    fields = [*[("Host", host) for host in hosts], *party.fields("GET", f"{ORIGIN}/p")]
    served.rejects_somehow(raw_request("GET", "/p", fields, host=None))


@pytest.mark.parametrize("host", ["Seller.Example.COM", "seller.example.com:443", "seller.example.com."])
def test_authority_in_another_spelling_is_accepted(served, party, host):
    assert served.accepts(party.raw("GET", "/p", host=host))["target_uri"] == f"{ORIGIN}/p"


@pytest.mark.parametrize(
    "forwarded",
    [
        ("X-Forwarded-Host", "evil.example"),
        ("X-Forwarded-Proto", "http"),
        ("Forwarded", "host=evil.example;proto=http"),
        ("X-Forwarded-Prefix", "/evil"),
        ("X-Original-URL", "/evil"),
    ],
)
def test_forwarding_fields_change_nothing(served, party, forwarded):
    signed = party.fields("GET", f"{ORIGIN}/p")
    answer = served.accepts(raw_request("GET", "/p", [("Host", HOST), forwarded, *signed]))
    assert answer == {"target": "/p", "scheme": "https", "target_uri": f"{ORIGIN}/p"}


@pytest.mark.parametrize("server", ["h11", "httptools", "waitress"])
def test_too_many_header_fields_are_answered_431(party, server):
    with serving(server, party, mode="optional") as served:
        for read, too_many in party.around_the_most_fields():
            served.accepts(read)
            served.rejects(too_many, TOO_MANY, 431)
    assert len(served.application.calls) == 2
