"""What holds in every framework: one application, with and without the middleware, on a real server."""

from __future__ import annotations

import json

import pytest
from starlette.middleware.cors import CORSMiddleware
from tests.integrations.every_framework import FRAMEWORKS, SECRET
from tests.integrations.unsigned import LEAVING, leave_early, uploads_ended
from tests.keys import BODY, JSON, KEYID, ORIGINS, Party
from tests.wire import CHANGES, ask, assert_rejected, handshake, raw_request, read_all

from undersigned import Policy, profiles

PATHS = ["Z%C3%BCrich", "%E2%82%AC", "%F0%9F%98%80", "a%2Fb", "caf%c3%a9", "%7Euser", "a+b;c=d", "not%FFutf8"]
"""Paths with escapes, after the route."""


def optional(party: Party) -> dict:
    return {"verifier": party.verifier(), "origins": ORIGINS, "mode": "optional"}


every_framework = pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda framework: framework.name)


@every_framework
def test_path_with_escapes_reaches_a_view_as_without_the_middleware(framework, party):
    with framework.running() as port:
        alone = {path: ask(port, raw_request("GET", f"/open/{path}")) for path in PATHS}
    assert {answer.status for answer in alone.values()} <= {200, 400, 404}
    with framework.running(optional(party)) as port:
        for path, expected in alone.items():
            unsigned = ask(port, raw_request("GET", f"/open/{path}"))
            assert (path, unsigned.status, unsigned.content) == (path, expected.status, expected.content)


@every_framework
def test_signed_path_with_escapes_reaches_a_view_as_the_canonical_one_without_the_middleware(framework, party):
    canonical = {path: path.replace("%c3%a9", "%C3%A9").replace("%7E", "~") for path in PATHS}
    with framework.running() as port:
        alone = {path: ask(port, raw_request("GET", f"/open/{canonical[path]}")) for path in PATHS}
    with framework.running(optional(party)) as port:
        for path, expected in alone.items():
            sent = canonical[path] if framework.name in {"aiohttp", "sanic"} else path
            signed = ask(port, party.raw("GET", f"/open/{sent}"))
            if expected.status == 200:
                assert (path, signed.json) == (path, {**expected.json, "caller": KEYID})
            else:
                assert (path, signed.status) == (path, expected.status)


@every_framework
def test_fragment_hides_no_operation_that_must_be_signed(framework, party):
    # A target has none (RFC 9112 section 3.2). Some servers and frameworks cut it off before they route.
    policy = Policy(required_for=["listed"])
    with framework.running({"verifier": party.verifier(), "origins": ORIGINS, "policy": policy}) as port:
        for target in ("/open/listed", "/open/listed#x", "/open/listed#?x", "/open/listed?#x"):
            assert (target, ask(port, raw_request("GET", target)).status) in {(target, 400), (target, 401)}


@every_framework
def test_signed_request_reaches_a_guarded_view_once_and_no_other_one_does(framework, party):
    with framework.running(optional(party)) as port:
        raw = party.raw("POST", "/signed/x", BODY)
        assert ask(port, raw).json == {"secret": SECRET, "name": "x"}
        assert_rejected(ask(port, raw), "request_signature_replayed")
        for change in CHANGES.values():
            assert_rejected(ask(port, change.raw(party, "/signed")), change.code)
        unsigned = ask(port, raw_request("POST", "/signed/x", JSON, BODY))
        assert (unsigned.status, SECRET.encode() in unsigned.content) == (401, False)


@every_framework
def test_content_over_the_limit_is_answered_413(framework, party):
    with framework.running({**optional(party), "max_body": len(BODY) - 1}) as port:
        assert ask(port, party.raw("POST", "/read", BODY)).status == 413


@every_framework
def test_unsigned_request_reaches_no_view_in_mode_required_and_gets_the_code_of_the_profile(framework, party):
    verifier = party.verifier(profiles.ADCP_WEBHOOK)
    with framework.running({"verifier": verifier, "origins": ORIGINS}) as port:
        for raw in (raw_request("GET", "/open/x"), raw_request("POST", "/read", JSON, BODY)):
            assert_rejected(ask(port, raw), "webhook_signature_required")


UPLOAD = b"x" * 300_000


@every_framework
def test_view_reads_the_octets_of_a_signed_and_of_an_unsigned_upload(framework, party):
    with framework.running(optional(party)) as port:
        for raw in (raw_request("POST", "/upload", body=UPLOAD), party.raw("POST", "/upload", UPLOAD)):
            assert ask(port, raw).json == {"octets": len(UPLOAD)}


@every_framework
def test_content_of_one_request_is_never_part_of_the_next_one_of_its_connection(framework, party):
    def kept(raw: bytes) -> bytes:
        return raw.replace(b"Connection: close\r\n", b"")

    def signed(body: bytes, *, last: bool = False) -> bytes:
        raw = party.raw("POST", "/upload", body)
        return raw if last else kept(raw)

    first = kept(raw_request("POST", "/upload", body=b"1"))
    series = [first, signed(b"22"), signed(b"333"), signed(b"4444", last=True)]
    with framework.running(optional(party)) as port:
        received = read_all(port, b"".join(series))
    counted = [json.loads(part)["octets"] for part in _objects(received)]
    # A server that does not keep connections alive answers the first request only.
    assert counted in ([1, 2, 3, 4], [1])
    assert counted == [1, 2, 3, 4] or framework.name.endswith("gunicorn")


def _objects(received: bytes) -> list[bytes]:
    return [b"{" + part.partition(b"}")[0] + b"}" for part in received.split(b"{")[1:]]


@pytest.mark.parametrize("name", ["aiohttp", "tornado", "sanic"])
def test_view_learns_that_a_client_left_early_although_a_policy_has_read_some_content(name, party):
    [framework] = [one for one in FRAMEWORKS if one.name == name]
    policy = Policy(required_for=["create_media_buy"])
    with framework.running({"verifier": party.verifier(), "origins": ORIGINS, "policy": policy}) as port:
        leave_early(port, LEAVING)
        assert uploads_ended(port, at_least=1) == ["left"]


UPGRADES_FIRST = {"sanic", "sanic-asgi"}
"""The frameworks that accept a handshake before they run its handler."""


@pytest.mark.parametrize(
    "framework", [one for one in FRAMEWORKS if one.websocket], ids=lambda framework: framework.name
)
def test_unsigned_handshake_gets_nothing_of_a_guarded_websocket(framework, party):
    with framework.running(optional(party)) as port:
        unsigned = handshake(port, "/socket")
        assert SECRET.encode() not in unsigned
        statuses = {b"101"} if framework.name in UPGRADES_FIRST else {b"401", b"403"}
        assert unsigned.split(b" ")[1] in statuses, unsigned
        accepted = handshake(port, "/socket", party.fields("GET", "/socket"))
        assert accepted.startswith(b"HTTP/1.1 101 ")
        assert SECRET.encode() in accepted


@pytest.mark.parametrize("name", ["starlette", "fastapi", "litestar", "quart", "falcon-asgi", "sanic-asgi"])
def test_cors_middleware_outside_answers_preflights_and_lets_pages_read_a_rejection(name, party):
    [framework] = [one for one in FRAMEWORKS if one.name == name]
    app = framework.make(optional(party))
    app = CORSMiddleware(app, allow_origins=["https://shop.example"], allow_methods=["*"])
    origin = ("Origin", "https://shop.example")
    with framework.serve(app) as port:
        asked = [origin, ("Access-Control-Request-Method", "POST")]
        preflight = ask(port, raw_request("OPTIONS", "/signed/x", asked))
        assert (preflight.status, preflight.fields["access-control-allow-origin"]) == (200, "https://shop.example")
        unsigned = ask(port, raw_request("POST", "/signed/x", [*JSON, origin], b"{}"))
        assert (unsigned.status, unsigned.fields["access-control-allow-origin"]) == (401, "https://shop.example")
