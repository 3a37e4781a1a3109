from __future__ import annotations

import dataclasses
import pickle

import pytest

from undersigned import Request
from undersigned.message.content import Content
from undersigned.message.header_fields import HeaderFields

URL = "https://seller.example.com/"


def test_order_and_repetition_of_fields_are_kept():
    request = Request("GET", URL, [("B", "1"), ("a", "2"), ("b", "3")])
    assert request.headers == (("b", "1"), ("a", "2"), ("b", "3"))
    assert request.lines("b") == ["1", "3"]
    assert request.field("b") == "1, 3"


def test_an_absent_field_is_none_and_an_empty_one_is_not():
    request = Request("GET", URL, [("a", "")])
    assert request.field("b") is None
    assert request.lines("b") == []
    assert request.field("a") == ""


def test_the_lines_given_out_are_the_callers_own():
    request = Request("GET", URL, [("a", "1")])
    request.lines("a").append("2")
    assert request.field("a") == "1"


def test_a_mapping_of_fields_is_accepted():
    assert Request("GET", URL, {"A": "1", "B": "2"}).headers == (("a", "1"), ("b", "2"))


def test_an_iterator_of_fields_is_accepted():
    assert Request("GET", URL, iter([("A", "1")])).headers == (("a", "1"),)


def test_spaces_and_tabs_around_a_value_are_dropped_and_nothing_else():
    assert Request("GET", URL, [("a", " \t x \ty\t "), ("b", "\x0b\xa0")]).headers == (
        ("a", "x \ty"),
        ("b", "\x0b\xa0"),
    )


def test_only_ascii_letters_of_a_name_change_case():
    # KELVIN SIGN and ANGSTROM SIGN have ASCII and Latin-1 letters for their lower case: another field's name.
    assert Request("GET", URL, [("COO\u212aIE", "v")]).headers == (("COO\u212aIE", "v"),)


@pytest.mark.parametrize(
    ("body", "content"),
    [(b"x", b"x"), ("é", "é".encode()), (None, b""), (bytearray(b"x"), b"x"), (memoryview(b"x"), b"x"), ("", b"")],
)
def test_content_is_bytes_whatever_it_was_given_as(body, content):
    request = Request("POST", URL, (), body)
    assert request.body == content
    assert type(request.body) is bytes
    assert request.has_body is bool(content)


def test_content_not_read_yet_can_be_announced():
    assert Request("POST", URL, has_body=True).has_body
    assert not Request("POST", URL, body=b"x", has_body=False).has_body


@pytest.mark.parametrize(
    "arguments",
    [
        (b"GET", URL),
        (None, URL),
        ("GET", b"https://a/"),
        ("GET", None),
        ("GET", URL, None),
        ("GET", URL, 1),
        ("GET", URL, "name"),
        ("GET", URL, [("a",)]),
        ("GET", URL, [("a", "b", "c")]),
        ("GET", URL, [("a", None)]),
        ("GET", URL, [("a", b"b")]),
        ("GET", URL, [(b"a", "b")]),
        ("GET", URL, [(b"a", b"b")]),
        ("GET", URL, {"a": ["b"]}),
        ("GET", URL, [1]),
        ("GET", URL, (), 1),
        ("GET", URL, (), {"a": 1}),
        ("GET", URL, (), [b"x"]),
    ],
)
def test_an_argument_of_another_type_is_the_programmers_mistake(arguments):
    with pytest.raises(TypeError):
        Request(*arguments)


def test_text_without_utf8_bytes_is_no_content():
    with pytest.raises(UnicodeEncodeError):
        Request("POST", URL, (), "\ud800")


def test_a_request_shows_its_shape_and_none_of_its_text():
    request = Request("POST", URL, [("authorization", "secret")], b"secret")
    assert repr(request) == "<Request: 1 header fields, 6 bytes>"
    assert str(request) == repr(request)


def test_requests_of_equal_parts_are_equal():
    one = Request("GET", URL, [("A", "1 ")])
    assert one == Request("GET", URL, [("a", "1")])
    assert hash(one) == hash(Request("GET", URL, [("a", "1")]))
    assert one != Request("GET", URL, [("a", "2")])


def test_a_request_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Request("GET", URL).method = "POST"


def test_a_request_can_be_copied_with_a_change():
    request = dataclasses.replace(Request("GET", URL, [("a", "1")]), headers=[("a", "2")])
    assert request.field("a") == "2"


def test_a_request_survives_the_way_to_another_process():
    request = Request("GET", URL, [("a", "1")], b"x")
    revived = pickle.loads(pickle.dumps(request))  # noqa: S301 - our own bytes
    assert revived == request
    assert revived.field("a") == "1"


@pytest.mark.parametrize("name", ["a", "A", "x-a", ":authority", "!#$%&'*+.^_`|~09-az", "signature"])
def test_a_token_is_a_sound_name(name):
    assert Request("GET", URL, [(name, "v")]).fields_are_sound


@pytest.mark.parametrize(
    "name",
    ["", " ", "a b", "a:", "::a", ":", "a\n", "a\nb", "\na", "a\n\n", "é", "\u212a", "\ud800", "a\0", "a\r", "(", '"'],
)
def test_what_is_no_token_is_no_sound_name(name):
    assert not Request("GET", URL, [("first", "v"), (name, "v"), ("last", "v")]).fields_are_sound


@pytest.mark.parametrize("value", ["", "v", "é", "\ud800", "\x7f", "\x0b", "a\tb", "\x85", "\u2028", "x" * 100_000])
def test_a_value_without_cr_lf_and_nul_is_sound(value):
    assert Request("GET", URL, [("a", value)]).fields_are_sound


@pytest.mark.parametrize("value", ["a\r\n b", "a\nb", "\n", "a\rb", "\r", "\0", "a\0b"])
def test_a_value_with_cr_lf_or_nul_is_not(value):
    assert not Request("GET", URL, [("first", "v"), ("a", value), ("last", "v")]).fields_are_sound


def test_no_fields_at_all_are_sound():
    assert Request("GET", URL).fields_are_sound


def test_content_read_later_takes_the_place_of_what_was_announced():
    announced = Request("POST", URL, [("a", "1")], has_body=True, query_unknown=True)
    read = announced.with_content(Content((b"x", b"y")))
    assert (read.body, read.has_body, read.query_unknown, read.headers) == (b"xy", True, True, announced.headers)
    assert read.content.chunks == (b"x", b"y")


def test_host_values_lose_the_spaces_around_them_only():
    fields = HeaderFields([("Host", " a\t"), ("x-host", "b"), ("host", "c d")])
    assert fields.values("host") == ["a", "c d"]
