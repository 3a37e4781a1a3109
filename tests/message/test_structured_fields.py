from __future__ import annotations

import base64
import contextlib
import re

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hostile import hostile_values
from tests.keys import BODY, JSON_FIELD, signer
from tests.work import lines_run

from undersigned import Request, SigningError, UndersignedError
from undersigned.message import parse_accept_signature
from undersigned.message.structured_fields import parse_byte_sequences

URL = "https://seller.example.com/p"


def spelled(octets: bytes, encoding: str) -> str:
    """Return the only spelling of bytes in an encoding, colons included."""
    if encoding == "base64":
        return f":{base64.b64encode(octets).decode()}:"
    return f":{base64.urlsafe_b64encode(octets).decode().rstrip('=')}:"


@pytest.mark.parametrize("length", range(9))
def test_bytes_are_read_in_either_encoding(length):
    data = bytes(range(250, 250 + length)) if length < 6 else b"\xfb\xff\xfe" * length
    for encoding in ("base64", "base64url"):
        assert parse_byte_sequences(f"s={spelled(data, encoding)}", encoding) == {"s": data}


OTHER_SPELLINGS = {
    "base64": [
        "AA",
        "AA=",
        "-_-_",
        "AAA",
        "A",
        "AA===",
        "=",
        "AA AA",
        "AA\nAA",
        "AAAA=",
        "AAAA==",
        "AAAA====",
        "AB==",
        "AAB=",
    ],
    "base64url": ["AA==", "++++", "////", "A", "AB", "AAB"],
}


@pytest.mark.parametrize(
    ("encoding", "text"), [(encoding, text) for encoding, texts in OTHER_SPELLINGS.items() for text in texts]
)
def test_bytes_in_another_alphabet_or_padding_or_with_unused_bits_are_rejected(encoding, text):
    with pytest.raises(UndersignedError, match="not in the profile's Base64"):
        parse_byte_sequences(f"s=:{text}:", encoding)


@pytest.mark.parametrize("delimiter", [";a", ":", ", b=1", " ", "\t", "\\", "%"])
def test_text_with_more_delimiters_than_a_parser_reads_is_rejected(delimiter):
    with pytest.raises(UndersignedError, match=r"has \d+ delimiters, and at most 64 are read"):
        parse_accept_signature('s=();p=1.5;a="' + f"x{delimiter}" * 65 + '"')


def test_more_signatures_than_a_field_may_have_are_rejected():
    members = [f"s{at}=:AAAA:" for at in range(33)]
    assert len(parse_byte_sequences(", ".join(members[1:]), "base64")) == 32
    with pytest.raises(UndersignedError, match="more than 32 signatures or digests"):
        parse_byte_sequences(", ".join(members), "base64")


def test_blanks_around_a_comma_count_once_however_many_they_are():
    blanks = " \t" * 1000
    assert parse_byte_sequences(f"a=:AAAA:{blanks},{blanks}b=:AAAA:", "base64") == {"a": b"\0\0\0", "b": b"\0\0\0"}


def test_each_member_may_have_its_own_encoding_when_both_are_accepted():
    read = parse_byte_sequences("a=:--8:, b=:++8=:, c=:AAAA:", "base64url", "base64")
    assert read == {"a": b"\xfb\xef", "b": b"\xfb\xef", "c": b"\0\0\0"}


OTHER = "the field value is not a dictionary of byte sequences, such as label=:AAAA:"


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("s", OTHER),
        ("s=1", OTHER),
        ('s=":AAAA:"', OTHER),
        ("s=(:AAAA:)", OTHER),
        ("s=:AAAA:, t=tok", OTHER),
        ("s=:AAAA:, s=:AAAA:", "a label or key is repeated"),
        ("SHA-256=:AAAA:", OTHER),
        ("s=:AAAA", OTHER),
        ("s=:AAAA:x", OTHER),
        ('s=:A"A:', OTHER),
        ("s=:é:", "a byte sequence is not in the profile's Base64: check alphabet, padding and unused bits"),
        ("é=:AAAA:", OTHER),
        ("a=:AAAA: b=:AAAA:", OTHER),
        ("a=:AAAA:,", OTHER),
        ("", OTHER),
    ],
)
def test_text_that_is_not_a_dictionary_of_byte_sequences_is_rejected_without_quoting_it(value, fault):
    with pytest.raises(UndersignedError) as caught:
        parse_byte_sequences(value, "base64")
    assert str(caught.value) == fault


@pytest.mark.parametrize(
    "parameter", ['";:x:"', '"a\\":x:\\"b"', "a:x:b", "T:x:", '%":x:"', "*:x:", '"";q=":y:"', '"\\\\";q="\\":y:"']
)
def test_colon_inside_a_string_or_a_token_starts_no_byte_sequence(parameter):
    assert parse_byte_sequences(f"s=:AAAA:;p={parameter}, t=:BBBB:", "base64") == {
        "s": b"\0\0\0",
        "t": base64.b64decode("BBBB"),
    }


@pytest.mark.parametrize("opened", ['%"\\"', '%"\\\\"', '%"a\\"', '"a\\\\"'])
def test_backslash_in_another_member_hides_no_wrong_spelling(opened):
    # A display string has no escapes: read as a string, it would swallow the member after it.
    value = f's=:AAAA:;d={opened}, t=:AA:;e="x"'
    with pytest.raises(UndersignedError, match="not in the profile's Base64"):
        parse_byte_sequences(value, "base64")


@pytest.mark.parametrize(
    "value", [f"s=:{'A' * 4092}:", f"s=:AAAA:;p={'a' * 4085}", "s=:AAAA:" + "".join(f";p{at}" for at in range(125))]
)
def test_field_within_the_bounds_is_read(value):
    assert list(parse_byte_sequences(value, "base64")) == ["s"]


def lines_of_reading(value: str) -> int:
    """How many lines of Python run to read or to reject a value."""

    def parse() -> None:
        with contextlib.suppress(UndersignedError):
            parse_byte_sequences(value, "base64")

    return lines_run(parse)


@pytest.mark.parametrize("value", [f"s=:{'A' * 4096}:", *hostile_values(1_000_000).values()])
def test_field_over_the_limit_is_rejected_with_little_work(value):
    with pytest.raises(UndersignedError, match="at most 4,096 are read"):
        parse_byte_sequences(value, "base64")
    assert lines_of_reading(value) < 50


@pytest.mark.parametrize("value", ["", "a", "a;b", 'a;b="c, d"', 'a;b="c\\", d"', 'a;b=""', '"a" "b"'])
def test_single_value_is_not_a_list(value):
    assert signer().sign(Request("POST", URL, {"Content-Type": value}, b"x"))


@pytest.mark.parametrize("value", [",", "a,", "a, b", 'a;b="c", d', '"', 'a;b="c, d', 'a;b="c\\"'])
def test_values_separated_by_commas_are_a_list(value):
    with pytest.raises(SigningError, match="Content-Type has several values"):
        signer().sign(Request("POST", URL, {"Content-Type": value}, b"x"))


@pytest.mark.parametrize("key", ["a", "*", *(f"a{character}" for character in "az09_.*-")])
def test_key_has_lower_case_letters_digits_and_four_other_characters(key):
    assert signer().sign(Request("POST", URL, [JSON_FIELD], BODY), label=key)


@pytest.mark.parametrize("key", ["", "A", "aA", "0", "_", "-a", "a~", "a\n"])
def test_other_text_is_not_a_key(key):
    with pytest.raises(SigningError, match=r"^label: "):
        signer().sign(Request("POST", URL, [JSON_FIELD], BODY), label=key)


@pytest.mark.parametrize("character", "09AZaz:/!#$%&'*+.^_`|~-")
def test_colons_of_a_token_are_not_those_of_a_byte_sequence(character):
    assert parse_byte_sequences(f"a=:AAAA:;p=t{character}:x:", "base64") == {"a": b"\0\0\0"}


def test_empty_byte_sequence_ends_where_it_begins():
    assert parse_byte_sequences("a=::;p=1, b=:AAAA:", "base64") == {"a": b"", "b": b"\0\0\0"}


@pytest.mark.parametrize("lexeme", ["(a", "=a", "a1=", "(a-b/c", "a@", '=""', "?", "#", "é"])
def test_lexemes_that_are_no_byte_sequence_are_passed_with_little_work(lexeme):
    value = ("s=:AAAA:" + lexeme * 1000)[:4096]
    lines_of_reading(value)
    assert lines_of_reading(value) < 300


LEXEMES = [*'"\\a1-_=(),; \t:%*é', '%"', ":AAAA:", ":AA=="]


@given(st.lists(st.sampled_from(LEXEMES), max_size=12).map("".join))
def test_field_is_read_as_a_parser_of_all_structured_fields_reads_it(text):
    # A value has no blanks around it: reading the header fields removes them.
    value = f"s=:AAAA:;p={text}".strip(" \t")
    try:
        parsed = {key: member[0] for key, member in http_sf.parse(value.encode(), tltype="dictionary").items()}
    except http_sf.StructuredFieldError:
        return
    is_usual = all(map(is_spelled, re.findall(":([^:,;]*):", value)))
    if is_usual and all(isinstance(octets, bytes) for octets in parsed.values()):
        read, fault = None, ""
        try:
            read = parse_byte_sequences(value, "base64")
        except UndersignedError as error:
            fault = str(error)
        assert read == parsed or fault == "a label or key is repeated"


def is_spelled(text: str) -> bool:
    """Return whether a text is the usual spelling of some bytes."""
    try:
        return base64.b64encode(base64.b64decode(text, validate=True)).decode() == text
    except ValueError:
        return False


@pytest.mark.parametrize("value", ['s=:AAAA:;p=""', 's=:AAAA:;p="\\"\\""', 's=:AAAA:;p="";q=""', 's=:AAAA:;p=%""'])
def test_quotes_of_a_valid_value_are_within_the_limit(value):
    assert parse_byte_sequences(value, "base64") == {"s": b"\0\0\0"}
