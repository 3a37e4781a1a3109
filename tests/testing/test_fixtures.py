"""The fixtures for pytest: what they make. The page of each framework has a test file with its client, which runs."""

from __future__ import annotations

import contextlib
import sys

import pytest
from fastapi import FastAPI, WebSocket
from tests.integrations.django_site import site

from undersigned import KeyPair, KeySet, MemoryReplayStore, Profile, Verifier, profiles
from undersigned.testing.fixtures import (  # noqa: F401 - pytest finds the fixtures here
    SignedClients,
    frozen_nonce_clock,
    signed_client,
    signing_key,
    verified_signature,
)
from undersigned_fastapi import Signature, SignatureMiddleware

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


def test_client_of_django_signs_requests_of_one_process(signed_client, verifier, caplog):  # noqa: F811 - the fixture
    with site(verifier, ORIGINS=[ORIGIN]):
        answer = signed_client.django().post("/drf/%E2%82%AC?x=1", {}, content_type="application/json")
    assert answer.json() == {"plan": "\u20ac", "caller": "test-key", "signed": f"{ORIGIN}/drf/%E2%82%AC?x=1"}
    assert "several processes" not in caplog.text


LIBRARIES = {"starlette": "starlette.testclient", "httpx": "httpx", "flask": "werkzeug.test"}


@pytest.mark.parametrize("make", LIBRARIES)
def test_client_whose_library_is_not_installed_names_the_extra(make, monkeypatch):
    monkeypatch.setitem(sys.modules, LIBRARIES[make], None)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'undersigned\[{make}\]'"):
        getattr(SignedClients(KeyPair.generate()), make)(None)


def test_verified_signature_is_that_of_the_key(verified_signature, signing_key):  # noqa: F811 - the fixtures
    assert (verified_signature.signer, verified_signature.keyid) == ("test-signer", signing_key.private["kid"])


def test_signed_client_says_that_it_only_makes_clients():
    with pytest.raises(AttributeError, match=r"has no get: it makes clients, such as signed_client\.starlette\(app\)"):
        SignedClients(KeyPair.generate()).get("/plans")
