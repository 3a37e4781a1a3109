"""The buyer's example, run as its file says against a seller who verifies."""

from __future__ import annotations

import json

import pytest
from tests.examples.programs import ran_in
from tests.keys import OTHER_PRIVATE, PRIVATE
from tests.seller import KEYID, selling


@pytest.fixture
def key(tmp_path):
    (tmp_path / "keys").mkdir()
    return tmp_path / "keys" / "private.jwk.json"


def run(seller, key):
    return ran_in(key.parents[1], "sign_with_requests", seller.origin)


def test_example_sends_an_order_that_is_accepted(key):
    key.write_text(json.dumps(PRIVATE))
    with selling() as seller:
        done = run(seller, key)
    (arrival,) = seller.arrivals
    assert (done.returncode, done.stderr) == (0, "")
    assert (arrival.method, arrival.target, arrival.keyid) == ("POST", "/plans/gold", KEYID)
    assert f"Signature: {arrival.fields['signature']}" in done.stdout.splitlines()


def test_example_reports_a_rejected_order(key):
    key.write_text(json.dumps(OTHER_PRIVATE))
    with selling() as seller:
        done = run(seller, key)
    assert done.returncode == 1
    assert "401" in done.stdout
    assert "request_signature_key_unknown" in done.stdout
    assert "Traceback" not in done.stderr
