from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.cli.columns import NARROWEST, lines
from undersigned.conformance import Difference

BASE = '"@method": POST\n"@target-uri": https://own.test/a/long/path?with=a&query\n"@authority": own.test'


def show(expected: str, found: str, width: int = 40) -> list[str]:
    return [line for line, _ in lines(Difference("x", expected, found), width=width)]


def test_short_texts_are_shown_one_above_the_other_with_a_mark():
    assert show("rejected with a", "rejected with b") == [
        "expected: rejected with a",
        "found:    rejected with b",
        "                        ^",
    ]


def test_only_the_found_text_is_shown_when_nothing_was_expected():
    assert show("", "the file is not JSON\n") == ["the file is not JSON\\n"]


def test_bases_are_shown_in_two_columns_with_a_mark():
    found = BASE.replace("query", "qurey")
    assert show(BASE, found, width=30) == [
        "expected                        found",
        '"@method": POST                 "@method": POST',
        '"@target-uri": https://own.tes  "@target-uri": https://own.tes',
        "t/a/long/path?with=a&query      t/a/long/path?with=a&qurey",
        "                       ^                               ^",
        '"@authority": own.test          "@authority": own.test',
    ]


def test_base_that_ends_early_is_marked_at_its_end():
    assert show("a\nb", "a", width=20) == [
        "expected              found",
        "a                     a",
        " ^                     ^",
        "b",
    ]


def test_long_line_continues_in_the_next_row_of_its_column():
    assert show("a" * 45, "a" * 44 + "b", width=20) == [
        "expected              found",
        "a" * 20 + "  " + "a" * 20,
        "a" * 20 + "  " + "a" * 20,
        "aaaaa                 aaaab",
        "    ^                     ^",
    ]


def test_difference_after_a_full_row_gets_its_own_row():
    assert show("a" * 40, "a" * 40 + "b", width=20)[-2:] == ["                      b", "^                     ^"]


def test_unprintable_characters_are_escaped_and_the_mark_stays_below_them():
    assert show("a\x1b[31m\u00e9x", "a\x1b[31m\u00e9y") == [
        "expected: a\\x1b[31m\\xe9x",
        "found:    a\\x1b[31m\\xe9y",
        "                       ^",
    ]


def test_long_texts_are_shown_only_around_the_difference():
    expected = "\n".join(map(str, range(1000)))
    shown_lines = show(expected, expected.replace("\n500\n", "\n5OO\n"))
    assert len(shown_lines) == 1 + 41 + 1
    assert shown_lines[1].split() == ["480", "480"]
    assert shown_lines[-1].split() == ["520", "520"]


def test_only_the_mark_is_flagged_as_a_mark():
    difference = Difference("x", BASE, BASE[:-1])
    assert [line.split() for line, is_mark in lines(difference, width=40) if is_mark] == [["^", "^"]]


@given(expected=st.text(min_size=1), found=st.text(), width=st.integers(NARROWEST, 60))
def test_any_two_texts_are_printable_within_the_width_with_one_mark(expected, found, width):
    difference = Difference.between("x", expected, found)
    if difference is None:
        return
    shown_lines = list(lines(difference, width=width))
    assert sum(is_mark for _, is_mark in shown_lines) == 1
    for line, _ in shown_lines:
        assert line.isascii()
        assert line.isprintable()
        assert len(line) <= 2 * width + 2


@pytest.mark.parametrize("width", [20, 40])
def test_text_of_several_lines_is_shown_in_columns(width):
    assert show("a\nb", "c", width=width)[0].split() == ["expected", "found"]
