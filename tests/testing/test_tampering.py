from __future__ import annotations

import asyncio

import httpx
import pytest
import requests
from tests.keys import BODY, JSON_FIELD, KEY, KEYS, URL, signed_request, verifier
from tests.serving import waitress_server
from werkzeug.test import Client

from undersigned import ConfigurationError, MemoryReplayStore, Request, SignatureError, Signer, Verifier, profiles
from undersigned.testing import PARTS, FrozenNonceClock, send, tamper
from undersigned.wsgi import SignatureMiddleware


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_verifier_rejects_a_request_when_any_part_was_tampered_with(part, method):
    fields, body = ([JSON_FIELD], BODY) if method == "POST" else ([], b"")
    request = signed_request(method, f"{URL}?plan=1", fields, body)
    assert verifier().verify(request).keyid == "buyer-ed25519"
    with pytest.raises(SignatureError):
        verifier().verify(tamper(request, part))


@pytest.mark.parametrize("part", ["created", "signature"])
def test_unsigned_request_cannot_be_tampered_with(part):
    with pytest.raises(ConfigurationError, match=f"no {part} to change; pass a signed request"):
        tamper(Request("GET", URL), part)


def test_unknown_part_is_rejected_with_the_known_ones():
    with pytest.raises(ConfigurationError, match="part: use one of method, path, "):
        tamper(signed_request(), "everything")


def test_frozen_clock_makes_the_same_signatures_in_every_run():
    def signatures() -> list:
        clock = FrozenNonceClock()
        signer = Signer(KEY, profile=profiles.ADCP_3_2, clock=clock, nonces=clock.nonce)
        first = signer.sign(Request("GET", URL)).fields
        clock.advance(10)
        return [first, signer.sign(Request("GET", URL)).fields]

    first, second = signatures()
    assert signatures() == [first, second]
    assert dict(first)["Signature-Input"].split(";")[1:3] == ["created=1776520800", "expires=1776521100"]
    assert "created=1776520810" in dict(second)["Signature-Input"]


def answer(_environ, start_response):
    start_response("200 OK", [])
    return [b"ok"]


@pytest.fixture
def app() -> SignatureMiddleware:
    verifier = Verifier(profiles.ADCP_3_2, keys=KEYS, replay=MemoryReplayStore())
    return SignatureMiddleware(answer, verifier=verifier, origins="http://{}".format)


def sign(origin: str) -> Request:
    request = Request("POST", f"{origin}/plans/a?n=1", [JSON_FIELD], BODY)
    added = Signer(KEY, profile=profiles.ADCP_3_2).sign(request)
    return Request(request.method, request.url, [*request.fields, *added], BODY)


def check(client, origin: str) -> None:
    request = sign(origin)
    assert [send(client, request).status_code for _ in range(2)] == [200, 401]
    for part in PARTS:
        # A socket cannot be opened to the name that `tamper` writes.
        if part != "authority":
            assert send(client, tamper(sign(origin), part)).status_code == 401, part


def test_request_is_sent_by_clients_of_sockets(app):
    with waitress_server(app) as port, requests.Session() as session, httpx.Client(trust_env=False) as client:
        origin = f"http://127.0.0.1:{port}"
        check(session, origin)
        check(client, origin)

        async def call() -> int:
            async with httpx.AsyncClient(trust_env=False) as awaited:
                return (await send(awaited, sign(origin))).status_code

        assert asyncio.run(call()) == 200


def test_request_is_sent_by_the_client_of_werkzeug(app):
    origin = "http://testserver"
    check(Client(app), origin)
    assert send(Client(app), tamper(sign(origin), "authority")).status_code == 401
