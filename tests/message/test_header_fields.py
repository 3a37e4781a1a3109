from __future__ import annotations

import pickle
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.message import HeaderFields

_LETTERS = st.text(st.characters(max_codepoint=255), max_size=4)
NAMES = (
    st.sampled_from(["host", "Host", "COOKIE", "content-Type", "x_user", "X-User", ":authority", "", "COO\xc9IE"])
    | _LETTERS
)
VALUES = st.sampled_from(["", "v", " v", "v\t", "\xa0v\xa0", "\r\n", "\0", " " * 64 + "v", "\x0b"]) | _LETTERS
LINES = st.lists(st.tuples(NAMES, VALUES), max_size=6)


def test_fields_keep_their_order_and_repetition():
    fields = HeaderFields([("B", "1"), ("a", "2"), ("b", "3"), ("b", "4")])
    assert fields.lines == (("b", "1"), ("a", "2"), ("b", "3"), ("b", "4"))
    assert [*fields] == [*fields.lines]
    assert len(fields) == 4
    assert [*fields.combined] == ["b", "a"]
    assert fields.values("b") == ("1", "3", "4")
    assert fields.combined.get("b") == "1, 3, 4"
    assert fields.repeated == {"b": ("1", "3", "4")}


def test_absent_field_is_none_and_an_empty_one_is_not():
    fields = HeaderFields([("a", "")])
    assert ("b" in fields.combined, fields.values("b"), fields.combined.get("b")) == (False, (), None)
    assert ("a" in fields.combined, fields.values("a"), fields.combined.get("a")) == (True, ("",), "")


def test_fields_may_be_a_mapping_or_an_iterator():
    assert HeaderFields({"A": "1", "B": "2"}).lines == (("a", "1"), ("b", "2"))
    assert HeaderFields(iter([("A", "1")])).lines == (("a", "1"),)


def test_spaces_and_tabs_around_a_value_are_dropped_and_nothing_else():
    fields = HeaderFields([("a", " \t x \ty\t "), ("c", "c d"), ("d", "\t " * 4000)])
    assert fields.lines == (("a", "x \ty"), ("c", "c d"), ("d", ""))
    for other in "!\x0b\x0c\x1c\x85\xa0":
        assert HeaderFields([("x", f" {other} v {other}\t")]).combined["x"] == f"{other} v {other}"


def test_only_ascii_letters_of_a_name_change_case():
    # The lower case of KELVIN SIGN is the ASCII letter k, so another field's name.
    assert HeaderFields([("COO\u212aIE", "v")]).lines == (("COO\u212aIE", "v"),)


@pytest.mark.parametrize("headers", [None, [("a", b"b")], [(b"a", "b")], [(b"a", b"b")]])
def test_headers_that_are_bytes_raise_a_type_error(headers):
    with pytest.raises(TypeError):
        HeaderFields(headers)


def test_fields_repr_shows_their_number_only():
    fields = HeaderFields([("authorization", "secret")])
    assert repr(fields) == str(fields) == "<HeaderFields: 1 lines>"


def test_equal_lines_are_equal_fields():
    one, other = HeaderFields([("A", "1 ")]), HeaderFields({"a": "1"})
    assert one == other
    assert hash(one) == hash(other)
    assert one != HeaderFields([("a", "2")])
    assert pickle.loads(pickle.dumps(one)).values("a") == ("1",)  # noqa: S301 - our own bytes


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a:", "::a", ":", "a\n", "a\nb", "\na", "a\n\n", "é", "\u212a", "\ud800", "a\0", "a\r", "(", '"'],
)
def test_name_is_invalid_if_it_is_not_a_token(name):
    assert not HeaderFields([("first", "v"), (name, "v"), ("last", "v")]).are_valid


@pytest.mark.parametrize("value", ["", "v", "é", "\ud800", "\x7f", "\x0b", "a\tb", "\x85", "\u2028", "x" * 100_000])
def test_value_without_cr_lf_and_nul_is_valid(value):
    assert HeaderFields([("a", value)]).are_valid


@pytest.mark.parametrize("value", ["a\r\n b", "a\nb", "\n", "a\rb", "\r", "\0", "a\0b"])
def test_value_with_cr_lf_or_nul_is_invalid(value):
    assert not HeaderFields([("first", "v"), ("a", value), ("last", "v")]).are_valid


def _all_of(fields: HeaderFields) -> tuple[object, ...]:
    return fields.lines, fields.are_valid, fields.combined, fields.repeated


@given(lines=LINES)
def test_fields_of_octets_are_the_fields_of_the_decoded_text(lines):
    octets = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in lines]
    assert _all_of(HeaderFields.of_octets(octets)) == _all_of(HeaderFields(lines))


@given(lines=LINES)
def test_name_becomes_lower_case_if_it_is_ascii_however_it_is_spelled(lines):
    lower = [name.lower() if name.isascii() else name for name, _ in lines]
    fields = HeaderFields(lines)
    assert [name for name, _ in fields] == lower


def test_name_has_the_characters_of_a_token():
    # RFC 9110 section 5.6.2; the name of a pseudo-header begins with a colon.
    found = {chr(code) for code in range(0x3000) if HeaderFields([(f"a{chr(code)}", "")]).are_valid}
    assert found == {*"!#$%&'*+-.^_`|~", *string.digits, *string.ascii_letters}
    assert HeaderFields([(":authority", "")]).are_valid
    assert HeaderFields().are_valid
