"""The evidence of a decision: what a listener may read of a request, what is masked, and when it is computed."""

from __future__ import annotations

import flask
import pytest
from starlette.testclient import TestClient
from werkzeug.test import Client

import undersigned_flask
from undersigned import Decision, KeyPair, KeySet, MemoryReplayStore, Request, Signer, Verifier, asgi, wsgi
from undersigned.middleware import Evidence
from undersigned.profiles import ADCP_3_2

ORIGIN = "http://localhost:8000"
HOST = ("Host", "localhost:8000")
KINDS = pytest.mark.parametrize("kind", ["asgi", "wsgi"])


async def asgi_app(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def wsgi_app(_environ, start_response):
    start_response("200 OK", [])
    return [b""]


def send(kind, party, decisions, method="GET", target="/p", fields=(), **options):
    """Send a request to an application on loopback, and return the status of the answer."""
    options = {"verifier": party.verifier(), "origins": [ORIGIN], "on_decision": decisions.append, **options}
    if kind == "asgi":
        client = TestClient(asgi.SignatureMiddleware(asgi_app, **options), base_url=ORIGIN)
        return client.request(method, target, headers=dict(fields)).status_code
    client = Client(wsgi.SignatureMiddleware(wsgi_app, **options), use_cookies=False)
    return client.open(target, method=method, base_url=ORIGIN, headers=list(fields)).status_code


def sign(party, target="/p", fields=(), **options):
    signer = Signer(party.key, profile=ADCP_3_2, **options)
    return [*fields, *signer.sign(Request("GET", ORIGIN + target, [HOST, *fields]))]


@KINDS
def test_verified_request_is_kept_with_its_base_and_fields(kind, party):
    decisions = []
    fields = sign(party, "/a%2Fb?x=1")
    assert send(kind, party, decisions, target="/a%2Fb?x=1", fields=fields) == 200
    (decision,) = decisions
    kept = decision.evidence()
    assert (decision.outcome, kept.url) == ("verified", f"{ORIGIN}/a%2Fb?x=1")
    assert f'"@target-uri": {ORIGIN}/a%2Fb?x=1' in kept.base.split("\n")
    assert dict(kept.fields)["signature-input"] == dict(fields)["Signature-Input"]


@KINDS
def test_rejected_request_is_kept_with_its_step_and_base(kind, party):
    decisions = []
    assert send(kind, party, decisions, target="/other", fields=sign(party)) == 401
    (decision,) = decisions
    kept = decision.evidence()
    assert (decision.outcome, decision.step, kept.url) == (
        "rejected",
        "target, authority and signature",
        f"{ORIGIN}/other",
    )
    assert f'"@target-uri": {ORIGIN}/other' in kept.base.split("\n")
    assert kept.detail


@KINDS
def test_request_for_another_origin_is_kept_with_its_target(kind, party):
    decisions = []
    assert send(kind, party, decisions, fields=sign(party), origins=["http://127.0.0.2:9"]) == 401
    (decision,) = decisions
    kept = decision.evidence()
    assert (decision.code, kept.url, kept.base) == ("request_target_uri_malformed", "/p", None)
    assert "Host localhost:8000, request target /p" in kept.received


@KINDS
def test_unsigned_request_is_kept_with_its_target(kind, party):
    decisions = []
    assert send(kind, party, decisions, target="/p?x=1", mode="optional") == 200
    (decision,) = decisions
    kept = decision.evidence()
    assert (decision.outcome, kept.url, kept.base, kept.detail) == ("unsigned", "/p?x=1", None, None)


@KINDS
def test_request_with_too_many_fields_is_kept_without_them(kind, party):
    decisions = []
    assert send(kind, party, decisions, fields=[(f"x-{at}", "v") for at in range(200)]) == 431
    (decision,) = decisions
    kept = decision.evidence()
    assert (decision.code, kept.fields) == ("request_header_fields_too_large", ())


@KINDS
def test_credentials_are_masked_in_fields_base_and_target(kind, party):
    decisions = []
    secret = "c4nary"
    given = [("Authorization", f"Bearer {secret}"), ("Cookie", f"a={secret}"), ("X-Api-Key", secret), ("X-Kept", "k")]
    target = f"/p?access_token={secret}&client_secret={secret}&x=1"
    covered = ["authorization", "cookie", "x-api-key"]
    for path in (target, target + "&changed"):
        send(kind, party, decisions, target=path, fields=sign(party, target, given, components=covered))
    verified, rejected = decisions
    assert (verified.outcome, rejected.code) == ("verified", "request_signature_invalid")
    for decision in decisions:
        kept = decision.evidence()
        assert secret not in repr(kept) + repr(decision) + repr(decision.evidence)
        assert '"authorization": (masked)' in kept.base.split("\n")
        assert "access_token=(masked)&client_secret=(masked)&x=1" in kept.url
        assert dict(kept.fields)["x-kept"] == "k"


def test_texts_of_the_sender_are_escaped_and_truncated(party):
    decisions = []
    fields = [("X-A", "\x7f<script>"), ("X-B", "b" * 4097)]
    send("asgi", party, decisions, fields=[(name, value.encode("latin-1")) for name, value in fields], mode="optional")
    (decision,) = decisions
    kept = decision.evidence()
    assert dict(kept.fields)["x-a"] == "\\x7f<script>"
    assert dict(kept.fields)["x-b"] == "b" * 4096 + "... (4097 characters)"


@KINDS
def test_rejection_by_a_route_is_kept_with_its_reason(kind, party):
    decisions = []
    verifier = party.verifier()
    if kind == "asgi":

        async def app(scope, _receive, send):
            with pytest.raises(Exception, match="signature_required"):
                asgi.verified_signature(scope, route="/r")
            await asgi_app(scope, _receive, send)

        TestClient(
            asgi.SignatureMiddleware(
                app, verifier=verifier, origins=[ORIGIN], mode="optional", on_decision=decisions.append
            ),
            base_url=ORIGIN,
        ).get("/r")
    else:
        app = flask.Flask("app")
        app.add_url_rule("/r", view_func=undersigned_flask.signature_required(lambda: "ok"))
        undersigned_flask.Undersigned(
            app, verifier=verifier, origins=[ORIGIN], mode="optional", on_decision=decisions.append
        )
        app.test_client().get("/r", base_url=ORIGIN)
    unsigned, rejected = decisions
    assert (unsigned.outcome, rejected.outcome, rejected.evidence().url) == ("unsigned", "rejected", "/r")
    assert (rejected.route, rejected.evidence().detail) == (
        "/r",
        "the route requires a signature; the request has none",
    )


def test_evidence_of_a_decision_made_by_hand_is_empty():
    assert Decision(outcome="unsigned", profile="p", seconds=0.0).evidence() == Evidence()


@KINDS
@pytest.mark.parametrize(
    ("origins", "is_local"),
    [
        (["http://127.0.0.1:5000", "http://127.0.0.2", "http://[::1]:8000", "https://a.localhost"], True),
        (["https://seller.example.com"], False),
        (["http://localhost:8000", "https://seller.example.com"], False),
        (["http://localhost:8000", "https://*.example.com"], False),
        (["http://192.168.0.1"], False),
        (["http://localhost.example"], False),
        (["http://127.1"], False),
        (lambda authority: f"http://{authority}", False),
    ],
    ids=["local", "public", "one public", "pattern", "private address", "lookalike", "no address", "function"],
)
def test_evidence_tells_whether_all_origins_are_of_this_machine(kind, party, origins, is_local):
    decisions = []
    send(kind, party, decisions, mode="optional", origins=origins)
    assert decisions[0].evidence().is_local is is_local


@pytest.mark.parametrize(("owner", "told"), [("", 1), ("acme", 0)])
def test_log_names_once_a_key_without_an_owner(owner, told, caplog):
    pairs = [KeyPair.generate(keyid=f"key-{number}") for number in range(3)]
    public = [key for pair in pairs for key in pair.public["keys"]]
    verifier = Verifier(ADCP_3_2, keys=KeySet.from_jwks({"keys": public}, owner=owner), replay=MemoryReplayStore())
    client = Client(wsgi.SignatureMiddleware(wsgi_app, verifier=verifier, origins=[ORIGIN]), use_cookies=False)
    for pair in (pairs[0], pairs[0], pairs[1], pairs[2]):
        fields = list(Signer(pair.signing_key(), profile=ADCP_3_2).sign(Request("GET", f"{ORIGIN}/p", [HOST])))
        assert client.get("/p", base_url=ORIGIN, headers=fields).status_code == 200
    assert len(caplog.messages) == told
    assert caplog.text.count("signature.signer is empty, as the key key-0 has no owner: ") == told
