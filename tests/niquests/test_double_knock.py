"""Double-knocking by niquests, against a real server that verifies one scheme only."""

from __future__ import annotations

import asyncio
import io

import pytest
from tests.activitypub.actors import CREATE
from tests.integrations.inbox import DRAFT, RFC_9421, TYPE, knock, start_inboxes

pytestmark = pytest.mark.niquests
niquests = pytest.importorskip("niquests", reason="pip install 'undersigned[niquests]'")

from undersigned_niquests import AsyncSignatureAdapter, SignatureAdapter  # noqa: E402


def deliver(server, signer, body=CREATE) -> int:
    with niquests.Session() as session:
        session.mount("http://", SignatureAdapter(signer, origins=[server.origin]))
        return session.post(f"{server.origin}/inbox", data=body, headers=TYPE).status_code


def deliver_async(server, signer, body=CREATE) -> int:
    async def send() -> int:
        async with niquests.AsyncSession() as session:
            session.mount("http://", AsyncSignatureAdapter(signer, origins=[server.origin]))
            return (await session.post(f"{server.origin}/inbox", data=body, headers=TYPE)).status_code

    return asyncio.run(send())


EVERY = pytest.mark.parametrize("send", [deliver, deliver_async])


@EVERY
@pytest.mark.parametrize("only", [DRAFT, RFC_9421])
@pytest.mark.parametrize("first", [DRAFT, RFC_9421])
def test_scheme_that_an_origin_accepted_is_remembered(send, only, first):
    with start_inboxes() as start:
        server, signer = start(only), knock(first=first)
        assert [send(server, signer) for _ in range(2)] == [202, 202]
    assert server.asked == [*([only] if only == first else [first, only]), only]
    assert server.bodies == [CREATE] * 2
    assert ("Digest" in server.names[-1], "Signature-Input" in server.names[-1]) == (only == DRAFT, only == RFC_9421)


@EVERY
def test_receiver_that_accepts_none_is_asked_twice_each_time(send):
    with start_inboxes() as start:
        server, signer = start(), knock()
        assert [send(server, signer) for _ in range(2)] == [401, 401]
    assert server.asked == [RFC_9421, DRAFT] * 2


def test_file_is_sent_twice_each_time_by_another_scheme():
    with start_inboxes() as start:
        server = start(DRAFT)
        assert deliver(server, knock(), io.BytesIO(CREATE)) == 202
    assert (server.asked, server.bodies) == ([RFC_9421, DRAFT], [CREATE])
