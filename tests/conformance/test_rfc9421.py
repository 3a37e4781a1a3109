"""Our own cases of RFC 9421: each one right, and then wrong in one place."""

from __future__ import annotations

import pytest
from tests.conformance.files import COMPONENT, message

from undersigned.conformance import grade
from undersigned.conformance.document import Document
from undersigned.conformance.rfc9421 import BaseCase, ComponentCase

TEXT = '("@method" "x-own");created=7;keyid="own"'
BASE = f'"@method": GET\n"x-own": a, b\n"@signature-params": {TEXT}'
FIELDS = [["X-Own", " a"], ["X-Own", "b "], ["Signature-Input", f"own={TEXT}"]]
RESPONSE = {"kind": "response", "status": 200, "fields": [["X-Own", "1"]]}


def component(**changes) -> ComponentCase:
    return ComponentCase("components/own", Document({"message": message(), **COMPONENT, **changes}))


def base(**changes) -> BaseCase:
    members = {"message": message(*FIELDS), "label": "own", "expected_base": BASE, **changes}
    return BaseCase("bases/own", Document(members))


@pytest.mark.parametrize(
    "given",
    [
        component(),
        base(),
        component(message=RESPONSE, component='"@status"', expected_line='"@status": 200'),
        component(
            message={**RESPONSE, "request": message(), "trailers": [["x", "1"]]},
            component='"@path";req',
            expected_line='"@path";req: /p',
        ),
        component(message={**RESPONSE, "trailers": [["x", "1"]]}, component='"x";tr', expected_line='"x";tr: 1'),
        component(message=message(method="get"), component='"@method"', expected_line='"@method": get'),
        component(
            message=message(request_target="*"), component='"@request-target"', expected_line='"@request-target": *'
        ),
        component(message=message(["x", "a ,b"]), component='"x";sf', sf_type="list", expected_line='"x";sf: a, b'),
        component(message=RESPONSE, component='"@path"', error="needs req", expected_line=None),
    ],
)
def test_correct_case_has_no_difference(given):
    assert grade(given).difference is None


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        (component(expected_line='"@path": /q'), "component"),
        (base(expected_base=BASE.replace("a, b", "a,b")), "signature base"),
    ],
)
def test_wrong_case_has_its_difference_in_that_place(given, subject):
    assert grade(given).difference.subject == subject


@pytest.mark.parametrize("identifier", ['"x-absent"', '"@own"', '"@method'])
def test_error_is_a_result_to_compare(identifier):
    assert grade(component(component=identifier, error="unresolvable", expected_line=None)).passed
    difference = grade(component(component=identifier)).difference
    assert (difference.expected, difference.found) == ('"@path": /p', "an error")
    assert difference.note
    assert grade(component(error="unresolvable")).difference.found == '"@path": /p'


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (component(message=None), "message is not an object"),
        (component(message={}), "kind is not a string"),
        (component(message={"kind": "request"}), "method is not a string"),
        (component(message={**RESPONSE, "status": 99}), "status does not have three digits"),
        (component(component=None), "component is not a string"),
        (component(component='"a" "b"'), "component must be exactly one identifier"),
        (component(component=""), "component must be exactly one identifier"),
        (component(component='"x";sf', sf_type="map"), "field_types: give names"),
        (base(label="other"), "label is not a member"),
        (base(message=message()), "an error"),
    ],
)
def test_malformed_case_fails_with_its_fault(given, fault):
    assert grade(given).difference.found.startswith(fault)
