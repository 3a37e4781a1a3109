"""The pytest plugin in runs of pytest of its own, as a project that uses it has them."""

from __future__ import annotations

import os
import subprocess
import sys

PROJECT = """
import asyncio

import pytest
from django.conf import settings

ORIGIN = "https://testserver"


@pytest.fixture
def verifier(signing_key):
    from undersigned import KeySet, MemoryReplayStore, Verifier, profiles

    return Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(signing_key.public), replay=MemoryReplayStore())


def test_fastapi(signed_client, verifier):
    from fastapi import FastAPI, WebSocket
    from starlette.testclient import TestClient
    from undersigned_fastapi import Signature, SignatureMiddleware

    app = FastAPI()
    app.add_middleware(SignatureMiddleware, verifier=verifier, origins=[ORIGIN], mode="optional")

    @app.post("/plans/{plan}")
    async def buy(plan: str, order: dict, signature: Signature) -> dict:
        return {"caller": signature.keyid, "order": order, "signed": signature.target_uri}

    @app.websocket("/talk")
    async def talk(websocket: WebSocket, signature: Signature) -> None:
        await websocket.accept()
        await websocket.send_text(signature.keyid)
        await websocket.close()

    with signed_client.starlette(app) as client:
        answer = client.post("/plans/a-b?x=1", json={"n": 1}).json()
        assert answer == {"caller": "test-key", "order": {"n": 1}, "signed": f"{ORIGIN}/plans/a-b?x=1"}
        with client.websocket_connect("/talk") as talking:
            assert talking.receive_text() == "test-key"
    assert TestClient(app, base_url=ORIGIN).post("/plans/a", json={}).status_code == 401

    async def call():
        async with signed_client.httpx(app) as client:
            return await client.post("/plans/a", content=order(), headers={"Content-Type": "application/json"})

    async def order():
        yield b'{"n":'
        yield b"2}"

    assert asyncio.run(call()).json()["order"] == {"n": 2}


def test_flask(signed_client, verifier):
    from flask import Flask, request
    from undersigned_flask import Undersigned, current_signature, signature_required

    app = Flask("shop")
    Undersigned(app, verifier=verifier, origins=[ORIGIN], mode="optional")

    @app.post("/plans/<plan>")
    @signature_required
    def buy(plan):
        return {"caller": current_signature.keyid, "order": request.json}

    answer = signed_client.flask(app).post("/plans/a?x=1", json={"n": 1})
    assert answer.json == {"caller": "test-key", "order": {"n": 1}}
    assert app.test_client().post("/plans/a", json={}).status_code == 401


def buy(request):
    from django.http import JsonResponse

    return JsonResponse({"caller": request.signature.keyid, "body": request.body.decode(), "q": request.GET["q"]})


urlpatterns = []


def test_django(signed_client, verifier):
    import django
    from django.urls import path
    from undersigned_django import signature_required

    urlpatterns.append(path("plans", signature_required(buy)))
    first = "undersigned_django.middleware.SignatureMiddleware"
    options = {"VERIFIER": verifier, "ORIGINS": [ORIGIN]}
    settings.configure(ROOT_URLCONF=__name__, MIDDLEWARE=[first], UNDERSIGNED=options, ALLOWED_HOSTS=["testserver"])
    django.setup()
    from django.test import Client

    answer = signed_client.django().post("/plans?q=1", {"n": 1}, content_type="application/json")
    assert answer.json() == {"caller": "test-key", "body": '{"n": 1}', "q": "1"}
    assert signed_client.django().get("/plans?q=2").json()["body"] == ""
    assert Client().post("/plans").status_code == 401


def test_any_asgi_framework(signed_client, verifier):
    from falcon.asgi import App
    from litestar import Litestar, Request, post
    from quart import Quart, request
    from undersigned.asgi import SignatureMiddleware

    @post("/plans")
    async def buy(request: Request) -> dict:
        return {"caller": request.state.signature.keyid}

    quart = Quart("shop")

    @quart.post("/plans")
    async def buy_too():
        return {"caller": request.scope["state"]["signature"].keyid}

    class Plans:
        async def on_post(self, req, resp):
            resp.media = {"caller": req.scope["state"]["signature"].keyid}

    falcon = App()
    falcon.add_route("/plans", Plans())

    async def call(app):
        app = SignatureMiddleware(app, verifier=verifier, origins=[ORIGIN])
        async with signed_client.httpx(app) as client:
            return (await client.post("/plans", json={})).json()

    for app in (Litestar([buy]), quart, falcon):
        assert asyncio.run(call(app)) == {"caller": "test-key"}


def test_servers_that_listen(signed_client, verifier):
    import socket

    from aiohttp import web
    from tornado.httpserver import HTTPServer
    from tornado.web import Application, RequestHandler
    from undersigned_aiohttp import signature_middleware, verified_signature
    from undersigned_tornado import SignatureMiddleware
    from undersigned_tornado import verified_signature as signature_of

    async def handle(request):
        return web.json_response({"caller": verified_signature(request).keyid})

    class Handler(RequestHandler):
        def post(self):
            self.write({"caller": signature_of(self.request).keyid})

    async def call(origin):
        async with signed_client.server(origin) as client:
            return (await client.post("/plans", json={})).json()

    async def call_aiohttp(listener, origin):
        app = web.Application(middlewares=[signature_middleware(verifier=verifier, origins=[origin])])
        app.router.add_post("/plans", handle)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.SockSite(runner, listener).start()
        answer = await call(origin)
        await runner.cleanup()
        return answer

    async def call_tornado(listener, origin):
        app = Application([("/plans", Handler)])
        server = HTTPServer(SignatureMiddleware(app, verifier=verifier, origins=[origin]))
        listener.setblocking(False)
        server.add_sockets([listener])
        answer = await call(origin)
        server.stop()
        await server.close_all_connections()
        return answer

    for one in (call_aiohttp, call_tornado):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
            assert asyncio.run(one(listener, origin)) == {"caller": "test-key"}


def test_clock(frozen_nonce_clock):
    assert frozen_nonce_clock() == 1776520800
    assert frozen_nonce_clock.nonce() != frozen_nonce_clock.nonce()
"""


def run(tmp_path, text: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "test_project.py").write_text(text)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["undersigned.testing.fixtures"]\n')
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(tmp_path),
    ]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    return subprocess.run(  # noqa: S603 - our own words
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def test_fixtures_make_signed_clients_for_every_framework(tmp_path):
    ran = run(tmp_path, PROJECT)
    assert "6 passed" in ran.stdout, ran.stdout + ran.stderr
