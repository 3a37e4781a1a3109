"""The search: what bounds it, and what it cannot search in."""

from __future__ import annotations

import base64
import math

import pytest
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from tests import keys

from undersigned import Request, profiles
from undersigned.explanation import Budget, Change, find_cause
from undersigned.explanation.body_digest import MOST_REWRITTEN, digest_fault, digested_content, other_contents
from undersigned.message.content_digest import content_digest

MOVED = keys.replace_parts(keys.signed_request(), url="https://seller.example.com/elsewhere/7")


def search(request, *, most=3000, source=keys.KEYS, seconds=math.inf, **options):
    return find_cause(request, profiles.ADCP_3_2, source, now=keys.NOW, budget=Budget(most, seconds=seconds, **options))


# What bounds it


@pytest.mark.parametrize("most", [0, 1, 7, 200, 600])
def test_search_tries_no_more_than_its_budget(most):
    found = search(MOVED, most=most)
    assert found.cause is None
    assert found.tried <= most + 1
    assert not found.is_complete


def test_search_ends_when_its_time_is_over():
    ticks = iter(range(10_000))
    found = search(MOVED, seconds=50, clock=lambda: next(ticks))
    assert (found.cause, found.is_complete) == (None, False)
    assert 40 <= found.tried <= 60


def test_order_of_very_many_parameters_is_not_searched():
    many = [f"p{number}={number}" for number in range(40)]
    request = keys.signed_request("GET", f"{keys.URL}?{'&'.join(many)}", (), b"")
    assert search(keys.replace_parts(request, url=f"{keys.URL}?{'&'.join(reversed(many))}"), most=600).cause is None


def test_target_with_any_character_is_searched():
    assert (
        search(keys.replace_parts(keys.signed_request(), url="https://seller.example.com/\u20ac%20"), most=600).cause
        is None
    )


def test_search_that_tried_everything_is_complete():
    found = search(MOVED)
    assert (found.cause, found.is_complete) == (None, True)


def test_budget_is_a_second_by_default():
    found = find_cause(keys.signed_request(url=f"{keys.URL}/a//b"), profiles.ADCP_3_2, keys.KEYS, now=keys.NOW)
    assert found.cause is None


LONG = "/a/b%2F" * 250
HOSTILE = {
    "a long path": Request("GET", f"https://seller.example.com{LONG[:2000]}"),
    "a path of slashes": Request("GET", f"https://seller.example.com{'/' * 200}"),
    "a query of many parameters": Request("GET", f"https://seller.example.com/?{'a=b&' * 2000}"),
    "a query of escapes": Request("GET", f"https://seller.example.com/?{'%2f' * 2500}"),
    "a query of spaces": Request("GET", f"https://seller.example.com/?{'+%20' * 2000}"),
    "many forwarded hosts": Request("GET", keys.URL, [("X-Forwarded-Host", "a.test," * 5000)]),
    "a long original target": Request("GET", keys.URL, [("X-Original-URI", LONG * 20)]),
    "a list of many members": Request("GET", keys.URL, [("X-List", "a," * 2000)]),
    "a field that is too long": Request("GET", keys.URL, [("X-List", " ;" * 4000)]),
    "many lines": Request("GET", keys.URL, [("X-List", "a")] * 90),
    "a port that is none": Request("GET", keys.URL, [("X-Forwarded-Port", "99999"), ("X-Forwarded-Host", "a:b:c")]),
    "a text that is not ASCII": Request(
        "GET", keys.URL, [("X-Forwarded-Prefix", "/\xe9"), ("X-Original-URI", "/\xe9")]
    ),
}


@pytest.mark.parametrize("request_", HOSTILE.values(), ids=HOSTILE)
def test_hostile_request_ends_within_the_budget(request_):
    covered = [name for name in ("x-list", "x-forwarded-host") if name in request_.fields.combined]
    claim = [("Signature-Input", keys.covering(*keys.BARE, *covered)), ("Signature", f"sig1=:{'A' * 86}==:")]
    found = search(keys.replace_parts(request_, fields=[*request_.fields, *claim]), most=400)
    assert found.cause is None
    assert found.tried <= 401


# What it cannot search in


@pytest.mark.parametrize(
    "url",
    [
        "ftp://seller.example.com/a",
        "https:///a",
        "/a",
        "https://a..b/",
        f"https://seller.example.com/{'a' * 10_000}",
        "",
    ],
)
def test_request_without_an_authority_or_with_a_long_url_has_no_cause(url):
    found = search(keys.replace_parts(MOVED, url=url))
    assert (found.cause, found.tried) == (None, 0)


def test_path_without_a_canonical_form_is_searched_as_it_is():
    found = search(keys.replace_parts(keys.signed_request("GET", body=b""), url=f"{keys.URL}/%zz"))
    assert (found.cause, found.is_complete) == (None, True)
    assert found.tried > 0


def test_request_that_asks_for_too_much_work_has_no_cause():
    covered = [f'"x{number}";bs' for number in range(25)]
    many = [(f"X{number}", "a" * 30) for number in range(25)]
    claim = keys.unsigned_claim(keys.covering(*keys.BARE, *covered), f"sig1=:{'A' * 86}==:", fields=many)
    assert search(claim).tried == 0


class Unavailable:
    """A key source that is not available."""

    blocking = False

    def find(self, _lookup):
        raise OSError("not available")


def test_key_source_that_fails_has_no_cause():
    assert search(MOVED, source=Unavailable()).cause is None


def test_signature_by_a_key_without_purpose_is_not_explained_by_a_change():
    public = {**keys.PUBLIC, "adcp_use": "webhook-signing"}
    found = search(keys.signed_request(), source=keys.KeySet.from_jwks({"keys": [public]}))
    assert found.cause is None


@pytest.mark.parametrize(
    "signature",
    [
        b"\x30\x06\x02\x01\x01\x02\x01",
        b"\x30\x06\x02\x01\xff\x02\x01\x01",
        b"\x30" * 64,
        encode_dss_signature(5, 7),
        encode_dss_signature(1 << 400, 7),
    ],
)
def test_signature_that_only_begins_like_der_is_not_explained(signature):
    spelled = f"sig1=:{base64.b64encode(signature).decode()}:"
    assert search(keys.with_field(keys.signed_request(key=keys.EC_KEY), "signature", spelled)).cause is None


def test_digest_that_cannot_be_read_is_searched_by_the_usual_algorithm():
    request = keys.signed_request(body=b'{"a": 1}')
    encoded = request.fields.combined["signature"].replace("+", "-").replace("/", "_").rstrip(":=") + ":"
    received = keys.with_field(keys.with_field(request, "signature", encoded), "content-digest", "none")
    found = search(received)
    assert [change.variant for change in found.cause.changes] == ["other Base64", "other content"]


# Digests


def test_json_that_is_too_large_is_not_written_again():
    body = b'{"a":"' + b"x" * MOST_REWRITTEN + b'"}'
    assert digested_content(body, content_digest(body.replace(b":", b": "), "base64")) == ""
    assert digested_content(body, content_digest(body + b"\n", "base64")) == "the body with LF at its end"


def test_json_that_is_nested_too_deeply_is_not_written_again(monkeypatch):
    def recursing(*_args, **_options):
        raise RecursionError

    monkeypatch.setattr("undersigned.explanation.body_digest.json.dumps", recursing)
    assert len(list(other_contents(b"{}"))) == 6


def test_digest_by_unknown_algorithms_only_is_a_fault():
    assert digest_fault("md5=:AAAA:") == "Content-Digest contains neither sha-256 nor sha-512"
    assert digest_fault(content_digest(b"", "base64")) == ""
    assert digested_content(b"", "md5=:AAAA:") == ""


# Sentences


def test_long_texts_are_shown_from_where_they_differ():
    signed = keys.signed_request("GET", f"https://seller.example.com/{'a' * 300}//b{'c' * 300}", (), b"")
    found = search(keys.replace_parts(signed, url=signed.url.replace("//b", "/b")))
    [change] = found.cause.changes
    assert change.signed.startswith("..." + "a" * 19 + "//bccc")
    assert change.received.startswith("..." + "a" * 19 + "/bccc")
    assert len(change.signed) < 220


def test_change_is_a_sentence_with_its_reason():
    change = Change("merged slashes", "path", "/a//b", "/a/b", "proxies do this: forward it")
    assert str(change) == "merged slashes: the sender signed /a//b; you received /a/b. Proxies do this: forward it"
