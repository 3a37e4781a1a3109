"""niquests: the adapters verify responses before the caller gets them, and follow none that is not verified."""

from __future__ import annotations

import asyncio

import pytest
from tests.integrations.answering import JSON, TAMPERED, answering, make_signer, verification

from undersigned import AsyncVerifier, ConfigurationError, SignatureError

pytestmark = pytest.mark.niquests
niquests = pytest.importorskip("niquests", reason="pip install 'undersigned[niquests]'")

from undersigned_niquests import AsyncSignatureAdapter, SignatureAdapter  # noqa: E402


def send(server, path, *, asynchronous, stream=False, method="GET", responses=None, **options):
    responses = responses or verification()
    kind = AsyncSignatureAdapter if asynchronous else SignatureAdapter
    adapter = kind(make_signer(), origins=[server.origin], responses=responses)
    url = server.origin + path
    if asynchronous:
        return asyncio.run(get_async(adapter, method, url, stream, options))
    with niquests.Session(**options) as session:
        session.mount("http://", adapter)
        response = session.request(method, url, stream=stream, allow_redirects=True, timeout=10)
        return response.status_code, b"".join(response.iter_content(4)).decode()


async def get_async(adapter, method, url, stream, options):
    async with niquests.AsyncSession(**options) as session:
        session.mount("http://", adapter)
        response = await session.request(method, url, stream=stream, allow_redirects=True, timeout=10)
        if stream:
            chunks = await response.iter_content(4)
            return response.status_code, b"".join([chunk async for chunk in chunks]).decode()
        return response.status_code, response.text or ""


BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


@BOTH
@pytest.mark.parametrize("stream", [False, True], ids=["read", "streamed"])
def test_verified_response_is_returned_whole(asynchronous, stream):
    with answering() as server:
        for path in ("/ok", "/chunked", "/compressed", "/cookie", "/redirect"):
            assert send(server, path, asynchronous=asynchronous, stream=stream) == (200, JSON)
        assert send(server, "/ok", asynchronous=asynchronous, stream=stream, method="POST") == (200, JSON)
        assert send(server, "/ok", asynchronous=asynchronous, stream=stream, method="HEAD") == (200, "")
        assert send(server, "/error", asynchronous=asynchronous, stream=stream) == (401, JSON)


@BOTH
@pytest.mark.parametrize("path", [*TAMPERED, "moved", "long"])
def test_response_that_was_changed_or_is_not_signed_for_this_request_is_rejected(asynchronous, path):
    with answering() as server:
        if path == "again":
            assert send(server, f"/{path}", asynchronous=asynchronous) == (200, JSON)
            server.asked.clear()
        with pytest.raises(SignatureError):
            send(server, f"/{path}", asynchronous=asynchronous, responses=verification(max_body=50_000))
        assert server.asked == [f"/{path}"]


def test_async_session_awaits_the_verifier():
    with answering() as server:
        responses = verification(kind=AsyncVerifier)
        assert send(server, "/ok", asynchronous=True, responses=responses) == (200, JSON)
        with pytest.raises(ConfigurationError, match=r"^responses: "):
            send(server, "/ok", asynchronous=False, responses=responses)


@BOTH
def test_multiplexed_session_cannot_verify_responses(asynchronous):
    with answering() as server:
        with pytest.raises(ConfigurationError, match=r"^responses: a multiplexed session"):
            send(server, "/ok", asynchronous=asynchronous, multiplexed=True)
        assert server.asked == []
