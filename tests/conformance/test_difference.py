from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.conformance import Difference


@pytest.mark.parametrize(
    ("expected", "found", "character", "byte"),
    [
        ("abc", "abd", 2, 2),
        ("abc", "ab", 2, 2),
        ("", "a", 0, 0),
        ("a\u00e9b", "a\u00e9c", 2, 3),
        ("\ud800a", "\ud800b", 1, 3),
    ],
)
def test_first_difference_is_counted_in_characters_and_bytes(expected, found, character, byte):
    difference = Difference("base", expected, found)
    assert (difference.character, difference.byte) == (character, byte)


def test_equal_texts_have_no_difference():
    assert Difference.between("base", "a", "a") is None
    assert Difference.between("base", "a", "b", note="n") == Difference("base", "a", "b", "n")


@given(expected=st.text(), found=st.text())
def test_texts_are_equal_up_to_the_first_difference(expected, found):
    difference = Difference.between("base", expected, found)
    if difference is None:
        assert expected == found
        return
    index = difference.character
    assert expected[:index] == found[:index]
    assert expected[index : index + 1] != found[index : index + 1]
