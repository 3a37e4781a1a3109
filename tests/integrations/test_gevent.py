"""gevent's pywsgi with the handler: the target as it was on the wire, and only what the message holds."""

from __future__ import annotations

import contextlib
import importlib
import json
import queue
import threading

import gevent
import pytest
from gevent import monkey
from gevent.pywsgi import WSGIHandler, WSGIServer
from tests.keys import HOST, ORIGIN
from tests.wire import ask, exchange, raw_request

from undersigned import wsgi
from undersigned_gevent import RawTargetHandler, handler

JSON = [("Content-Type", "application/json")]
BODY = b'{"plan_id":"plan_001"}'


@contextlib.contextmanager
def gevent_server(app, handler):
    """Serve by pywsgi in a thread of its own, which has a hub of its own."""
    ports: queue.Queue[tuple[int, object]] = queue.Queue()

    def serve() -> None:
        server = WSGIServer(("127.0.0.1", 0), app, handler_class=handler, log=None, error_log=None)
        server.start()
        stop = gevent.get_hub().loop.async_()
        stopped = gevent.event.Event()
        stop.start(stopped.set)
        ports.put((server.server_port, stop))
        stopped.wait()
        server.stop()
        gevent.get_hub().destroy(destroy_loop=True)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    port, stop = ports.get(timeout=10)
    try:
        yield port
    finally:
        stop.send()
        thread.join(10)


def echo_variables(environ, start_response):
    body = environ["wsgi.input"].read().decode()
    content = json.dumps({"raw": environ["RAW_URI"], "path": environ["PATH_INFO"], "body": body}).encode()
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]


@pytest.fixture
def port(party):
    app = wsgi.SignatureMiddleware(echo_variables, verifier=party.verifier(), origins=[ORIGIN])
    with gevent_server(app, RawTargetHandler) as port:
        yield port


@pytest.mark.parametrize("target", ["/a%2Fb//c?b=2&a=1", "//evil.example/p", "/p?", "/p", "/caf%C3%A9"])
def test_target_in_the_environ_is_the_one_on_the_wire(port, party, target):
    assert ask(port, party.raw("GET", target)).json["raw"] == target


def test_application_sees_the_canonical_path(port, party):
    assert ask(port, party.raw("GET", "/adcp/./create")).json["path"] == "/adcp/create"


def test_request_with_content_verifies(port, party):
    assert ask(port, party.raw("POST", "/p", BODY)).json["body"] == BODY.decode()


@pytest.mark.parametrize("target", ["http://evil.example/p", "/p#f", " /p", "/p q", "*", "p"])
def test_target_nobody_signed_is_rejected(port, party, target):
    response = exchange(port, party.raw("GET", target, url=f"{ORIGIN}/p"))
    assert response.split(b" ")[1] in {b"400", b"401"}


@pytest.mark.parametrize("extra", [("", "evil"), ("X User", "admin"), ("X-User", "a\rb"), ("Content-Length", "0")])
def test_header_line_that_gevent_hides_is_rejected(port, party, extra):
    fields = [("Host", HOST), ("Content-Length", str(len(BODY))), *party.fields("POST", f"{ORIGIN}/p", BODY)]
    response = exchange(port, raw_request("POST", "/p", [*fields, extra], BODY))
    assert response.split(b" ")[1] == b"401", response


@pytest.mark.parametrize("is_patched", [False, True])
def test_standard_library_that_is_not_patched_is_logged(monkeypatch, caplog, is_patched):
    monkeypatch.setattr(monkey, "is_module_patched", lambda name: is_patched and name == "threading")
    importlib.reload(handler)
    assert ["monkey.patch_all()" in message for message in caplog.messages] == [True] * (not is_patched)


def test_server_without_the_handler_is_rejected_with_the_fix(party, caplog):
    app = wsgi.SignatureMiddleware(echo_variables, verifier=party.verifier(), origins=[ORIGIN])
    with gevent_server(app, WSGIHandler) as port:
        response = exchange(port, party.raw("GET", "/p"))
    assert response.split(b" ")[1] == b"503"
    assert "undersigned_gevent.RawTargetHandler" in caplog.text
