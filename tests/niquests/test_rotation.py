"""niquests: the adapters keep the first signature of a request that they sign by `GNAP_ROTATION`."""

from __future__ import annotations

import asyncio

import pytest
from tests.integrations.capture import capturing
from tests.profiles.test_signing import key_pair, verification_key
from tests.profiles.wire import OneKey

from undersigned import MemoryReplayStore, Request, Signer, Verifier
from undersigned.profiles import GNAP, GNAP_ROTATION

pytestmark = pytest.mark.niquests
niquests = pytest.importorskip("niquests", reason="pip install 'undersigned[niquests]'")

from undersigned_niquests import AsyncSignatureAdapter, SignatureAdapter  # noqa: E402

BODY = b'{"key":{}}'
FIELDS = [("Authorization", "GNAP t0k3n"), ("Content-Type", "application/json")]


def signer(profile) -> Signer:
    return Signer(key_pair("ed25519").signing_key(), profile=profile)


def verify(profile, request):
    return Verifier(profile, keys=OneKey(verification_key("ed25519")), replay=MemoryReplayStore()).verify(request)


def send(url, origin, parts):
    with niquests.Session() as session:
        session.mount("http://", SignatureAdapter(signer(GNAP_ROTATION), origins=[origin]))
        return session.post(url, **parts)


async def send_async(url, origin, parts):
    async with niquests.AsyncSession() as session:
        session.mount("http://", AsyncSignatureAdapter(signer(GNAP_ROTATION), origins=[origin]))
        return await session.post(url, **parts)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_second_signature_is_added_over_the_first_one(asynchronous):
    with capturing() as capture:
        origin = f"http://127.0.0.1:{capture.port}"
        fields = [*FIELDS, *signer(GNAP).sign(Request("POST", f"{origin}/token", FIELDS, BODY))]
        parts = {"data": BODY, "headers": dict(fields), "timeout": 10}
        url = f"{origin}/token"
        answer = asyncio.run(send_async(url, origin, parts)) if asynchronous else send(url, origin, parts)
    assert answer.status_code == 200
    request = capture.only.request()
    assert verify(GNAP_ROTATION, request).covers(verify(GNAP, request))
