"""wsgiref with the handler: the target as it was on the wire, and only what the message holds."""

from __future__ import annotations

import contextlib
import json
import threading
from email.parser import Parser
from wsgiref.simple_server import WSGIRequestHandler, make_server

import pytest
from tests.keys import HOST, ORIGIN
from tests.wire import exchange, raw_request
from tests.wsgi.test_middleware import BODY, Echo

from undersigned import wsgi
from undersigned.wsgi.wsgiref import RawTargetHandler, wire_variables


@contextlib.contextmanager
def wsgiref_server(app, handler):
    class Silent(handler):
        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    with make_server("127.0.0.1", 0, app, handler_class=Silent) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join(10)


@pytest.fixture
def echo():
    return Echo()


@pytest.fixture
def port(party, echo):
    app = wsgi.SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN])
    with wsgiref_server(app, RawTargetHandler) as port:
        yield port


@pytest.mark.parametrize("target", ["/a%2Fb//c?b=2&a=1", "//evil.example/p", "/p?", "/p", "/caf%C3%A9"])
def test_target_in_the_environ_is_the_one_on_the_wire(port, party, echo, target):
    response = exchange(port, party.raw("GET", target))
    assert b" 200 " in response.partition(b"\r\n")[0], response
    assert echo.calls[0]["raw"] == target


def test_request_with_content_verifies(port, party, echo):
    exchange(port, party.raw("POST", "/p", BODY))
    assert echo.calls[0]["body"] == BODY.decode()


@pytest.mark.parametrize(
    "extra", [("", "evil"), ("X User", "admin"), ("X-User", "a\rb"), ("Content-Length", "0"), ("Content_Length", "7")]
)
def test_header_line_that_wsgiref_hides_is_rejected_or_dropped(port, party, echo, extra):
    fields = [("Host", HOST), ("Content-Length", str(len(BODY))), *party.fields("POST", f"{ORIGIN}/p", BODY)]
    response = exchange(port, raw_request("POST", "/p", [*fields, extra], BODY))
    if extra[0] == "Content_Length":
        assert [call["body"] for call in echo.calls] == [BODY.decode()]
    else:
        assert b" 401 " in response.partition(b"\r\n")[0]
        assert echo.calls == []


def test_server_without_the_handler_is_rejected_with_the_fix(party, echo, caplog):
    app = wsgi.SignatureMiddleware(echo, verifier=party.verifier(), origins=[ORIGIN])
    with wsgiref_server(app, WSGIRequestHandler) as port:
        response = exchange(port, party.raw("GET", "/p"))
    assert json.loads(response.partition(b"\r\n\r\n")[2]) == {"error": "request_signature_server_unsupported"}
    assert "undersigned.wsgi.wsgiref.RawTargetHandler" in caplog.text


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("GET /p HTTP/1.1", "/p"),
        ("GET  /p HTTP/1.1", " /p"),
        ("GET /p q HTTP/1.1", "/p q"),
        ("GET\x0b/p HTTP/1.1", ""),
        ("GET /p", ""),
    ],
)
def test_target_is_the_text_between_the_first_and_the_last_space(line, target):
    assert wire_variables(line, Parser().parsestr(""))["RAW_URI"] == target


def test_repeated_fields_stay_a_list_and_absent_ones_stay_empty():
    fields = Parser().parsestr("Content-Type: a/b\nContent-Type: c/d\n\n")
    assert wire_variables("GET / HTTP/1.1", fields) == {
        "RAW_URI": "/",
        "CONTENT_TYPE": "a/b, c/d",
        "CONTENT_LENGTH": "",
    }


def test_line_that_is_not_a_header_field_gets_no_name():
    assert wire_variables("GET / HTTP/1.1", Parser().parsestr("Host: a\nnothing\n\n"))["HTTP_"] == ""
