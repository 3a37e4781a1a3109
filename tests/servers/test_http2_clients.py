"""Every client that speaks HTTP/2, against a seller that verifies over HTTP/2: hypercorn."""

from __future__ import annotations

import asyncio
import json

import pytest
from tests.integrations.clients import HTTP_2, MEANS
from tests.integrations.seller import CREDENTIALS, KEYID, make_signer, selling
from tests.servers.hypercorn_server import hypercorn

from undersigned import SigningError


def by_httpx(means):
    def send(url, origins, **given):
        options = {"signer": make_signer(), "origins": origins, "options": {**HTTP_2, "follow_redirects": True}}
        return means.send("POST", url, **options, **given).json()

    return send


def by_niquests(url, origins, *, signing=None, **given):
    niquests = pytest.importorskip("niquests", reason="pip install 'undersigned[niquests]'")
    from undersigned_niquests import SignatureAdapter  # noqa: PLC0415 - it imports niquests

    with niquests.Session() as session:
        session.mount("http://", SignatureAdapter(make_signer(), origins=origins, disable_http1=True, **signing or {}))
        return session.post(url, timeout=10, **given).json()


def by_async_niquests(url, origins, *, signing=None, **given):
    niquests = pytest.importorskip("niquests", reason="pip install 'undersigned[niquests]'")
    from undersigned_niquests import AsyncSignatureAdapter  # noqa: PLC0415 - it imports niquests

    async def send():
        adapter = AsyncSignatureAdapter(make_signer(), origins=origins, disable_http1=True, **signing or {})
        async with niquests.AsyncSession() as session:
            session.mount("http://", adapter)
            return (await session.post(url, timeout=10, **given)).json()

    return asyncio.run(send())


CLIENTS = {
    **{str(means): by_httpx(means) for means in MEANS},
    "niquests-sync": by_niquests,
    "niquests-async": by_async_niquests,
}
JSON = {"json": {"a": 1}}


@pytest.fixture(scope="module")
def sellers():
    with (
        selling("optional", serve=hypercorn, http2_server="hypercorn") as seller,
        selling("optional", serve=hypercorn, http2_server="hypercorn") as other,
    ):
        yield seller, other


@pytest.fixture(params=CLIENTS)
def send(request):
    return CLIENTS[request.param]


def test_request_is_verified_over_http_2(send, seller):
    assert send(f"{seller.origin}/%7eorders?a=b", [seller.origin], **JSON) == {"keyid": KEYID}
    (arrival,) = seller.arrivals
    assert (arrival.version, arrival.target, json.loads(arrival.body)) == ("2", "/~orders?a=b", {"a": 1})


@pytest.mark.parametrize("status", [303, 307])
def test_redirect_to_a_listed_origin_is_signed_over_http_2(send, seller, other, status):
    url, origins = seller.go(307, seller.go(status, f"{other.origin}/next")), [seller.origin, other.origin]
    assert send(url, origins, headers=CREDENTIALS, **JSON) == {"keyid": KEYID}
    arrivals = [*seller.arrivals, *other.arrivals]
    assert [(arrival.version, arrival.keyid) for arrival in arrivals] == [("2", KEYID)] * 3
    assert len({arrival.fields["signature-input"] for arrival in arrivals}) == 3
    assert [arrival.has_credentials for arrival in other.arrivals] == [False]
    assert (arrivals[2].method, arrivals[2].body) == (("GET", b"") if status == 303 else ("POST", arrivals[0].body))


def test_redirect_to_an_origin_that_is_not_listed_is_not_followed_unless_unsigned_over_http_2(send, seller, other):
    url = seller.go(307, f"{other.origin}/next")
    with pytest.raises(SigningError, match="redirect: it leads to"):
        send(url, [seller.origin], **JSON)
    assert other.arrivals == []
    signing = {"follow_unsigned": True}
    assert send(url, [seller.origin], signing=signing, headers=CREDENTIALS, **JSON) == {"keyid": None}
    (arrival,) = other.arrivals
    assert (arrival.version, arrival.bare, arrival.has_credentials) == ("2", True, False)
