"""The example services, each started as its file says and called over a socket."""

from __future__ import annotations

import json

import pytest
from tests.examples.programs import start_example
from tests.keys import BODY, JSON, KEYID, Party
from tests.wire import ask, assert_rejected, assert_unsigned, raw_request

from undersigned import Request

SERVICES = ["fastapi", "starlette", "flask", "django", "aiohttp", "tornado", "litestar", "quart", "falcon", "sanic"]
SERVICES += ["drf", "fastapi_telemetry"]


@pytest.fixture(scope="module", params=SERVICES)
def port(request, party, tmp_path_factory):
    jwks = tmp_path_factory.mktemp("keys") / "jwks.json"
    jwks.write_text(json.dumps(party.jwks))
    with start_example(f"{request.param}_app.py", jwks=jwks) as port:
        yield port


def sign(party: Party, port: int, *, sent_body: bytes = BODY) -> bytes:
    url = f"http://127.0.0.1:{port}/plans/gold"
    fields = [*JSON, *party.signer.sign(Request("POST", url, JSON, BODY))]
    return raw_request("POST", "/plans/gold", fields, sent_body, host=f"127.0.0.1:{port}")


def test_example_answers_a_signed_request_with_the_caller_once(port, party):
    raw = sign(party, port)
    expected = {"plan": "gold", "caller": "acme", "signed": f"http://127.0.0.1:{port}/plans/gold"}
    assert ask(port, raw).json == expected
    assert_rejected(ask(port, raw), "request_signature_replayed")


def test_example_rejects_an_unsigned_and_a_changed_request(port, party):
    unsigned = raw_request("POST", "/plans/gold", JSON, BODY, host=f"127.0.0.1:{port}")
    assert_unsigned(ask(port, unsigned))
    changed = sign(party, port, sent_body=BODY.replace(b"1", b"2"))
    assert_rejected(ask(port, changed), "request_signature_digest_mismatch")


def test_example_has_a_page_without_a_signature(port):
    assert ask(port, raw_request("GET", "/", host=f"127.0.0.1:{port}")).json == {"service": "plans"}


def test_prometheus_reads_the_decisions_and_the_claims(party, tmp_path):
    jwks = tmp_path / "jwks.json"
    jwks.write_text(json.dumps(party.jwks))
    with start_example("fastapi_telemetry_app.py", jwks=jwks) as port:
        ask(port, sign(party, port))
        ask(port, raw_request("POST", "/plans/gold", JSON, BODY, host=f"127.0.0.1:{port}"))
        metrics = ask(port, raw_request("GET", "/metrics/", host=f"127.0.0.1:{port}")).content.decode()
    counts = [line for line in metrics.splitlines() if "undersigned_verification_duration_seconds_count{" in line]
    assert all('profile="adcp-3.2"' in line for line in counts)
    assert any('algorithm="ed25519"' in line and 'result="verified"' in line for line in counts)
    assert any('error_type="request_signature_required"' in line and 'result="rejected"' in line for line in counts)
    assert any("undersigned_replay_claims" in line and line.endswith(" 1.0") for line in metrics.splitlines())
    assert KEYID not in metrics
