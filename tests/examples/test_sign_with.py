"""The buyer's examples, each run as its file says against a seller who verifies."""

from __future__ import annotations

import json

import pytest
from tests.examples.programs import example, ran_in
from tests.keys import OTHER_PRIVATE, PRIVATE
from tests.seller import KEYID, selling
from tests.serving import uvicorn_server

from undersigned import KeyPair, KeySet

ORDERS = {
    "aiohttp": ["/plans/gold", "/plans/silver"],
    "httpx": ["/plans/gold", "/plans/silver"],
    "requests": ["/plans/gold"],
}
every_client = pytest.mark.parametrize("client", ORDERS)


def run(client, seller, folder, key):
    (folder / "keys").mkdir()
    (folder / "keys" / "private.jwk.json").write_text(json.dumps(key))
    return ran_in(folder, f"sign_with_{client}", seller.origin)


@every_client
def test_example_sends_orders_that_are_accepted(client, tmp_path):
    with selling() as seller:
        done = run(client, seller, tmp_path, PRIVATE)
    assert (done.returncode, done.stderr) == (0, "")
    assert [(one.method, one.target, one.keyid) for one in seller.arrivals] == [
        ("POST", target, KEYID) for target in ORDERS[client]
    ]
    if client == "requests":
        assert f"Signature: {seller.arrivals[0].fields['signature']}" in done.stdout.splitlines()


@every_client
def test_example_reports_a_rejected_order(client, tmp_path):
    with selling() as seller:
        done = run(client, seller, tmp_path, OTHER_PRIVATE)
    assert done.returncode == 1
    assert done.stdout.count("request_signature_key_unknown") == len(ORDERS[client])
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("is_known", [True, False])
def test_order_signed_by_a_key_in_a_service_is_accepted_if_the_seller_knows_it(is_known, tmp_path):
    kms = example("fake_kms_app")
    pair = KeyPair.from_private_key(kms.private, keyid=kms.KEYID)
    keys = pair if is_known else KeyPair.generate("ecdsa-p256-sha256", keyid=kms.KEYID)
    with uvicorn_server(kms.app) as port, selling(keys=KeySet.from_jwks(keys.public)) as seller:
        done = ran_in(tmp_path, "sign_with_kms", KMS=f"http://127.0.0.1:{port}", SELLER=seller.origin)
    assert done.returncode == (0 if is_known else 1)
    assert [one.keyid for one in seller.arrivals] == [kms.KEYID if is_known else None]
    assert ("request_signature_invalid" in done.stdout) != is_known
