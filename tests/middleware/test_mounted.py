"""The middleware inside a mount: it verifies the outer target, or rejects with the reason."""

from __future__ import annotations

import json
import logging

import pytest
from fastapi import FastAPI, Request
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from tests.keys import HOST, ORIGIN
from tests.serving import gunicorn_server, uvicorn_server, waitress_server
from tests.wire import ask, exchange, raw_request
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix

from undersigned import asgi, wsgi

TARGETS = [
    ("/sub/adcp/create", "/adcp/create"),
    ("/sub/adcp/./create?x=a+b", "/adcp/create"),
    ("/sub/a%2Fb", "/a/b"),
    ("/sub//p", "//p"),
    ("/sub/x/../caf%c3%a9", "/café"),
]
OUTSIDE = ["/sub/../admin", "/sub/../sub2/p", "/sub/x/../../admin"]
UNSIGNED_TWINS = [("/sub/a/b", "/sub/a%2Fb"), ("/sub/p", "/p"), ("/sub/sub/p", "/sub/p"), ("/sub//p", "/sub/p")]


def is_rejected(port: int, raw: bytes) -> bool:
    return exchange(port, raw).startswith(b"HTTP/1.1 401")


def check_mount(port: int, party) -> None:
    """Check that the outer target is verified, and that what is below the mount is routed."""
    for target, path in TARGETS:
        answer = ask(port, party.raw("GET", target)).json
        assert answer["path"] == path
        assert answer["target_uri"].startswith(f"{ORIGIN}/sub")
    for target in OUTSIDE:
        assert is_rejected(port, party.raw("GET", target))
    for target, signed_for in UNSIGNED_TWINS:
        assert is_rejected(port, party.raw("GET", target, url=ORIGIN + signed_for))


async def tell(request: Request) -> JSONResponse:
    """Answer with the path that routed here, below whatever is mounted."""
    signature = request.scope["undersigned"].signature
    return JSONResponse({"path": f"/{request.path_params['path']}", "target_uri": signature.target_uri})


def starlette_mount(party, **options) -> Starlette:
    inner = Starlette(routes=[Route("/{path:path}", tell)])
    verified = asgi.SignatureMiddleware(inner, verifier=party.verifier(), origins=[ORIGIN], **options)
    return Starlette(routes=[Mount("/sub", app=verified), Mount("/sub2", app=verified)])


def fastapi_sub_application(party, **options) -> FastAPI:
    inner = FastAPI()
    inner.add_api_route("/{path:path}", tell)
    inner.add_middleware(asgi.SignatureMiddleware, verifier=party.verifier(), origins=[ORIGIN], **options)
    outer = FastAPI()
    outer.mount("/sub", inner)
    return outer


@pytest.fixture(params=[starlette_mount, fastapi_sub_application])
def mounted(request):
    return request.param


@pytest.mark.parametrize("root_path", ["", "/api"])
def test_outer_target_is_verified_and_the_rest_routed_inside_an_asgi_mount(party, mounted, root_path):
    with uvicorn_server(mounted(party, server_adds_root_path=bool(root_path)), root_path=root_path) as port:
        check_mount(port, party)


def test_mount_with_a_path_parameter_keeps_its_routed_value(party):
    inner = Starlette(routes=[Route("/{path:path}", tell)])
    verified = asgi.SignatureMiddleware(inner, verifier=party.verifier(), origins=[ORIGIN])
    with uvicorn_server(Starlette(routes=[Mount("/{tenant}", app=verified)])) as port:
        assert ask(port, party.raw("GET", "/t%20n/./x")).json["path"] == "/x"
        assert is_rejected(port, party.raw("GET", "/t%20n/../u/x"))


def test_root_path_of_uvicorn_is_rejected_when_the_option_is_not_set(party, caplog):
    application = asgi.SignatureMiddleware(Starlette(), verifier=party.verifier(), origins=[ORIGIN])
    with uvicorn_server(application, root_path="/api") as port, caplog.at_level(logging.INFO, "undersigned"):
        assert is_rejected(port, party.raw("GET", "/p"))
    assert f'"@target-uri": {ORIGIN}/api/p' in caplog.text


def tell_over_wsgi(environ, start_response):
    content = json.dumps(
        {
            "path": environ["PATH_INFO"].encode("latin-1").decode(),
            "target_uri": environ["undersigned"].signature.target_uri,
            "host": environ["HTTP_HOST"],
        }
    ).encode()
    start_response("200 OK", [("Content-Length", str(len(content)))])
    return [content]


def verify_by_wsgi(party, app=tell_over_wsgi):
    return wsgi.SignatureMiddleware(app, verifier=party.verifier(), origins=[ORIGIN])


def nothing(_environ, start_response):
    start_response("404 Not Found", [("Content-Length", "0")])
    return []


@pytest.mark.parametrize("serve", [gunicorn_server, waitress_server])
def test_outer_target_is_verified_and_the_rest_routed_inside_a_wsgi_dispatcher(party, serve):
    inner = verify_by_wsgi(party)
    with serve(DispatcherMiddleware(nothing, {"/sub": inner, "/sub2": inner})) as port:
        check_mount(port, party)


def test_prefix_that_waitress_strips_is_a_mount(party):
    with waitress_server(verify_by_wsgi(party), url_prefix="/sub") as port:
        for target, path in TARGETS:
            assert ask(port, party.raw("GET", target)).json["path"] == path
        assert ask(port, party.raw("GET", "/elsewhere")).json["path"] == "/elsewhere"


FORWARDED = [
    ("X-Forwarded-Host", "evil.example"),
    ("X-Forwarded-Proto", "http"),
    ("X-Forwarded-Port", "1"),
    ("X-Forwarded-Prefix", "/evil"),
]


def write_proxied(party, url=f"{ORIGIN}/p") -> bytes:
    return raw_request("GET", "/p", [("Host", HOST), *FORWARDED, *party.fields("GET", url)])


def test_proxy_fix_outside_the_middleware_is_rejected(party, caplog):
    app = ProxyFix(verify_by_wsgi(party), x_for=1, x_proto=1, x_host=1, x_port=1, x_prefix=1)
    with waitress_server(app) as port:
        response = exchange(port, write_proxied(party))
    assert response.startswith(b"HTTP/1.1 503")
    assert "put SignatureMiddleware outside ProxyFix" in caplog.text


def test_proxy_fix_inside_the_middleware_does_not_change_the_verified_request(party):
    app = verify_by_wsgi(party, ProxyFix(tell_over_wsgi, x_proto=1))
    with waitress_server(app) as port:
        answer = ask(port, write_proxied(party)).json
    assert (answer["target_uri"], answer["host"]) == (f"{ORIGIN}/p", "seller.example.com")
