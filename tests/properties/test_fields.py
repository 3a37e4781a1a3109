"""Fields of signatures read back as they were written; tests/attack compares every reading with that of http-sf."""

from __future__ import annotations

import http_sf
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.properties.strategies import inner_lists, keys, parameter_sets

from undersigned.message.signature_input import parse_signature_input, serialize_signature_input
from undersigned.message.structured_fields import (
    MalformedField,
    check_size,
    parse_byte_sequences,
    serialize_byte_sequence,
)

OTHER = "zzzzzzzz"
"""A label longer than any other."""


def is_small(value: str) -> bool:
    """Whether a value is of a size that is read, also if another member follows."""
    try:
        check_size(f"{value}, {OTHER}=::")
    except MalformedField:
        return False
    return True


encodings = st.sampled_from(["base64", "base64url"])
sequences = st.dictionaries(keys, st.binary(max_size=40), min_size=1, max_size=3)


@given(inner_lists.filter(lambda inner_list: is_small(http_sf.ser({"s": inner_list}))))
def test_written_text_reads_back_to_the_same_text(inner_list):
    items, parameters = inner_list
    text = serialize_signature_input(tuple(name for name, _ in items), parameters)
    assert parse_signature_input(f"s={text}")["s"].text == text


@given(sequences, encodings)
def test_bytes_read_back_as_written(members, encoding):
    value = ", ".join(f"{key}={serialize_byte_sequence(data, encoding)}" for key, data in members.items())
    assert parse_byte_sequences(value, encoding) == members
    assert parse_byte_sequences(value, "base64url", "base64") == members


@given(sequences, parameter_sets, keys, st.sampled_from(["AA", "AA=", "A", "-_-_", "AB==", "AAB="]))
def test_wrong_spelling_is_found_after_any_other_member(members, parameters, key, text):
    dictionary = {name: (data, parameters) for name, data in members.items() if name != key}
    before = f"{http_sf.ser(dictionary)}, " if dictionary else ""
    with_fault = f"{before}{key}=:{text}:{http_sf.ser((1, parameters))[1:]}"
    assume(is_small(with_fault))
    with pytest.raises(MalformedField, match="Base64"):
        parse_byte_sequences(with_fault, "base64")


@given(keys, st.text("AQgw+/-_=bE", max_size=9), encodings)
def test_spelling_is_accepted_when_it_is_the_only_one(key, text, encoding):
    try:
        (data,) = parse_byte_sequences(f"{key}=:{text}:", encoding).values()
    except MalformedField:
        return
    assert serialize_byte_sequence(data, encoding) == f":{text}:"
