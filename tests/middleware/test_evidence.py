"""The evidence of a decision: what a listener may read of a request, what is masked, and when it is computed."""

from __future__ import annotations

import pytest

from undersigned import Decision, KeyPair, KeySet, MemoryReplayStore, Request, Signer, Verifier
from undersigned.middleware import Evidence
from undersigned.profiles import ADCP_3_2

ORIGIN = "http://localhost:8000"
HOST = ("Host", "localhost:8000")


@pytest.fixture
def make(side):
    return lambda **options: side(**{"origins": [ORIGIN], **options})


def send(gate, target="/p", fields=()) -> int:
    return gate.status("GET", target, fields, host=HOST[1])


def decided(gate, status, target, fields=()):
    """Send a request that is answered with the status; return the decision and its evidence."""
    assert send(gate, target, fields) == status
    (decision,) = gate.decisions
    return decision, decision.evidence()


def sign(party, target="/p", fields=(), **options):
    signer = Signer(party.key, profile=ADCP_3_2, **options)
    return [*fields, *signer.sign(Request("GET", ORIGIN + target, [HOST, *fields]))]


def test_verified_request_is_kept_with_its_base_and_fields(make, party):
    fields = sign(party, "/a%2Fb?x=1")
    decision, kept = decided(make(), 200, "/a%2Fb?x=1", fields)
    assert (decision.outcome, kept.url) == ("verified", f"{ORIGIN}/a%2Fb?x=1")
    assert f'"@target-uri": {ORIGIN}/a%2Fb?x=1' in kept.base.split("\n")
    assert dict(kept.fields)["signature-input"] == dict(fields)["Signature-Input"]


def test_rejected_request_is_kept_with_its_step_and_base(make, party):
    decision, kept = decided(make(), 401, "/other", sign(party))
    told = (decision.outcome, decision.step, kept.url)
    assert told == ("rejected", "target, authority and signature", f"{ORIGIN}/other")
    assert f'"@target-uri": {ORIGIN}/other' in kept.base.split("\n")
    assert kept.detail


def test_request_for_another_origin_is_kept_with_its_target(make, party):
    decision, kept = decided(make(origins=["http://127.0.0.2:9"]), 401, "/p", sign(party))
    assert (decision.code, kept.url, kept.base) == ("request_target_uri_malformed", "/p", None)
    assert "Host localhost:8000, request target /p" in kept.received


def test_unsigned_request_is_kept_with_its_target(make):
    decision, kept = decided(make(mode="optional"), 200, "/p?x=1")
    assert (decision.outcome, kept.url, kept.base, kept.detail) == ("unsigned", "/p?x=1", None, None)


def test_request_with_too_many_fields_is_kept_without_them(make):
    decision, kept = decided(make(), 431, "/p", [(f"x-{at}", "v") for at in range(200)])
    assert (decision.code, kept.fields) == ("request_header_fields_too_large", ())


def test_credentials_are_masked_in_fields_base_and_target(make, party):
    secret, gate = "c4nary", make()
    given = [("Authorization", f"Bearer {secret}"), ("Cookie", f"a={secret}"), ("X-Api-Key", secret), ("X-Kept", "k")]
    target = f"/p?access_token={secret}&client_secret={secret}&x=1"
    covered = ["authorization", "cookie", "x-api-key"]
    for path in (target, target + "&changed"):
        send(gate, path, sign(party, target, given, components=covered))
    verified, rejected = gate.decisions
    assert (verified.outcome, rejected.code) == ("verified", "request_signature_invalid")
    for decision in gate.decisions:
        kept = decision.evidence()
        assert secret not in repr(kept) + repr(decision) + repr(decision.evidence)
        assert '"authorization": (masked)' in kept.base.split("\n")
        assert "access_token=(masked)&client_secret=(masked)&x=1" in kept.url
        assert dict(kept.fields)["x-kept"] == "k"


def test_texts_of_the_sender_are_escaped_and_truncated(make):
    _, kept = decided(make(mode="optional"), 200, "/p", [("X-A", "\x7f<script>"), ("X-B", "b" * 4097)])
    assert dict(kept.fields)["x-a"] == "\\x7f<script>"
    assert dict(kept.fields)["x-b"] == "b" * 4096 + "... (4097 characters)"


def test_evidence_of_a_decision_made_by_hand_is_empty():
    assert Decision(outcome="unsigned", profile="p", seconds=0.0).evidence() == Evidence()


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
def test_evidence_tells_whether_all_origins_are_of_this_machine(make, origins, is_local):
    assert decided(make(mode="optional", origins=origins), 200, "/p")[1].is_local is is_local


@pytest.mark.parametrize(("owner", "told"), [("", 1), ("acme", 0)])
def test_log_names_once_a_key_without_an_owner(make, owner, told, caplog):
    pairs = [KeyPair.generate(keyid=f"key-{number}") for number in range(3)]
    public = [key for pair in pairs for key in pair.public["keys"]]
    verifier = Verifier(ADCP_3_2, keys=KeySet.from_jwks({"keys": public}, owner=owner), replay=MemoryReplayStore())
    gate = make(verifier=verifier)
    for pair in (pairs[0], pairs[0], pairs[1], pairs[2]):
        fields = list(Signer(pair.signing_key(), profile=ADCP_3_2).sign(Request("GET", f"{ORIGIN}/p", [HOST])))
        assert send(gate, "/p", fields) == 200
    assert len(caplog.messages) == told
    assert caplog.text.count("signature.signer is empty, as the key key-0 has no owner: ") == told
