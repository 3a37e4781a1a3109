"""Every client that speaks HTTP/2, against a seller that verifies over HTTP/2: hypercorn."""

from __future__ import annotations

import json

import pytest
from tests.integrations.clients import HTTP_2, MEANS
from tests.seller import KEYID, make_signer, selling
from tests.servers.hypercorn_server import hypercorn

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


def test_redirect_to_a_listed_origin_is_signed_over_http_2(send, seller, other):
    url, origins = seller.go(307, f"{other.origin}/next"), [seller.origin, other.origin]
    assert send(url, origins, **JSON)["keyid"] == KEYID
    arrivals = [*seller.arrivals, *other.arrivals]
    assert [(arrival.version, arrival.keyid) for arrival in arrivals] == [("2", KEYID)] * 2
