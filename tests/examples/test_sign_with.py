"""The buyer's examples, each run as its file says against a seller who verifies."""

from __future__ import annotations

import json

import pytest
from tests.examples.programs import ran_in
from tests.keys import OTHER_PRIVATE, PRIVATE
from tests.seller import KEYID, selling

CLIENTS = ["aiohttp", "httpx"]
every_client = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture
def key(tmp_path):
    (tmp_path / "keys").mkdir()
    return tmp_path / "keys" / "private.jwk.json"


def run(client, seller, key):
    return ran_in(key.parents[1], f"sign_with_{client}", seller.origin)


@every_client
def test_example_sends_orders_that_are_accepted(client, key):
    key.write_text(json.dumps(PRIVATE))
    with selling() as seller:
        done = run(client, seller, key)
    assert (done.returncode, done.stderr) == (0, "")
    assert [arrival.target for arrival in seller.arrivals] == ["/plans/gold", "/plans/silver"]
    assert [arrival.keyid for arrival in seller.arrivals] == [KEYID, KEYID]


@every_client
def test_example_reports_a_rejected_order(client, key):
    key.write_text(json.dumps(OTHER_PRIVATE))
    with selling() as seller:
        done = run(client, seller, key)
    assert done.returncode == 1
    assert done.stdout.count("request_signature_key_unknown") == 2
    assert "Traceback" not in done.stderr
