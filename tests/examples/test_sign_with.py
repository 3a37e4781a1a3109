"""The buyer's examples, each run as its file says against a seller who verifies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integrations.seller import KEYID, selling
from tests.keys import OTHER_PRIVATE, PRIVATE

EXAMPLES = Path(__file__).parents[2] / "examples"
CLIENTS = ["aiohttp", "httpx", pytest.param("niquests", marks=pytest.mark.niquests), "urllib"]
every_client = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture
def key(tmp_path):
    return tmp_path / "private.jwk.json"


def run(client, seller, key):
    command = [
        sys.executable,
        "-W",
        "error",
        str(EXAMPLES / f"sign_with_{client}.py"),
        "--key",
        str(key),
        "--seller",
        seller.origin,
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - ours


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
