"""The variables that the handler of wsgiref makes; tests/integrations/test_raw_target.py serves by it."""

from __future__ import annotations

from email.parser import Parser

import pytest

from undersigned.wsgi.wsgiref import wire_variables


@pytest.mark.parametrize(
    ("line", "target"),
    [
        ("GET /p HTTP/1.1", "/p"),
        ("GET  /p HTTP/1.1", " /p"),
        ("GET /p q HTTP/1.1", "/p q"),
        ("GET\x0b/p HTTP/1.1", ""),
        ("GET /p", ""),
    ],
)
def test_target_is_the_text_between_the_first_and_the_last_space(line, target):
    assert wire_variables(line, Parser().parsestr(""))["RAW_URI"] == target


def test_repeated_fields_stay_a_list_and_absent_ones_stay_empty():
    fields = Parser().parsestr("Content-Type: a/b\nContent-Type: c/d\n\n")
    assert wire_variables("GET / HTTP/1.1", fields) == {
        "RAW_URI": "/",
        "CONTENT_TYPE": "a/b, c/d",
        "CONTENT_LENGTH": "",
    }


def test_line_that_is_not_a_header_field_gets_no_name():
    assert wire_variables("GET / HTTP/1.1", Parser().parsestr("Host: a\nnothing\n\n"))["HTTP_"] == ""
