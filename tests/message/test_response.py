from __future__ import annotations

import dataclasses
import pickle

import pytest

from undersigned import Request
from undersigned.message import Content, HeaderFields, Response

REQUEST = Request("GET", "https://seller.example.com/", [("host", "seller.example.com")])


def test_response_has_its_parts():
    response = Response(200, [("X-A", " 1 ")], "é", request=REQUEST, trailers={"Expires": "never"})
    assert (response.status, response.body, response.request) == (200, "é".encode(), REQUEST)
    assert response.fields.combined == {"x-a": "1"}
    assert response.trailers is not None
    assert response.trailers.combined == {"expires": "never"}
    assert bytes(response.content) == response.body
    assert repr(response) == "<Response: 200, 1 headers, 2 bytes>"


def test_request_and_trailers_may_be_unknown():
    response = Response(204)
    assert (response.request, response.trailers, response.body, response.has_body) == (None, None, b"", False)


def test_parts_that_were_read_before_are_kept():
    fields, trailers, content = HeaderFields([("a", "b")]), HeaderFields([("c", "d")]), Content((b"x",))
    response = Response(200, fields, content, trailers=trailers)
    assert response.fields is fields
    assert response.trailers is trailers
    assert response.content is content


def test_copy_is_changed_in_one_part_only():
    response = Response(200, [("a", "b")], b"x", request=REQUEST)
    changed = dataclasses.replace(response, status=503)
    assert (changed.status, changed.fields, changed.body, changed.request) == (503, response.fields, b"x", REQUEST)
    assert pickle.loads(pickle.dumps(response)) == response  # noqa: S301 - pickled here


@pytest.mark.parametrize("status", [0, 99, 1000, -200])
def test_status_must_have_three_digits(status):
    with pytest.raises(ValueError, match="three digits"):
        Response(status)
