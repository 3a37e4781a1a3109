"""Dictionaries: what the patterns read, what they leave to http-sf, and how an item is spelled again."""

from __future__ import annotations

import http_sf
import pytest

from undersigned.message.dictionaries import read_dictionary, serialize_dictionary, serialize_item


@pytest.mark.parametrize(
    ("text", "spelling"),
    [
        ('"a \\"b\\" \\\\"', '"a \\"b\\" \\\\"'),
        ('"\\\\\\""', '"\\\\\\""'),
        ("*tok/en:x", "*tok/en:x"),
        ("007", "7"),
        ("-12", "-12"),
        ("-0", "0"),
        ("999999999999999", "999999999999999"),
        ("-01.50", "-1.5"),
        ("-0.0", "0.0"),
        ("10.000", "10.0"),
        ("123456789012.123", "123456789012.123"),
        ("?0", "?0"),
        ("?1", "?1"),
        ("::", "::"),
        (":AAE:", ":AAE=:"),
        (":AA==:", ":AA==:"),
        ("@-1", "@-1"),
        ("@99999999999", "@99999999999"),
        ('%"\\ f%c3%bc%22%0a"', '%"\\ f%c3%bc%22%0a"'),
        ('%"%41"', '%"A"'),
        ('%"a"', '%"a"'),
        ('%""', '%""'),
    ],
)
def test_item_is_read_and_spelled_as_by_http_sf(text, spelling):
    [(item, _)] = (read_dictionary(f"a={text}") or {}).values()
    [(expected, _)] = http_sf.parse(f"a={text}".encode(), tltype="dictionary").values()
    assert (type(item), item) == (type(expected), expected)
    assert serialize_item(item) == spelling == http_sf.ser(expected)


@pytest.mark.parametrize("text", [*"azAZ*", *(f"t{character}" for character in "azAZ09:/!#$%&'*+.^_`|~-")])
def test_token_is_read_with_every_character_that_it_may_have(text):
    [(item, _)] = (read_dictionary(f"a={text}") or {}).values()
    assert (type(item), str(item)) == (http_sf.Token, text)


@pytest.mark.parametrize("key", [*"az*", *(f"k{character}" for character in "az09_.*-")])
def test_key_is_read_with_every_character_that_it_may_have(key):
    assert read_dictionary(f"{key}=1;{key}=2") == {key: (1, {key: 2})}


def test_display_string_is_spelled_and_read_again_with_every_character_of_ascii():
    text = http_sf.DisplayString("".join(map(chr, range(128))))
    assert serialize_item(text) == http_sf.ser(text)
    assert read_dictionary(f"a={serialize_item(text)}") == {"a": (text, {})}


def test_decimal_that_a_program_gives_is_spelled_by_http_sf():
    assert serialize_item(1.5) == "1.5"


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("a", {"a": (True, {})}),
        ("  a=1;b;  c=2 \t,\tb=3\t", {"a": (1, {"b": True, "c": 2}), "b": (3, {})}),
        ("a,b=2", {"a": (True, {}), "b": (2, {})}),
        ("a=()", {"a": ([], {})}),
        ('a=(  "b";c  "d";e=1  );f', {"a": ([("b", {"c": True}), ("d", {"e": 1})], {"f": True})}),
    ],
)
def test_members_and_their_parameters_are_read_and_spelled_again_as_by_http_sf(value, read):
    expected = http_sf.parse(value.encode(), tltype="dictionary")
    assert read_dictionary(value) == read == expected
    assert serialize_dictionary(read) == http_sf.ser(expected)


@pytest.mark.parametrize(
    "value",
    [
        "", "a,", "!a=1", "A=1", "a=", "a=1 b", "a= 1", "a=1;", "a=1 ;b", "a=(1", "a=(1 2", "a=(1\t2)",
        'a=("b""c")', "a=((1))",
        'a="b', 'a="\\b"', 'a="\t"', 'a="\xe9"', "a=1234567890123456", "a=1.", "a=1.1234", "a=1234567890123.1", "a=1-",
        "a=?", "a=?2", "a=:", "a=:A", "a=:A:", "a=:=:", "a=:AA===:", "a=:AA=A:", "a=:A_:", "a=:AA!:",
        "a=!", "a=@", "a=@1.0",
        "a=@999999999999999", 'a=%"\t"', 'a=%"%C3"', 'a=%"%c3"', 'a=%"%', "a=%", "a=to=ken",
    ],
)  # fmt: skip
def test_fault_is_left_to_http_sf(value):
    assert read_dictionary(value) is None
    if value:
        with pytest.raises(http_sf.StructuredFieldError):
            http_sf.parse(value.encode(), tltype="dictionary")


@pytest.mark.parametrize("value", ["a=1, b, a=1", "a=1;c=1;c=1", "a=(1;c;c)", "a=();c;c"])
def test_repeated_key_is_left_to_http_sf(value):
    assert read_dictionary(value) is None
