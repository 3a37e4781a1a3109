"""The signature of a request as the user of Starlette's own authentication."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.authentication import requires
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from tests.keys import KEYID, ORIGIN, ORIGINS, Party

from undersigned import ConfigurationError, KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.testing import signing_asgi
from undersigned_starlette import SignatureBackend, SignatureMiddleware


async def whoami(request) -> JSONResponse:
    user = request.user
    return JSONResponse({"name": user.display_name, "scopes": request.auth.scopes, "known": user.is_authenticated})


@requires("signed")
async def identity(request) -> JSONResponse:
    return JSONResponse({"identity": request.user.identity, "target": request.user.signature.target_uri})


def make(*, owner: str = "") -> tuple[Starlette, Party]:
    party = Party.make()
    keys = KeySet.from_jwks(party.jwks, owner=owner)
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    middleware = [
        Middleware(SignatureMiddleware, verifier=verifier, origins=ORIGINS, mode="optional"),
        Middleware(AuthenticationMiddleware, backend=SignatureBackend()),
    ]
    return Starlette(routes=[Route("/", whoami), Route("/identity", identity)], middleware=middleware), party


@pytest.mark.parametrize(("owner", "name"), [("", KEYID), ("buyer.example.com", "buyer.example.com")])
def test_signed_request_has_an_authenticated_user_named_by_signer_or_key(owner, name):
    app, party = make(owner=owner)
    client = TestClient(signing_asgi(app, party.signer, origin=ORIGIN))
    assert client.get("/").json() == {"name": name, "scopes": ["signed"], "known": True}
    assert client.get("/identity").json() == {"identity": name, "target": f"{ORIGIN}/identity"}


def test_unsigned_request_has_no_scope_and_no_name():
    client = TestClient(make()[0])
    assert client.get("/").json() == {"name": "", "scopes": [], "known": False}
    assert client.get("/identity").status_code == 403


def test_backend_fails_without_the_middleware():
    routes = [Route("/", whoami)]
    app = Starlette(routes=routes, middleware=[Middleware(AuthenticationMiddleware, backend=SignatureBackend())])
    with pytest.raises(ConfigurationError, match="no middleware has verified"):
        TestClient(app).get("/")
