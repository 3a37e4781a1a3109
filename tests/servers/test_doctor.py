"""The doctor in front of hypercorn, which serves HTTP/2 itself."""

from __future__ import annotations

import json
import os
import socket

import pytest
from tests import keys
from tests.certificate import localhost_certificate
from tests.cli.command import invoke
from tests.servers.hypercorn_server import hypercorn

from undersigned import MemoryReplayStore, Verifier, profiles
from undersigned.asgi import SignatureMiddleware


async def application(scope, _receive, send) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def doctor(tmp_path):
    """Return a function that examines the application with options, and returns the exit code and the diagnosis."""
    certificate = localhost_certificate(tmp_path / "localhost.pem")
    key = tmp_path / "private.jwk.json"
    key.touch(mode=0o600)
    key.write_text(json.dumps(keys.PRIVATE))

    def examine(**options) -> tuple[int, dict]:
        with socket.create_server(("127.0.0.1", 0)) as bound:
            url = f"https://localhost:{bound.getsockname()[1]}"
            verifier = Verifier(profiles.ADCP_3_2, keys=keys.KEYS, replay=MemoryReplayStore())
            app = SignatureMiddleware(application, verifier=verifier, origins=[url], **options)
            own = socket.socket(fileno=os.dup(bound.fileno()))
        with hypercorn(app, own, certificate=certificate):
            result = invoke("doctor", "--key", str(key), "--ca-file", str(certificate), "--json", url)
        return result.exit_code, json.loads(result.stdout)

    return examine


def test_server_of_http2_that_is_named_has_no_findings(doctor):
    code, diagnosis = doctor(http2_server="hypercorn")
    assert (code, diagnosis["http2"], diagnosis["findings"]) == (0, "examined", [])
    assert diagnosis["passed"][-1] == "HTTP/2"


def test_server_of_http2_that_is_not_named_is_a_finding_over_http2_only(doctor):
    code, diagnosis = doctor()
    [finding] = diagnosis["findings"]
    assert (code, finding["check"]) == (1, "a plain request (HTTP/2)")
    assert "http2_server=" in finding["advice"]
    assert "a second question mark" in diagnosis["passed"]
