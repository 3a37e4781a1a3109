from __future__ import annotations

import json

import pytest

from undersigned import Content, UndersignedError


def loads(text: str | bytes):
    """Read a text as the JSON content of a message."""
    return Content((text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text,)).json()


@pytest.mark.parametrize(
    "text",
    ["{}", "[]", "null", '{"a": [1, {"b": 2}], "c": {"a": 1}}', '"\\ud800"', "1e400", '{"a": 1, "A": 2}', "-0", " 1 "],
)
def test_unambiguous_json_reads_as_the_standard_library_reads_it(text):
    assert loads(text) == json.loads(text)
    assert loads(text.encode()) == json.loads(text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
def test_another_unicode_encoding_hides_no_duplicate(encoding):
    with pytest.raises(UndersignedError):
        loads('{"a": 1, "a": 2}'.encode(encoding))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}',
        '{"a": 1, "b": 2, "a": 3}',
        '[[[{"x": {"a": 1, "a": 2}}]]]',
        '{"a": 1, "\\u0061": 2}',
        '{"": 1, "": 2}',
        '{"\\ud800": 1, "\\ud800": 2}',
    ],
)
def test_repeated_key_is_rejected_at_any_depth(text):
    with pytest.raises(UndersignedError, match="a JSON object has duplicate keys"):
        loads(text)


def test_at_most_four_of_the_repeated_keys_are_kept_as_evidence():
    with pytest.raises(UndersignedError) as caught:
        loads("{" + ",".join(f'"{key}": 1, "{key}": 2' for key in "abcdef") + ', "single": 1}')
    assert caught.value.duplicates == ("a", "b", "c", "d")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", '{"a": NaN}'])
def test_constants_that_are_not_json_are_rejected(text):
    with pytest.raises(UndersignedError, match="NaN and Infinity are not JSON"):
        loads(text)


def test_number_over_the_length_limit_is_rejected():
    with pytest.raises(UndersignedError, match="a number too long") as caught:
        loads('{"a": ' + "9" * 5000 + "}")
    assert caught.value.duplicates == ()


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_nesting_over_the_depth_limit_is_rejected(opening):
    with pytest.raises(UndersignedError, match="nested too deeply"):
        loads(opening * 200_000)


@pytest.mark.parametrize("body", [b"", b"{", b"{]", b"\xff", b'{"a": 1,}', b"a=1", b"\x00", b'"\xed\xa0"'])
def test_text_that_is_not_json_raises_a_plain_value_error(body):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the standard library's own words
        loads(body)
    assert not isinstance(caught.value, UndersignedError)


def test_error_message_quotes_no_text():
    with pytest.raises(UndersignedError) as caught:
        loads('{"secret": 1, "secret": 2}')
    assert "secret" not in str(caught.value)
