"""The plain spelling is read by pattern as the structured field parser reads it, and nothing else is."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.message.plain_fields import plain_byte_sequence, plain_signature_input
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences, parse_signature_input
from undersigned.signature.profile import PARAMETERS

COMPONENTS = '("@method" "@target-uri" "@authority" "content-type" "x-own")'
VALUES = {"created": "1", "expires": "301", "nonce": '"bm9uY2U"', "keyid": '"k 1"', "alg": '"ed25519"', "tag": '"t"'}


def written(names=PARAMETERS, **others) -> str:
    return f"sig1={COMPONENTS}" + "".join(f";{name}={others.get(name, VALUES.get(name))}" for name in names)


def plain_input(value):
    """What is read of a plain value, as the parser returns it."""
    member = plain_signature_input(value)
    return None if member is None else dict([member])


def plain_bytes(value, *encodings):
    """The same of byte sequences."""
    member = plain_byte_sequence(value, *encodings)
    return None if member is None else dict([member])


def parsed(parse, value, *encodings):
    try:
        return parse(value, *encodings)
    except MalformedField:
        return None


@pytest.mark.parametrize(
    "value", [written(), written(PARAMETERS[::-1]), written(("keyid",)), written(("tag", "created"))]
)
def test_what_is_plain_reads_as_the_parser_reads_it(value):
    assert plain_input(value) == parse_signature_input(value)


@pytest.mark.parametrize(
    "value",
    [
        written(created="01"),
        written(created="1.0"),
        written(created="-1"),
        written(created="1" * 16),
        written(keyid=r'"a\"b"'),
        written(keyid="token"),
        written(tag='"é"'),
        written((*PARAMETERS, "tag")),
        written(("created", "created")),
        written().replace('"x-own"', '"X-Own"'),
        written().replace('"x-own"', '"@method"'),
        written().replace('"x-own"', '"@signature-params"'),
        written(("tag",)).replace('"x-own"', '"@signature-params"'),
        written().replace('"x-own"', '"x-own";sf'),
        written().replace('" "', '"  "'),
        written().replace("sig1", "Sig1"),
        f"{written()}, sig2=()",
        f" {written()}",
        "sig1=()",
        "",
    ],
)
def test_what_is_not_plain_is_left_to_the_parser(value):
    assert plain_input(value) is None


@given(st.text(st.sampled_from('sig1=("@method" "x");created=10;nonce="a\\",é:?\t'), max_size=60))
def test_no_text_reads_otherwise_than_the_parser_reads_it(value):
    plain = plain_input(value)
    assert plain is None or plain == parse_signature_input(value)


@given(st.data())
def test_no_change_of_a_plain_value_reads_otherwise_than_the_parser_reads_it(data):
    value = written(data.draw(st.permutations(PARAMETERS)))
    at = data.draw(st.integers(0, len(value)))
    end = data.draw(st.integers(at, min(len(value), at + 3)))
    put = data.draw(st.text(st.sampled_from('"\\ ;=(),:0aA-_é@*'), max_size=3))
    changed = value[:at] + put + value[end:]
    plain = plain_input(changed)
    assert plain is None or plain == parsed(parse_signature_input, changed)


@given(st.binary(max_size=70), st.sampled_from(["base64", "base64url"]))
def test_bytes_read_as_the_parser_reads_them(octets, encoding):
    text = base64.b64encode(octets) if encoding == "base64" else base64.urlsafe_b64encode(octets).rstrip(b"=")
    value = f"sig1=:{text.decode()}:"
    assert plain_bytes(value, encoding) == parse_byte_sequences(value, encoding) == {"sig1": octets}


ENCODINGS = [("base64",), ("base64url",), ("base64", "base64url"), ("base64url", "base64")]


@given(st.text(st.sampled_from('sA+/-_=:Qw4,;"é \n'), max_size=24), st.sampled_from(ENCODINGS))
def test_no_byte_sequence_reads_otherwise_than_the_parser_reads_it(text, encodings):
    for value in (text, f"sig1=:{text}:"):
        plain = plain_bytes(value, *encodings)
        assert plain is None or plain == parsed(parse_byte_sequences, value, *encodings)
