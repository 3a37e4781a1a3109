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
def test_match_is_exact_and_a_wrong_expectation_is_found(declared, wire, matches):
    assert grade(MethodMatch("own", [declared], wire, matches)).passed
    difference = grade(MethodMatch("own", [declared], wire, not matches)).difference
    expected, found = ("none", "required") if matches else ("required", "none")
    assert (difference.expected, difference.found) == (expected, found)


def test_declaration_of_an_allowed_name_is_a_difference():
    assert grade(MethodDeclaration("own", "tools/call")).passed
    difference = grade(MethodDeclaration("own", "tasks/get")).difference
    assert (difference.expected, difference.found) == ("rejected", "accepted")


def test_match_of_an_undeclarable_name_is_a_malformed_vector():
    assert grade(MethodMatch("own", ["tools/call"], "tools/call", matches=True)).difference.subject == "not a vector"
