"""A second signature over the first one, by every client hook."""

from __future__ import annotations

import contextlib
import io

import pytest
from tests.integrations.capture import capturing
from tests.integrations.every_client import EVERY
from tests.profiles.test_signing import key_pair, verification_key
from tests.profiles.wire import OneKey

from undersigned import MemoryReplayStore, Request, SignatureError, Signer, SigningError, Verifier
from undersigned.profiles import GNAP, GNAP_ROTATION

BODY = b'{"key":{}}'
FIELDS = [("Authorization", "GNAP t0k3n"), ("Content-Type", "application/json")]
CLOSING = b"Content-Length: 0\r\nConnection: close\r\n\r\n"


def signer(profile) -> Signer:
    return Signer(key_pair("ed25519").signing_key(), profile=profile, may_cover=["x-plan"])


def send(client, server, fields=None, body=BODY):
    """Send a request that the old key has signed, by a hook with the new key."""
    if fields is None:
        request = Request("POST", f"{server.origin}/token", FIELDS, BODY)
        fields = [*FIELDS, *signer(GNAP).sign(request)]
    return client.send(server, "/token", method="POST", signer=signer(GNAP_ROTATION), body=body, fields=dict(fields))


def verify(profile, request):
    return Verifier(profile, keys=OneKey(verification_key("ed25519")), replay=MemoryReplayStore()).verify(request)


@pytest.fixture
def server(request):
    with capturing(first=getattr(request, "param", ())) as capture:
        capture.origin = f"http://127.0.0.1:{capture.port}"
        yield capture


@EVERY
@pytest.mark.parametrize("body", [BODY, io.BytesIO(BODY)], ids=["bytes", "file"])
def test_second_signature_is_added_over_the_first_one(client, server, body):
    if isinstance(body, io.BytesIO):
        if "async" in str(client):
            body = BODY
        else:
            body.seek(0)
    assert send(client, server, body=body)[0] == 200
    request = server.only.request()
    old, new = verify(GNAP, request), verify(GNAP_ROTATION, request)
    assert new.covers(old)
    assert bytes(new.content) == BODY


@EVERY
def test_request_without_the_first_signature_is_not_sent(client, server):
    with pytest.raises(SigningError, match="signs over a signature with the tag gnap"):
        send(client, server, FIELDS)
    assert server.sent == []


@EVERY
def test_first_signature_of_other_content_is_not_signed_over(client, server):
    with pytest.raises(SigningError, match="Content-Digest"):
        send(client, server, body=BODY + b" ")
    assert server.sent == []


@EVERY
@pytest.mark.parametrize(
    "server", [[b"HTTP/1.1 307 Moved\r\nLocation: /other\r\n" + CLOSING]], indirect=True, ids=["redirected"]
)
def test_redirect_has_no_valid_first_signature(client, server):
    with contextlib.suppress(SigningError):
        send(client, server)
    assert verify(GNAP, server.sent[0].request())
    for sent in server.sent[1:]:
        with pytest.raises(SignatureError):
            verify(GNAP, sent.request())


@EVERY
@pytest.mark.parametrize(
    "server",
    [[b'HTTP/1.1 401 No\r\nAccept-Signature: rotation=("@path" "x-plan");tag="gnap-rotate"\r\n' + CLOSING]],
    indirect=True,
    ids=["asked"],
)
def test_request_with_two_signatures_is_not_signed_again(client, server):
    assert send(client, server)[0] == 401
    assert len(server.sent) == 1


@EVERY
def test_malformed_first_signature_is_not_signed_over(client, server):
    with pytest.raises(SigningError, match=r"signs over a signature|Signature-Input"):
        send(client, server, [*FIELDS, ("Signature-Input", "x"), ("Signature", "y")])
    assert server.sent == []
