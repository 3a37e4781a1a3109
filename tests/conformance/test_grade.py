from __future__ import annotations

import pytest

from undersigned import ConfigurationError
from undersigned.conformance import Difference, Grade, grade
from undersigned.conformance.document import MalformedVector
from undersigned.conformance.grade import Unreadable

ONE, OTHER = Difference("one", "a", "b"), Difference("other", "a", "b")


class Told:
    """A vector that tells its differences, and then raises."""

    name = "v"

    def __init__(self, *told, raising=None):
        self._told = told
        self._raising = raising

    def differences(self):
        yield from self._told
        if self._raising is not None:
            raise self._raising


def test_a_vector_without_a_difference_has_passed():
    assert grade(Told(None, None)) == Grade("v", None)
    assert grade(Told()).passed


def test_the_first_difference_counts_and_ends_it():
    assert grade(Told(None, ONE, OTHER)).difference == ONE
    assert grade(Told(ONE, raising=ValueError("never reached"))).difference == ONE
    assert not grade(Told(ONE)).passed


@pytest.mark.parametrize("wrong", [MalformedVector("url is not a string"), ConfigurationError("url is not a string")])
def test_what_is_no_vector_has_failed_and_says_why(wrong):
    assert grade(Told(None, raising=wrong)).difference == Difference("not a vector", "", "url is not a string")
    assert grade(Unreadable("v", "url is not a string")).difference == grade(Told(raising=wrong)).difference


@pytest.mark.parametrize("raised", [KeyError("k"), RecursionError("deep"), AssertionError("never")])
def test_whatever_the_library_raises_is_a_failure_and_no_traceback(raised):
    difference = grade(Told(raising=raised)).difference
    assert (difference.what, difference.expected) == ("raised by the library", "")
    assert difference.found.startswith(f"{type(raised).__name__}: ")
