"""A key in SoftHSM, through PKCS#11: the example makes it, and signs with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.examples.programs import ran_in
from tests.seller import selling

from undersigned import KeySet

MODULE = Path("/usr/lib/softhsm/libsofthsm2.so")
PIN = "1234"


def initialize(environment) -> None:
    """Make a token without keys."""
    command = ["softhsm2-util", "--init-token", "--free", "--label", "buyer", "--pin", PIN, "--so-pin", PIN]
    subprocess.run(command, check=True, env=environment, capture_output=True)  # noqa: S603 - ours


@pytest.fixture
def environment(tmp_path):
    """The environment with a SoftHSM of its own, in which one token is ready."""
    if not MODULE.exists() or shutil.which("softhsm2-util") is None:
        pytest.skip("SoftHSM is missing: apt-get install softhsm2")
    pytest.importorskip("pkcs11", reason="pip install 'undersigned[hsm]'")
    (tmp_path / "tokens").mkdir()
    configuration = tmp_path / "softhsm2.conf"
    configuration.write_text(f"directories.tokendir = {tmp_path / 'tokens'}\n")
    variables = {"SOFTHSM2_CONF": str(configuration), "PKCS11_MODULE": str(MODULE), "PKCS11_PIN": PIN}
    environment = {**os.environ, **variables}
    initialize(environment)
    return environment


def run(folder, environment, **constants):
    return ran_in(folder, "sign_with_pkcs11", environment=environment, **constants)


def test_order_signed_in_the_module_is_accepted(environment, tmp_path):
    jwks = tmp_path / "public.jwks.json"
    made = run(tmp_path, environment)
    assert (made.returncode, made.stderr) == (0, "")
    with selling(keys=KeySet.from_jwks(json.loads(jwks.read_text()))) as seller:
        done = run(tmp_path, environment, SELLER=seller.origin)
    assert (done.returncode, done.stderr) == (0, "")
    assert [(arrival.target, arrival.keyid) for arrival in seller.arrivals] == [("/plans/gold", "buyer-hsm")]


def test_order_signed_by_a_key_that_was_replaced_is_rejected(environment, tmp_path):
    jwks = tmp_path / "public.jwks.json"
    run(tmp_path, environment)
    keys = KeySet.from_jwks(json.loads(jwks.read_text()))
    for token in (tmp_path / "tokens").iterdir():
        shutil.rmtree(token)
    initialize(environment)
    jwks.unlink()
    run(tmp_path, environment)
    with selling(keys=keys) as seller:
        done = run(tmp_path, environment, SELLER=seller.origin)
    assert done.returncode == 1
    assert "request_signature_invalid" in done.stdout
