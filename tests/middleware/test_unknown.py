"""An unknown signer counts as unsigned if the profile says so and the mode lets unsigned requests through."""

from __future__ import annotations

import http.client
import json
from typing import get_args

import pytest
from tests.keys import key_pair
from tests.middleware.gate import OverWSGI
from tests.serving import waitress_server

from undersigned import (
    ConfigurationError,
    KeyPair,
    KeySet,
    MemoryReplayStore,
    Request,
    SignatureError,
    Signer,
    Verifier,
    asgi,
    wsgi,
)
from undersigned.errors import KeySourceError, Reason
from undersigned.middleware import ErrorResponse
from undersigned.profiles import ADCP_3_2, GNAP, UCP_MCP, UCP_RESPONSE, WEB_BOT_AUTH_STRING
from undersigned.signature.rules import Answers, CoverageRule

ORIGIN = "https://shop.example"
HOST = ("Host", "shop.example")
AGENT = ("Signature-Agent", '"https://bot.example"')
KNOWN = key_pair("ed25519")


class Unavailable:
    blocking = False

    def find(self, _lookup):
        raise KeySourceError("signature_jwks_unavailable", "down")


@pytest.fixture
def make(side):
    def made(profile=WEB_BOT_AUTH_STRING, **options):
        given = {"keys": KNOWN.key_set(), "mode": "optional", **options}
        return side(profile=profile, origins=[ORIGIN], **given)

    return made


def ask(gate, pair, *, profile=WEB_BOT_AUTH_STRING, tamper=False):
    """Send a signed request; return the status, and what the application got of it."""
    gate.calls.clear()
    signed = Signer(pair.signing_key(), profile=profile).sign(Request("GET", f"{ORIGIN}/p", [HOST, AGENT]))
    status = gate.status("GET", "/other" if tamper else "/p", [AGENT, *signed], host=HOST[1])
    return status, ["unsigned" if call.signature is None else "verified" for call in gate.calls]


def test_verified_invalid_and_unknown_are_told_apart(make):
    targets = WEB_BOT_AUTH_STRING.derive(coverage=CoverageRule(always=("@target-uri",)))
    gate = make()
    assert ask(gate, KNOWN) == (200, ["verified"])
    assert ask(gate, KeyPair.generate()) == (200, ["unsigned"])
    assert ask(gate, KNOWN, profile=targets, tamper=True) == (403, [])
    assert ask(gate, KNOWN, profile=ADCP_3_2) == (200, ["unsigned"])
    outcomes = [decision.outcome for decision in gate.decisions]
    assert outcomes == ["verified", "unknown", "rejected", "unknown"]
    assert gate.decisions[1].code == "signature_key_unknown"


def test_unknown_signer_counts_as_unsigned_when_nobody_listens_to_decisions(make):
    assert ask(make(on_decision=None), KeyPair.generate()) == (200, ["unsigned"])


def test_signer_is_unknown_when_its_keys_are_unavailable(make):
    gate = make(keys=Unavailable())
    assert ask(gate, KNOWN) == (200, ["unsigned"])
    assert gate.decisions[0].code == "signature_jwks_unavailable"


def test_unknown_signer_is_rejected_when_the_mode_requires_signatures(make):
    gate = make(mode="required")
    assert ask(gate, KeyPair.generate()) == (403, [])
    asked = gate.ask("GET", "/p", [AGENT], host=HOST[1]).fields["accept-signature"]
    assert asked == 'sig1=("@authority" "signature-agent");created;expires;tag="web-bot-auth"'


def test_unknown_signer_is_rejected_when_the_profile_does_not_excuse_it(make):
    assert ask(make(ADCP_3_2), KeyPair.generate(), profile=ADCP_3_2) == (401, [])


@pytest.mark.parametrize("middleware", [asgi.SignatureMiddleware, wsgi.SignatureMiddleware])
def test_middleware_for_requests_takes_no_profile_for_responses(middleware):
    verifier = Verifier(UCP_RESPONSE, keys=KeySet.from_jwks(KNOWN.public), replay=MemoryReplayStore())
    with pytest.raises(ConfigurationError, match=r"^verifier: its profile, ucp-response, is for responses"):
        middleware(lambda *_: None, verifier=verifier, origins=[ORIGIN])


@pytest.mark.parametrize(
    ("status", "phrase"),
    [(400, "Bad Request"), (413, "Content Too Large"), (422, "Unprocessable Content"), (499, "Error")],
)
def test_status_of_the_profile_is_answered_with_its_phrase(party, status, phrase):
    answers = Answers(statuses={"signature_required": status}, member="code", text_member="content", challenge="none")
    with waitress_server(OverWSGI(party, profile=ADCP_3_2.derive(answers=answers)).app) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/p", headers={"Host": "shop.example"})
        answer = connection.getresponse()
        assert (answer.status, answer.reason, answer.getheader("WWW-Authenticate")) == (status, phrase, None)
        assert json.loads(answer.read()) == {"code": "signature_required", "content": "signature required"}
        connection.close()


@pytest.mark.parametrize(
    ("change", "rpc_code", "status", "code"),
    [
        ({"Signature": ""}, -32000, 401, "signature_missing"),
        ({"Idempotency-Key": "b"}, -32000, 401, "signature_invalid"),
        ({"UCP-Agent": "x"}, -32000, 401, "signature_invalid"),
        ({"body": b"[]"}, -32600, 400, "digest_mismatch"),
    ],
)
def test_rejection_over_mcp_is_a_json_rpc_error(change, rpc_code, status, code):
    pair = KeyPair.generate()
    request = Request(
        "POST",
        f"{ORIGIN}/p",
        [("Content-Type", "application/json"), ("Idempotency-Key", "a"), ("UCP-Agent", 'profile="https://a.example"')],
        b"{}",
    )
    fields = dict([*request.fields, *Signer(pair.signing_key(), profile=UCP_MCP).sign(request)]) | change
    content = fields.pop("body", request.body)
    sent = [(name, value) for name, value in fields.items() if change.get("Signature") != "" or "ignature" not in name]
    verifier = Verifier(UCP_MCP, keys=pair.key_set(), replay=MemoryReplayStore())
    with pytest.raises(SignatureError) as caught:
        verifier.verify(Request("POST", request.url, sent, content))
    answer = ErrorResponse.of(caught.value)
    error = {"code": rpc_code, "message": code.replace("_", " ")}
    data = {"code": code, "content": code.replace("_", " ")}
    assert answer.status == status
    assert json.loads(answer.body) == {"jsonrpc": "2.0", "id": None, "error": {**error, "data": data}}


@pytest.mark.parametrize("reason", get_args(Reason))
def test_bot_is_never_told_to_authenticate_by_401(reason):
    answer = ErrorResponse.of(WEB_BOT_AUTH_STRING.error(reason, step=0, detail=""))
    assert answer.status in {400, 403, 429, 503}


@pytest.mark.parametrize(
    ("profile", "mode", "expected"),
    [
        (GNAP, "optional", (200, "unsigned")),
        (GNAP, "required", (401, "rejected")),
        (ADCP_3_2, "optional", (401, "rejected")),
    ],
    ids=["optional", "required", "AdCP"],
)
def test_signature_of_another_scheme_alone_is_left_alone_but_for_adcp(caplog, make, profile, mode, expected):
    gate = make(profile, mode=mode)
    other = [("Signature", 'keyId="k",headers="date",signature="AAAA"')]
    status = gate.status("GET", "/p", other, host=HOST[1])
    assert (status, gate.decisions[0].outcome) == expected
    assert mode == "optional" or "draft-cavage" in caplog.text
