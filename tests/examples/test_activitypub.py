"""The examples for ActivityPub: the one delivers to the other, and each to and from a server of one scheme."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from tests.examples.programs import example, ran_in
from tests.serving import uvicorn_server

from undersigned import KeySet, VerificationKey

ACTOR = "https://social.example/users/bob"
KEYID = f"{ACTOR}#main-key"


@pytest.fixture(scope="module")
def private():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def pem(private, tmp_path):
    """The folder with the actor's key."""
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    pem = private.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain)
    (tmp_path / "actor.pem").write_bytes(pem)
    return tmp_path


def keys(private, owner=ACTOR):
    public = private.public_key()
    return KeySet.of(VerificationKey.from_public_key(public, keyid=KEYID, owner=owner, algorithm="rsa-v1_5-sha256"))


def inbox():
    return example("activitypub_inbox").inbox


def deliver(pem, port):
    return ran_in(pem, "activitypub_deliver", KEYID=KEYID, INBOX=f"http://127.0.0.1:{port}/inbox")


def origin(authority: str) -> str:
    return f"http://{authority}"


def test_inbox_accepts_what_the_actor_signed(private, pem):
    with uvicorn_server(inbox()(keys(private), origin)) as port:
        done = deliver(pem, port)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.splitlines() == ["202 by RFC 9421, after 0 other tries"] * 2


def test_inbox_rejects_an_activity_of_another_actor(private, pem):
    with uvicorn_server(inbox()(keys(private, owner="https://social.example/users/eve"), origin)) as port:
        done = deliver(pem, port)
    assert done.returncode == 1
    assert done.stdout.startswith("403 ")


def test_delivery_finds_the_scheme_that_an_older_inbox_takes(private, pem):
    app = inbox()(keys(private), origin)

    async def older(scope, receive, send):
        if scope["type"] == "http" and any(name == b"signature-input" for name, _ in scope["headers"]):
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body"})
        else:
            await app(scope, receive, send)

    with uvicorn_server(older) as port:
        done = deliver(pem, port)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout.splitlines() == [
        "202 by draft-cavage-12, after 1 other tries",
        "202 by draft-cavage-12, after 0 other tries",
    ]
