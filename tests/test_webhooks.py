"""Webhook deliveries over real TLS: each attempt is signed for itself, and some answers are final."""

from __future__ import annotations

import asyncio
import json
import re
from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from tests.discovery.key_server import network_of, redirect, response
from tests.keys import KEY, KEYS, OTHER_PRIVATE
from tests.serving import https_server

from undersigned import ConfigurationError, MemoryReplayStore, Signer, SigningError, SigningKey, Verifier, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned.discovery import Network
from undersigned.webhooks import Delivery, WebhookSender

PAYLOAD = {"idempotency_key": "7d8a5f0c-5cf4-4f5b-9f4e-1f1f2a3b4c5d", "status": "completed"}
HOOK = "/hook"
NONCE = re.compile(rb'nonce="([^"]+)"')


class Sending:
    """A sender whose waits are noted and not waited for."""

    def __init__(self, *, asynchronous: bool) -> None:
        self._asynchronous = asynchronous
        self.waited: list[float] = []

    def __call__(self, url: str, network: Network, *, payload=PAYLOAD, key=KEY, **options) -> Delivery:
        sender = WebhookSender(Signer(key, profile=profiles.ADCP_WEBHOOK), network=network, **options)
        return asyncio.run(sender.async_deliver(url, payload)) if self._asynchronous else sender.deliver(url, payload)


@pytest.fixture(params=[False, True], ids=["threads", "asyncio"])
def send(request, monkeypatch) -> Sending:
    sending = Sending(asynchronous=request.param)

    async def sleep(seconds: float) -> None:
        sending.waited.append(seconds)

    # Servers in this process wait for real.
    monkeypatch.setattr("undersigned.webhooks.time", SimpleNamespace(sleep=sending.waited.append))
    monkeypatch.setattr("undersigned.webhooks.asyncio", SimpleNamespace(sleep=sleep))
    return sending


def answers(*each: bytes):
    """Answer one request after the other, the last one for ever."""
    left = list(each)

    def answer(connection, _request) -> None:
        connection.sendall(left.pop(0) if len(left) > 1 else left[0])

    return answer


def status(text: str, *fields: str) -> bytes:
    return response(b"", *fields, status=text)


@pytest.mark.parametrize("answer", ["200 OK", "202 Accepted", "204 No Content"])
def test_delivery_ends_with_any_status_of_success(answer, send, server):
    server.answers[HOOK] = status(answer)
    assert send(server.url(HOOK), server.network()) == Delivery(is_delivered=True, attempts=1, status=int(answer[:3]))
    assert send.waited == []


@pytest.mark.parametrize(
    "answer", ["500 Oops", "503 Down", "429 Slow Down", "408 Request Timeout", "425 Too Early", "599 Odd"]
)
def test_each_further_attempt_has_the_same_content_and_a_signature_of_its_own(answer, send, server):
    server.answers[HOOK] = answers(status(answer), status(answer), status("204 No Content"))
    delivery = send(server.url(HOOK), server.network())
    assert delivery == Delivery(is_delivered=True, attempts=3, status=204)
    assert send.waited == [1, 5]
    heads, contents = zip(*(request.split(b"\r\n\r\n") for request in server.requests), strict=True)
    assert {json.loads(content)["idempotency_key"] for content in contents} == {PAYLOAD["idempotency_key"]}
    assert len(set(contents)) == 1
    assert len({NONCE.search(head)[1] for head in heads}) == 3


def test_connection_that_ends_without_an_answer_is_tried_again(send, server):
    server.answers[HOOK] = answers(b"", status("200 OK"))
    assert send(server.url(HOOK), server.network()).attempts == 2


def test_delivery_gives_up_after_the_last_wait_and_says_why(send, server):
    server.answers[HOOK] = status("503 Down")
    delivery = send(server.url(HOOK), server.network(), waits=(2,))
    assert delivery == Delivery(is_delivered=False, attempts=2, status=503, detail="the receiver answers 503")
    assert send.waited == [2]


@pytest.mark.parametrize(
    ("asked", "waited"),
    [("7", 7), ("0", 1), ("9999", 300), ("99999", 300), ("-5", 1), ("Wed, 21 Oct 2026", 1), ("", 1)],
)
def test_receiver_may_ask_for_a_longer_wait(asked, waited, send, server):
    server.answers[HOOK] = answers(status("503 Down", f"Retry-After: {asked}"), status("200 OK"))
    assert send(server.url(HOOK), server.network()).is_delivered
    assert send.waited == [waited]


@pytest.mark.parametrize("answer", ["400 Bad Request", "403 Forbidden", "404 Not Found", "409 Conflict", "410 Gone"])
def test_status_that_another_attempt_would_not_change_is_final(answer, send, server):
    server.answers[HOOK] = status(answer, "Retry-After: 1")
    delivery = send(server.url(HOOK), server.network())
    assert (delivery.is_delivered, delivery.attempts, delivery.status) == (False, 1, int(answer[:3]))


@pytest.mark.parametrize(
    ("challenge", "code"),
    [
        ('Signature error="webhook_signature_key_unknown"', "webhook_signature_key_unknown"),
        ('Bearer realm="x", Signature error="webhook_signature_invalid"', "webhook_signature_invalid"),
        ('Bearer realm="x" Signature error="webhook_signature_invalid"', "webhook_signature_invalid"),
        ("signature Realm = x, ERROR = webhook_signature_invalid", "webhook_signature_invalid"),
        ('Bearer realm=", Signature error=\\"no\\"", error="invalid_token", Signature', None),
        ('Signature realm="x", Bearer error="invalid_token"', None),
        ('Signature error="<script>"', None),
        (f'Signature error="{"a" * 65}"', None),
        ("Basic", None),
    ],
)
def test_rejected_signature_is_final_and_its_code_is_told(challenge, code, send, server):
    server.answers[HOOK] = status("401 Unauthorized", f"WWW-Authenticate: {challenge}")
    delivery = send(server.url(HOOK), server.network())
    assert delivery == Delivery(
        is_delivered=False, attempts=1, status=401, code=code, detail="the receiver answers 401"
    )


def test_redirect_is_not_followed(send, server):
    server.answers[HOOK] = redirect(server.url("/other"))
    delivery = send(server.url(HOOK), server.network())
    assert (delivery.is_delivered, delivery.attempts, delivery.status) == (False, 1, 302)
    assert len(server.requests) == 1


def test_content_of_an_answer_is_not_needed(send, server):
    server.answers[HOOK] = response(b"not gzip" * 2000, "Content-Encoding: gzip")
    assert send(server.url(HOOK), server.network()).is_delivered


@pytest.mark.parametrize(
    "url",
    [
        "http://keys.example.com/",
        "https://keys.example.com:99999/",
        "no url",
        "https://keys.example.com/?%zz",
        "https://127.0.0.1/",
        "https://[::1]/",
    ],
)
def test_url_that_must_not_be_fetched_is_final_and_gets_no_request(url, send, server):
    network = Network(resolve=lambda host, _port: [host.strip("[]")])
    delivery = send(url, network)
    assert (delivery.is_delivered, delivery.attempts, delivery.status) == (False, 1, None)
    assert delivery.detail
    assert server.requests == []


def test_payload_may_be_written_already(send, server):
    server.answers[HOOK] = status("200 OK")
    assert send(server.url(HOOK), server.network(), payload=b'{"a": 1}').is_delivered
    assert server.requests[0].endswith(b'\r\n\r\n{"a": 1}')


class Broken:
    """A key whose service returns no signature."""

    keyid = "broken"
    algorithm = "ed25519"

    def sign(self, _base: bytes) -> bytes:
        return b""


def test_payload_that_cannot_be_signed_raises(send, server):
    with pytest.raises(SigningError):
        send(server.url(HOOK), server.network(), key=Broken())
    assert server.requests == []


@pytest.mark.parametrize(
    ("options", "named"), [({"signer": "key"}, "signer"), ({"waits": (1, -1)}, "waits"), ({"waits": ("1",)}, "waits")]
)
def test_wrong_option_is_a_configuration_error(options, named):
    signer = Signer(KEY, profile=profiles.ADCP_WEBHOOK)
    with pytest.raises(ConfigurationError, match=f"^{named}: "):
        WebhookSender(options.pop("signer", signer), **options)


@pytest.fixture
def receiver(key_server_certificate):
    """A receiver that verifies: its port, its network and what came."""
    came = []

    async def receive(request) -> Response:
        signature = request.scope["undersigned"].signature
        came.append((signature.keyid, signature.json()))
        return Response(status_code=503 if len(came) == 1 else 204)

    verifier = Verifier(profiles.ADCP_WEBHOOK, keys=KEYS, replay=MemoryReplayStore())
    app = Starlette(routes=[Route(HOOK, receive, methods=["POST"])])
    signed = SignatureMiddleware(app, verifier=verifier, origins="https://{}".format)
    with https_server(signed, key_server_certificate) as port:
        yield f"https://keys.example.com:{port}{HOOK}", network_of(key_server_certificate), came


def test_receiver_verifies_every_attempt_and_gets_the_same_payload(send, receiver):
    url, network, came = receiver
    delivery = send(url, network)
    assert (delivery.is_delivered, delivery.attempts) == (True, 2)
    assert came == [(KEY.keyid, PAYLOAD)] * 2


def test_receiver_rejects_a_stranger_for_good(send, receiver):
    url, network, came = receiver
    delivery = send(url, network, key=SigningKey.from_jwk({**OTHER_PRIVATE, "kid": "stranger"}))
    assert (delivery.attempts, delivery.status, delivery.code) == (1, 401, "webhook_signature_key_unknown")
    assert came == []
