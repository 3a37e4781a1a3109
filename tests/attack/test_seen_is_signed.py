"""What a handler reads of a covered field is what the signature base has, however the field was spelled on the way."""

from __future__ import annotations

import json
from random import Random

import pytest
import tornado.web
from aiohttp import web
from sanic import response
from tests.integrations.own_servers import aiohttp_server, sanic_app, sanic_server, tornado_server
from tests.keys import ORIGIN, ORIGINS
from tests.serving import gunicorn_server, uvicorn_server, waitress_server
from tests.wire import ask, raw_request

import undersigned_aiohttp
import undersigned_sanic
import undersigned_tornado
from undersigned import Request, Signer, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned.signature.rules import CoverageRule
from undersigned.wsgi import SignatureMiddleware as WSGIMiddleware

COVERED, OTHER = "X-Order", "X-Note"
PROFILE = profiles.GNAP.derive(coverage=CoverageRule(if_sent=("x-order",)))
SERVERS = ["h11", "httptools", "gunicorn", "waitress", "aiohttp", "tornado", "sanic"]


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


def serve(server, options):
    if server in {"h11", "httptools"}:
        return uvicorn_server(asgi(options), http=server)
    if server in {"gunicorn", "waitress"}:
        return {"gunicorn": gunicorn_server, "waitress": waitress_server}[server](wsgi(options))
    if server == "tornado":
        return tornado_server(of_tornado(options))
    return sanic_server(of_sanic(options)) if server == "sanic" else aiohttp_server(of_aiohttp(options))


def spelled(chance: Random, name: str, value: str) -> list[tuple[str, str]]:
    """Some spelling of a field under which its value in the base is the same."""
    parts = value.split(", ")
    cut = chance.randrange(len(parts))
    lines = [", ".join(parts[:cut]), ", ".join(parts[cut:])][not cut :]
    blanks = ["", "", " ", "\t", " \t ", "\t" * 20]
    names = [name, name.lower(), name.upper()]
    return [(chance.choice(names), chance.choice(blanks) + line + chance.choice(blanks)) for line in lines]


@pytest.mark.parametrize("server", SERVERS)
def test_covered_field_is_seen_as_it_was_signed_or_the_request_is_rejected(party, server):
    chance, accepted = Random(9421), 0  # noqa: S311
    signer = Signer(party.key, profile=PROFILE)
    with serve(server, {"verifier": party.verifier(PROFILE), "origins": ORIGINS}) as port:
        for _ in range(60):
            value, note = ", ".join(chance.choices(["a", "b=1", '"c"', "d e"], k=3)), "\xe9, n"
            signed = signer.sign(Request("GET", f"{ORIGIN}/~a", [(COVERED, value)]))
            sent = [*spelled(chance, COVERED, value), (OTHER, note), *signed]
            answer = ask(port, raw_request("GET", "/~a", sent))
            if answer.status == 200:
                accepted += 1
                assert json.loads(answer.content)[0] == [value]
            else:
                assert answer.status == 401
    assert accepted
