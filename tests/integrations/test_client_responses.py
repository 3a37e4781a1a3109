"""Every client hook verifies responses before the caller gets them, and follows none that is not verified."""

from __future__ import annotations

import httpx
import pytest
from tests.integrations.answering import JSON, TAMPERED, UNCOVERED, answering, make_signer, verification, verifier
from tests.integrations.clients import LIBRARIES, TRUST
from tests.integrations.every_client import CLIENTS, EVERY, FOLLOWING

from undersigned import AsyncVerifier, ConfigurationError, SignatureError, SigningError
from undersigned.client import ClientSigner, ResponseVerification
from undersigned.profiles import ADCP_3_2
from undersigned_httpx import SignatureAuth, SignatureTransport
from undersigned_requests import SignatureAuth as RequestsAuth
from undersigned_urllib import SignatureHandler


@EVERY
def test_verified_response_is_returned_whole(client):
    with answering() as server:
        for path in ("/ok", "/chunked", "/compressed", "/cookie"):
            assert client.send(server, path, responses=verification()) == (200, JSON)
        assert client.send(server, "/ok", method="POST", responses=verification()) == (200, JSON)
        assert client.send(server, "/ok", method="HEAD", responses=verification()) == (200, "")
        assert client.send(server, "/error", responses=verification()) == (401, JSON)


@EVERY
@pytest.mark.parametrize("path", TAMPERED)
def test_response_that_was_changed_or_is_not_signed_for_this_request_is_rejected(client, path):
    with answering() as server:
        if path == "again":
            assert client.send(server, f"/{path}", responses=verification()) == (200, JSON)
        with pytest.raises(SignatureError):
            client.send(server, f"/{path}", responses=verification())


@EVERY
def test_content_that_is_too_long_or_not_covered_is_rejected(client):
    with answering() as server, pytest.raises(SignatureError) as caught:
        client.send(server, "/long", responses=verification(max_body=50_000))
    assert "longer than max_body (50000 bytes)" in caught.value.detail
    with answering(UNCOVERED) as server, pytest.raises(SignatureError) as caught:
        client.send(server, "/ok", responses=verification(UNCOVERED))
    assert "does not cover content-digest" in caught.value.detail


@FOLLOWING
def test_redirect_is_followed_only_if_it_is_verified(client):
    with answering() as server:
        assert client.send(server, "/redirect", responses=verification()) == (200, JSON)
        server.asked.clear()
        with pytest.raises(SignatureError):
            client.send(server, "/moved", responses=verification())
    assert server.asked == ["/moved"]


@pytest.mark.parametrize(
    "client", [client for client in CLIENTS if "async" in str(client) or "aio" in str(client)], ids=str
)
def test_async_client_awaits_the_verifier(client):
    with answering() as server:
        assert client.send(server, "/ok", responses=verification(kind=AsyncVerifier)) == (200, JSON)


@pytest.mark.parametrize("client", [client for client in CLIENTS if not client.follows], ids=str)
@pytest.mark.parametrize("path", ["/redirect", "/moved"])
def test_auth_of_httpx_follows_no_redirect_before_it_is_verified(client, path):
    with answering() as server:
        with pytest.raises(SigningError, match=r"^responses: a redirect or a retry"):
            client.send(server, path, responses=verification())
        assert server.asked == [path]


@pytest.mark.parametrize("library", LIBRARIES)
def test_auth_rejects_a_response_that_a_hook_has_read(library):
    def read(response) -> None:
        response.read()

    plain, signed = LIBRARIES[library]
    with answering() as server:
        auth = signed.SignatureAuth(make_signer(), origins=[server.origin], responses=verification())
        with (
            plain.Client(auth=auth, verify=TRUST, trust_env=False, event_hooks={"response": [read]}) as session,
            pytest.raises(ConfigurationError, match=r"^responses: a response hook"),
        ):
            session.get(f"{server.origin}/ok")


def test_requests_that_are_followed_without_a_signature_cannot_have_verified_responses():
    with pytest.raises(ConfigurationError, match=r"^responses: "):
        ClientSigner(make_signer(), ["https://a.example"], responses=verification(), follow_unsigned=True)
    with pytest.raises(ConfigurationError, match=r"^responses: "):
        ClientSigner(make_signer(), ["https://a.example"], responses=verification)


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: SignatureTransport(httpx.HTTPTransport(verify=TRUST), make_signer(), **options),
        lambda **options: RequestsAuth(make_signer(), **options),
        lambda **options: SignatureHandler(make_signer(), **options),
    ],
)
def test_sync_client_takes_no_verifier_that_must_be_awaited(make):
    with pytest.raises(ConfigurationError, match=r"^responses: this client does not await"):
        make(origins=["https://a.example"], responses=verification(kind=AsyncVerifier))


def test_sync_client_with_an_auth_for_both_says_that_the_verifier_must_be_awaited():
    with answering() as server:
        auth = SignatureAuth(make_signer(), origins=[server.origin], responses=verification(kind=AsyncVerifier))
        with (
            httpx.Client(auth=auth, verify=TRUST, trust_env=False) as session,
            pytest.raises(ConfigurationError, match=r"^responses"),
        ):
            session.get(f"{server.origin}/ok")


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [
        ((None,), {}, "verifier"),
        ((verifier(),), {"max_body": -1}, "max_body"),
        ((verifier(),), {"max_body": True}, "max_body"),
        ((verifier(ADCP_3_2),), {}, "verifier"),
    ],
)
def test_wrong_argument_is_a_configuration_error(arguments, options, named):
    with pytest.raises(ConfigurationError, match=rf"^{named}: "):
        ResponseVerification(*arguments, **options)
