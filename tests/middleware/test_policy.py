"""A policy through both middlewares: what must be signed, what another credential excuses, and what the application
gets."""

from __future__ import annotations

import gc
import json
import logging
import weakref

import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from tests.drive import Message
from tests.keys import HOST, JSON, KEYS, ORIGIN
from tests.middleware.gate import Gate, OverASGI
from tests.wire import TOO_MANY

from undersigned import A2AResolver, JSONRPCResolver, Operation, Policy, Request, Signer, asgi, profiles
from undersigned.explanation import CHECKS
from undersigned.reasons import UNREAD
from undersigned.signature.rules import CoverageRule, DigestRule

BUY = "/adcp/create_media_buy"
BODY = b'{"plan_id":"plan_001"}'
REGISTERS = b'{"push_notification_config":{"url":"https://b.example/w","authentication":{"schemes":["Bearer"]}}}'


def test_required_operation_must_be_signed(side):
    gate = side(policy=Policy(required_for=["create_media_buy"]))
    assert gate.unsigned("POST", BUY, BODY) == (401, "request_signature_required")
    assert gate.reads == 0
    assert gate.signed("POST", BUY, BODY) == (200, None)
    assert gate.unsigned("GET", "/adcp/get_products") == (200, None)
    assert [call.signature and call.signature.keyid for call in gate.calls] == ["buyer-2026", None]


def test_operation_and_content_reach_the_application_as_they_were_verified(side):
    gate = side(policy=Policy(required_for=["create_media_buy"]))
    gate.signed("POST", "/adcp/./create_media_buy", BODY)
    gate.unsigned("POST", "/adcp/get_products", BODY)
    signed, unsigned = gate.calls
    assert signed.signature.operation.name == "create_media_buy"
    assert signed.signature.operation is signed.operation
    assert signed.signature.json() == {"plan_id": "plan_001"}
    assert (unsigned.operation.name, unsigned.path) == ("get_products", "/adcp/get_products")
    assert signed.body == unsigned.body == BODY


@pytest.mark.parametrize(
    "target", ["/adcp/create_media_buy/", "/adcp/x/../create_media_buy", "/adcp%2Fcreate_media_buy", f"{BUY}#x"]
)
def test_required_operation_must_be_signed_in_any_spelling_of_its_path(side, target):
    gate = side(policy=Policy(required_for=["create_media_buy"]))
    status, code = gate.unsigned("POST", target, BODY)
    assert status == 401
    assert code in {"request_signature_required", "request_target_uri_malformed"}


def test_missing_signature_is_excused_by_another_credential(side):
    asked = []
    gate = side(policy=Policy(required_for=["create_media_buy"]), fallback=lambda given: asked.append(given) or True)
    assert gate.unsigned("GET", "/adcp/get_products") == (200, None)
    assert asked == []
    assert gate.unsigned("POST", BUY, BODY) == (200, None)
    assert len(asked) == 1
    assert gate.calls[-1].signature is None


@pytest.mark.parametrize(
    ("lists", "fallbacks", "unsigned", "failed"),
    [
        ({}, (None, True), 200, 401),
        ({"required_for": ["create_media_buy"]}, (None, False, 1, "ann"), 401, 401),
        ({"required_for": ["create_media_buy"]}, (True,), 200, 401),
        ({"warn_for": ["create_media_buy"]}, (None, False, 1, "ann"), 200, 401),
        ({"warn_for": ["create_media_buy"]}, (True,), 200, 200),
    ],
)
def test_signature_that_is_missing_or_has_failed_is_excused_only_if_the_fallback_returns_true(
    side, lists, fallbacks, unsigned, failed
):
    for known in fallbacks:
        fallback = None if known is None else lambda _given, known=known: known
        gate = side(policy=Policy(**lists), fallback=fallback)
        assert gate.unsigned("POST", BUY, BODY)[0] == unsigned
        assert gate.signed("POST", BUY, BODY, url=f"{ORIGIN}/p")[0] == failed


@pytest.mark.parametrize(
    ("options", "end"),
    [({}, " ("), ({"fallback": lambda _given: False}, ", and fallback= does not accept the caller (")],
)
def test_log_of_a_missing_signature_names_the_fallback_only_if_there_is_one(side, caplog, options, end):
    gate = side(policy=Policy(required_for=["create_media_buy"]), **options)
    assert gate.unsigned("POST", BUY, BODY) == (401, "request_signature_required")
    assert f"the operation must be signed{end}" in caplog.text


def test_failed_signature_is_recorded_and_excused_under_warn(side, caplog):
    gate = side(policy=Policy(warn_for=["create_media_buy"]), fallback=lambda _given: True)
    with caplog.at_level(logging.WARNING, "undersigned"):
        assert gate.signed("POST", BUY, BODY, url=f"{ORIGIN}/p") == (200, None)
    assert gate.calls[0].signature is None
    assert gate.calls[0].body == BODY
    assert "request_signature_invalid" in caplog.text
    assert gate.decisions[0].outcome == "warned"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ([("Signature", "sig1=:AAAA:")], "request_signature_header_malformed"),
        ([("Signature-Input", "sig1=()"), ("Signature", "sig1=:AAAA:")], "request_signature_params_incomplete"),
    ],
)
def test_malformed_signature_is_rejected_before_the_body_is_read_whatever_other_credential_is_valid(side, fields, code):
    policy = Policy(warn_for=["create_media_buy"], resolver=JSONRPCResolver())
    gate = side(policy=policy, fallback=lambda _given: True)
    assert gate.request("POST", "/mcp", [*JSON, *fields], call_of("create_media_buy")) == (401, code)
    assert gate.reads == 0


def test_webhook_registration_with_its_own_credentials_must_be_signed(side):
    gate = side(policy=Policy(), fallback=lambda _given: True)
    assert gate.unsigned("POST", "/adcp/update_media_buy", REGISTERS) == (401, "request_signature_required")
    assert gate.unsigned("POST", "/adcp/update_media_buy", REGISTERS, fields=[("Content-Type", "text/plain")]) == (
        401,
        "request_signature_required",
    )
    assert gate.signed("POST", "/adcp/update_media_buy", REGISTERS) == (200, None)


LIMIT = 100
LONG = b'{"plan_id":"%s"}' % (b"p" * LIMIT)


def call_with(name: str, size: int) -> bytes:
    params = {"name": name, "arguments": {"brief": "b" * size}}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


def test_unsigned_body_at_its_limit_is_read(side):
    gate = side(policy=Policy(), max_unsigned_body=len(LONG))
    assert gate.unsigned("POST", "/adcp/get_products", LONG) == (200, None)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"max_body": LIMIT, "max_unsigned_body": 10}, "max_unsigned_body and max_body"),
        ({"max_body": LIMIT}, "max_body"),
        ({"max_unsigned_body": LIMIT}, "max_unsigned_body"),
    ],
)
def test_unsigned_body_above_a_limit_is_too_large_and_the_log_names_the_options_to_raise(side, caplog, options, named):
    gate = side(policy=Policy(), **options)
    assert gate.unsigned("POST", "/adcp/get_products", LONG) == (413, "content_too_large")
    assert f"JSON without a valid signature is larger than {named} (" in caplog.text


def test_unsigned_body_without_a_length_is_limited_if_it_is_json_and_passes_as_it_came_if_not(side):
    gate = side(policy=Policy(), max_unsigned_body=LIMIT)
    assert gate.unsigned("POST", "/adcp/get_products", LONG, http2=True) == (413, "content_too_large")
    assert gate.unsigned("POST", "/adcp/get_products", b"a" * 100_000, http2=True) == (200, None)
    assert [call.body for call in gate.calls] == [b"a" * 100_000]


@pytest.mark.parametrize("resolver", [JSONRPCResolver(), A2AResolver()], ids=["json-rpc", "a2a"])
def test_body_that_names_the_operation_is_limited_unless_it_is_signed(side, resolver):
    policy = Policy(required_for=["create_media_buy"], resolver=resolver)
    gate = side(policy=policy, max_unsigned_body=2 * LIMIT, fallback=lambda _given: True)
    long = call_with("get_products", 2 * LIMIT)
    assert gate.unsigned("POST", "/mcp", long) == (413, "content_too_large")
    assert gate.signed("POST", "/mcp", long) == (200, None)
    assert gate.unsigned("POST", "/mcp", call_with("get_products", 1)) == (200, None)


def test_body_of_a_failed_signature_is_limited_whatever_other_credential_is_valid(side):
    policy = Policy(warn_for=["create_media_buy"])
    gate = side(policy=policy, max_unsigned_body=LIMIT, fallback=lambda _given: True)
    assert gate.signed("POST", BUY, LONG, url=f"{ORIGIN}/p") == (413, "content_too_large")
    assert gate.signed("POST", BUY, BODY, url=f"{ORIGIN}/p") == (200, None)


def test_long_a2a_message_under_a_copied_signature_is_rejected_for_its_digest(side):
    gate = side(policy=Policy(resolver=A2AResolver()))
    fields = gate.party.fields("POST", f"{ORIGIN}/a2a", BODY)
    assert gate.request("POST", "/a2a", fields, b"[]") == (401, "request_body_malformed")
    assert gate.request("POST", "/a2a", fields, message_of("get_products")) == (
        401,
        "request_signature_digest_mismatch",
    )


def call_of(name: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}}).encode()


def test_json_rpc_operation_is_read_from_the_verified_content(side):
    policy = Policy(
        required_for=["create_media_buy"], protocol_methods_required_for=["tasks/cancel"], resolver=JSONRPCResolver()
    )
    gate = side(policy=policy)
    assert gate.unsigned("POST", "/mcp", call_of("create_media_buy")) == (401, "request_signature_required")
    assert gate.unsigned("POST", "/mcp", call_of("get_products")) == (200, None)
    assert gate.unsigned("POST", "/mcp", b'{"jsonrpc":"2.0","id":1,"method":"tasks/cancel"}') == (
        401,
        "request_signature_required",
    )
    assert gate.signed("POST", "/mcp", call_of("create_media_buy")) == (200, None)
    assert gate.calls[-1].signature.operation.name == "create_media_buy"


def message_of(*skills: str) -> bytes:
    parts = [{"data": {"skill": skill, "input": {}}} for skill in skills]
    message = {"messageId": "m", "role": "ROLE_USER", "parts": parts}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}).encode()


def test_a2a_operation_is_resolved_before_the_signature_is_verified(side):
    gate = side(policy=Policy(required_for=["create_media_buy"], resolver=A2AResolver()))
    fields = [*JSON, ("Signature", "sig1=:AAAA:")]
    two = message_of("get_products", "create_media_buy")
    assert gate.request("POST", "/a2a", fields, two) == (401, "request_body_malformed")
    one = message_of("get_products")
    assert gate.request("POST", "/a2a", fields, one) == (401, "request_signature_header_malformed")
    assert gate.signed("POST", "/a2a", two) == (401, "request_body_malformed")
    assert gate.signed("POST", "/a2a", message_of("create_media_buy")) == (200, None)
    assert gate.signed("POST", "/a2a", one, url=f"{ORIGIN}/p") == (401, "request_signature_invalid")
    assert gate.unsigned("POST", "/a2a", message_of("create_media_buy")) == (401, "request_signature_required")


def test_uncovered_content_is_read_when_it_names_the_operation(party):
    profile = profiles.ADCP_3_1
    signer = Signer(party.key, profile=profile)
    policy = Policy(required_for=["create_media_buy"], resolver=JSONRPCResolver())
    gate = OverASGI(party, profile=profile, policy=policy)
    body = call_of("create_media_buy")
    signed = signer.sign(Request("POST", f"{ORIGIN}/mcp", JSON, body))
    assert gate.request("POST", "/mcp", [*JSON, *signed], body) == (200, None)
    assert gate.calls[0].operation.name == "create_media_buy"


class ByField:
    """A resolver that needs no content, but comes before the signature."""

    reads_body = comes_first = True

    def resolve(self, request):
        return Operation(request.fields.combined.get("x-operation"))


def test_content_that_is_not_json_is_looked_at_once_and_reaches_the_application(side):
    gate = side(policy=Policy(warn_for=["sync"], resolver=ByField()), fallback=lambda _context: True)
    body = b"not JSON " * 400
    failed = [*gate.party.fields("POST", f"{ORIGIN}/p", b"other", JSON), ("X-Operation", "sync")]
    failed = [(name, "sig1=:AAAA:" if name == "Signature" else value) for name, value in failed]
    assert gate.request("POST", "/p", failed, body) == (200, None)
    assert gate.calls[0].body == body
    assert gate.decisions[-1].outcome == "warned"


def test_signed_request_is_freed_without_the_collector(side):
    gate = side(policy=Policy(required_for=["create_media_buy"]), on_decision=None)
    held: list[weakref.ref] = []
    application = gate.app.app

    def noting(context, *others):
        held.append(weakref.ref(context.get("wsgi.input") or others[0]))
        return application(context, *others)

    gate.app.app = noting
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        assert gate.signed("POST", BUY, BODY) == (200, None)
        gate.calls.clear()
        assert held[0]() is None
    finally:
        if was_enabled:
            gc.enable()


def test_every_request_makes_one_decision(side):
    gate = side(policy=Policy(required_for=["create_media_buy"]))
    gate.signed("POST", BUY, BODY)
    gate.unsigned("POST", BUY, BODY)
    gate.unsigned("GET", "/adcp/get_products")
    gate.signed("POST", BUY, BODY, url=f"{ORIGIN}/p")
    gate.unsigned("POST", BUY, BODY, host="evil.example")
    told = [(d.outcome, d.code, d.step, d.keyid, d.tag, d.origin) for d in gate.decisions]
    tag = profiles.ADCP_3_2.selection.tag
    assert told == [
        ("verified", None, None, "buyer-2026", tag, ORIGIN),
        ("rejected", "request_signature_required", CHECKS[0], None, None, ORIGIN),
        ("unsigned", None, None, None, None, ORIGIN),
        ("rejected", "request_signature_invalid", CHECKS[10], "buyer-2026", tag, ORIGIN),
        ("rejected", "request_signature_required", CHECKS[0], None, None, None),
    ]
    assert [(told.profile, told.method, told.algorithm) for told in gate.decisions] == [
        ("adcp-3.2", "POST", "ed25519"),
        ("adcp-3.2", "POST", None),
        ("adcp-3.2", "GET", None),
        ("adcp-3.2", "POST", "ed25519"),
        ("adcp-3.2", "POST", None),
    ]
    assert all(decision.seconds > 0 for decision in gate.decisions)
    assert 0 <= gate.decisions[0].skew < 60
    assert 0 <= gate.decisions[3].skew < 60


def test_unavailable_source_makes_an_unavailable_decision_and_is_logged_with_its_cause(side, caplog):
    class Down:
        blocking = False

        def find(self, _keyid):
            raise ConnectionError("the directory is down")

    gate = side(keys=Down())
    assert gate.signed("GET", "/p") == (503, "request_signature_jwks_unavailable")
    assert (gate.decisions[0].outcome, gate.calls) == ("unavailable", [])
    assert "the directory is down" in caplog.text


def test_rejection_of_an_unread_request_is_logged_and_makes_a_decision(side, caplog):
    gate = side(max_body=10)
    caplog.clear()
    with caplog.at_level(logging.INFO, "undersigned"):
        assert gate.signed("POST", "/adcp/get_products", BODY) == (413, "content_too_large")
        assert gate.request("GET", "/p", [(f"X-{at}", "") for at in range(200)])[0] == 431
    assert [(told.outcome, told.code, told.step) for told in gate.decisions] == [
        ("rejected", "content_too_large", None),
        ("rejected", "request_header_fields_too_large", None),
    ]
    told = [(told.origin, told.method, told.keyid) for told in gate.decisions]
    assert told == [(ORIGIN, "POST", "buyer-2026"), (None, "GET", None)]
    assert caplog.records[0].signature_code == "content_too_large"
    large, many = caplog.messages
    assert large.startswith("request rejected: content_too_large: the body is larger than max_body (POST /adcp/")
    assert large.endswith(f"status: 413; keyid: buyer-2026). Fix: {UNREAD['content_too_large'][1]}")
    assert many.startswith("request rejected: request_header_fields_too_large: there are too many headers: at ")
    assert many.endswith(f"status: 431). Fix: {UNREAD[TOO_MANY][1]}")


def test_exception_of_on_decision_does_not_change_the_answer(side, caplog):
    def broken(_decision):
        raise RuntimeError("metrics are down")

    gate = side(on_decision=broken)
    assert gate.signed("GET", "/p") == (200, None)
    assert "on_decision raised" in caplog.text


def over_http2(gate: Gate, method: str, body: bytes, fields=()) -> tuple[int, str | None]:
    """Send content that no Content-Length declares, as HTTP/2 allows."""
    return gate.request(method, "/adcp/get_products", [*JSON, *fields], body, http2=True)


@pytest.fixture
def http2_side(side):
    return side(policy=Policy(required_for=["create_media_buy"]), http2_server="gunicorn")


def test_undeclared_content_over_http2_is_read_before_the_application_gets_it(http2_side):
    assert over_http2(http2_side, "POST", BODY) == (200, None)
    assert http2_side.calls[0].body == BODY
    assert over_http2(http2_side, "POST", REGISTERS) == (401, "request_signature_required")
    assert over_http2(http2_side, "POST", b"") == (200, None)
    assert [call.body for call in http2_side.calls] == [BODY, b""]


def test_undeclared_content_of_an_operation_that_must_be_signed_is_not_read(http2_side):
    assert http2_side.request("POST", BUY, JSON, BODY, http2=True) == (401, "request_signature_required")
    assert http2_side.reads == 0


def test_signature_over_no_content_is_too_little_for_undeclared_content(http2_side, party):
    signed = party.fields("POST", f"{ORIGIN}/adcp/get_products")
    assert over_http2(http2_side, "POST", BODY, signed) == (401, "request_signature_components_incomplete")
    assert http2_side.calls == []


UPLOAD = [("Content-Type", "application/octet-stream")]
LARGE = b"\x89PNG" + bytes(200_000)


@pytest.mark.parametrize("body", [BODY, b"plan", LARGE, b" " * 2000 + BODY, b""])
@pytest.mark.parametrize("fails", ["early", "late"])
def test_application_gets_undeclared_content_whose_signature_is_forgiven(side, party, body, fails):
    gate = side(
        policy=Policy(warn_for=["get_products"]),
        fallback=lambda _context: True,
        http2_server="gunicorn",
        keys=None if fails == "late" else KEYS,
    )
    # Late: the key and the signature are good, and the content is another.
    signed = party.fields("POST", f"{ORIGIN}/adcp/get_products", b"another", UPLOAD)
    assert gate.request("POST", "/adcp/get_products", signed, body, http2=True) == (200, None)
    assert [(call.body, call.signature) for call in gate.calls] == [(body, None)]
    assert [decision.outcome for decision in gate.decisions] == ["warned"]


UNCOVERED = profiles.ADCP_3_2.derive(
    digest=DigestRule("either"), coverage=CoverageRule(always=("@method", "@target-uri", "@authority"))
)


@pytest.mark.parametrize(("policy", "method"), [(None, "POST"), (Policy(), "POST"), (None, "DELETE")])
@pytest.mark.parametrize("body", [BODY, LARGE, b""])
def test_application_gets_undeclared_content_that_a_profile_lets_uncovered(side, party, policy, method, body):
    signed = Signer(party.key, profile=UNCOVERED).sign(Request(method, f"{ORIGIN}/adcp/get_products"))
    gate = side(profile=UNCOVERED, policy=policy, http2_server="gunicorn")
    assert gate.request(method, "/adcp/get_products", [*UPLOAD, *signed], body, http2=True) == (200, None)
    assert [call.body for call in gate.calls] == [body]


@pytest.mark.parametrize("http2", [False, True])
def test_resolver_reads_content_that_a_profile_lets_uncovered(side, party, http2):
    signed = Signer(party.key, profile=UNCOVERED).sign(Request("POST", f"{ORIGIN}/mcp"))
    gate = side(profile=UNCOVERED, policy=Policy(resolver=JSONRPCResolver()), http2_server="gunicorn")
    body = call_of("create_media_buy")
    assert gate.request("POST", "/mcp", [*JSON, *signed], body, http2=http2) == (200, None)
    assert [(call.operation.name, call.body) for call in gate.calls] == [("create_media_buy", body)]
    assert len(gate.calls[0].signature.content) == 0


ANY = profiles.ADCP_3_2.derive(selection=profiles.ADCP_3_2.selection._replace(pick="any"))


@pytest.mark.parametrize(("sent", "status"), [("get_products", 200), ("create_media_buy", 401)])
def test_signature_over_undeclared_content_counts_and_not_the_first_one(side, party, sent, status):
    url, body = f"{ORIGIN}/mcp", call_of("get_products")
    fields = [*party.fields("POST", url)]
    for name, value in party.fields("POST", url, body, JSON):
        fields.append((name, value.replace("sig1=", "sig2=") if name.startswith("Signature") else value))
    gate = side(profile=ANY, policy=Policy(resolver=JSONRPCResolver()), http2_server="gunicorn")
    assert gate.request("POST", "/mcp", fields, call_of(sent), http2=True)[0] == status
    assert len(gate.calls) == (status == 200)


@pytest.mark.parametrize("resolver", [A2AResolver(), JSONRPCResolver()])
def test_undeclared_content_that_names_the_operation_must_be_covered(side, party, resolver):
    body = call_of("create_media_buy")
    gate = side(policy=Policy(required_for=["create_media_buy"], resolver=resolver), http2_server="gunicorn")
    status, _ = over_http2(gate, "POST", body, party.fields("POST", f"{ORIGIN}/adcp/get_products"))
    assert (status, gate.calls) == (401, [])
    covered = party.fields("POST", f"{ORIGIN}/adcp/get_products", body)
    assert gate.request("POST", "/adcp/get_products", covered, body, http2=True) == (200, None)
    assert gate.calls[0].operation.name == "create_media_buy"


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("resolver", [A2AResolver(), JSONRPCResolver()])
def test_undeclared_content_gives_the_operation_that_declared_content_gives(side, party, resolver, method):
    body, found = call_of("create_media_buy"), []
    gate = side(policy=Policy(resolver=resolver), http2_server="gunicorn")
    for http2 in (False, True):
        covered = party.fields(method, f"{ORIGIN}/adcp/get_products", body)
        status, _ = gate.request(method, "/adcp/get_products", covered, body, http2=http2)
        found.append((status, [(call.operation, call.body) for call in gate.calls]))
        gate.calls.clear()
    assert found[0] == found[1]
    assert found[0][0] == 200


DIGEST_ONLY = profiles.ADCP_3_2.derive(
    coverage=CoverageRule(always=("@method", "@target-uri", "@authority", "content-digest"))
)


def test_empty_body_whose_digest_is_covered_is_verified(side, party):
    gate = side(profile=DIGEST_ONLY)
    signed = Signer(party.key, profile=DIGEST_ONLY).sign(Request("GET", f"{ORIGIN}/p"))
    assert (gate.request("GET", "/p", signed), gate.calls[0].body) == ((200, None), b"")


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize("policy", [None, Policy()])
def test_undeclared_content_must_be_covered_as_declared_content_is(side, party, policy, method):
    fields = Signer(party.key, profile=DIGEST_ONLY).sign(Request(method, f"{ORIGIN}/adcp/get_products", (), BODY))
    gate = side(policy=policy, http2_server="gunicorn")
    assert over_http2(gate, method, BODY, fields) == (401, "request_signature_components_incomplete")
    assert gate.calls == []


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_undeclared_content_must_have_one_reading(side, party, method):
    twice = b'{"plan_id":"a","plan_id":"b"}'
    fields = party.fields(method, f"{ORIGIN}/adcp/get_products", twice)
    gate = side(http2_server="gunicorn")
    status = gate.request(method, "/adcp/get_products", fields, twice, http2=True)
    assert (status, gate.calls) == ((401, "request_body_malformed"), [])


@pytest.mark.parametrize("fields", [(), [("Content-Length", "0")]])
@pytest.mark.parametrize(
    ("method", "http2"),
    [
        *((method, False) for method in ("GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "QUERY")),
        *((method, True) for method in ("POST", "PUT", "PATCH")),
    ],
)
def test_content_that_no_field_declares_is_read_before_the_application_gets_it(party, method, http2, fields):
    gate = OverASGI(party, policy=Policy(), http2_server="hypercorn")
    undeclared = Message("/adcp/get_products", method, fields)
    assert gate.send(undeclared, REGISTERS, http2=http2).status == 401
    for body in (LARGE, BODY, b""):
        assert gate.send(undeclared, body, http2=http2).status == 200
    assert [call.body for call in gate.calls] == [LARGE, BODY, b""]


@pytest.mark.parametrize("hostile", ["\x1b[31m", "\x7f", "\x85", "\u202e", "\u2028", "\u200b", "\ufeff"])
def test_text_of_a_message_reaches_the_log_only_escaped(party, caplog, hostile):
    gate, raw = OverASGI(party), hostile.encode().decode("latin-1")
    signed = dict(party.fields("GET", f"{ORIGIN}/p"))
    named = signed["Signature-Input"]
    attempts = [
        ({"path": f"/p{hostile}", "raw_path": f"/p{hostile}".encode()}, {}),
        ({"query_string": hostile.encode()}, {}),
        ({"method": f"GET{hostile}"}, {}),
        ({"http_version": f"9{hostile}"}, {}),
        ({"host": f"{HOST}{raw}"}, {}),
        ({}, {"Signature-Input": named.replace("buyer-2026", f"k{raw}")}),
        ({}, {"Signature-Input": named.replace("@authority", f"@x{raw}")}),
        ({}, {"Signature": f"{signed['Signature']}{raw}"}),
    ]
    with caplog.at_level(logging.DEBUG, "undersigned"):
        caplog.clear()
        for changes, fields in attempts:
            method = changes.pop("method", "GET")
            assert gate.status(method, "/p", {**signed, **fields}.items(), **changes) in {401, 503}
    assert [record.levelname for record in caplog.records].count("WARNING") == len(attempts)
    for record in caplog.records:
        extras = [str(value) for name, value in vars(record).items() if name.startswith("signature_")]
        for text in [*record.getMessage().split("\n"), *extras]:
            assert text.isascii()
            assert text.isprintable()
    assert all(decision.keyid is None or decision.keyid.isprintable() for decision in gate.decisions)


def test_rejected_body_is_logged_by_its_size_and_a_few_truncated_names(side, caplog):
    long, folded = "n" * 100, "a\u202eb"
    members = [(name, "hidden-value") for name in (long, folded, "c", "d", "e", "f") for _ in range(2)]
    body = ("{" + ",".join(f"{json.dumps(name)}:{json.dumps(value)}" for name, value in members) + "}").encode()
    gate = side()
    with caplog.at_level(logging.DEBUG, "undersigned"):
        assert gate.signed("POST", BUY, body) == (401, "request_body_malformed")
    assert f"{len(body)} bytes" in caplog.text
    assert "keyid: buyer-2026" in caplog.text
    assert "nonce" in caplog.text
    assert f"repeated keys: {'n' * 32}, a, c, d" in caplog.text
    assert "n" * 33 not in caplog.text
    assert "hidden-value" not in caplog.text


def test_covered_credential_is_withheld_from_the_log(party, caplog):
    signer = Signer(party.key, profile=profiles.ADCP_3_2, components=["authorization"])
    gate = OverASGI(party)
    fields = [("Authorization", "Bearer hidden-token")]
    signed = signer.sign(Request("GET", f"{ORIGIN}/p", fields))
    with caplog.at_level(logging.DEBUG, "undersigned"):
        assert gate.request("GET", "/q", [*fields, *signed]) == (401, "request_signature_invalid")
    assert '"authorization": (withheld)' in caplog.text
    assert "hidden-token" not in caplog.text


@pytest.mark.parametrize("resolver", [JSONRPCResolver(), A2AResolver()], ids=["json-rpc", "a2a"])
def test_socket_that_could_carry_operations_is_opened_by_a_signed_handshake_only(party, resolver):
    opened = []

    async def endpoint(socket):
        opened.append(socket.scope["undersigned"].signature)
        await socket.accept()
        await socket.close()

    application = Starlette(routes=[WebSocketRoute("/mcp", endpoint)])
    policy = Policy(resolver=resolver)
    app = asgi.SignatureMiddleware(application, verifier=party.verifier(), origins=[ORIGIN], policy=policy)
    client = TestClient(app, base_url=ORIGIN)
    with pytest.raises(WebSocketDenialResponse) as denied, client.websocket_connect(f"wss://{HOST}/mcp"):
        raise AssertionError
    assert (denied.value.status_code, denied.value.json()) == (401, {"error": "request_signature_required"})
    assert opened == []
    with client.websocket_connect(f"wss://{HOST}/mcp", headers=dict(party.fields("GET", f"{ORIGIN}/mcp"))):
        assert opened[0].target_uri == f"{ORIGIN}/mcp"
