from __future__ import annotations

import pytest

from undersigned.conformance import grade
from undersigned.conformance.method_names import MethodDeclaration, MethodMatch


@pytest.mark.parametrize(
    ("declared", "wire", "matches"),
    [
        ("tasks/cancel", "tasks/cancel", True),
        ("tasks/cancel", "CancelTask", False),
        ("SendMessage", "SendMessage", True),
        ("message/send", "message/send", True),
    ],
)
def test_a_match_is_exact_and_its_opposite_is_found(declared, wire, matches):
    assert grade(MethodMatch("own", [declared], wire, matches)).passed
    difference = grade(MethodMatch("own", [declared], wire, not matches)).difference
    expected, found = ("none", "required") if matches else ("required", "none")
    assert (difference.expected, difference.found) == (expected, found)


def test_a_name_that_may_not_be_declared_is_refused_and_one_that_may_be_is_found():
    assert grade(MethodDeclaration("own", "tools/call")).passed
    difference = grade(MethodDeclaration("own", "tasks/get")).difference
    assert (difference.expected, difference.found) == ("refused", "accepted")


def test_a_match_of_a_name_that_nobody_may_list_is_no_vector():
    assert grade(MethodMatch("own", ["tools/call"], "tools/call", matches=True)).difference.what == "not a vector"
