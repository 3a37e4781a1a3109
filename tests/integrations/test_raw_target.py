"""gevent's pywsgi and wsgiref with their handlers: the target of the wire, and only what the message holds."""

from __future__ import annotations

import contextlib
import importlib
import json
import queue
import threading
from wsgiref.simple_server import WSGIRequestHandler, make_server

import gevent
import pytest
from gevent import monkey
from gevent.pywsgi import WSGIHandler, WSGIServer
from tests.integrations.capture import threaded
from tests.keys import BODY, HOST, ORIGIN
from tests.wire import ask, assert_rejected, raw_request

import undersigned_gevent
from undersigned import wsgi
from undersigned.wsgi import wsgiref


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


@contextlib.contextmanager
def wsgiref_server(app, handler):
    class Silent(handler):
        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    with threaded(make_server("127.0.0.1", 0, app, handler_class=Silent)) as server:
        yield server.server_port


SERVERS = {
    "gevent": (gevent_server, WSGIHandler, undersigned_gevent.RawTargetHandler),
    "wsgiref": (wsgiref_server, WSGIRequestHandler, wsgiref.RawTargetHandler),
}
every_server = pytest.mark.parametrize("name", SERVERS)


def echo_variables(environ, start_response):
    body = environ["wsgi.input"].read().decode()
    content = json.dumps(
        {"raw": environ["RAW_URI"], "path": environ["PATH_INFO"], "body": body, "type": environ["CONTENT_TYPE"]}
    ).encode()
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]


@pytest.fixture
def port(party, name):
    serve, _, handler = SERVERS[name]
    with serve(wsgi.SignatureMiddleware(echo_variables, verifier=party.verifier(), origins=[ORIGIN]), handler) as port:
        yield port


@every_server
@pytest.mark.parametrize("target", ["/a%2Fb//c?b=2&a=1", "/p?"])
def test_target_in_the_environ_is_the_one_on_the_wire(port, party, target):
    assert ask(port, party.raw("GET", target)).json["raw"] == target


@every_server
def test_application_sees_the_canonical_path_and_the_content(port, party):
    assert ask(port, party.raw("GET", "/adcp/./create")).json["path"] == "/adcp/create"
    assert ask(port, party.raw("POST", "/p", BODY)).json["body"] == BODY.decode()
    assert ask(port, party.raw("GET", "/p")).json["type"] == ""


def with_field(party, extra) -> bytes:
    fields = [("Host", HOST), ("Content-Length", str(len(BODY))), *party.fields("POST", f"{ORIGIN}/p", BODY)]
    return raw_request("POST", "/p", [*fields, extra], BODY)


@every_server
@pytest.mark.parametrize(
    "extra", [("", "evil"), ("X User", "admin"), ("X-User", "a\rb"), ("Content-Length", "0"), ("Content-Type", "a/b")]
)
def test_header_line_that_a_server_hides_is_rejected(port, party, extra):
    assert ask(port, with_field(party, extra)).status == 401


@pytest.mark.parametrize("name", ["wsgiref"])
def test_length_with_an_underscore_is_dropped(port, party):
    assert ask(port, with_field(party, ("Content_Length", "7"))).json["body"] == BODY.decode()


@every_server
def test_server_without_the_handler_is_rejected_with_the_fix(name, party, caplog):
    serve, plain, handler = SERVERS[name]
    with serve(wsgi.SignatureMiddleware(echo_variables, verifier=party.verifier(), origins=[ORIGIN]), plain) as port:
        assert_rejected(ask(port, party.raw("GET", "/p")), "request_signature_server_unsupported", 503)
    assert f"{handler.__module__}.RawTargetHandler" in caplog.text


@pytest.mark.parametrize("is_patched", [False, True])
def test_standard_library_that_is_not_patched_is_logged(monkeypatch, caplog, is_patched):
    monkeypatch.setattr(monkey, "is_module_patched", lambda name: is_patched and name == "threading")
    importlib.reload(undersigned_gevent)
    assert ["monkey.patch_all()" in message for message in caplog.messages] == [True] * (not is_patched)
