"""Requests that are sent as they are, by each client that `send` takes, to a service that verifies."""

from __future__ import annotations

import asyncio

import httpx
import requests
from tests import keys
from tests.serving import waitress_server
from werkzeug.test import Client

from undersigned import MemoryReplayStore, Request, Signer, Verifier, profiles
from undersigned.testing import PARTS, send, tamper
from undersigned.wsgi import SignatureMiddleware

BODY = b'{"plan": 1}'


class Service:
    """A service whose origin is known only when its port is known."""

    def on(self, origin: str) -> str:
        verifier = Verifier(profiles.ADCP_3_2, keys=keys.KEYS, replay=MemoryReplayStore())
        self.app = SignatureMiddleware(self.answer, verifier=verifier, origins=[origin])
        return origin

    @staticmethod
    def answer(_environ, start_response):
        start_response("200 OK", [])
        return [b"ok"]

    def __call__(self, environ, start_response):
        return self.app(environ, start_response)


def sign(origin: str) -> Request:
    request = Request("POST", f"{origin}/plans/a?n=1", [("Content-Type", "application/json")], BODY)
    added = Signer(keys.KEY, profile=profiles.ADCP_3_2).sign(request)
    return Request(request.method, request.url, [*request.fields, *added], BODY)


def check(client, origin: str) -> None:
    request = sign(origin)
    assert [send(client, request).status_code for _ in range(2)] == [200, 401]
    for part in PARTS:
        # A socket cannot be opened to the name that `tamper` writes.
        if part != "authority":
            assert send(client, tamper(sign(origin), part)).status_code == 401, part


def test_request_is_sent_by_clients_of_sockets():
    service = Service()
    with waitress_server(service) as port, requests.Session() as session, httpx.Client(trust_env=False) as client:
        origin = service.on(f"http://127.0.0.1:{port}")
        check(session, origin)
        check(client, origin)

        async def call() -> int:
            async with httpx.AsyncClient(trust_env=False) as awaited:
                return (await send(awaited, sign(origin))).status_code

        assert asyncio.run(call()) == 200


def test_request_is_sent_by_the_client_of_werkzeug():
    service = Service()
    origin = service.on("https://testserver")
    check(Client(service), origin)
    assert send(Client(service), tamper(sign(origin), "authority")).status_code == 401
