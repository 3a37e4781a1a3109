from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.properties.strategies import any_text, names, values

from undersigned.message import HeaderFields

TOKEN = {*"!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"}
USUAL = st.sampled_from(["Host", "host", "Content-Type", "Signature", ":authority", "X-A", "x-a"])
lines = st.lists(st.tuples(USUAL | names | any_text, values | any_text), max_size=8)


def in_lower_case(name: str) -> str:
    return "".join(chr(ord(char) + 32) if "A" <= char <= "Z" else char for char in name) if name.isascii() else name


def is_valid(name: str, value: str) -> bool:
    token = name.removeprefix(":")
    return bool(token) and set(token) <= TOKEN and not set(value) & {"\r", "\n", "\0"}


@given(lines)
def test_fields_read_together_equal_the_fields_read_one_by_one(given_lines):
    one_by_one = [(in_lower_case(name), value.strip(" \t")) for name, value in given_lines]
    fields = HeaderFields(given_lines)
    assert [*fields] == one_by_one
    for name in {name for name, _ in one_by_one} | {"absent"}:
        own = [value for other, value in one_by_one if other == name]
        assert fields.values(name) == tuple(own)
        assert (name in fields.combined) == bool(own)
    assert fields.are_valid == all(is_valid(name, value) for name, value in one_by_one)
