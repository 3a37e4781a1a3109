"""What is particular to Tornado's own server."""

from __future__ import annotations

import logging
import socket

import pytest
from tests.integrations.every_framework import optional, tornado
from tests.integrations.own_servers import tornado_server
from tests.keys import BODY, JSON, KEYID, ORIGINS
from tests.wire import ask, exchange, raw_request, read_response
from tornado.routing import AnyMatches, Rule, RuleRouter
from tornado.web import Application, RequestHandler, stream_request_body

from undersigned import Policy
from undersigned_tornado import RouteResolver, Undersigned, find_signature, signature_required


@stream_request_body
class Streamed(RequestHandler):
    def initialize(self) -> None:
        self.chunks: list[bytes] = []

    async def data_received(self, chunk: bytes) -> None:
        self.chunks.append(chunk)

    def put(self) -> None:
        signature = find_signature(self.request)
        length = sum(map(len, self.chunks))
        self.write({"length": length, "many": len(self.chunks) > 1, "signed": signature is not None})


class Public(RequestHandler):
    def get(self) -> None:
        self.write({"signed": find_signature(self.request).keyid, "path": self.request.path})


class Shared(RequestHandler):
    @signature_required
    def prepare(self) -> None:
        pass

    def options(self) -> None:
        self.set_status(204)


@pytest.fixture(scope="module")
def port(party):
    """An application with the handlers above."""
    app = Application([("/~public", Public), ("/streamed", Streamed), ("/shared", Shared)])
    with tornado_server(Undersigned(app, **optional(party))) as port:
        yield port


@pytest.fixture(scope="module")
def contract(party):
    """The application of the contract."""
    with tornado_server(tornado(optional(party))) as port:
        yield port


def test_router_gets_the_canonical_path_that_was_verified(port, party):
    assert ask(port, party.raw("GET", "/x/../%7Epublic")).json == {"signed": KEYID, "path": "/~public"}


@pytest.mark.parametrize("size", [10, 200_000])
def test_handler_that_streams_gets_an_unsigned_body_in_parts_and_a_signed_one_after_verification(port, size, party):
    body = b'"%s"' % (b"x" * (size - 2))
    unsigned = ask(port, raw_request("PUT", "/streamed", JSON, body)).json
    assert unsigned == {"length": size, "many": size > 100_000, "signed": False}
    assert ask(port, party.raw("PUT", "/streamed", body)).json["length"] == size


def test_stream_that_ends_early_ends_the_handler(port):
    raw = raw_request("PUT", "/streamed", JSON, b"x" * 22).replace(b"Content-Length: 22", b"Content-Length: 99")
    assert exchange(port, raw, shut=True) == b""


def test_guarded_prepare_lets_a_preflight_pass_to_the_options_of_its_handler(port):
    preflight = [("Origin", "https://shop.example"), ("Access-Control-Request-Method", "POST")]
    for method, fields, status in (("OPTIONS", preflight, 204), ("OPTIONS", [], 401), ("POST", preflight, 401)):
        assert ask(port, raw_request(method, "/shared", fields)).status == status


def test_guarded_prepare_ends_the_request_also_if_an_error_page_only_writes(party):
    class Page(Shared):
        def write_error(self, status_code: int, **_kwargs: object) -> None:
            self.write({"problem": status_code})

        def post(self) -> None:
            self.write("ran")

    with tornado_server(Undersigned(Application([("/page", Page)]), **optional(party))) as port:
        unsigned = ask(port, raw_request("POST", "/page", JSON, BODY))
    assert (unsigned.status, unsigned.json) == (401, {"problem": 401})


def test_answer_by_rejection_is_sent_whole_although_an_error_page_comes_in_parts(party):
    class Page(Shared):
        def write_error(self, status_code: int, **_kwargs: object) -> None:
            self.write("long page, ")
            self.flush()
            self.write(f"{status_code}")

    options = optional(party, rejection=lambda answer, _request: answer.with_content(b"shaped", "text/plain"))
    with tornado_server(Undersigned(Application([("/page", Page)]), **options)) as port:
        unsigned = ask(port, raw_request("POST", "/page", JSON, BODY))
    assert (unsigned.status, unsigned.content) == (401, b"shaped")


def test_policy_by_route_is_asked_before_a_handler_streams_and_other_targets_must_be_signed(party):
    policy = Policy(required_for=["stream"], resolver=RouteResolver({Streamed: "stream"}))
    options = {"verifier": party.verifier(), "origins": ORIGINS, "policy": policy}

    class Empty(RequestHandler):
        pass

    class Deciding(Application):
        def find_handler(self, request, **given):
            return Application([(".*", Streamed)]).find_handler(request, **given)

    deciding = Deciding([("/empty", Empty), ("/elsewhere", Streamed)])
    default = Application([("/empty", Empty)], default_handler_class=Streamed)
    opaque = Application([("/streamed", Streamed), ("/empty", Empty), ("/function", lambda _request: None)])
    plain = Application([("/empty", Empty), ("/in/.*", [("/in/(.*)", Empty)]), (".*", Application([(".*", Streamed)]))])
    statuses = []
    for app in (plain, default, opaque, deciding):
        with tornado_server(Undersigned(app, **options)) as port:
            statuses.append(
                [ask(port, raw_request("PUT", path, JSON, BODY)).status for path in ("/streamed", "/empty")]
            )
            assert ask(port, party.raw("PUT", "/streamed", BODY)).json["signed"] is True
            app.add_handlers(".*", [("/late.*", Application([("/late", Streamed)]))])
            assert ask(port, raw_request("PUT", "/late", JSON, BODY)).status == 401
    assert statuses == [[401, 405], [401, 405], [401, 401], [401, 401]]
    with tornado_server(Undersigned(RuleRouter([Rule(AnyMatches(), plain)]), **options)) as port:
        assert ask(port, raw_request("PUT", "/empty", JSON, BODY)).status == 401


def test_client_that_waits_for_100_is_answered_before_it_sends_a_body(contract, party):
    fields = party.fields("POST", "/signed/x", BODY, signer=party.stranger)
    expect = [*fields, ("Expect", "100-continue"), ("Content-Length", str(len(BODY)))]
    with socket.create_connection(("127.0.0.1", contract), timeout=20) as connection:
        connection.sendall(raw_request("POST", "/signed/x", expect))
        assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")


def test_connection_is_kept_after_a_rejection_without_a_body(contract, party):
    rejected = raw_request("GET", "/open/x", [("Signature", "sig1=:AA==:")])
    with socket.create_connection(("127.0.0.1", contract), timeout=20) as connection:
        connection.sendall(rejected.replace(b"Connection: close\r\n", b""))
        assert read_response(connection).startswith(b"HTTP/1.1 401 ")
        connection.sendall(party.raw("POST", "/signed/x", BODY))
        assert KEYID.encode() in read_response(connection)


def test_request_that_tornado_rejects_is_answered_400(contract):
    assert exchange(contract, b"GET /open/x HTTP/1.1\r\nConnection: close\r\n\r\n").startswith(b"HTTP/1.1 400 ")


def test_rejected_body_is_not_kept(party):
    with tornado_server(tornado(optional(party, max_body=10))) as port:
        fields = [*party.fields("POST", "/signed/x", BODY), ("Transfer-Encoding", "chunked")]
        chunks = b"16\r\n%s\r\n20000\r\n%s\r\n0\r\n\r\n" % (BODY, b"x" * 0x20000)
        assert exchange(port, raw_request("POST", "/signed/x", fields) + chunks).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("body", [b"", BODY])
def test_function_that_fails_is_answered_500_and_logged(party, caplog, body):
    def broken(_request) -> bool:
        raise RuntimeError("the caller is unknown")

    options = {"verifier": party.verifier(), "origins": ORIGINS, "policy": Policy(required_for=["x"])}
    with tornado_server(tornado({**options, "fallback": broken})) as port, caplog.at_level(logging.ERROR):
        assert ask(port, raw_request("POST", "/open/x", JSON, body)).status == 500
    assert "the caller is unknown" in caplog.text
