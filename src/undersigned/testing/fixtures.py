"""Fixtures for pytest: `pytest_plugins = ["undersigned.testing.fixtures"]` in conftest.py.

A framework is imported when a client for it is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from undersigned import profiles
from undersigned.errors import needs_extra
from undersigned.message.request import Request
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.key_pair import KeyPair
from undersigned.signature.key_source import KeySet
from undersigned.signature.signer import Signer
from undersigned.testing.clients import sign_environ, signing_asgi, signing_wsgi
from undersigned.testing.clock import FrozenNonceClock
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from undersigned.asgi import ASGIApp
    from undersigned.signature.profile import Profile
    from undersigned.verification.verified_signature import VerifiedSignature
    from undersigned.wsgi import WSGIApp

__all__ = [
    "SignedClients",
    "frozen_nonce_clock",
    "signed_client",
    "signing_key",
    "signing_profile",
    "verified_signature",
]


@pytest.fixture(scope="session")
def signing_key() -> KeyPair:
    """Return a new key pair: `signing_key.private` is for a signer, `signing_key.public` for a verifier."""
    return KeyPair.generate("ed25519", keyid="test-key")


@pytest.fixture
def frozen_nonce_clock() -> FrozenNonceClock:
    """Return a clock that moves only by `advance`, with nonces that are the same in every run."""
    return FrozenNonceClock()


@pytest.fixture
def verified_signature(signing_key: KeyPair) -> VerifiedSignature:
    """Return what a route gets, for tests without a signed request; `dataclasses.replace` changes its `signer`."""
    request = Request("GET", "https://testserver/")
    fields = Signer(signing_key.signing_key()).sign(request)
    keys = KeySet.from_jwks(signing_key.public, owner="test-signer")
    return Verifier(keys=keys, replay=MemoryReplayStore()).verify(Request("GET", request.url, [*fields]))


@pytest.fixture
def signing_profile() -> Profile:
    """Return the profile that `signed_client` signs with. Define a fixture of this name to use another one."""
    return profiles.DEFAULT


@pytest.fixture
def signed_client(signing_key: KeyPair, signing_profile: Profile) -> SignedClients:
    """Return an object whose methods make test clients that sign with `signing_key`, under `signing_profile`."""
    return SignedClients(signing_key, signing_profile)


@dataclass(frozen=True, slots=True)
class SignedClients:
    """A maker of test clients that sign with one key. The verifier under test needs `signing_key.public`.

    Attributes:
        key: the key pair.
        profile: the profile to sign with.
        origin: the origin that requests are sent to, one of the origins of the middleware under test.
    """

    key: KeyPair
    profile: Profile = profiles.DEFAULT
    origin: str = "https://testserver"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            raise AttributeError(f"signed_client has no {name}: it makes clients, such as signed_client.starlette(app)")

    @property
    def signer(self) -> Signer:
        """A signer with the key."""
        return Signer(self.key.signing_key(), profile=self.profile)

    def starlette(self, app: ASGIApp, **options: Any) -> Any:
        """Return Starlette's `TestClient`, for Starlette and FastAPI; `options` are its arguments."""
        client = _library("starlette.testclient", extra="starlette").TestClient
        return client(signing_asgi(app, self.signer, origin=self.origin), base_url=self.origin, **options)

    def httpx(self, app: ASGIApp, **options: Any) -> Any:
        """Return an `httpx.AsyncClient` for an ASGI application that needs no lifespan: Litestar, Quart, Falcon."""
        httpx = _library("httpx", extra="httpx")
        transport = httpx.ASGITransport(signing_asgi(app, self.signer, origin=self.origin))
        return httpx.AsyncClient(transport=transport, base_url=self.origin, **options)

    def flask(self, app: WSGIApp, **options: Any) -> Any:
        """Return Werkzeug's test client, for Flask and any WSGI application."""
        return _library("werkzeug.test", extra="flask").Client(
            signing_wsgi(app, self.signer, origin=self.origin), **options
        )

    def django(self, **options: Any) -> Any:
        """Return a `django.test.Client` for the site of the settings, with Django REST framework too."""
        client = _library("django.test", extra="django").Client(**options)
        send = client.request

        def request(**environ: Any) -> Any:
            # Django says that there are several processes, each of which would have nonces of its own.
            environ = {"wsgi.multiprocess": False, **environ}
            return send(**sign_environ(environ, self.signer, origin=self.origin))

        client.request = request
        return client

    def server(self, port: int, **options: Any) -> Any:
        """Return an `httpx.AsyncClient` for a server on a port of this machine: aiohttp, Tornado and Sanic."""
        httpx = _library("httpx", extra="httpx")
        signing = import_module("undersigned_httpx").AsyncSignatureTransport
        transport = httpx.AsyncHTTPTransport()
        send = transport.handle_async_request

        async def send_to_port(request: Any) -> Any:
            # Host stays that of the origin, as with the test clients that use no socket.
            request.url = request.url.copy_with(scheme="http", host="127.0.0.1", port=port)
            return await send(request)

        transport.handle_async_request = send_to_port
        transport = signing(transport, self.signer, origins=[self.origin])
        return httpx.AsyncClient(transport=transport, base_url=self.origin, **options)


def _library(name: str, *, extra: str) -> Any:
    with needs_extra(extra):
        return import_module(name)
