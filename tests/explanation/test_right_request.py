"""The request as its sender signed it: found from the base, verified, and None if nothing verifies."""

from __future__ import annotations

import json

import pytest
from tests.keys import BODY, JSON_FIELD, KEY, KEYS, NOW, URL, replace_parts, signed_request, with_field

from undersigned import Request, canonicalize
from undersigned.explanation import Budget, explain_request, right_request
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import serialize_byte_sequence
from undersigned.profiles import ADCP_3_2
from undersigned.profiles.experimental import AAUTH
from undersigned.signature.components import ComponentValues, signature_base
from undersigned.signature.rules import CoverageRule, Selection

HOST = ("Host", "seller.example.com")
ANY = AAUTH.derive(name="any", coverage=CoverageRule(always=("@method",)), selection=Selection(label="sig1"))


def find_right(request, profile=ADCP_3_2, **options):
    explained = explain_request(request, profile, KEYS, now=NOW, budget=Budget(seconds=600))
    return right_request(request, profile, KEYS, now=NOW, signers_base=explained.signers_base, **options)


def test_verified_request_is_right_as_it_is():
    request = signed_request()
    assert find_right(request) == request


@pytest.mark.parametrize(
    ("signed", "received"),
    [
        ("https://seller.example.com/a%2Fb?x=1", "https://seller.example.com/a/b?x=1"),
        ("https://seller.example.com/a?", "https://seller.example.com/a"),
        ("https://seller.example.com/a?b=1&a=2", "https://seller.example.com/a?a=2&b=1"),
        ("http://seller.example.com/a", "https://seller.example.com/a"),
    ],
)
def test_target_is_the_one_that_was_signed(signed, received):
    request = signed_request(url=signed)
    right = find_right(replace_parts(request, url=received))
    assert (right.url, dict(right.fields), right.body) == (signed, dict(request.fields), BODY)


def test_host_and_method_are_the_ones_that_were_signed():
    request = signed_request(fields=[HOST, JSON_FIELD])
    moved = with_field(
        replace_parts(request, url=URL.replace("seller.", "backend."), method="PUT"), "host", "backend.example.com"
    )
    right = find_right(with_field(moved, "x-forwarded-host", "seller.example.com"))
    assert (right.method, right.url, right.fields.combined["host"]) == ("POST", URL, "seller.example.com")


def test_field_is_the_one_that_was_signed():
    request = signed_request(fields=[("Content-Type", "application/json")])
    right = find_right(with_field(request, "content-type", "application/json; charset=utf-8"))
    assert right.fields.combined["content-type"] == "application/json"


def test_content_is_the_one_that_was_signed():
    body = json.dumps({"b": 1, "a": [2]}).encode()
    request = signed_request(body=body, fields=[JSON_FIELD, ("Content-Length", str(len(body)))])
    right = find_right(replace_parts(request, body=json.dumps(json.loads(body), separators=(",", ":")).encode()))
    assert right.body == body
    assert "content-length" not in right.fields.combined


@pytest.mark.parametrize("query", ["?q=1", "?"])
def test_components_of_the_target_are_the_ones_that_were_signed(query):
    signed = Request("GET", f"http://a.test/p{query.removesuffix('?')}", [("host", "a.test")])
    covered = '"@method" "@scheme" "@authority" "@path" "@query" "@query-param";name="q"'
    if query == "?":
        covered = covered.rpartition(" ")[0]
    parameters = f'({covered});created={NOW};keyid="buyer-ed25519"'
    first = parse_signature_input(f"sig1={parameters}")["sig1"]
    base = signature_base(ComponentValues(signed, canonicalize(signed.url)), first.components, first.text)
    signature = serialize_byte_sequence(KEY.sign(base.encode("ascii")), "base64")
    fields = [("host", "b.test"), ("signature-input", f"sig1={parameters}"), ("signature", f"sig1={signature}")]
    received = Request("POST", f"https://b.test/other{query.removesuffix('?')}", fields)
    right = right_request(received, ANY, KEYS, now=NOW, signers_base=base)
    assert (right.method, right.url, right.fields.combined["host"]) == ("GET", signed.url, "a.test")


def test_nothing_is_right_if_nothing_verifies():
    request = signed_request()
    assert find_right(with_field(request, "signature", "sig1=:" + "A" * 86 + "==:")) is None
    assert find_right(replace_parts(request, body=b"other")) is None
    assert find_right(Request("GET", URL, [HOST])) is None


def test_request_without_its_content_is_right_up_to_the_content():
    request = signed_request()
    without = Request(request.method, request.url.replace("create", "%63reate"), request.fields, b"", has_body=True)
    assert find_right(without) is None
    assert find_right(without, is_whole=False).has_body
