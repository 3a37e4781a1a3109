"""What a rejection tells: the request in the decision and in the log, and the answer as the application shapes it."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import pytest
from tests.keys import HOST, ORIGIN

NOW = 1_700_000_000
DENIALS = "application/problem+json"


def ask(gate, target="/p", fields=()):
    """Send a request; return the status, the fields and the content of the answer."""
    answer = gate.ask("GET", target, fields)
    return answer.status, answer.fields, answer.content


def test_decision_and_line_name_the_request(side, caplog):
    gate = side()
    status, _, _ = ask(gate, "/plans?token=hidden")
    (told,) = gate.decisions
    assert (status, told.status, told.method, told.target) == (401, 401, "GET", "/plans?(withheld)")
    assert (told.origin, told.client, told.step) == (ORIGIN, "127.0.0.1", "presence of a signature")
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert f"(GET /plans?(withheld); origin: {ORIGIN}; client: 127.0.0.1; status: 401)" in record.getMessage()
    assert (record.signature_target, record.signature_client) == ("/plans?(withheld)", "127.0.0.1")
    assert "hidden" not in caplog.text + repr(told)


def test_line_of_a_rejected_target_withholds_its_query(side, party, caplog):
    gate = side(origins=["https://other.example"])
    status, _, _ = ask(gate, "/plans?token=hidden", party.fields("GET", f"{ORIGIN}/plans?token=hidden"))
    (record,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert f"received: Host {HOST}, request target /plans?(withheld)" in record.getMessage()
    assert (status, "hidden" in record.getMessage()) == (401, False)


def test_decision_of_an_invalid_signature_has_the_rebuilt_target_uri_and_the_claimed_key(side, caplog):
    gate = side()
    ask(gate, "/other?secret=hidden", gate.party.fields("GET", f"{ORIGIN}/p"))
    (told,) = gate.decisions
    assert (told.code, told.target_uri) == ("request_signature_invalid", f"{ORIGIN}/other?(withheld)")
    assert told.keyid == "buyer-2026"
    assert f"keyid: buyer-2026; @target-uri: {ORIGIN}/other?(withheld))" in caplog.text


@pytest.mark.parametrize(
    ("parameters", "keyid", "off"),
    [
        ('created=1699999000;expires=1699999100;keyid="who"', "who", 900),
        ('created=1700000500;expires=1700000600;keyid="who"', "who", -500),
        ("created=1699999999;expires=1700000600;keyid=1", None, None),
        ('expires=1699999100;keyid="who"', "who", None),
        ('created="1";keyid="who\\"\\\\"', 'who"\\\\', None),
    ],
    ids=["ended", "begins later", "too long", "incomplete", "of other types"],
)
def test_rejected_request_tells_the_key_it_claims_and_how_far_off_its_time_is(
    party, side, caplog, parameters, keyid, off
):
    gate = side(verifier=party.verifier(clock=lambda: NOW))
    claimed = f'sig1=("@method" "@target-uri" "@authority");{parameters};nonce="AAAAAAAAAAAAAAAAAAAAAA"'
    claimed += ';alg="ed25519";tag="adcp/request-signing/v1"'
    ask(gate, fields=[("Signature-Input", claimed), ("Signature", "sig1=:AAAA:")])
    (told,) = gate.decisions
    assert (told.keyid, told.seconds_off) == (keyid, off)
    assert ("it ended 900 seconds ago" in caplog.text) == (off == 900)
    assert ("it begins in 500 seconds" in caplog.text) == (off == -500)


@pytest.mark.parametrize("value", ["", "sig1", 'sig1=("', 'a=("@method"), a=("@method")'])
def test_unreadable_signature_claims_no_key(side, value):
    gate = side()
    assert ask(gate, fields=[("Signature-Input", value), ("Signature", "sig1=:AAAA:")])[0] == 401
    assert gate.decisions[0].keyid is None


def problem(response, _request):
    content = json.dumps({"type": "about:blank", "title": response.code}).encode()
    return response.with_content(content, DENIALS, fields=[("X-Shaped", "1")])


def test_rejection_shapes_the_answer_and_keeps_status_and_challenge(side):
    gate = side(rejection=problem)
    status, fields, content = ask(gate)
    assert (status, json.loads(content)["title"]) == (401, "request_signature_required")
    assert (fields["content-type"], fields["x-shaped"]) == (DENIALS, "1")
    assert fields["www-authenticate"] == 'Signature error="request_signature_required"'
    assert fields["content-length"] == str(len(content))
    assert "accept-signature" in fields


def test_rejection_may_change_the_status_and_the_decision_tells_it(side):
    gate = side(rejection=lambda response, _request: replace(response, status=403, others=()))
    status, fields, _ = ask(gate)
    assert (status, gate.decisions[0].status, "www-authenticate" in fields) == (403, 403, False)


def test_rejection_gets_the_request_as_the_server_has_it(side):
    given = []

    def shape(response, request):
        given.append(request)
        return response

    gate = side(rejection=shape)
    ask(gate)
    (context,) = given
    assert "/p" in (context.get("path"), context.get("PATH_INFO"))


def with_field(name, value):
    return lambda response, _request: response.with_content(b"no", fields=[(name, value)])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda _response, _request: None,
        lambda response, _request: response.nothing,
        *(lambda response, _request, status=status: replace(response, status=status) for status in
          (None, "403", 403.0, 0, 100, 204, 205, 304, 600)),
        lambda response, _request: response.with_content("text"),
        lambda response, _request: response.with_content(b"no", "text/\u20ac"),
        with_field("X-A", "a\r\nX-B: c"), with_field("X-A", "\u20ac"), with_field(b"X-A", b"v"), with_field("X A", "v"),
        with_field("Content-Length", "5"), with_field("Content-Type", "text/html"),
    ],
)  # fmt: skip
def test_function_that_fails_or_returns_what_no_server_can_send_leaves_the_usual_answer(side, caplog, wrong):
    status, _, content = ask(side(rejection=wrong))
    assert (status, content) == (401, b'{"error": "request_signature_required"}')
    assert "rejection raised an exception" in caplog.text


def test_unread_request_is_shaped_too(side):
    for others, answered in ((99, 401), (100, 431)):
        status, fields, _ = ask(side(rejection=problem), fields=[(f"x-{at}", "v") for at in range(others)])
        assert (status, fields["content-type"]) == (answered, DENIALS)


def test_unsigned_request_passes_by_the_mode_and_is_logged_with_its_target_if_that_is_observe(side, caplog):
    gate, optional = side(mode="observe"), side(mode="optional")
    caplog.clear()
    assert (ask(optional, "/p?x=1")[0], caplog.text) == (200, "")
    assert ask(gate, "/p?x=1")[0] == 200
    assert "unsigned request: " in caplog.text
    assert "(GET /p?(withheld); " in caplog.text


def test_route_that_rejects_a_request_too_large_to_be_signed_answers_414_or_431(side):
    gate = side(mode="optional")
    gate.run = lambda context: gate.interface.verified_signature(context, route="/r")
    answered = [
        gate.request("GET", "/" + "a" * 8999),
        gate.request("GET", "/" + "a" * 9000),
        gate.request("GET", "/p", [("n" * 16_384, "v")]),
    ]
    assert answered == [
        (401, "request_signature_required"),
        (414, "uri_too_long"),
        (431, "request_header_fields_too_large"),
    ]
    assert [(told.status, told.code) for told in gate.decisions[1::2]] == answered
