from __future__ import annotations

import pytest

from undersigned.message.content import Content
from undersigned.message.strict_json import AmbiguousJSON


def test_content_is_the_same_bytes_however_it_is_chunked():
    content = Content((b"a", b"", b"bc"))
    assert bytes(content) == b"abc"
    assert len(content) == 3
    assert content == Content((b"abc",))
    assert hash(content) == hash(Content((b"abc",)))
    assert content != Content((b"ab",))
    assert content != b"abc"
    assert Content() == Content((b"",))


def test_content_repr_shows_its_size_only():
    assert repr(Content((b"secret",))) == str(Content((b"secret",))) == "<Content: 6 bytes>"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (b"", 0),
        (b'{"a": [1, 2], "b": {}}', 7),
        (b"]}", 0),
        (b"50%", 1),
        (rb"\x41 \u0041 \U00000041", 6),
        (rb"\n \" \u4e2d \U0001F600", 0),
    ],
)
def test_delimiters_are_opening_brackets_commas_colons_percent_signs_and_escapes_of_letters(text, count):
    assert Content((text[:3], text[3:])).delimiters() == count


def test_content_is_read_as_json_once_and_strictly():
    content = Content((b'{"a": ', b"[1]}"))
    assert content.json() == {"a": [1]}
    assert content.json() is content.json()
    ambiguous = Content((b'{"a": 1, "a": 2}',))
    for _ in range(2):
        with pytest.raises(AmbiguousJSON, match="repeats a key"):
            ambiguous.json()
    with pytest.raises(ValueError, match="Expecting value"):
        Content().json()
