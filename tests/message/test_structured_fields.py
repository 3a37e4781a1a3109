from __future__ import annotations

import base64
from datetime import UTC, datetime
from decimal import Decimal

import http_sf
import pytest
from tests.hostile import hostile_values
from tests.work import lines_run

from undersigned.errors import UndersignedError
from undersigned.message.structured_fields import (
    MalformedField,
    parse_byte_sequences,
    parse_signature_input,
    serialize_byte_sequence,
    serialize_signature_input,
)


def one(value: str):
    return parse_signature_input(value)["s"]


def test_a_signature_input_is_read_into_components_parameters_and_text():
    read = one('s=("@method"  "x-a";sf "@query-param";name="q");created=1;  keyid="k"')
    assert [component.name for component in read.components] == ["@method", "x-a", "@query-param"]
    assert [component.text for component in read.components] == ['"@method"', '"x-a";sf', '"@query-param";name="q"']
    assert [component.bare for component in read.components] == [True, False, False]
    assert read.parameters == {"created": 1, "keyid": "k"}
    assert read.text == '("@method" "x-a";sf "@query-param";name="q");created=1;keyid="k"'


def test_every_label_is_read():
    read = parse_signature_input('a=("@method");created=1, b=();x')
    assert [(label, member.text) for label, member in read.items()] == [("a", '("@method");created=1'), ("b", "();x")]


def test_a_component_gives_back_its_item():
    item = one('s=("x-a";key="m";sf)').components[0].item()
    assert (item.value, dict(item.params)) == ("x-a", {"key": "m", "sf": True})


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
def test_a_parameter_of_every_type_is_read_and_written_as_it_was(raw, value):
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
def test_what_is_not_a_signature_input_is_refused_in_our_words(value, fault):
    with pytest.raises(MalformedField) as caught:
        parse_signature_input(value)
    assert str(caught.value) == fault
    assert isinstance(caught.value, UndersignedError)


@pytest.mark.parametrize("length", range(9))
def test_bytes_are_written_and_read_in_either_encoding(length):
    data = bytes(range(250, 250 + length)) if length < 6 else b"\xfb\xff\xfe" * length
    for encoding in ("base64", "base64url"):
        text = serialize_byte_sequence(data, encoding)
        assert parse_byte_sequences(f"s={text}", encoding) == {"s": data}
    assert serialize_byte_sequence(data, "base64") == f":{base64.b64encode(data).decode()}:"
    assert serialize_byte_sequence(data, "base64url") == f":{base64.urlsafe_b64encode(data).decode().rstrip('=')}:"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("AA", "base64"),
        ("AA=", "base64"),
        ("-_-_", "base64"),
        ("AAA", "base64"),
        ("A", "base64"),
        ("AA===", "base64"),
        ("=", "base64"),
        ("AA==", "base64url"),
        ("+/+/", "base64url"),
        ("A", "base64url"),
        ("AA AA", "base64"),
        ("AA\nAA", "base64"),
    ],
)
def test_bytes_in_another_alphabet_or_padding_are_refused(text, encoding):
    with pytest.raises(MalformedField, match="not in the profile's Base64"):
        parse_byte_sequences(f"s=:{text}:", encoding)


@pytest.mark.parametrize(
    ("text", "encoding"), [("AB==", "base64"), ("AAB=", "base64"), ("AB", "base64url"), ("AAB", "base64url")]
)
def test_stray_bits_behind_the_last_character_are_refused(text, encoding):
    with pytest.raises(MalformedField, match="not in the profile's Base64"):
        parse_byte_sequences(f"s=:{text}:", encoding)


def test_where_both_encodings_are_accepted_each_member_may_have_its_own():
    read = parse_byte_sequences("a=:--8:, b=:++8=:, c=:AAAA:", "base64url", "base64")
    assert read == {"a": b"\xfb\xef", "b": b"\xfb\xef", "c": b"\0\0\0"}


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("s", "a member is not a byte sequence"),
        ("s=1", "a member is not a byte sequence"),
        ('s=":AAAA:"', "a member is not a byte sequence"),
        ("s=(:AAAA:)", "a member is not a byte sequence"),
        ("s=:AAAA:, t=tok", "a member is not a byte sequence"),
        ("s=:AAAA:, s=:AAAA:", "a label or key is repeated"),
        ("SHA-256=:AAAA:", "the field value is not a structured field dictionary"),
        ("s=:AAAA", "the field value is not a structured field dictionary"),
        ("s=:AAAA:x", "the field value is not a structured field dictionary"),
        ("s=:é:", "a byte sequence is not in the profile's Base64: alphabet, padding or stray bits"),
        ("é=:AAAA:", "the field value is not ASCII"),
        ("", "the field value is empty"),
    ],
)
def test_what_is_no_dictionary_of_byte_sequences_is_refused_in_our_words(value, fault):
    with pytest.raises(MalformedField) as caught:
        parse_byte_sequences(value, "base64")
    assert str(caught.value) == fault


@pytest.mark.parametrize("parameter", ['";:x:"', '"a\\":x:\\"b"', "a:x:b", '%":x:"', "*:x:", '"\\\\";q="\\":y:"'])
def test_a_colon_inside_a_string_or_a_token_starts_no_byte_sequence(parameter):
    assert parse_byte_sequences(f"s=:AAAA:;p={parameter}, t=:BBBB:", "base64") == {
        "s": b"\0\0\0",
        "t": base64.b64decode("BBBB"),
    }


@pytest.mark.parametrize("opened", ['%"\\"', '%"\\\\"', '%"a\\"', '"a\\\\"'])
def test_a_backslash_in_another_members_parameter_hides_no_spelling(opened):
    # A display string has no escapes: read as a string, it would swallow the member behind it.
    value = f's=:AAAA:;d={opened}, t=:AA:;e="x"'
    with pytest.raises(MalformedField, match="not in the profile's Base64"):
        parse_byte_sequences(value, "base64")


@pytest.mark.parametrize("kind", hostile_values(1))
def test_eight_times_a_hostile_value_is_at_most_nine_times_the_work(kind):
    def parse(size: int) -> None:
        with pytest.raises(MalformedField):
            parse_byte_sequences(hostile_values(size)[kind], "base64")

    assert lines_run(lambda: parse(8000)) <= 9 * lines_run(lambda: parse(1000))


def test_signature_parameters_are_written_in_the_order_given():
    text = serialize_signature_input(("@method", "x-a"), {"created": 1, "nonce": 'a"b', "flag": True})
    assert text == '("@method" "x-a");created=1;nonce="a\\"b";flag'


def test_an_empty_list_of_components_is_written():
    assert serialize_signature_input((), {}) == "()"
