from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.cavage.header import CavageParameters, serialize_parameters
from undersigned.message.structured_fields import MalformedField

LEAST = 'keyId="k",signature="AA=="'


def test_parameters_are_read_with_their_spelling():
    value = (
        'keyId="https://a.test/u#k" , algorithm="hs2019",  created=1402170695,expires="1402170699.5",'
        'headers="(request-target) (created) (expires) host",signature="AQI=",x="?"'
    )
    assert CavageParameters.parse(value) == CavageParameters(
        "https://a.test/u#k",
        "hs2019",
        ("(request-target)", "(created)", "(expires)", "host"),
        "1402170695",
        "1402170699.5",
        b"\x01\x02",
    )


def test_absent_algorithm_is_hs2019_and_absent_headers_are_its_default():
    read = CavageParameters.parse(f"{LEAST},created=1")
    assert (read.algorithm, read.names) == ("hs2019", ("(created)",))
    assert CavageParameters.parse(f'{LEAST},algorithm="rsa-sha256"').names == ("date",)
    assert CavageParameters.parse(f'{LEAST},algorithm="unheard-of"').names == ("date",)


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "not a list"),
        ("sig1=:AA==:", "not a list"),
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
        (f'{LEAST},headers="date  host"', "headers is not a list"),
        (f'{LEAST},headers="Date"', "headers is not a list"),
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
    with pytest.raises(MalformedField, match=fault):
        CavageParameters.parse(value)


@given(st.text() | st.from_regex(r'(keyId|headers|created|signature)="?[ -~]*"?(, *[a-z]+="[ -~]*")*', fullmatch=True))
def test_any_text_is_read_or_malformed(value):
    try:
        read = CavageParameters.parse(value)
    except MalformedField:
        return
    assert read.keyid
    assert read.names


@given(st.binary(min_size=1, max_size=512))
def test_serialized_parameters_are_read_again(signature):
    read = CavageParameters.parse(serialize_parameters("k", "rsa-sha256", ("host", "date"), signature))
    assert read == CavageParameters("k", "rsa-sha256", ("host", "date"), "", "", signature)
