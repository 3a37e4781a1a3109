"""How many lines a middleware writes about what any sender can cause."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from undersigned.limits import MOST_LINE_KINDS, MOST_LINES, SECONDS_PER_LINE
from undersigned.middleware.line_allowance import LineAllowance

LAST = " (from now on at most one such line a minute)"


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_five_lines_are_written_at_once_and_the_last_one_says_so():
    allowance = LineAllowance(Clock())
    assert [allowance.take("a") for _ in range(MOST_LINES + 2)] == ["", "", "", "", LAST, None, None]


def test_one_line_a_minute_follows_and_says_how_many_were_left_out():
    clock = Clock()
    allowance = LineAllowance(clock)
    for _ in range(MOST_LINES + 3):
        allowance.take("a")
    clock.now += SECONDS_PER_LINE - 1
    assert allowance.take("a") is None
    clock.now += 1
    assert allowance.take("a") == " (4 such lines were left out since the last one)"
    assert allowance.take("a") is None


def test_quiet_hour_gives_no_more_than_the_first_lines_again():
    clock = Clock()
    allowance = LineAllowance(clock)
    for _ in range(MOST_LINES):
        allowance.take("a")
    clock.now += 3600
    assert [allowance.take("a") for _ in range(MOST_LINES + 1)] == ["", "", "", "", LAST, None]


def test_kinds_are_counted_apart_until_there_are_too_many():
    allowance = LineAllowance(Clock())
    for at in range(MOST_LINE_KINDS):
        assert allowance.take(f"kind {at}") == ""
    others = [allowance.take(f"other {at}") for at in range(MOST_LINES + 1)]
    assert others == ["", "", "", "", LAST, None]
    assert allowance.take("kind 0") == ""


def test_threads_take_no_more_than_there_is():
    allowance = LineAllowance(Clock())
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: allowance.take("a"), range(400)))
    assert len(taken) - taken.count(None) == MOST_LINES
