"""Test clients of the frameworks, whose requests arrive signed. Each framework is imported when its client is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from undersigned import Profile, Signer, SigningKey, profiles
from undersigned.testing import signing_asgi, signing_wsgi

if TYPE_CHECKING:
    from httpx import AsyncClient
    from starlette.testclient import TestClient
    from werkzeug.test import Client

    from undersigned.asgi import ASGIApp
    from undersigned.signature.key_pair import KeyPair
    from undersigned.wsgi import WSGIApp
    from undersigned_django.testing import SignedClient

DEFAULT_ORIGIN = "https://testserver"


@dataclass(frozen=True, slots=True)
class SignedClients:
    """A maker of test clients that sign with one key. The verifier under test needs `signing_key.public`.

    Attributes:
        key: the key pair.
        profile: the profile to sign by.
        origin: the origin that requests are sent to, one of the origins of the middleware under test.
    """

    key: KeyPair
    profile: Profile = profiles.ADCP_3_2
    origin: str = DEFAULT_ORIGIN

    @property
    def signer(self) -> Signer:
        """A signer with the key."""
        return Signer(SigningKey.from_jwk(self.key.private), profile=self.profile)

    def starlette(self, app: ASGIApp, **options: Any) -> TestClient:
        """Return Starlette's `TestClient`, for Starlette and FastAPI; `options` are its arguments."""
        from starlette.testclient import TestClient  # noqa: PLC0415 - as the module says

        return TestClient(signing_asgi(app, self.signer, origin=self.origin), base_url=self.origin, **options)

    def httpx(self, app: ASGIApp, **options: Any) -> AsyncClient:
        """Return an `httpx.AsyncClient` over `ASGITransport`, for any ASGI application."""
        from httpx import ASGITransport, AsyncClient  # noqa: PLC0415 - as above

        transport = ASGITransport(signing_asgi(app, self.signer, origin=self.origin))
        return AsyncClient(transport=transport, base_url=self.origin, **options)

    def flask(self, app: WSGIApp, **options: Any) -> Client:
        """Return Werkzeug's test client, for Flask and any WSGI application."""
        from werkzeug.test import Client  # noqa: PLC0415 - as above

        return Client(signing_wsgi(app, self.signer, origin=self.origin), **options)

    def django(self, **options: Any) -> SignedClient:
        """Return a `django.test.Client` for the site of the settings."""
        from undersigned_django.testing import SignedClient  # noqa: PLC0415 - as above

        return SignedClient(self.signer, origin=self.origin, **options)
