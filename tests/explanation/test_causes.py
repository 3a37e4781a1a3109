from __future__ import annotations

import base64
import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.explanation.causes import UNKNOWN, of_component

PARAMETERS = '("@method" "x");created=1;keyid="k"'
URL = "https://a.test"


@pytest.mark.parametrize(
    ("name", "here", "signers", "cause"),
    [
        (
            "@target-uri",
            f"{URL}/a/b",
            f"{URL}/a%2Fb",
            "%2F was decoded to / on the way; servers and proxies that decode the path do this",
        ),
        ("@target-uri", f"{URL}/a%2Fb", f"{URL}/a/b", "%2F was decoded"),
        ("@target-uri", f"{URL}/a/b", f"{URL}/a//b", "repeated slashes were merged"),
        ("@target-uri", f"{URL}/a b", f"{URL}/a%20b", "percent-encoded characters were decoded on the way"),
        ("@target-uri", f"{URL}/a/b", f"{URL}/a/b/", "trailing slash"),
        ("@target-uri", f"{URL}/b", f"{URL}/api/b", "the prefix /api was removed on the way"),
        ("@target-uri", f"{URL}/api/b", f"{URL}/b", "the prefix /api was added on the way"),
        ("@target-uri", f"{URL}/a", f"{URL}/b", "the path was rewritten"),
        ("@target-uri", f"{URL}/a%2C%20b", f"{URL}/a,%20b", "the path was percent-encoded differently"),
        ("@target-uri", f"{URL}/a", f"{URL}/a?", "a ? without a query was lost on the way"),
        ("@request-target", "", "?", "a ? without a query was lost on the way"),
        ("@target-uri", f"{URL}/a?", f"{URL}/a", "a ? without a query was lost by the signer"),
        ("@target-uri", f"{URL}/a", f"{URL}/a?b", "the query was lost"),
        ("@target-uri", f"{URL}/a?b", f"{URL}/a", "the query was added"),
        ("@target-uri", f"{URL}/?b&a", f"{URL}/?a&b", "reordered"),
        ("@target-uri", f"{URL}/?a+b", f"{URL}/?a%20b", "encoded again"),
        ("@target-uri", f"{URL}/?a", f"{URL}/?b", "the query was rewritten"),
        ("@target-uri", f"{URL}/", "http://a.test/", "if a proxy ends TLS"),
        ("@target-uri", f"{URL}/", "https://b.test/", "Host was rewritten"),
        ("@target-uri", f"{URL}/", "HTTPS://A.test:443", "the rules scheme-case, host-case, default-port, empty-path"),
        ("@target-uri", f"{URL}/~", f"{URL}/%7e#x", "the rules unreserved, fragment"),
        ("@target-uri", f"{URL}/", "a.test/", "if a proxy ends TLS"),
        ("@request-target", "/a/b", "/a%2Fb", "%2F was decoded"),
        ("@path", "/a/b", "/a%2Fb", "%2F was decoded"),
        ("@query", "?", "", "a ? without a query was lost by the signer"),
        ("@authority", "a.test", "A.test:443", "canonical form of its authority"),
        ("@authority", "backend:8000", "a.test", "Host was rewritten"),
        ("@authority", "a.test", "a b", "no canonical form"),
        ("@scheme", "https", "http", "if a proxy ends TLS"),
        ("@method", "POST", "post", "different case"),
        ("@method", "GET", "POST", "rewritten"),
        ("@status", "200", "201", "@status was rewritten"),
        ("content-type", "application/json; charset=utf-8", "application/json", "add a charset"),
        ("content-type", "application/json;  a", "application/json; a", "the spaces of content-type"),
        ("x-a", "a,b", "a, b", "the spaces of x-a"),
        ("x-a", "a", "A", "the case of x-a"),
        ("x-a", "a, b", "b", "a value of x-a was added or dropped"),
        ("x-a", "a", "b", "x-a was rewritten"),
        ("x-a", "sig=:a-_b:", "sig=:a+/b=:", "another Base64"),
        ("@signature-params", PARAMETERS, "x", "not a structured field"),
        ("@signature-params", PARAMETERS, '("@method");created=1;keyid="k"', "covers other components"),
        ("@signature-params", PARAMETERS, '("@method" "x");keyid="k";created=1', "another order"),
        ("@signature-params", PARAMETERS, '("@method"  "x");created=1;keyid="k"', "other spaces or quotes"),
        ("@signature-params", PARAMETERS, '("@method" "x");created=2;keyid="k";tag="t"', "they differ in created, tag"),
    ],
)
def test_likely_cause_of_a_difference(name, here, signers, cause):
    assert cause in of_component(f'"{name}"', here, signers)


def digest(content, alphabet=base64.b64encode):
    return f"sha-256=:{alphabet(hashlib.sha256(content).digest()).decode()}:"


def test_cause_names_the_rewritten_json():
    body = b'{"b": 1, "a": "\\u00e9"}'
    signed = json.dumps(json.loads(body), separators=(",", ":"), sort_keys=True).encode()
    found = of_component('"content-digest"', digest(body), digest(signed), body=body)
    assert found.startswith("the digest is of the same JSON written compactly, with sorted keys")


def test_cause_names_a_digest_in_base64url():
    body = b"~~~"
    url = digest(body, lambda octets: base64.urlsafe_b64encode(octets).rstrip(b"="))
    assert "another Base64" in of_component('"content-digest"', digest(body), url, body=body)


def test_cause_is_a_rewritten_field_for_another_digest():
    found = of_component('"content-digest"', digest(b"a"), digest(b"b"), body=b"a")
    assert found == "content-digest was rewritten"


@given(
    st.sampled_from(["@target-uri", "@path", "@query", "@authority", "@method", "@scheme", "@signature-params", "x"]),
    st.text(st.sampled_from('a/?&=%2F.:;"+ \x00\xe9')),
    st.text(st.sampled_from('a/?&=%2F.:;"+ \x00\xe9')),
)
def test_any_two_values_have_a_cause(name, here, signers):
    if here != signers:
        assert of_component(f'"{name}"', here, signers) or UNKNOWN
