"""Properties: a dictionary that patterns read is what http-sf reads, and they reject what http-sf rejects."""

from __future__ import annotations

import http_sf
from hypothesis import assume, given
from hypothesis import strategies as st

from undersigned.message.dictionaries import read_dictionary, serialize_dictionary, serialize_item

KEYS = st.sampled_from(["a", "b", "*c.d-e_1", "sig1", "x"])
BARE = st.sampled_from(
    [
        '"s"', '""', '"a\\"b\\\\"', '"\\\\\\""', '"\\n"', '"\\', '"\t"', '"é"', "tok/en:x", "*", "T", "1", "-0",
        "00012", "-999999999999999", "9999999999999999", "1.5", "-00.500", "123456789012.123", "1234567890123.1",
        "1.2345", "1.", ".5", "-", "--1", "?0", "?1", "?2", "?", "::", ":AAAA:", ":AA==:", ":AA:", ":AA=:", ":AB==:",
        ":A:", ":=:", ":AA===:", ":AA=A:", ":A-_A:", ":", ":AAAA", ":AA:AA:", "@1", "@-1", "@1.5", "@",
        "@999999999999999", "@1234567890123456", '%"f%c3%bc"', '%"a\\"', '%""', '%"%C3%BC"', '%"%ff"', '%"%f"', '%"%',
        '%"\t"', "tok=", "a%b", "%", "()", "",
    ]
)  # fmt: skip
PARAMETERS = st.builds(
    "{}{}{}{}".format, st.sampled_from([";", "; ", ";  ", " ;", ";\t"]), KEYS, st.sampled_from(["", "="]), BARE
)
GIVEN = st.lists(PARAMETERS, max_size=3).map("".join)
SPACES = st.sampled_from(["", " ", "  ", "\t"])
ITEMS = st.lists(st.builds("{}{}".format, BARE, GIVEN), max_size=3)
LISTS = st.builds(
    lambda before, items, between, after: f"({before}{between.join(items)}{after})",
    *(SPACES, ITEMS, st.sampled_from([" ", "  ", "", "\t"]), SPACES),
)
MEMBERS = st.builds("{}{}{}{}".format, KEYS, st.sampled_from(["=", "", "= "]), BARE | LISTS, GIVEN)
COMMAS, ENDS = st.sampled_from([", ", ",", " \t,\t ", ",,", " "]), st.sampled_from(["", " ", "\t", ",", "\n"])
DICTIONARIES = st.builds(
    lambda before, members, comma, after: f"{before}{comma.join(members)}{after}",
    *(SPACES, st.lists(MEMBERS, max_size=3), COMMAS, ENDS),
)


class Repeated(Exception):
    """A key is repeated."""


def raise_repeated(_key: str, _where: str) -> None:
    raise Repeated


def add_types(value: object) -> object:
    """A value with its types, because a token equals its text and a decimal its integer."""
    if isinstance(value, dict):
        return [(key, add_types(member)) for key, member in value.items()]
    if isinstance(value, (list, tuple)):
        return type(value), [add_types(member) for member in value]
    return type(value), str(value), value


@given(DICTIONARIES | st.text('ab"\\=;, ():?@%-.1A\t', max_size=24))
def test_patterns_read_a_dictionary_as_http_sf_does(value):
    try:
        expected = http_sf.parse(value.encode(), tltype="dictionary", on_duplicate_key=raise_repeated) or None
    except (http_sf.StructuredFieldError, Repeated):
        expected = None
    read = read_dictionary(value)
    assert (read is None) == (expected is None)
    assert add_types(read) == add_types(expected)
    if read is not None:
        assert serialize_dictionary(read) == http_sf.ser(expected)


@given(BARE)
def test_item_is_spelled_as_http_sf_serializes_it(text):
    read = read_dictionary(f"a={text}")
    assume(read is not None and text != "()")
    [(item, _)] = read.values()
    assert serialize_item(item) == http_sf.ser(item)
