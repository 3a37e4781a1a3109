"""What a view reads of a covered field is what was signed, however it was spelled: in packages with their own request.

`tests/servers/test_covered_fields.py` holds the same for the middlewares of ASGI and WSGI on every server.
"""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest
import tornado.web
from aiohttp import web
from sanic import response
from tests.integrations.django_site import APPLICATIONS, FIRST, site
from tests.integrations.own_servers import aiohttp_server, sanic_app, sanic_server, tornado_server
from tests.keys import ORIGIN, ORIGINS
from tests.servers.spellings import SPELLINGS
from tests.serving import uvicorn_server, waitress_server
from tests.wire import HOST, ask

from undersigned import Request, Signer, profiles
from undersigned.signature.rules import CoverageRule
from undersigned_aiohttp import SignatureMiddleware
from undersigned_sanic import Undersigned
from undersigned_tornado import Undersigned as UndersignedTornado

COVERED, OTHER = "X-Order", "X-Note"
PROFILE = profiles.GNAP.derive(coverage=CoverageRule(if_sent=("x-order",)))


def serve_aiohttp(verifier):
    async def show(request):
        assert request.headers[COVERED].encode() in [value for _, value in request.raw_headers]
        return web.json_response([request.headers.getall(name) for name in (COVERED, OTHER)])

    app = web.Application(middlewares=[SignatureMiddleware(verifier=verifier, origins=ORIGINS)])
    app.add_routes([web.get("/~a", show)])
    return aiohttp_server(app)


def serve_tornado(verifier):
    class Show(tornado.web.RequestHandler):
        def get(self):
            self.write(json.dumps([self.request.headers.get_list(name) for name in (COVERED, OTHER)]))

    app = tornado.web.Application([("/~a", Show)])
    return tornado_server(UndersignedTornado(app, verifier=verifier, origins=ORIGINS))


def serve_sanic(verifier):
    app = sanic_app()

    @app.get("/~a")
    async def show(request):
        return response.json([request.headers.getall(name) for name in (COVERED, OTHER)])

    Undersigned(app, verifier=verifier, origins=ORIGINS)
    return sanic_server(app)


def django_by(interface, serve):
    @contextmanager
    def serving(verifier):
        with site(verifier, middleware=(FIRST,), MODE=None), serve(APPLICATIONS[interface]()) as port:
            yield port

    return serving


SERVED = {
    "aiohttp": serve_aiohttp,
    "tornado": serve_tornado,
    "sanic": serve_sanic,
    "django": django_by("wsgi", waitress_server),
    "django over ASGI": django_by("asgi", uvicorn_server),
}


@pytest.mark.parametrize("name", SERVED)
def test_covered_field_is_seen_as_it_was_signed_or_the_request_is_rejected_and_others_as_they_came(name, party):
    signer, accepted = Signer(party.key, profile=PROFILE), set()
    with SERVED[name](party.verifier(PROFILE)) as port:
        for spelling, (field, value, lines) in SPELLINGS.items():
            if field != COVERED:
                continue
            signed = signer.sign(Request("GET", f"{ORIGIN}/~a", [(COVERED, value)]))
            sent = [*lines, f"{OTHER}: \xe9, n", f"{OTHER}: m", *(": ".join(one) for one in signed)]
            head = ["GET /~a HTTP/1.1", f"Host: {HOST}", *sent, "Connection: close", "", ""]
            answer = ask(port, "\r\n".join(head).encode("latin-1"))
            if answer.status == 200:
                accepted.add(spelling)
                covered, other = json.loads(answer.content)
                assert (covered, ",".join(other)[-5:].replace(" ", "")[-3:]) == ([value], "n,m"), spelling
            else:
                assert answer.status in {400, 401}, spelling
    spelled = ("after a tab", "before a tab", "before a space", "as 'x-order'", "in lines ['a', 'b=1']")
    assert {f"{COVERED} {how}" for how in spelled} <= accepted
