"""What holds in every framework: one application, with and without the middleware, on a real server."""

from __future__ import annotations

import hashlib
import json
import logging
from dataclasses import replace

import pytest
from tests.integrations.every_framework import FRAMEWORKS, SECRET, optional
from tests.integrations.unsigned import LEAVING, leave_early, uploads_ended
from tests.keys import BODY, JSON, KEYID, ORIGIN, ORIGINS
from tests.wire import (
    CHANGES,
    SIGNED,
    ask,
    assert_rejected,
    assert_unsigned,
    exchange,
    handshake,
    raw_request,
    read_all,
)

from undersigned import Decision, Policy, profiles

UNSIGNED = "request_signature_required"
PATHS = ["Z%C3%BCrich", "%E2%82%AC", "%F0%9F%98%80", "a%2Fb", "caf%c3%a9", "%7Euser", "a+b;c=d", "not%FFutf8"]
"""Paths with escapes, after the route."""


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


every_guard = pytest.mark.parametrize(
    ("framework", "path"),
    [pytest.param(one, path, id=f"{one.name}{path}") for one in FRAMEWORKS for path in one.guards],
)


@every_guard
def test_signed_request_reaches_a_guarded_view_once_and_no_other_one_does(framework, path, party):
    decisions: list[Decision] = []
    with framework.running(optional(party, on_decision=decisions.append)) as port:
        name = ask(port, raw_request("GET", f"/open{SIGNED}")).json["name"]
        raw = party.raw("POST", f"{path}{SIGNED}", BODY)
        answer = ask(port, raw).json
        # A view that runs in a thread of Starlette's cannot read.
        assert answer.pop("content") in ([None] if path == "/sync" and framework.websocket else []) + [BODY.decode()]
        assert answer == {"secret": SECRET, "caller": KEYID, "signed": f"{ORIGIN}{path}{SIGNED}", "name": name}
        assert_rejected(ask(port, raw), "request_signature_replayed")
        for change in CHANGES.values():
            assert_rejected(ask(port, change.raw(party, path)), change.code)
        decisions.clear()
        unsigned = ask(port, raw_request("POST", f"{path}{SIGNED}", JSON, BODY))
        assert_unsigned(unsigned)
        assert SECRET.encode() not in unsigned.content
    if framework.shows_decisions:
        assert [(told.outcome, told.method, told.route) for told in decisions[:1]] == [("unsigned", "POST", None)]
        assert decisions[1:] == [unsigned_decision(f"{path}/a%2Fb?(withheld)", framework.guards[path])]


def unsigned_decision(target: str, route: str | None) -> Decision:
    """The decision about an unsigned request that a route rejects."""
    return Decision(
        outcome="rejected",
        profile="adcp-3.2",
        code=UNSIGNED,
        step="presence of a signature",
        method="POST",
        target=target,
        origin=ORIGIN,
        client="127.0.0.1",
        status=401,
        route=route,
        seconds=0.0,
    )


@every_framework
def test_guarded_view_rejects_with_the_code_of_the_profile(framework, party):
    with framework.running(optional(party, verifier=party.verifier(profiles.ADCP_WEBHOOK))) as port:
        assert_unsigned(ask(port, raw_request("POST", "/signed/x", JSON, BODY)), "webhook_signature_required")


@every_framework
def test_guarded_view_fails_without_the_middleware_and_the_log_says_to_add_it(framework, caplog):
    with framework.running() as port, caplog.at_level(logging.ERROR):
        answer = ask(port, raw_request("POST", "/signed/x", JSON, BODY))
    assert (answer.status, SECRET.encode() in answer.content) == (500, False)
    assert framework.advice in caplog.text


@every_framework
def test_signed_content_in_chunks_reaches_a_view_and_content_that_ends_early_does_not(framework, party):
    chunked = [*party.fields("POST", "/signed/x", BODY), ("Transfer-Encoding", "chunked")]
    chunks = b"5\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (BODY[:5], len(BODY) - 5, BODY[5:])
    short = party.raw("POST", "/signed/x", BODY).replace(b"Content-Length: 22", b"Content-Length: 99")
    with framework.running(optional(party)) as port:
        assert SECRET.encode() not in exchange(port, short, shut=True)
        assert ask(port, raw_request("POST", "/signed/x", chunked) + chunks).json["content"] == BODY.decode()


def part_of(request, environ_key: str, scope_key: str) -> str:
    """Return a part of the request that a function of the application gets."""
    if isinstance(request, dict):
        return request.get(environ_key) or request.get(scope_key, "")
    return getattr(request, scope_key)


def is_known(request) -> bool:
    fields = request if isinstance(request, dict) else request.headers
    return (b"x-key", b"known") in fields.get("headers", ()) or "known" in (
        fields.get("HTTP_X_KEY"),
        fields.get("X-Key"),
    )


@every_framework
def test_policy_and_fallback_decide_and_the_view_gets_the_body(framework, party, caplog):
    decisions: list[Decision] = []
    options = {"policy": Policy(required_for=["read"]), "fallback": is_known, "on_decision": decisions.append}
    content = {"octets": len(BODY), "sha256": hashlib.sha256(BODY).hexdigest()}
    with framework.running({"verifier": party.verifier(), "origins": ORIGINS, **options}) as port:
        assert_rejected(ask(port, raw_request("POST", "/read", JSON, BODY)), UNSIGNED)
        assert ask(port, raw_request("POST", "/read", [*JSON, ("X-Key", "known")], BODY)).json == content
        assert ask(port, party.raw("POST", "/read", BODY)).json == content
        assert ask(port, raw_request("POST", "/open/x", JSON, BODY)).json["caller"] is None
    if framework.shows_decisions:
        assert [told.outcome for told in decisions] == ["rejected", "unsigned", "verified", "unsigned"]
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


@pytest.mark.parametrize("framework", [one for one in FRAMEWORKS if one.by_route], ids=lambda framework: framework.name)
def test_policy_by_route_decides_and_names_the_route_that_it_rejects(framework, party):
    decisions: list[Decision] = []
    options = {"by_route": ["show"], "on_decision": decisions.append}
    with framework.running({"verifier": party.verifier(), "origins": ORIGINS, **options}) as port:
        assert ask(port, raw_request("POST", "/open/x", JSON, BODY)).status == 401
        assert ask(port, party.raw("POST", "/open/x", BODY)).json["caller"] == KEYID
        assert ask(port, raw_request("POST", "/nothing", JSON, BODY)).status == 404
    if framework.shows_decisions:
        assert [(told.outcome, told.route, told.keyid, told.algorithm) for told in decisions] == [
            ("unsigned", None, None, None),
            ("rejected", framework.open_route, None, None),
            ("verified", None, KEYID, "ed25519"),
            ("unsigned", None, None, None),
        ]


@every_framework
def test_function_shapes_an_answer_and_one_that_fails_leaves_it_as_it_is(framework, party, caplog, monkeypatch):
    # Litestar takes the handlers of the root logger away.
    monkeypatch.setattr(logging.getLogger("undersigned"), "handlers", [caplog.handler])

    def shape(response, request):
        method = part_of(request, "REQUEST_METHOD", "method")
        return response.with_content({"PUT": method.encode()}[method], "text/plain")

    with framework.running(optional(party, mode="required", rejection=shape)) as port:
        shaped = ask(port, raw_request("PUT", "/open/x"))
        assert (shaped.status, shaped.content, shaped.fields["content-type"]) == (401, b"PUT", "text/plain")
        assert "accept-signature" in shaped.fields
        assert_rejected(ask(port, raw_request("POST", "/open/x")), UNSIGNED)
    if framework.shows_decisions:
        assert "rejection raised an exception" in caplog.text


@every_framework
def test_status_that_is_sent_is_the_status_of_the_decision_also_if_a_function_shapes_it(framework, party):
    decisions: list[Decision] = []

    def shape(response, _request):
        return replace(response.with_content(b"shaped", "text/plain"), status=403)

    with framework.running(optional(party, rejection=shape, on_decision=decisions.append)) as port:
        by_route = ask(port, raw_request("POST", "/signed/x", JSON, BODY))
        by_guard = ask(port, raw_request("POST", "/open/x", [("Signature", "sig1=:AA==:")]))
    assert (by_route.status, by_guard.status) == (403, 403)
    assert by_guard.content == by_route.content == b"shaped"
    if framework.shows_decisions:
        told = [decision.status for decision in decisions if decision.outcome == "rejected"]
        assert told == [by_route.status, by_guard.status]


@every_framework
def test_head_of_a_rejected_request_is_answered_without_content(framework, party):
    with framework.running(optional(party)) as port:
        received = exchange(port, raw_request("HEAD", "/open/x", [("Signature", "sig1=:AA==:")]))
    assert received.startswith(b"HTTP/1.1 401 ")
    assert received.endswith(b"\r\n\r\n")


@every_framework
def test_content_over_the_limit_is_answered_413(framework, party):
    with framework.running(optional(party, max_body=len(BODY) - 1)) as port:
        assert ask(port, party.raw("POST", "/read", BODY)).status == 413


TOO_LARGE = {
    "target": (414, f"/open/{'a' * 8995}", []),
    "query": (414, f"/open/x?{'a' * 8993}", []),
    "method": (414, "/open/x", []),
    "fields": (431, "/open/x", [(f"X-{at}", "v") for at in range(98)]),
    "names": (431, "/open/x", [(f"X-{at:0248}", "v") for at in range(90)]),
    "Signature-Input": (431, "/open/x", [("Signature-Input", f'a=("x");p="{"v" * 4096}";q=1.5')]),
    "parameters": (431, "/open/x", [("Signature-Input", "sig1=()" + "".join(f";p{at}=1.5" for at in range(30)))]),
    "components": (431, "/open/x", [("Signature-Input", "a=(" + " ".join(f'"{at}"' for at in range(33)) + ")")]),
    "Signature": (431, "/open/x", [("Signature", f"a=:{'A' * 4096}:")]),
    "signatures": (431, "/open/x", [("Signature", ", ".join(f"s{at}=:AAAA:" for at in range(33)))]),
    "Host": (431, "/open/x", [("Host", "h" * 1025)]),
}


@every_framework
def test_size_that_the_server_takes_and_the_middleware_does_not_is_answered_414_or_431(framework, party):
    def raw(name: str) -> bytes:
        _, target, fields = TOO_LARGE[name]
        given = {name for name, _ in fields}
        signed = [field for field in party.fields("GET", "/open/x") if field[0] not in given]
        return raw_request("A" * 65 if name == "method" else "GET", target, [*signed, *fields])

    with framework.running() as port:
        alone = {name: ask(port, raw(name)).status for name in TOO_LARGE}
    taken = [name for name, status in alone.items() if status in {200, 405}]
    assert "parameters" in taken
    with framework.running(optional(party)) as port:
        assert {name: ask(port, raw(name)).status for name in taken} == {name: TOO_LARGE[name][0] for name in taken}


@every_framework
def test_unsigned_request_reaches_no_view_in_mode_required_and_gets_the_code_of_the_profile(framework, party):
    verifier = party.verifier(profiles.ADCP_WEBHOOK)
    with framework.running({"verifier": verifier, "origins": ORIGINS}) as port:
        for raw in (raw_request("GET", "/open/x"), raw_request("POST", "/read", JSON, BODY)):
            assert_rejected(ask(port, raw), "webhook_signature_required")


UPLOAD = b'"%s"' % (b"x" * 300_000)


@pytest.mark.parametrize("decides", [{"mode": "optional"}, {"policy": Policy(required_for=["buy"])}], ids=list)
@every_framework
def test_view_reads_the_octets_of_a_signed_and_of_an_unsigned_upload(framework, party, decides):
    with framework.running({"verifier": party.verifier(), "origins": ORIGINS, **decides}) as port:
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
