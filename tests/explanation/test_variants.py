"""The variants: a request that was signed and then changed is explained by exactly the change that was made."""

from __future__ import annotations

import base64
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import keys
from tests.explanation.changes import CHANGED
from tests.profiles.wire import OneKey

from undersigned import Request, profiles
from undersigned.errors import MalformedURL, SigningError
from undersigned.explanation import VARIANT_NAMES, Budget, find_cause
from undersigned.message.content_digest import content_digest


def search(received, profile=profiles.ADCP_3_2, source=keys.KEYS, *, most=3000, now=keys.NOW, **options):
    """Search without a bound on the time, so that no busy machine changes the result."""
    return find_cause(received, profile, source, now=now, budget=Budget(most, seconds=math.inf), **options)


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_change_on_the_way_is_explained_by_its_name(changed):
    found = search(changed.received, changed.profile, changed.known, origins=changed.origins, now=changed.now)
    assert found.cause is not None
    assert tuple(change.variant for change in found.cause.changes) == changed.names
    assert changed.words in str(found.cause.changes[0])
    assert found.is_complete


def test_every_variant_has_a_change_that_it_explains():
    assert {name for changed in CHANGED.values() for name in changed.names} == set(VARIANT_NAMES)


def test_every_variant_is_in_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "proxies.md").read_text()
    assert [name for name in VARIANT_NAMES if f"`{name}`" not in page] == []


# Pairs

PAIRS = {
    "a decoded slash and another scheme": ("https", "/x/a%2Fb", "http", "/x/a/b", {"decoded octets", "other scheme"}),
    "merged slashes below a stripped prefix": (
        "https", "/api/a//b", "https", "/a/b", {"merged slashes", "stripped prefix"},
    ),
    "a sorted query and a trailing slash": (
        "https", "/a?b&a", "https", "/a/?a&b", {"reordered query", "trailing slash"},
    ),
    "two changes of the query": ("https", "/?b=x,y&a", "https", "/?a&b=x%2Cy", {"reordered query", "encoded octets"}),
}  # fmt: skip


@pytest.mark.parametrize(("scheme", "signed", "other", "received", "names"), PAIRS.values(), ids=PAIRS)
def test_two_changes_are_explained_together(scheme, signed, other, received, names):
    request = keys.signed_request("GET", f"{scheme}://seller.example.com{signed}", (), b"")
    found = search(keys.replace_parts(request, url=f"{other}://seller.example.com{received}"))
    assert {change.variant for change in found.cause.changes} == names
    assert len(found.cause.changes) == 2
    for change in found.cause.changes:
        assert change.signed in f"{scheme} {signed} ?{signed.partition('?')[2]} {signed.partition('?')[0]}"


def test_change_of_a_field_and_of_the_digest_are_explained_together():
    request = keys.signed_request(fields=[("Content-Type", "application/json")], body=b'{"a": 1}')
    received = keys.with_field(request, "content-type", "application/json; charset=utf-8")
    received = keys.with_field(received, "content-digest", content_digest(b'{"a":1}', "base64"))
    found = search(keys.replace_parts(received, body=b'{"a":1}'))
    assert {change.variant for change in found.cause.changes} == {"other content", "other Content-Type"}


# What is found is proven

BASE64 = st.binary(min_size=64, max_size=64)
TARGETS = st.text(st.sampled_from("/ab%2F?&=.+"), max_size=12).map("/".__add__)


@given(signature=BASE64, target=TARGETS, body=st.sampled_from([b"", b"{}", b'{"a": 1}']))
def test_signature_that_nobody_made_is_never_explained(signature, target, body):
    request = keys.signed_request(url=f"https://seller.example.com{target.split('?')[0].replace('%', '')}", body=body)
    spelled = f"sig1=:{base64.b64encode(signature).decode()}:"
    forged = keys.with_field(
        keys.replace_parts(request, url=f"https://seller.example.com{target}"), "signature", spelled
    )
    assert search(forged, most=300).cause is None


@given(target=TARGETS, other=TARGETS)
def test_base_of_a_cause_is_one_that_the_key_signed(target, other):
    try:
        request = keys.signed_request("GET", f"https://seller.example.com{target}", (), b"")
    except (MalformedURL, SigningError):
        return
    found = search(keys.replace_parts(request, url=f"https://seller.example.com{other}"), most=300)
    if found.cause is not None:
        signed = keys.signer().sign(Request("GET", f"https://seller.example.com{target}"), nonce=keys.NONCE)
        assert found.cause.signature_base == signed.signature_base
        assert found.cause.keyid == "buyer-ed25519"


def test_other_request_of_the_same_key_is_not_explained():
    request = keys.signed_request()
    assert search(keys.replace_parts(request, url="https://seller.example.com/elsewhere/7")).cause is None


@pytest.mark.parametrize("source", [keys.KEYS, OneKey(keys.KEYS.keys["buyer-ed25519"])])
def test_verified_request_has_no_cause(source):
    found = search(keys.signed_request(), source=source)
    assert (found.cause, found.tried, found.is_complete) == (None, 0, True)


@pytest.mark.parametrize(
    "fields",
    [
        [],
        [("Signature-Input", "x"), ("Signature", "y")],
        [("Signature-Input", keys.covering(*keys.BARE)), ("Signature", "sig1=:*:")],
        [("Signature-Input", keys.covering(*keys.BARE)), ("Signature", "other=:AAAA:")],
        [("Signature-Input", "other=()"), ("Signature", "other=:AAAA:")],
        [("Signature-Input", keys.covering(*keys.BARE, tag='"other"')), ("Signature", "sig1=:AAAA:")],
        [("Signature-Input", keys.covering(*keys.BARE, nonce='"short"')), ("Signature", "sig1=:AAAA:")],
    ],
)
def test_request_whose_signature_cannot_be_read_has_no_cause(fields):
    assert search(Request("GET", keys.URL, fields)).cause is None
