from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.keys import BARE, URL, covering, hostile_request, parameters, unsigned_claim, verifier, with_field

from undersigned import Request, SignatureError, UndersignedError
from undersigned.message.signature_input import parse_accept_signature, parse_signature_input

PARAMETERS = ("created", "expires", "nonce", "keyid", "alg", "tag")


def one(value: str):
    return parse_signature_input(value)["s"]


def test_signature_input_is_read_into_components_parameters_and_text():
    read = one('s=("@method"  "x-a";sf "@query-param";name="q");created=1;  keyid="k"')
    assert [component.name for component in read.components] == ["@method", "x-a", "@query-param"]
    assert [component.text for component in read.components] == ['"@method"', '"x-a";sf', '"@query-param";name="q"']
    assert [component.bare for component in read.components] == [True, False, False]
    assert read.parameters == {"created": 1, "keyid": "k"}
    assert read.text == '("@method" "x-a";sf "@query-param";name="q");created=1;keyid="k"'


def test_every_label_is_read():
    read = parse_signature_input('a=("@method");created=1, b=();x')
    assert [(label, member.text) for label, member in read.items()] == [("a", '("@method");created=1'), ("b", "();x")]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("1", 1),
        ("-1", -1),
        ("1.5", Decimal("1.5")),
        ("?1", True),
        ("?0", False),
        ("tok/en:1", http_sf.Token("tok/en:1")),
        (":AQID:", b"\1\2\3"),
        ("@0", datetime(1970, 1, 1, tzinfo=UTC)),
        ('%"f%c3%bc"', http_sf.DisplayString("fü")),
        ('"a\\"b\\\\c"', 'a"b\\c'),
    ],
)
def test_parameter_of_every_type_is_written_as_it_was_read(raw, value):
    read = one(f"s=();p={raw}")
    assert read.parameters == {"p": value}
    assert type(read.parameters["p"]) is type(value)
    assert read.text == ("();p" if raw == "?1" else f"();p={raw}")


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("", "the field value is empty"),
        ("  ", "the field value is empty"),
        ("s", "a member of Signature-Input is not an inner list"),
        ('s="@method"', "a member of Signature-Input is not an inner list"),
        ("s=1, t=()", "a member of Signature-Input is not an inner list"),
        ("s=(method)", "a covered component is not a lower-case string"),
        ("s=(1)", "a covered component is not a lower-case string"),
        ("s=(:AAAA:)", "a covered component is not a lower-case string"),
        ('s=("X-A")', "a covered component is not a lower-case string"),
        ('s=("a" "a")', "a covered component is repeated, or is @signature-params itself"),
        ('s=("a";x;y "a";y;x)', "a covered component is repeated, or is @signature-params itself"),
        ('s=("@signature-params")', "a covered component is repeated, or is @signature-params itself"),
        ('s=("@signature-params";x)', "a covered component is repeated, or is @signature-params itself"),
        ("s=(), s=()", "a label or key is repeated"),
        ("s=();a=1;a=1", "a parameter is repeated"),
        ('s=("a";x=1;x=2)', "a parameter is repeated"),
        ('s=("é")', "the field value is not ASCII"),
        ("s=(), \ud800", "the field value is not ASCII"),
        ("s=(", "the field value is not a structured field dictionary"),
        ("S=()", "the field value is not a structured field dictionary"),
        ("s=(),", "the field value is not a structured field dictionary"),
        ("s=();p=1000000000000000", "the field value is not a structured field dictionary"),
        ("s=();p=@999999999999999", "the field value is not a structured field dictionary"),
        ("s=();p=%", "the field value is not a structured field dictionary"),
    ],
)
def test_text_that_is_not_a_signature_input_is_rejected_without_quoting_it(value, fault):
    with pytest.raises(UndersignedError) as caught:
        parse_signature_input(value)
    assert str(caught.value) == fault


# Nearly every value is read by pattern if it is alone, and by the parser if it is among others.

COMPONENTS = '("@method" "@target-uri" "@authority" "content-type" "x-own")'
VALUES = {"created": "1", "expires": "301", "nonce": '"bm9uY2U"', "keyid": '"k 1"', "alg": '"ed25519"', "tag": '"t"'}


def write_input(names=PARAMETERS, **others) -> str:
    return f"sig1={COMPONENTS}" + "".join(f";{name}={others.get(name, VALUES.get(name))}" for name in names)


def outcome(value):
    """What is read of a value with the types of its parameters, or None if it is rejected."""
    try:
        read = parse_signature_input(value)
    except UndersignedError:
        return None
    return [
        (label, member, [type(parameter) for parameter in member.parameters.values()]) for label, member in read.items()
    ]


def among_others(value):
    """The same of a value that another member follows."""
    read = outcome(f"{value}, zz=()")
    return None if read is None else read[:-1]


@pytest.mark.parametrize(
    "value",
    [
        write_input(),
        write_input(PARAMETERS[::-1]),
        write_input(("keyid",)),
        write_input(("tag", "created")),
        write_input(created="-1"),
        write_input(created="1.0"),
        write_input(created="01"),
        write_input(keyid=r'"a\"b"'),
        write_input(keyid="token"),
        write_input().replace('"x-own"', '"x-own";sf'),
        write_input().replace('"x-own"', '"x-own";key="b" "x-own";key="a" "x-own" "y";bs'),
        write_input().replace('"x-own"', '"x-own";key="b c" "x-own";key="" "x-own";sf=?1'),
        write_input().replace('"x-own"', '"x-own";bs;sf "x-own";x=1'),
        write_input().replace('" "', '"  "'),
        "sig1=()",
    ],
)
def test_member_alone_is_read_as_in_the_whole_field(value):
    assert outcome(value) is not None
    assert outcome(value) == among_others(value)


@pytest.mark.parametrize(
    "value",
    [
        write_input(created="1" * 16),
        write_input(tag='"é"'),
        write_input((*PARAMETERS, "tag")),
        write_input(("created", "created")),
        write_input().replace('"x-own"', '"X-Own"'),
        write_input().replace('"x-own"', '"@method"'),
        write_input().replace('"x-own"', '"@signature-params"'),
        write_input(("tag",)).replace('"x-own"', '"@signature-params"'),
        write_input().replace('"x-own"', '"@signature-params";bs'),
        write_input().replace('"x-own"', '"x-own";bs "x-own";bs'),
        write_input().replace('"x-own"', '"x-own";Bs'),
        write_input().replace("sig1", "Sig1"),
        "",
    ],
)
def test_member_alone_is_rejected_as_in_the_whole_field(value):
    assert outcome(value) is among_others(value) is None


@given(st.text(st.sampled_from('sig1=("@method" "x";sf);created=10;nonce="a\\",é:?\t'), max_size=60))
def test_any_text_alone_is_read_as_in_the_whole_field(value):
    assert outcome(value) in (None, among_others(value))


@given(st.data())
def test_changed_member_alone_is_read_as_in_the_whole_field(data):
    value = write_input(data.draw(st.permutations(PARAMETERS))).replace('"x-own"', '"x-own";key="k"')
    at = data.draw(st.integers(0, len(value)))
    end = data.draw(st.integers(at, min(len(value), at + 3)))
    put = data.draw(st.text(st.sampled_from('"\\ ;=(),:0aA-_é@*'), max_size=3))
    changed = value[:at] + put + value[end:]
    assert outcome(changed) in (None, among_others(changed))


@pytest.mark.parametrize("keyid", ["https://b.example/" + "%E4" * 60, "a:b:c;d,e " * 20, ":" * 200])
def test_short_member_is_read_with_any_delimiters_in_its_strings(keyid):
    for names in (PARAMETERS, PARAMETERS[::-1]):
        assert parse_signature_input(write_input(names, keyid=f'"{keyid}"'))["sig1"].parameters["keyid"] == keyid


@pytest.mark.parametrize(
    "value",
    [
        write_input(keyid=f'"{"k" * 16_384}"'),
        write_input(keyid=f'"{"k" * 4096}\\""'),
        write_input(keyid=f'"{" :" * 512}\\""'),
        write_input() + ";p=?1" * 130,
        f'{write_input()};d=%"{"%41" * 130}"',
        ", ".join(f's{at}=("@method");created=1' for at in range(33)),
    ],
)
def test_field_over_the_limit_is_malformed(value):
    with pytest.raises(UndersignedError, match=r"and at most (4,096|64) are read: send fewer"):
        parse_signature_input(value)


@pytest.mark.parametrize(
    ("within", "more", "fault"),
    [
        (
            "s=(" + " ".join(f'"x{at}"' for at in range(32)),
            ' "y");a=1',
            "covers 33 components, and at most 32",
        ),
        (
            "s=(" + " ".join(f'"x{at}"' for at in range(32)),
            ' "y");a=?1',
            "covers 33 components, and at most 32",
        ),
        ('s=("x"' + "".join(f";p{at}" for at in range(19)), ";c);d=1", "have 21 parameters, and at most 20"),
        ('s=("x"', ")" + "".join(f";p{at}" for at in range(21)), "have 21 parameters, and at most 20"),
    ],
)
def test_components_and_parameters_are_limited(within, more, fault):
    assert one(f"{within});a=1")
    with pytest.raises(UndersignedError, match=fault):
        parse_signature_input(within + more)


@pytest.mark.parametrize(
    ("value", "label", "text"),
    [
        ('s=("a");created=1, s=("b");created=2', "s", '("b");created=2'),
        ('s=("a");created=1;keyid="k";created=2', "s", '("a");created=2;keyid="k"'),
        ('s=("a";key="x";key="y");created=1', "s", '("a";key="y");created=1'),
        ('t=("a");created=1', "t", '("a");created=1'),
    ],
)
def test_last_of_repeated_keys_counts_when_the_reading_says_so(value, label, text):
    assert parse_signature_input(value, repeated_keys=True)[label].text == text


# A verifier chooses the members that it reads whole; nearly every value is read by one more pattern if it is alone.


@pytest.mark.parametrize("more", ["", ', a=("@path");tag="t"', ", b=();c=1.5"])
@pytest.mark.parametrize("written", [covering(*BARE), covering(*BARE, "@path"), covering(*reversed(BARE))])
def test_member_of_the_profile_is_verified_among_others(written, more):
    request = hostile_request(Request("POST", URL), written + more)
    assert verifier().verify(request).label == "sig1"


@pytest.mark.parametrize("more", [', b=("x" "x")', ', b=("@signature-params")', ", b=1", ", b"])
def test_member_of_another_profile_is_checked_too(more):
    request = hostile_request(Request("POST", URL), covering(*BARE))
    broken = with_field(request, "signature-input", request.fields.combined["signature-input"] + more)
    with pytest.raises(SignatureError) as caught:
        verifier().verify(broken)
    assert caught.value.step == 1


@pytest.mark.parametrize("names", ['"@path" "@path"', '"@signature-params"'])
def test_malformed_components_in_the_usual_order_are_rejected(names):
    with pytest.raises(SignatureError) as caught:
        verifier().verify(unsigned_claim(f"sig1=({names}){parameters()}"))
    assert caught.value.step == 1


def test_wanted_signature_has_its_label_components_and_parameters():
    # RFC 9421 section 5.1
    value = (
        'sig1=("@method" "@target-uri" "@authority" "content-digest" "cache-control");keyid="test-key-rsa-pss";created;'
        'tag="app-123", b=("x";sf)'
    )
    first, second = parse_accept_signature(value)
    assert [component.name for component in first.components][3:] == ["content-digest", "cache-control"]
    assert (first.label, first.parameters) == (
        "sig1", {"keyid": "test-key-rsa-pss", "created": True, "tag": "app-123"},
    )  # fmt: skip
    assert [component.text for component in second.components] == ['"x";sf']


@pytest.mark.parametrize(
    "value", ['sig1=("a"', 'sig1="a"', 'sig1=("a" "a")', 'sig1=("A")', "sig1=(a)", "a=(), a=()", f"{'a' * 5000}=()"]
)
def test_other_value_of_accept_signature_is_malformed(value):
    with pytest.raises(UndersignedError):
        parse_accept_signature(value)
