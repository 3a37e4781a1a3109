from __future__ import annotations

import pytest

from undersigned import ConfigurationError
from undersigned.conformance import Difference, Grade, grade
from undersigned.conformance.document import MalformedVector
from undersigned.conformance.grade import Unreadable

ONE, OTHER = Difference("one", "a", "b"), Difference("other", "a", "b")


class Told:
    """A vector that yields its differences and then raises."""

    name = "v"

    def __init__(self, *differences, raising=None):
        self._differences = differences
        self._raising = raising

    def differences(self):
        yield from self._differences
        if self._raising is not None:
            raise self._raising


def test_vector_passes_when_it_has_no_difference():
    assert grade(Told(None, None)) == Grade("v", None)
    assert grade(Told()).passed


def test_grade_stops_at_the_first_difference():
    assert grade(Told(None, ONE, OTHER)).difference == ONE
    assert grade(Told(ONE, raising=ValueError("never reached"))).difference == ONE
    assert not grade(Told(ONE)).passed


@pytest.mark.parametrize("wrong", [MalformedVector("url is not a string"), ConfigurationError("url is not a string")])
def test_malformed_vector_fails_with_its_fault(wrong):
    assert grade(Told(None, raising=wrong)).difference == Difference("not a vector", "", "url is not a string")
    assert grade(Unreadable("v", "url is not a string")).difference == grade(Told(raising=wrong)).difference


@pytest.mark.parametrize("raised", [KeyError("k"), RecursionError("deep"), AssertionError("never")])
def test_any_exception_of_the_library_is_a_failure(raised):
    difference = grade(Told(raising=raised)).difference
    assert (difference.subject, difference.expected) == ("raised by the library", "")
    assert difference.found.startswith(f"{type(raised).__name__}: ")
