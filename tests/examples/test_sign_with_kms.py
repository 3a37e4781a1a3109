"""The example of a key in a service: the seller accepts what the service signed, and the key stays there."""

from __future__ import annotations

from tests.examples.programs import example, ran_in
from tests.seller import selling
from tests.serving import uvicorn_server

from undersigned import KeyPair, KeySet


def buy(folder, kms_port, seller):
    return ran_in(folder, "sign_with_kms", KMS=f"http://127.0.0.1:{kms_port}", SELLER=seller.origin)


def test_order_signed_by_the_service_is_accepted(tmp_path):
    kms = example("fake_kms_app")
    keys = KeySet.from_jwks(KeyPair.from_private_key(kms.private, keyid=kms.KEYID).public)
    with uvicorn_server(kms.app) as port, selling(keys=keys) as seller:
        done = buy(tmp_path, port, seller)
    assert (done.returncode, done.stderr) == (0, "")
    assert [arrival.keyid for arrival in seller.arrivals] == [kms.KEYID]


def test_order_signed_by_another_key_of_the_service_is_rejected(tmp_path):
    kms = example("fake_kms_app")
    keys = KeySet.from_jwks(KeyPair.generate("ecdsa-p256-sha256", keyid=kms.KEYID).public)
    with uvicorn_server(kms.app) as port, selling(keys=keys) as seller:
        done = buy(tmp_path, port, seller)
    assert done.returncode == 1
    assert "request_signature_invalid" in done.stdout
