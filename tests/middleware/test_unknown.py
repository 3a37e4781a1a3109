"""An unknown signer counts as unsigned if the profile says so and the mode lets unsigned requests through."""

from __future__ import annotations

import contextlib
import http.client
import json
from typing import get_args

import pytest
from tests.keys import key_pair
from tests.serving import uvicorn_server, waitress_server

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
AGENT = ("Signature-Agent", '"https://bot.example"')
KNOWN = key_pair("ed25519")


class Unavailable:
    blocking = False

    def find(self, _lookup):
        raise KeySourceError("signature_jwks_unavailable", "down")


def serve(kind, decisions, profile=WEB_BOT_AUTH_STRING, *, mode="optional", keys=None):
    verifier = Verifier(profile, keys=keys or KNOWN.key_set(), replay=MemoryReplayStore())
    options = {"verifier": verifier, "origins": [ORIGIN], "mode": mode}
    if decisions is not None:
        options["on_decision"] = decisions.append

    async def application(scope, _receive, send):
        signature = scope["undersigned"].signature
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"unsigned" if signature is None else b"verified"})

    def wsgi_application(environ, start_response):
        start_response("200 OK", [])
        return [b"unsigned" if environ["undersigned"].signature is None else b"verified"]

    if kind == "asgi":
        return uvicorn_server(asgi.SignatureMiddleware(application, **options))
    return waitress_server(wsgi.SignatureMiddleware(wsgi_application, **options))


def ask(port, pair, *, profile=WEB_BOT_AUTH_STRING, tamper=False):
    request = Request("GET", f"{ORIGIN}/p", [("Host", "shop.example"), AGENT])
    fields = dict([*request.fields, *Signer(pair.signing_key(), profile=profile).sign(request)])
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", "/other" if tamper else "/p", headers=fields)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("Accept-Signature")
    finally:
        connection.close()


KINDS = pytest.mark.parametrize("kind", ["asgi", "wsgi"])


@KINDS
def test_verified_invalid_and_unknown_are_told_apart(kind):
    decisions = []
    targets = WEB_BOT_AUTH_STRING.derive(coverage=CoverageRule(always=("@target-uri",)))
    with serve(kind, decisions) as port:
        assert ask(port, KNOWN)[:2] == (200, b"verified")
        assert ask(port, KeyPair.generate())[:2] == (200, b"unsigned")
        forged = ask(port, KNOWN, profile=targets, tamper=True)
        assert forged[0] == 403
        assert forged[2] == 'sig1=("@authority" "signature-agent");created;expires;tag="web-bot-auth"'
        assert ask(port, KNOWN, profile=ADCP_3_2)[:2] == (200, b"unsigned")
    outcomes = [decision.outcome for decision in decisions]
    assert outcomes == ["verified", "unknown", "rejected", "unknown"]
    assert decisions[1].code == "signature_key_unknown"


@KINDS
def test_unknown_signer_counts_as_unsigned_when_nobody_listens_to_decisions(kind):
    with serve(kind, None) as port:
        assert ask(port, KeyPair.generate())[:2] == (200, b"unsigned")


@KINDS
def test_signer_is_unknown_when_its_keys_are_unavailable(kind):
    decisions = []
    with serve(kind, decisions, keys=Unavailable()) as port:
        assert ask(port, KNOWN)[:2] == (200, b"unsigned")
    assert decisions[0].code == "signature_jwks_unavailable"


@KINDS
def test_unknown_signer_is_rejected_when_the_mode_requires_signatures(kind):
    with serve(kind, [], mode="required") as port:
        assert ask(port, KeyPair.generate())[0] == 403


@KINDS
def test_unknown_signer_is_rejected_when_the_profile_does_not_excuse_it(kind):
    with serve(kind, [], ADCP_3_2) as port:
        assert ask(port, KeyPair.generate(), profile=ADCP_3_2)[0] == 401


@pytest.mark.parametrize("middleware", [asgi.SignatureMiddleware, wsgi.SignatureMiddleware])
def test_middleware_for_requests_takes_no_profile_for_responses(middleware):
    verifier = Verifier(UCP_RESPONSE, keys=KeySet.from_jwks(KNOWN.public), replay=MemoryReplayStore())
    with pytest.raises(ConfigurationError, match=r"^verifier: its profile, ucp-response, is for responses"):
        middleware(lambda *_: None, verifier=verifier, origins=[ORIGIN])


@pytest.mark.parametrize(
    ("status", "phrase"),
    [(400, "Bad Request"), (413, "Content Too Large"), (422, "Unprocessable Content"), (499, "Error")],
)
def test_status_of_the_profile_is_answered_with_its_phrase(status, phrase):
    answers = Answers(statuses={"signature_required": status}, member="code", text_member="content", challenge="none")
    with serve("wsgi", [], ADCP_3_2.derive(answers=answers), mode="required") as port:
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


@KINDS
@pytest.mark.parametrize(
    ("profile", "mode", "expected"),
    [
        (GNAP, "optional", (200, "unsigned")),
        (GNAP, "required", (401, "rejected")),
        (ADCP_3_2, "optional", (401, "rejected")),
    ],
    ids=["optional", "required", "AdCP"],
)
def test_signature_of_another_scheme_alone_is_left_alone_but_for_adcp(caplog, kind, profile, mode, expected):
    decisions = []
    fields = {"Host": "shop.example", "Signature": 'keyId="k",headers="date",signature="AAAA"'}
    with serve(kind, decisions, profile, mode=mode) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", "/p", headers=fields)
            status = connection.getresponse().status
    [decision] = decisions
    assert (status, decision.outcome) == expected
    assert mode == "optional" or "draft-cavage" in caplog.text
