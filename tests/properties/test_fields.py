from __future__ import annotations

import contextlib

import http_sf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import any_text, bare_items, inner_lists, keys, parameter_sets

from undersigned.message.plain_fields import plain_byte_sequence, plain_signature_input
from undersigned.message.structured_fields import (
    MalformedField,
    parse_byte_sequences,
    parse_signature_input,
    serialize_byte_sequence,
    serialize_signature_input,
)

encodings = st.sampled_from(["base64", "base64url"])
dictionaries = st.dictionaries(keys, inner_lists, min_size=1, max_size=3)
sequences = st.dictionaries(keys, st.binary(max_size=40), min_size=1, max_size=3)


@given(dictionaries)
def test_the_text_of_the_parameters_is_http_sfs_own_serialization(dictionary):
    read = parse_signature_input(http_sf.ser(dictionary))
    assert list(read) == list(dictionary)
    for label, (items, parameters) in dictionary.items():
        assert read[label].text == http_sf.ser([(items, parameters)])
        assert [component.text for component in read[label].components] == [http_sf.ser(item) for item in items]
        assert read[label].parameters == parameters


@given(inner_lists)
def test_reading_what_was_written_gives_the_same_text(inner_list):
    items, parameters = inner_list
    text = serialize_signature_input(tuple(name for name, _ in items), parameters)
    assert parse_signature_input(f"s={text}")["s"].text == text


@given(sequences, encodings)
def test_bytes_read_back_as_written(members, encoding):
    value = ", ".join(f"{key}={serialize_byte_sequence(data, encoding)}" for key, data in members.items())
    assert parse_byte_sequences(value, encoding) == members
    assert parse_byte_sequences(value, "base64url", "base64") == members


@given(sequences, parameter_sets)
def test_parameters_of_a_member_hide_and_change_nothing(members, parameters):
    dictionary = {key: (data, parameters) for key, data in members.items()}
    assert parse_byte_sequences(http_sf.ser(dictionary), "base64") == members


@given(sequences, parameter_sets, keys, st.sampled_from(["AA", "AA=", "A", "-_-_", "AB==", "AAB="]))
def test_no_member_before_it_hides_a_wrong_spelling(members, parameters, key, text):
    dictionary = {name: (data, parameters) for name, data in members.items() if name != key}
    before = f"{http_sf.ser(dictionary)}, " if dictionary else ""
    with_fault = f"{before}{key}=:{text}:{http_sf.ser((1, parameters))[1:]}"
    with pytest.raises(MalformedField, match="Base64"):
        parse_byte_sequences(with_fault, "base64")


@given(any_text | st.binary(max_size=60).map(lambda data: data.decode("latin-1")), encodings)
def test_any_text_is_read_or_refused(value, encoding):
    for read in (parse_signature_input, lambda text: parse_byte_sequences(text, encoding)):
        with contextlib.suppress(MalformedField):
            assert read(value)


texts = st.one_of(
    any_text,
    dictionaries.map(http_sf.ser),
    st.builds(
        lambda names, pairs: "s=({}){}".format(" ".join(f'"{name}"' for name in names), "".join(pairs)),
        st.lists(st.sampled_from(["@method", "a", "a b", "A", "@signature-params", "x\\y", ""]), max_size=4),
        st.lists(
            st.sampled_from([';n="A"', ";created=1", ";created=01", ";c=-1", ";b", ';t="a\\"b"', ';e=""', "; s=1"]),
            max_size=4,
        ),
    ),
)


@given(texts)
def test_what_is_plain_reads_as_what_is_not(value):
    plain = plain_signature_input(value)
    if plain is not None:
        (label, member), read = plain, parse_signature_input(value)
        assert {label: member} == read
        kinds = [type(parameter) for parameter in member.parameters.values()]
        assert kinds == [type(parameter) for parameter in read[label].parameters.values()]


@given(
    texts
    | st.builds("s=:{}:{}".format, st.text("AQgw+/-_=bE", max_size=9), st.sampled_from(["", ";a", " ", ",", ", t=::"])),
    st.lists(encodings, min_size=1, max_size=2, unique=True),
)
def test_plain_bytes_read_as_bytes_that_are_not(value, accepted):
    plain = plain_byte_sequence(value, *accepted)
    if plain is not None:
        assert dict([plain]) == parse_byte_sequences(value, *accepted)


@given(keys, st.text("AQgw+/-_=bE", max_size=9), encodings)
def test_a_spelling_is_accepted_where_it_is_the_only_one(key, text, encoding):
    try:
        (data,) = parse_byte_sequences(f"{key}=:{text}:", encoding).values()
    except MalformedField:
        return
    assert serialize_byte_sequence(data, encoding) == f":{text}:"


@given(bare_items)
def test_a_parameter_keeps_its_type(value):
    read = parse_signature_input(f"s={http_sf.ser([([], {'p': value})])}")["s"]
    assert type(read.parameters["p"]) is type(value)
