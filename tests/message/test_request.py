from __future__ import annotations

import dataclasses
import pickle

import pytest

from undersigned import Request
from undersigned.message import Content, HeaderFields
from undersigned.message.request_target import RequestTarget
from undersigned.url import Origin

URL = "https://seller.example.com/"
ORIGIN = Origin("https", "seller.example.com")


@pytest.mark.parametrize(
    ("body", "content"),
    [(b"x", b"x"), ("é", "é".encode()), (None, b""), (bytearray(b"x"), b"x"), (memoryview(b"x"), b"x"), ("", b"")],
)
def test_content_is_bytes_whatever_type_it_was_given_as(body, content):
    request = Request("POST", URL, (), body)
    assert request.body == content
    assert type(request.body) is bytes
    assert request.has_body is bool(content)


def test_text_with_a_lone_surrogate_is_rejected_as_content():
    with pytest.raises(UnicodeEncodeError):
        Request("POST", URL, (), "\ud800")


def test_request_repr_shows_its_sizes_and_none_of_its_text():
    request = Request("POST", URL, [("authorization", "secret")], b"secret")
    assert repr(request) == "<Request: 1 headers, 6 bytes>"
    assert str(request) == repr(request)


def test_requests_of_equal_parts_are_equal():
    one = Request("GET", URL, [("A", "1 ")])
    assert one == Request("GET", URL, [("a", "1")])
    assert hash(one) == hash(Request("GET", URL, [("a", "1")]))
    assert one != Request("GET", URL, [("a", "2")])


def test_request_can_be_copied_with_a_change():
    request = dataclasses.replace(Request("GET", URL, [("a", "1")]), fields=[("a", "2")])
    assert request.fields.values("a") == ("2",)


def test_request_can_be_pickled():
    request = Request("GET", URL, [("a", "1")], b"x")
    revived = pickle.loads(pickle.dumps(request))  # noqa: S301 - our own bytes
    assert revived == request
    assert revived.fields.values("a") == ("1",)


def test_content_read_later_replaces_the_announced_content_and_keeps_the_fields():
    announced = Request("POST", URL, [("a", "1")], has_body=True, query_unknown=True)
    read = announced.with_content(Content((b"x", b"y")))
    assert (read.body, read.has_body, read.query_unknown) == (b"xy", True, True)
    assert read.content.chunks == (b"x", b"y")
    assert read.fields is announced.fields


@pytest.mark.parametrize(
    ("announced", "content", "has_body"), [(False, b"x", True), (True, b"", True), (False, b"", False)]
)
def test_request_has_a_body_if_it_was_announced_or_there_is_one(announced, content, has_body):
    assert Request("POST", URL, [], content, has_body=announced).has_body is announced
    assert Request("POST", URL, [], has_body=announced).with_content(Content((content,))).has_body is has_body


def test_fields_are_not_parsed_again_when_they_are_parsed_already():
    fields = HeaderFields({"a": "1"})
    assert Request("GET", URL, fields).fields is fields


def test_unread_request_is_the_request_that_announces_its_content():
    fields = HeaderFields({"a": "1"})
    target = RequestTarget.parse(URL.removeprefix(str(ORIGIN)).encode())
    unread = Request.unread("POST", target, ORIGIN, fields, has_body=True, query_unknown=True)
    announced = Request("POST", URL, fields, has_body=True, query_unknown=True)
    assert unread == announced
    assert unread.content == announced.content
    assert unread.canonical_url() == announced.canonical_url()
