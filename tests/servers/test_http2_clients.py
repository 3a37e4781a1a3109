"""Every client that speaks HTTP/2, against a seller that verifies over HTTP/2: hypercorn."""

from __future__ import annotations

import json

import pytest
from tests.integrations.clients import HTTP_2, MEANS
from tests.seller import CREDENTIALS, KEYID, make_signer, selling
from tests.servers.hypercorn_server import hypercorn

from undersigned import SigningError

JSON = {"json": {"a": 1}}


@pytest.fixture(scope="module")
def sellers():
    with (
        selling("optional", serve=hypercorn, http2_server="hypercorn") as seller,
        selling("optional", serve=hypercorn, http2_server="hypercorn") as other,
    ):
        yield seller, other


@pytest.fixture(params=MEANS, ids=str)
def send(request):
    def send(url, origins, **given):
        options = {"signer": make_signer(), "origins": origins, "options": {**HTTP_2, "follow_redirects": True}}
        return request.param.send("POST", url, **options, **given).json()

    return send


def test_request_is_verified_over_http_2(send, seller):
    assert send(f"{seller.origin}/%7eorders?a=b", [seller.origin], **JSON)["keyid"] == KEYID
    (arrival,) = seller.arrivals
    assert (arrival.version, arrival.target, json.loads(arrival.body)) == ("2", "/~orders?a=b", {"a": 1})


@pytest.mark.parametrize("status", [303, 307])
def test_redirect_to_a_listed_origin_is_signed_over_http_2(send, seller, other, status):
    url, origins = seller.go(307, seller.go(status, f"{other.origin}/next")), [seller.origin, other.origin]
    assert send(url, origins, headers=CREDENTIALS, **JSON)["keyid"] == KEYID
    arrivals = [*seller.arrivals, *other.arrivals]
    assert [(arrival.version, arrival.keyid) for arrival in arrivals] == [("2", KEYID)] * 3
    assert len({arrival.fields["signature-input"] for arrival in arrivals}) == 3
    assert [arrival.has_credentials for arrival in other.arrivals] == [False]
    assert (arrivals[2].method, arrivals[2].body) == (("GET", b"") if status == 303 else ("POST", arrivals[0].body))


def test_redirect_to_an_origin_that_is_not_listed_sends_nothing_over_http_2(send, seller, other):
    url = seller.go(307, f"{other.origin}/next")
    with pytest.raises(SigningError, match=r"origins: \S+ is not listed"):
        send(url, [seller.origin], **JSON)
    assert other.arrivals == []
