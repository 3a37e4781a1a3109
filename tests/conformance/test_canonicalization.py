from __future__ import annotations

import pytest

from undersigned.conformance import grade
from undersigned.conformance.canonicalization import CanonicalizationCase
from undersigned.conformance.document import Document

ACCEPTED = {
    "input_url": "HTTPS://Own.Test",
    "expected_target_uri": "https://own.test/",
    "expected_authority": "own.test",
}
CODE = "request_target_uri_malformed"
REJECTED = {"input_url": "https:///p", "reject": True, "expected_error_code": CODE, "rejected_by": "authority"}


def first(case: dict):
    return grade(CanonicalizationCase("own", Document(case))).difference


@pytest.mark.parametrize("case", [ACCEPTED, REJECTED, {**REJECTED, "rejected_by": None}, {**ACCEPTED, "reject": False}])
def test_correct_case_has_no_difference(case):
    assert first(case) is None


@pytest.mark.parametrize(
    ("case", "subject", "found"),
    [
        ({**ACCEPTED, "expected_target_uri": "https://own.test"}, "target URI", "https://own.test/"),
        ({**ACCEPTED, "expected_authority": "own.test:443"}, "authority", "own.test"),
        ({**ACCEPTED, "reject": True, "expected_error_code": CODE}, "target URI", "https://own.test/"),
        ({**ACCEPTED, "input_url": "https:///"}, "outcome", f"rejected with {CODE}"),
        ({**REJECTED, "expected_error_code": "request_signature_invalid"}, "outcome", f"rejected with {CODE}"),
        ({**REJECTED, "rejected_by": "characters"}, "rule", "authority"),
        ({**ACCEPTED, "input_url": "https://\u00f6wn.test", "received": True}, "outcome", f"rejected with {CODE}"),
    ],
)
def test_wrong_case_has_its_difference_in_that_place(case, subject, found):
    difference = first(case)
    assert (difference.subject, difference.found) == (subject, found)


def test_u_label_is_converted_unless_received():
    case = {**ACCEPTED, "input_url": "https://\u00f6wn.test"}
    assert first({**case, "expected_target_uri": "https://xn--wn-eka.test/"}).subject == "authority"


@pytest.mark.parametrize("name", ["input_url", "expected_target_uri", "expected_authority", "reject", "received"])
def test_member_of_another_type_is_named(name):
    assert first({**ACCEPTED, name: 7}).found.startswith(f"{name} is not ")
