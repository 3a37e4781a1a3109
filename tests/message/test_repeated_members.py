"""A covered member of a structured field that appears twice: readers differ in which of the two they use."""

from __future__ import annotations

import pytest

from undersigned import KeyPair, MemoryReplayStore, Profile, Request, SignatureError, Signer, Verifier
from undersigned.message import LENIENT, Component
from undersigned.profiles import ADCP_3_2
from undersigned.signature import ComponentValues, UnresolvableComponent
from undersigned.url import canonicalize

URL = "https://seller.example.com/p"
PAIR = KeyPair.generate(keyid="key")


def covering(component: str) -> Profile:
    """AdCP with one more covered component, of a field that the application knows."""
    rule, own = ADCP_3_2.coverage, {"x-own": "list", "x-dict": "dictionary"}
    coverage = rule._replace(always=(*rule.always, component), field_types=own)
    return ADCP_3_2.derive(coverage=coverage)


@pytest.mark.parametrize(
    ("component", "name", "signed", "received"),
    [
        ('"signature-agent";key="a"', "signature-agent", "a=2", "a=1, a=2"),
        ('"x-dict";key="a"', "x-dict", "a=2", "a=EVIL, a=2"),
        ('"x-dict";key="a"', "x-dict", "a=2", "b=1, a=2, b=3"),
        ('"x-dict";key="a"', "x-dict", "a;p=2", "a;p=1;p=2"),
        ('"x-dict";key="a"', "x-dict", "a=(b;p=2)", "a=(b;p=1;p=2)"),
        ('"x-dict";key="a";sf', "x-dict", "a=2", "a=EVIL, a=2"),
        ('"x-dict";sf;key="a"', "x-dict", "a=2", "a=EVIL, a=2"),
        ('"priority";sf', "priority", "u=2", "u=1, u=2"),
        ('"repr-digest";sf', "repr-digest", "x=:AAAA:", "x=:AQAA:, x=:AAAA:"),
        ('"x-own";sf', "x-own", "a;p=2", "a;p=1;p=2"),
        ('"x-own";sf', "x-own", "(a;p=2)", "(a;p=1;p=2)"),
        ('"deprecation";sf', "deprecation", "@1;p=2", "@1;p=1;p=2"),
    ],
)
def test_covered_field_with_a_repeated_member_is_rejected(component, name, signed, received):
    profile = covering(component)
    fields = {"content-type": "application/json", name: signed}
    added = Signer(PAIR.signing_key(), profile=profile).sign(Request("POST", URL, fields, b""))
    verifier = Verifier(profile, keys=PAIR.key_set(), replay=MemoryReplayStore())
    with pytest.raises(SignatureError) as caught:
        verifier.verify(Request("POST", URL, {**fields, **dict(added), name: received}, b""))
    assert caught.value.code == "request_signature_invalid", caught.value.detail
    assert "is repeated" in caught.value.detail
    assert verifier.verify(Request("POST", URL, {**fields, **dict(added)}, b"")).keyid == "key"


@pytest.mark.parametrize(
    ("component", "line", "value"),
    [
        ('"x";key="a"', "a=1, b, a=2", "2"),
        ('"x";key="a";sf', "a=1, a=2;p;p=1", "2;p=1"),
        ('"priority";sf', "u=1, u=2", "u=2"),
        ('"accept-query";sf', "a;p=1;p=2", "a;p=2"),
    ],
)
def test_last_of_repeated_members_counts_when_the_reading_says_so(component, line, value):
    name = component.split('"')[1]
    request = Request("GET", URL, {name: line})
    covered = Component(name, component, bare=False)
    target = canonicalize(URL)
    assert ComponentValues(request, target, reading=LENIENT).value(covered) == value
    with pytest.raises(UnresolvableComponent, match="is repeated"):
        ComponentValues(request, target).value(covered)
