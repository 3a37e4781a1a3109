"""What a handler reads of a covered field is what the signature base has, however the field was spelled on the way."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated

import falcon
import falcon.asgi
import fastapi
import flask
import pytest
import quart
import tornado.web
from aiohttp import web
from django.conf import settings
from django.urls import clear_url_caches
from litestar import Litestar, get
from litestar import Request as LitestarRequest
from sanic import response
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from tests.integrations.django_site import APPLICATIONS, FIRST, site
from tests.integrations.own_servers import aiohttp_server, sanic_app, sanic_server, tornado_server
from tests.keys import ORIGIN, ORIGINS
from tests.servers.spellings import SPELLINGS
from tests.serving import gunicorn_server, uvicorn_server, waitress_server
from tests.wire import HOST, ask

import undersigned_aiohttp
import undersigned_sanic
import undersigned_tornado
from undersigned import Request, Signer, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned.signature.rules import CoverageRule
from undersigned.wsgi import SignatureMiddleware as WSGIMiddleware

COVERED, OTHER = "X-Order", "X-Note"
PROFILE = profiles.GNAP.derive(coverage=CoverageRule(if_sent=("x-order",)))


def asgi(options):
    async def app(scope, _receive, send):
        lines = [(name, value.decode("latin-1")) for name, value in scope["headers"]]
        seen = [[value for name, value in lines if name == asked.lower().encode()] for asked in (COVERED, OTHER)]
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": json.dumps(seen).encode()})

    return SignatureMiddleware(app, **options)


def wsgi(options):
    def app(environ, start_response):
        start_response("200 OK", [])
        return [json.dumps([[environ["HTTP_X_ORDER"]], [environ["HTTP_X_NOTE"]]]).encode()]

    return WSGIMiddleware(app, **options)


def of_aiohttp(options):
    async def show(request):
        assert request.headers[COVERED].encode() in [value for _, value in request.raw_headers]
        return web.json_response([request.headers.getall(name) for name in (COVERED, OTHER)])

    app = web.Application(middlewares=[undersigned_aiohttp.SignatureMiddleware(**options)])
    app.add_routes([web.get("/~a", show)])
    return app


def of_tornado(options):
    class Show(tornado.web.RequestHandler):
        def get(self):
            self.write(json.dumps([self.request.headers.get_list(name) for name in (COVERED, OTHER)]))

    return undersigned_tornado.Undersigned(tornado.web.Application([("/~a", Show)]), **options)


def of_sanic(options):
    app = sanic_app()

    @app.get("/~a")
    async def show(request):
        return response.json([request.headers.getall(name) for name in (COVERED, OTHER)])

    undersigned_sanic.Undersigned(app, **options)
    return app


def of_starlette(options):
    async def show(request):
        return JSONResponse([request.headers.getlist(name) for name in (COVERED, OTHER)])

    return SignatureMiddleware(Starlette(routes=[Route("/~a", show)]), **options)


def of_flask(options):
    app = flask.Flask(__name__)
    app.add_url_rule(
        "/~a", view_func=lambda: [flask.request.headers.getlist(name) for name in (COVERED, OTHER)], endpoint="show"
    )
    return WSGIMiddleware(app, **options)


def of_quart(options):
    app = quart.Quart(__name__)

    @app.get("/~a")
    async def show():
        return [quart.request.headers.getlist(name) for name in (COVERED, OTHER)]

    return SignatureMiddleware(app, **options)


def of_litestar(options):
    @get("/~a")
    async def show(request: LitestarRequest) -> list[list[str]]:
        return [request.headers.getall(name) for name in (COVERED, OTHER)]

    return SignatureMiddleware(Litestar([show]), **options)


def of_fastapi(options):
    app = fastapi.FastAPI()

    @app.get("/~a")
    async def show(
        x_order: Annotated[list[str], fastapi.Header()], x_note: Annotated[list[str], fastapi.Header()]
    ) -> list[list[str]]:
        return [x_order, x_note]

    return SignatureMiddleware(app, **options)


def of_django(options, *, interface):
    # Another module may have chosen its own routes.
    settings.ROOT_URLCONF = "tests.integrations.django_site"
    clear_url_caches()
    with site(options["verifier"], middleware=(FIRST,)):
        return APPLICATIONS[interface]()


class FalconShow:
    def on_get(self, request, response):
        response.media = [[request.get_header(name)] for name in (COVERED, OTHER)]

    async def on_get_async(self, request, response):
        self.on_get(request, response)


def of_falcon(options):
    app = falcon.App()
    app.add_route("/~a", FalconShow())
    return WSGIMiddleware(app, **options)


def of_falcon_asgi(options):
    app = falcon.asgi.App()
    app.add_route("/~a", FalconShow(), suffix="async")
    return SignatureMiddleware(app, **options)


MADE = {
    "h11": (asgi, partial(uvicorn_server, http="h11")),
    "httptools": (asgi, partial(uvicorn_server, http="httptools")),
    "gunicorn": (wsgi, gunicorn_server),
    "waitress": (wsgi, waitress_server),
    "aiohttp": (of_aiohttp, aiohttp_server),
    "tornado": (of_tornado, tornado_server),
    "sanic": (of_sanic, sanic_server),
    "starlette": (of_starlette, partial(uvicorn_server, http="httptools")),
    "quart": (of_quart, partial(uvicorn_server, http="httptools")),
    "litestar": (of_litestar, partial(uvicorn_server, http="httptools")),
    "falcon": (of_falcon, waitress_server),
    "falcon over ASGI": (of_falcon_asgi, partial(uvicorn_server, http="httptools")),
    "flask": (of_flask, waitress_server),
    "fastapi": (of_fastapi, partial(uvicorn_server, http="httptools")),
    "django": (partial(of_django, interface="wsgi"), waitress_server),
    "django over ASGI": (partial(of_django, interface="asgi"), partial(uvicorn_server, http="httptools")),
}


@pytest.mark.parametrize("server", MADE)
def test_covered_field_is_seen_as_it_was_signed_or_the_request_is_rejected(party, server):
    signer = Signer(party.key, profile=PROFILE)
    accepted = set()
    make, serve = MADE[server]
    with serve(make({"verifier": party.verifier(PROFILE), "origins": ORIGINS})) as port:
        for name, (field, value, lines) in SPELLINGS.items():
            if field != COVERED:
                continue
            signed = signer.sign(Request("GET", f"{ORIGIN}/~a", [(COVERED, value)]))
            head = b"GET /~a HTTP/1.1\r\nHost: %b\r\n" % HOST.encode()
            fields = [*lines, f"{OTHER}: \xe9, n", f"{OTHER}: m", *(": ".join(one) for one in signed)]
            head += "\r\n".join([*fields, "Connection: close", "", ""]).encode("latin-1")
            answer = ask(port, head)
            if answer.status == 200:
                accepted.add(name)
                covered, other = json.loads(answer.content)
                assert (covered, ",".join(other)[-5:].replace(" ", "")[-3:]) == ([value], "n,m"), name
            else:
                assert answer.status in {400, 401}, name
    spelled = {"after a tab", "before a tab", "before a space", "as 'x-order'", "in lines ['a', 'b=1']"}
    # gunicorn joins lines with a comma alone.
    assert {f"X-Order {how}" for how in spelled if server != "gunicorn" or "lines" not in how} <= accepted
