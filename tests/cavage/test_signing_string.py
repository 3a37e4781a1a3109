"""The Signature field of the draft, as the verifier of ActivityPub reads it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.activitypub.actors import GET, KEYID, sign_by_draft, verifier, with_fields

from undersigned import SignatureError

LEAST = 'keyId="k",signature="AA=="'


def rejection(value: str) -> SignatureError:
    """Why a request with this Signature field is rejected."""
    with pytest.raises(SignatureError) as raised:
        verifier().verify(with_fields(GET, ("Signature", value)))
    return raised.value


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "not a list"),
        ("sig1=:AA==:", "not a list"),
        (f"Signature Signature {LEAST}", "not a list"),
        (f"Digest {LEAST}", "not a list"),
        (f"{LEAST},", "not a list"),
        (f"{LEAST};", "not a list"),
        (f"{LEAST} headers=1", "not a list"),
        ('keyId="a\\"b",signature="AA=="', "not a list"),
        (f'{LEAST},x="é"', "not printable ASCII"),
        (f'{LEAST},x="\t"', "not printable ASCII"),
        (f'{LEAST},x="{"x" * 4096}"', "characters, and at most 4,096 are read"),
        (",".join([LEAST, *(f"x{n}=1" for n in range(20))]), f"at most {20} parameters"),
        ('keyId="k"', "no signature parameter"),
        ('signature="AA=="', "no keyId parameter"),
        ('keyId="",signature="AA=="', "no keyId parameter"),
        (f"{LEAST}, {LEAST}", "repeats a parameter"),
        (f'{LEAST},headers="date",headers="date"', "repeats a parameter"),
        ('keyId="k",headers="date",signature="A"', "not Base64"),
        ('keyId="k",headers="date",signature="AA-_"', "not Base64"),
        (f'{LEAST},headers=""', "headers is not a list"),
        (f'{LEAST},headers="date Date"', "headers is not a list"),
        (f'{LEAST},headers="date date"', "headers is not a list"),
        (f'{LEAST},headers="(other)"', "headers is not a list"),
        (f'{LEAST},headers="{" ".join(f"h{n}" for n in range(32 + 1))}"', "headers has 33 names"),
        (f"{LEAST},created=1.5", "not a number of seconds"),
        (f'{LEAST},created="-1"', "not a number of seconds"),
        (f"{LEAST},created=1,expires=1.2.3", "not a number of seconds"),
        (f"{LEAST}", "does not have"),
        (f'{LEAST},headers="date (expires)"', "does not have"),
        (f'{LEAST},algorithm="rsa-sha256",created=1,headers="(created)"', "hs2019 only"),
        (f'{LEAST},algorithm="rsa-sha256",expires=1,headers="date (expires)"', "hs2019 only"),
    ],
)
def test_malformed_field_is_rejected(value, fault):
    error = rejection(value)
    assert (error.reason, error.step) == ("signature_header_malformed", 1)
    assert fault in error.detail


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        (f'{LEAST} , x="?", algorithm="hs2019",  created=1795305605', "host, (request-target) or digest"),
        (f"{LEAST},created=1795305605,expires=1795305699.5", "host, (request-target) or digest"),
        (f'{LEAST},headers="(request-target) host",created=1795305605', "date or (created)"),
    ],
)
def test_parameters_may_be_spaced_and_have_defaults(value, missing):
    error = rejection(value)
    assert (error.reason, error.detail) == ("signature_components_incomplete", f"{missing} must be covered")


ALMOST = r'(keyId|headers|created|signature)="?[ -~]{0,40}"?(, *[a-z]{1,9}="[ -~]{0,40}"){0,3}'


@given(st.text() | st.from_regex(ALMOST, fullmatch=True))
def test_any_text_is_rejected_with_a_reason(value):
    assert rejection(value).reason


NAMES = "(request-target) host date"


@pytest.mark.parametrize(
    "spelled",
    [
        'Signature keyId="{key}",headers="{names}",signature="{made}"',
        'keyId = "{key}",algorithm= rsa-sha256 ,  headers ="{names}",signature="{made}"',
        'keyId="{key}",algorithm=hs2019,headers="(Request-Target)  HOST Date ",signature="{made}"',
    ],
)
def test_spelling_that_cannot_change_what_was_signed_is_read_as_mastodon_reads_it(spelled):
    request = sign_by_draft(GET)
    plain = dict(request.fields)["signature"]
    made = plain.partition('signature="')[2].removesuffix('"')
    value = spelled.format(key=KEYID, names=NAMES, made=made)
    fields = [(name, value if name == "signature" else text) for name, text in request.fields]
    assert verifier().verify(replace(request, fields=fields)).components == tuple(NAMES.split())
