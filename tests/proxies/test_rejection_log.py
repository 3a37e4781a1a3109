"""The log lines for a rejected target or Host, without a proxy."""

from __future__ import annotations

import asyncio

import pytest
from tests.drive import Message, call_asgi, call_wsgi, environ_of, scope_of
from tests.keys import ORIGIN, signer, verifier

from undersigned import Request, asgi, wsgi

MESSAGE = Message("/p", "GET", [*signer().sign(Request("GET", f"{ORIGIN}/p"))])


def asgi_log(caplog, *, hosts=(b"app",), **changes) -> str:
    app = asgi.SignatureMiddleware(None, verifier=verifier(), origins=[ORIGIN])
    scope = scope_of(MESSAGE)
    scope["headers"] = [*[(b"host", host) for host in hosts], *scope["headers"][1:]]
    asyncio.run(call_asgi(app, {**scope, **changes}))
    return caplog.text


def wsgi_log(caplog, **changes) -> str:
    app = wsgi.SignatureMiddleware(None, verifier=verifier(), origins=[ORIGIN])
    environ = {**environ_of(MESSAGE, "gunicorn"), "HTTP_HOST": "app", **changes}
    call_wsgi(app, {key: value for key, value in environ.items() if value is not None})
    return caplog.text


SCOPE = {"raw_path": b"/s", "path": "/s", "query_string": b"", "headers": []}


@pytest.mark.parametrize(
    ("logged", "given", "shown"),
    [
        (
            asgi_log,
            {"hosts": [b"127.0.0.1:8000"], "query_string": b"x=1"},
            "Host 127.0.0.1:8000, request target /p?(withheld)",
        ),
        (asgi_log, {"hosts": [b"a", b"b"]}, "Host a, b, request target /p"),
        (asgi_log, {"raw_path": None}, "Host app, request target /p"),
        (asgi_log, {"raw_path": "/p"}, "Host app, request target /p"),
        (asgi_log, {"raw_path": b""}, "Host app, request target (none)"),
        (asgi_log, {"raw_path": b"/a|b\r\nforged"}, r"Host app, request target /a|b\r\nforged"),
        (asgi_log, {"hosts": [b"a\n\x1b[31m"]}, r"Host a\n\x1b[31m, request target /p"),
        (wsgi_log, {}, "Host app, request target /p"),
        (wsgi_log, {"HTTP_HOST": None}, "Host (none), request target /p"),
        (wsgi_log, {"RAW_URI": "/caf\xe9"}, r"Host app, request target /caf\xe9"),
        (wsgi_log, {"REQUEST_URI": "/q"}, "Host app, request target /q or /p"),
        (wsgi_log, {"asgi.scope": SCOPE}, "Host app, request target /s"),
    ],
)
def test_host_and_target_appear_in_the_log_and_cannot_forge_a_line(caplog, logged, given, shown):
    caplog.set_level("INFO", "undersigned")
    assert f"\nreceived: {shown}\n" in logged(caplog, **given)
