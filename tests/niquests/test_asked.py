"""niquests: the adapters do what Accept-Signature asks for, once."""

from __future__ import annotations

import asyncio
import io

import pytest
from tests.integrations.asking import FIELDS, PATH, asking
from tests.integrations.seller import make_signer

pytestmark = pytest.mark.niquests
niquests = pytest.importorskip("niquests", reason="pip install 'undersigned[niquests]'")

from undersigned_niquests import AsyncSignatureAdapter, SignatureAdapter  # noqa: E402

BOTH = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


def send(server, *, asynchronous, may_cover, body=None, **options):
    kind = AsyncSignatureAdapter if asynchronous else SignatureAdapter
    adapter = kind(make_signer(may_cover=may_cover), origins=[server.origin])
    parts = {"data": body, "headers": FIELDS, "timeout": 10}
    if asynchronous:
        return asyncio.run(get_async(adapter, server.origin + PATH, parts, options))
    with niquests.Session(**options) as session:
        session.mount("http://", adapter)
        response = session.post(server.origin + PATH, **parts)
        return response.status_code, response.text


async def get_async(adapter, url, parts, options):
    async with niquests.AsyncSession(**options) as session:
        session.mount("http://", adapter)
        response = await session.post(url, **parts)
        await session.gather()
        return response.status_code, response.text


@BOTH
def test_request_is_signed_again_with_what_its_receiver_asks_for(asynchronous):
    for body in (b'{"plan":"gold"}', io.BytesIO(b"x" * 200_000)):
        with asking() as server:
            assert send(server, asynchronous=asynchronous, may_cover=["x-plan"], body=body) == (200, "verified")
        first, second = server.requests
        assert first.body == second.body != b""


@BOTH
def test_request_is_signed_again_only_once(asynchronous):
    with asking('sig1=("@path");nonce="KXYnfEfJ0PBRZXQyVXfVQA"') as server:
        assert send(server, asynchronous=asynchronous, may_cover=()) == (401, "no")
    assert len(server.requests) == 2


@BOTH
def test_request_is_not_signed_again_if_its_signer_may_not_or_the_session_is_multiplexed(asynchronous):
    with asking() as server:
        assert send(server, asynchronous=asynchronous, may_cover=None)[0] == 401
        assert send(server, asynchronous=asynchronous, may_cover=["x-plan"], multiplexed=True)[0] == 401
    assert len(server.requests) == 2
