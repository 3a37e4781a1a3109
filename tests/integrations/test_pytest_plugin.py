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


def test_clock(frozen_nonce_clock):
    assert frozen_nonce_clock() == 1776520800
    assert frozen_nonce_clock.nonce() != frozen_nonce_clock.nonce()
"""
IMPORTS = """
import sys


def test_nothing_is_imported_before_a_fixture_needs_it():
    assert "undersigned_pytest" in sys.modules
    assert "undersigned" not in sys.modules
"""


def run(tmp_path, text: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "test_project.py").write_text(text)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "undersigned_pytest",
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
    assert "4 passed" in ran.stdout, ran.stdout + ran.stderr


def test_plugin_imports_the_library_only_for_a_fixture_that_is_asked_for(tmp_path):
    ran = run(tmp_path, IMPORTS)
    assert "1 passed" in ran.stdout, ran.stdout + ran.stderr
