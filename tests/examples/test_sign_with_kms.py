"""The example of a key in a service: the seller accepts what the service signed, and the key stays there."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

from tests.integrations.seller import selling
from tests.serving import uvicorn_server

from undersigned import KeyPair, KeySet

EXAMPLES = Path(__file__).parents[2] / "examples"


def fake_kms():
    spec = importlib.util.spec_from_file_location("fake_kms_app", EXAMPLES / "fake_kms_app.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def buy(kms_port, seller):
    command = [sys.executable, "-W", "error", str(EXAMPLES / "sign_with_kms.py"), "--kms"]
    command += [f"http://127.0.0.1:{kms_port}", "--seller", seller.origin]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - ours


def test_order_signed_by_the_service_is_accepted():
    kms = fake_kms()
    keys = KeySet.from_jwks(KeyPair.from_private_key(kms.private, keyid=kms.KEYID).public)
    with uvicorn_server(kms.app) as port, selling(keys=keys) as seller:
        done = buy(port, seller)
    assert (done.returncode, done.stderr) == (0, "")
    assert [arrival.keyid for arrival in seller.arrivals] == [kms.KEYID]


def test_order_signed_by_another_key_of_the_service_is_rejected():
    kms = fake_kms()
    keys = KeySet.from_jwks(KeyPair.generate("ecdsa-p256-sha256", keyid=kms.KEYID).public)
    with uvicorn_server(kms.app) as port, selling(keys=keys) as seller:
        done = buy(port, seller)
    assert done.returncode == 1
    assert "request_signature_invalid" in done.stdout
