"""The fixtures for pytest, in the process of the test: each client signs what an application verifies."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys

import pytest
from fastapi import FastAPI, WebSocket
from flask import Flask, request
from sanic import text
from tests.integrations.django_site import site
from tests.integrations.own_servers import sanic_app, sanic_server
from tests.serving import waitress_server

import undersigned_flask
from undersigned import KeyPair, KeySet, MemoryReplayStore, Profile, Verifier, profiles
from undersigned.testing.fixtures import (  # noqa: F401 - pytest finds the fixtures here
    SignedClients,
    frozen_nonce_clock,
    signed_client,
    signing_key,
    verified_signature,
)
from undersigned.wsgi import SignatureMiddleware as WSGISignatureMiddleware
from undersigned_fastapi import Signature, SignatureMiddleware
from undersigned_flask import Undersigned, signature_required
from undersigned_sanic import Undersigned as SanicUndersigned
from undersigned_sanic import verified_signature as signature_of

ORIGIN = "https://testserver"


@pytest.fixture(params=[profiles.DEFAULT, profiles.ADCP_3_2], ids=["default", "adcp"])
def signing_profile(request) -> Profile:
    """Return the profile, in place of the fixture's own."""
    return request.param


@pytest.fixture
def verifier(signing_key, signing_profile) -> Verifier:  # noqa: F811 - the fixture
    keys = KeySet.from_jwks(signing_key.public)
    return Verifier(signing_profile, keys=keys, replay=MemoryReplayStore())


@pytest.fixture
def shop(verifier) -> FastAPI:
    @contextlib.asynccontextmanager
    async def lifespan(_app):
        yield {"stock": 3}

    app = FastAPI(lifespan=lifespan)
    app.add_middleware(SignatureMiddleware, verifier=verifier, origins=[ORIGIN], mode="optional")

    @app.post("/plans/{plan}")
    async def buy(plan: str, order: dict, signature: Signature) -> list:
        return [signature.keyid, plan, order]

    @app.websocket("/talk")
    async def talk(websocket: WebSocket, signature: Signature) -> None:
        await websocket.accept()
        await websocket.send_json([signature.keyid, websocket.state.stock])
        await websocket.close()

    return app


def test_clock_moves_only_when_it_is_told_to(frozen_nonce_clock):  # noqa: F811 - the fixture
    started = frozen_nonce_clock()
    frozen_nonce_clock.advance(5)
    assert frozen_nonce_clock() == started + 5


def test_client_of_starlette_signs_requests_and_handshakes_and_starts_the_application(signed_client, shop):  # noqa: F811
    with signed_client.starlette(shop) as client:
        assert client.post("/plans/a?x=1", json={"n": 1}).json() == ["test-key", "a", {"n": 1}]
        with client.websocket_connect("/talk") as talking:
            assert talking.receive_json() == ["test-key", 3]


def test_client_of_httpx_signs_requests(signed_client, shop):  # noqa: F811 - the fixture
    async def call() -> list:
        async with signed_client.httpx(shop) as client:
            return (await client.post("/plans/a", json={"n": 1})).json()

    assert asyncio.run(call()) == ["test-key", "a", {"n": 1}]


def test_client_of_flask_signs_requests(signed_client, verifier):  # noqa: F811 - the fixture
    app = Flask("shop")
    Undersigned(app, verifier=verifier, origins=[ORIGIN], mode="optional")

    @app.post("/plans/<plan>")
    @signature_required
    def buy(plan):
        return {"caller": undersigned_flask.verified_signature(request).keyid, "plan": plan}

    assert signed_client.flask(app).post("/plans/a?x=1", json={}).json == {"caller": "test-key", "plan": "a"}


def test_client_of_django_signs_requests_of_one_process(signed_client, verifier, caplog):  # noqa: F811 - the fixture
    with site(verifier, ORIGINS=[ORIGIN]):
        answer = signed_client.django().post("/drf/%E2%82%AC", {}, content_type="application/json")
    assert answer.json() == {"plan": "\u20ac", "caller": "test-key", "signed": f"{ORIGIN}/drf/%E2%82%AC"}
    assert "several processes" not in caplog.text


def test_client_of_a_server_signs_requests(signed_client, verifier):  # noqa: F811 - the fixture
    def answer(environ, start_response) -> list[bytes]:
        start_response("200 OK", [])
        return [environ["undersigned"].signature.keyid.encode()]

    with waitress_server(WSGISignatureMiddleware(answer, verifier=verifier, origins=[ORIGIN])) as port:
        assert asyncio.run(buy(signed_client, port)) == "test-key"


def test_client_of_a_server_signs_requests_to_sanic(signed_client, verifier):  # noqa: F811 - the fixture
    app = sanic_app()

    @app.post("/plans")
    async def answer(request):
        return text(signature_of(request).keyid)

    SanicUndersigned(app, verifier=verifier, origins=[ORIGIN])
    with sanic_server(app) as port:
        assert asyncio.run(buy(signed_client, port)) == "test-key"


async def buy(signed_client, port: int) -> str:  # noqa: F811 - the fixture
    async with signed_client.server(port) as client:
        return (await client.post("/plans", json={})).text


@pytest.mark.parametrize(
    ("make", "library", "extra"),
    [
        ("starlette", "starlette.testclient", "starlette"),
        ("httpx", "httpx", "httpx"),
        ("flask", "werkzeug.test", "flask"),
    ],
)
def test_client_whose_library_is_not_installed_names_the_extra(make, library, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    clients = SignedClients(KeyPair.generate())
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'undersigned\[{extra}\]'"):
        getattr(clients, make)(None)


PROJECT = """
from flask import Flask, request
from undersigned import MemoryReplayStore, Verifier, profiles
from undersigned_flask import Undersigned, verified_signature


def test_shop(signed_client, signing_key, frozen_nonce_clock):
    app, store = Flask("shop"), MemoryReplayStore()
    verifier = Verifier(signed_client.profile, keys=signing_key.key_set(), replay=store)
    Undersigned(app, verifier=verifier, origins=["https://testserver"])
    app.add_url_rule("/plans", "buy", lambda: verified_signature(request).keyid, methods=["POST"])
    assert signed_client.flask(app).post("/plans", json={"n": 1}).text == "test-key"
    assert app.test_client().post("/plans", json={"n": 1}).status_code == 401
    assert frozen_nonce_clock.nonce() != frozen_nonce_clock.nonce()
"""


def test_fixtures_are_those_of_a_project_that_names_the_plugin(tmp_path):
    (tmp_path / "test_project.py").write_text(PROJECT)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["undersigned.testing.fixtures"]\n')
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    ran = subprocess.run(  # noqa: S603 - our own words
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr


def test_verified_signature_is_that_of_the_key(verified_signature, signing_key):  # noqa: F811 - the fixtures
    assert (verified_signature.signer, verified_signature.keyid) == ("test-signer", signing_key.private["kid"])


def test_signed_client_says_that_it_only_makes_clients():
    with pytest.raises(AttributeError, match=r"has no get: it makes clients, such as signed_client\.starlette\(app\)"):
        SignedClients(KeyPair.generate()).get("/plans")
