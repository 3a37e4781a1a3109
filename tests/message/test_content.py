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


def test_content_is_read_as_json_once_and_strictly():
    content = Content((b'{"a": ', b"[1]}"))
    assert content.json() == {"a": [1]}
    assert content.json() is content.json()
    with pytest.raises(AmbiguousJSON):
        Content((b'{"a": 1, "a": 2}',)).json()
    with pytest.raises(ValueError, match="Expecting value"):
        Content().json()
