"""What the page shows of a pasted request and of a live decision, as JSON."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from tests.keys import BODY, JSON_FIELD, JWKS, NOW, PRIVATE, PUBLIC, ed25519_key, signed_request

from undersigned import Decision
from undersigned.errors import CHECKS
from undersigned.middleware import Evidence
from undersigned_inspector.kept import KeptDecisions
from undersigned_inspector.pasted import Unusable, read_pasted
from undersigned_inspector.view import live_view, pasted_view

HOST = ("Host", "seller.example.com")
SIGNED = signed_request(url="https://seller.example.com/a%2Fb?x=1", fields=[HOST, JSON_FIELD])
KEYS = json.dumps(JWKS)


def curl_v(request=SIGNED, target="/a%2Fb?x=1", *more):
    lines = [f"{request.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in request.fields), *more]
    return "".join(f"> {line}\n" for line in [*lines, ""])


def view(request, **texts):
    return pasted_view(read_pasted(json.dumps({"request": request, "keys": KEYS, **texts}).encode()))


def outcomes(shown):
    return {step["step"]: step["outcome"] for step in shown["steps"]}


def test_verified_request_passes_every_checked_step():
    shown = view(curl_v(), body=BODY.decode())
    assert (shown["ok"], shown["title"]) == (True, "Verified: every checked step passes")
    assert set(outcomes(shown).values()) == {"passed", "not checked"}
    assert (shown["cause"], shown["bases"]["signers"]) == ("", [])
    assert dict(shown["facts"])["Digest"] == f"{SIGNED.fields.combined['content-digest']}, as Content-Digest declares"


def test_rejected_request_shows_step_cause_and_first_differing_byte():
    shown = view(curl_v(target="/a/b?x=1"), body=BODY.decode())
    assert shown["title"] == "Rejected at step 10, target, authority and signature: request_signature_invalid"
    assert [step["step"] for step in shown["steps"] if step["outcome"] == "failed"] == ["10"]
    assert "you received /a/b" in shown["cause"]
    assert shown["bases"]["rebuilt"][1] == ['"@target-uri": https://seller.example.com/a', "/", "b?x=1"]
    assert shown["bases"]["signers"][1] == ['"@target-uri": https://seller.example.com/a', "%", "2Fb?x=1"]
    assert shown["bases"]["difference"] == "The bases first differ at byte 59: line 2, column 44."


def test_url_without_a_canonical_form_is_shown_as_such():
    shown = view("GET https://seller.example.com/%zz HTTP/1.1\nHost: seller.example.com\n")
    assert shown["canonicalization"]["error"]
    assert shown["canonicalization"]["result"] is None
    assert shown["bases"] == {"rebuilt": [], "signers": [], "difference": ""}


def test_request_without_its_content_is_checked_up_to_the_content():
    shown = view(curl_v(SIGNED, "/a%2Fb?x=1", "Content-Length: 22"))
    assert (shown["ok"], shown["title"]) == (False, "Verified up to the content, which is not known")
    assert (outcomes(shown)["10"], outcomes(shown)["11"]) == ("passed", "not checked")
    assert "Digest" not in dict(shown["facts"])


def test_content_may_be_a_file():
    assert view(curl_v(), file=base64.b64encode(BODY).decode())["ok"]


def test_changed_content_is_rejected_with_its_cause():
    shown = view(curl_v(), body=BODY.decode() + "\n")
    assert shown["title"].startswith("Rejected at step 11")
    assert "line end" in shown["cause"]
    assert dict(shown["facts"])["Digest"].endswith(", but Content-Digest declares another")


def test_signers_base_that_is_pasted_is_compared():
    rebuilt = "\n".join("".join(line) for line in view(curl_v())["bases"]["rebuilt"])
    shown = view(curl_v(target="/other"), base=rebuilt)
    assert ["".join(line) for line in shown["bases"]["signers"]] == rebuilt.split("\n")
    assert shown["bases"]["signers"][1][1:] == ["a", "%2Fb?x=1"]
    shorter = view(curl_v(target="/other"), base=rebuilt.partition("\n")[0])
    assert shorter["bases"]["signers"][1] == ["", "(its end)", ""]
    assert shorter["bases"]["rebuilt"][1][0] == ""


def test_request_is_cut_into_the_parts_that_components_cover():
    shown = view(curl_v())
    parts = {piece["part"]: piece["text"] for line in shown["request"]["lines"] for piece in line}
    assert (parts["method"], parts["path"], parts["query"]) == ("POST", "/a%2Fb", "?x=1")
    covering = {component["identifier"]: component["parts"] for component in shown["components"]}
    assert covering['"@target-uri"'] == ("host", "path", "query")
    assert covering['"content-digest"'] == ("field content-digest", "body")
    assert covering['"content-type"'] == ("field content-type",)
    assert covering['"@signature-params"'] == ("field signature-input",)


def test_canonicalization_is_shown_rule_by_rule():
    shown = view("GET https://SELLER.example.com:443/a/../b HTTP/1.1\nHost: seller.example.com\n")["canonicalization"]
    changes = {change["rule"]: (change["before"], change["after"]) for change in shown["changes"]}
    assert changes["host-case"][1] == "https://seller.example.com:443/a/../b"
    assert changes["dot-segments"][1] == shown["result"] == "https://seller.example.com/b"
    assert not changes.keys() & set(shown["unchanged"])
    assert all(change["summary"] and change["source"] for change in shown["changes"])


@pytest.mark.parametrize("body", ["\u00e9\x00\u202e<b>", "x" * 5000])
def test_content_is_shown_without_control_characters(body):
    shown = view(curl_v(), body=body)["request"]["body"]
    assert "\x00" not in shown
    assert "\u202e" not in shown
    assert len(shown) < 4200


def test_control_characters_of_a_field_are_shown_escaped():
    shown = view("GET / HTTP/1.1\nHost: a\nX-A: \u202e\x07\n")
    pieces = [piece["text"] for line in shown["request"]["lines"] for piece in line]
    assert "\\xe2\\x80\\xae\\x07" in pieces


def test_options_of_the_page_are_used():
    assert dict(view(curl_v(), profile="ucp")["facts"])["Profile"] == "ucp"
    assert "the given time" in dict(view(curl_v(), now=str(NOW))["facts"])["Checked as of"]
    assert view(curl_v(), now=str(NOW + 10_000))["title"].startswith("Rejected at step 5")
    assert "999999999999999 seconds" in dict(view(curl_v(), now="9" * 15)["facts"])["Checked as of"]
    assert view(curl_v(), scheme="http")["request"]["url"].startswith("http://")
    assert view("GET / HTTP/1.1\nHost: a\n", profile="no such")["title"].startswith("Rejected at step 0")


PEM = ed25519_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


@pytest.mark.parametrize("keys", [KEYS, json.dumps(PUBLIC), PEM], ids=["set", "jwk", "pem"])
def test_keys_may_be_a_set_a_jwk_or_a_pem(keys):
    assert view(curl_v(), keys=keys, body=BODY.decode())["ok"]


@pytest.mark.parametrize("given", ["x", "sig1=()"])
def test_pem_without_a_named_key_is_read(given):
    assert view(f"GET / HTTP/1.1\nHost: a\nSignature-Input: {given}\n", keys=PEM)["title"].startswith("Rejected")


def test_request_without_keys_is_rejected_at_the_key():
    shown = view(curl_v(), keys=" ")
    assert shown["title"].startswith("Rejected at step 7")
    assert len(shown["bases"]["rebuilt"]) == 6


@pytest.mark.parametrize(
    ("texts", "field"),
    [
        ({"request": ""}, "request"),
        ({"request": "nothing s3cret"}, "request"),
        ({"request": "GET / HTTP/1.1\nHost: a\n" + "s3cret: s3cret\n" * 1000}, "request"),
        ({"keys": "s3cret"}, "keys"),
        ({"keys": "[" * 100_000}, "keys"),
        ({"keys": json.dumps(PRIVATE)}, "keys"),
        ({"keys": json.dumps({"keys": "s3cret"})}, "keys"),
        ({"keys": "-----BEGIN PUBLIC KEY-----\ns3cret\n-----END PUBLIC KEY-----"}, "keys"),
        ({"now": "s3cret"}, "now"),
        ({"now": "9" * 16}, "now"),
        ({"file": "*"}, "file"),
    ],
)
def test_what_cannot_be_used_is_named_and_not_quoted(texts, field):
    with pytest.raises(Unusable) as raised:
        view(**{"request": curl_v(), **texts})
    assert raised.value.field == field
    assert "s3cret" not in str(raised.value)
    assert str(PRIVATE["d"]) not in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b"[" * 100_000, b'{"request": 1}'])
def test_other_content_than_the_form_is_rejected(content):
    with pytest.raises(Unusable):
        read_pasted(content)


def show_kept(**members):
    kept = KeptDecisions()
    kept.keep(Decision(**{"profile": "adcp-3.2", "seconds": 0.001, "method": "GET", **members}), Evidence())
    return live_view(kept.after(0)[0])


def test_live_decision_without_a_signature_has_no_steps():
    shown = show_kept(outcome="unsigned")
    assert (shown["title"], shown["ok"], shown["steps"], shown["canonicalization"]) == ("Unsigned", True, [], None)


def test_live_rejection_has_its_step():
    shown = show_kept(outcome="rejected", code="request_signature_invalid", step=CHECKS[10], route="/r")
    assert (shown["title"], shown["summary"]) == ("Rejected: request_signature_invalid", "GET /r")
    assert {step["step"]: step["outcome"] for step in shown["steps"]}.items() >= {
        "8": "passed",
        "10": "failed",
        "11": "not reached",
    }.items()
    assert show_kept(outcome="rejected", code="content_too_large")["steps"] == []


def test_live_verification_passes_every_step():
    assert {step["outcome"] for step in show_kept(outcome="verified", method=None)["steps"]} == {"passed"}
