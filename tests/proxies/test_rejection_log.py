"""The log lines for a rejected target or Host, without a proxy."""

from __future__ import annotations

import asyncio
import logging

import pytest
from tests import keys
from tests.drive import Message, call_asgi, environ_of, scope_of

from undersigned import Request, asgi, wsgi

ORIGIN = "https://seller.example.com"
MESSAGE = Message("/p", "GET", [*keys.signer().sign(Request("GET", f"{ORIGIN}/p"))])


async def nobody(*_args) -> None:
    raise AssertionError("the application was called")


def asgi_log(caplog, *, hosts=(b"seller.example.com",), **changes) -> str:
    app = asgi.SignatureMiddleware(nobody, verifier=keys.verifier(), origins=[ORIGIN])
    scope = scope_of(MESSAGE)
    scope["headers"] = [*[(b"host", host) for host in hosts], *scope["headers"][1:]]
    with caplog.at_level(logging.INFO, "undersigned"):
        asyncio.run(call_asgi(app, {**scope, **changes}))
    return caplog.text


def wsgi_log(caplog, **changes) -> str:
    app = wsgi.SignatureMiddleware(lambda *_: [], verifier=keys.verifier(), origins=[ORIGIN])
    environ = {**environ_of(MESSAGE, "gunicorn"), **changes}
    with caplog.at_level(logging.INFO, "undersigned"):
        app({key: value for key, value in environ.items() if value is not None}, lambda *_: None)
    return caplog.text


def test_unlisted_host_appears_in_the_log(caplog):
    log = asgi_log(caplog, hosts=(b"127.0.0.1:8000",), query_string=b"x=1")
    assert "\nreceived: Host 127.0.0.1:8000, request target /p?(withheld)\n" in log
    assert "own origin" in wsgi_log(caplog, HTTP_HOST="app")
    assert "\nreceived: Host app, request target /p\n" in caplog.text


def test_several_hosts_or_a_missing_host_appear_in_the_log(caplog):
    assert "received: Host a, b, request target /p\n" in asgi_log(caplog, hosts=(b"a", b"b"))
    assert "received: Host (none), request target /p\n" in wsgi_log(caplog, HTTP_HOST=None)


def test_malformed_target_appears_in_the_log_and_cannot_forge_a_line(caplog):
    log = asgi_log(caplog, raw_path=b"/a|b\r\nrequest rejected: forged", path="/p")
    assert r"request target /a|b\r\nrequest rejected: forged" in log
    assert "\nrequest rejected: forged" not in log
    assert r"request target /caf\xe9" in wsgi_log(caplog, RAW_URI="/caf\xe9")


def test_host_cannot_forge_a_line_of_the_log(caplog):
    log = asgi_log(caplog, hosts=(b"a\nrequest rejected: \x1b[31m",))
    assert "\nrequest rejected: \x1b" not in log
    assert "\x1b" not in log


@pytest.mark.parametrize(("raw", "shown"), [(None, "/p"), ("/p", "/p"), (b"", "(none)")])
def test_decoded_path_appears_in_the_log_when_the_server_shows_no_target(caplog, raw, shown):
    assert f"request target {shown}\n" in asgi_log(caplog, hosts=(b"app",), raw_path=raw)


def test_target_shown_twice_or_by_a_scope_appears_in_the_log(caplog):
    assert "request target /q or /p\n" in wsgi_log(caplog, REQUEST_URI="/q")
    scope = {"raw_path": b"/s", "path": "/s", "query_string": b"", "headers": []}
    assert "request target /s\n" in wsgi_log(caplog, HTTP_HOST="app", **{"asgi.scope": scope})
