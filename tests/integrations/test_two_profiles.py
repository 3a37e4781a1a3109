"""Two profiles in one application, each around routes of its own: no spelling of a path leads from one to the other."""

from __future__ import annotations

import aiohttp.web
import falcon.asgi
import flask
import pytest
import tornado.routing
import tornado.web
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.integrations.own_servers import aiohttp_server, tornado_server
from tests.keys import BODY, JSON, ORIGIN, ORIGINS
from tests.serving import uvicorn_server, waitress_server
from tests.wire import ask, raw_request
from werkzeug.exceptions import NotFound
from werkzeug.middleware.dispatcher import DispatcherMiddleware

import undersigned_aiohttp
import undersigned_flask
import undersigned_tornado
from undersigned import KeyPair, KeySet, MemoryReplayStore, Request, Signer, SigningKey, Verifier, profiles
from undersigned.asgi import SignatureMiddleware

PROFILES = {"/plans": profiles.ADCP_3_2, "/hooks": profiles.ADCP_WEBHOOK}


def serve_mounted_aiohttp(verifiers):
    app = aiohttp.web.Application()
    for path, verifier in verifiers.items():
        signed = undersigned_aiohttp.SignatureMiddleware(verifier=verifier, origins=ORIGINS)
        part = aiohttp.web.Application(middlewares=[signed])

        async def show(_request, path=path):
            return aiohttp.web.Response(text=path)

        part.add_routes([aiohttp.web.post("/x", show)])
        app.add_subapp(path, part)
    return aiohttp_server(app)


def serve_mounted_tornado(verifiers):
    rules = []
    for path, verifier in verifiers.items():

        class Show(tornado.web.RequestHandler):
            told = path

            def post(self):
                self.write(self.told)

        part = tornado.web.Application([(f"{path}/x", Show)])
        signed = undersigned_tornado.Undersigned(part, verifier=verifier, origins=ORIGINS)
        rules.append(tornado.routing.Rule(tornado.routing.PathMatches(f"{path}/.*"), signed))
    return tornado_server(tornado.routing.RuleRouter(rules))


def serve_mounted_flask(verifiers):
    parts = {}
    for path, verifier in verifiers.items():
        part = parts[path] = flask.Flask(__name__)
        undersigned_flask.Undersigned(part, verifier=verifier, origins=ORIGINS)
        part.add_url_rule("/x", "show", lambda path=path: path, methods=["POST"])
    return waitress_server(DispatcherMiddleware(NotFound(), parts))


def falcon_part(path):
    class Show:
        async def on_post(self, _request, response):
            response.text = path

    part = falcon.asgi.App()
    # Falcon routes the whole path, also below a Mount.
    part.add_route(f"{path}/x", Show())
    return part


def serve_mounted_falcon(verifiers):
    parts = {
        path: SignatureMiddleware(falcon_part(path), verifier=verifier, origins=ORIGINS)
        for path, verifier in verifiers.items()
    }
    return uvicorn_server(Starlette(routes=[Mount(path, part) for path, part in parts.items()]))


SERVED = {
    "aiohttp": serve_mounted_aiohttp,
    "tornado": serve_mounted_tornado,
    "flask": serve_mounted_flask,
    "falcon": serve_mounted_falcon,
}
SPELLINGS = [
    "/plans/x",
    "/hooks/x",
    "/z/../hooks/x",
    "/plans/../hooks/x",
    "/hooks/../plans/x",
    "/%68ooks/x",
    "/%70lans/x",
]


@pytest.mark.parametrize("framework", SERVED)
def test_request_runs_only_what_its_profile_is_around(framework):
    signers, jwks = {}, []
    for path, profile in PROFILES.items():
        use = {"adcp_use": "webhook-signing" if profile is profiles.ADCP_WEBHOOK else "request-signing"}
        pair = KeyPair.generate(keyid=path[1:])
        signers[path] = Signer(SigningKey.from_jwk({**pair.private, **use}), profile=profile)
        jwks.append({**pair.public["keys"][0], **use})
    keys = KeySet.from_jwks({"keys": jwks})
    verifiers = {path: Verifier(profile, keys=keys, replay=MemoryReplayStore()) for path, profile in PROFILES.items()}
    with SERVED[framework](verifiers) as port:
        for path, signer in signers.items():
            for spelled in SPELLINGS:
                signed = signer.sign(Request("POST", f"{ORIGIN}{spelled}", JSON, BODY))
                answer = ask(port, raw_request("POST", spelled, [*JSON, *signed], BODY))
                if spelled == f"{path}/x":
                    assert (answer.status // 100, answer.content.decode()) == (2, path)
                assert answer.status in {401, 404} or answer.content.decode() == path, (path, spelled, answer)
