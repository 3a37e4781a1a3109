"""Our own cases of RFC 9421: each one right, and then wrong in one place."""

from __future__ import annotations

import pytest
from tests.conformance.files import COMPONENT, message
from tests.vectors.recipes.keys import BUYER, BUYER_P256

from undersigned.conformance import grade
from undersigned.conformance.document import Document
from undersigned.conformance.rfc9421 import METHOD_CASE, OTHER_ALGORITHM, RESPONSE, RFC9421Case
from undersigned.message.structured_fields import serialize_byte_sequence

TEXT = '("@method" "x-own");created=7;keyid="own"'
BASE = f'"@method": GET\n"x-own": a, b\n"@signature-params": {TEXT}'
FIELDS = [["X-Own", " a"], ["X-Own", "b "], ["Signature-Input", f"own={TEXT}"]]
KEYS = {key.kid: {"jwk": key.jwk} for key in (BUYER, BUYER_P256)}


def case(kind: str, members: dict, *, keys: object = KEYS) -> RFC9421Case:
    return RFC9421Case(f"{kind}/{members.get('id', 'own')}", kind, Document(members), Document(keys))


def component(**changes) -> RFC9421Case:
    return case("components", {"message": message(), **COMPONENT, **changes})


def base(**changes) -> RFC9421Case:
    return case("bases", {"message": message(*FIELDS), "label": "own", "expected_base": BASE, **changes})


def vector(pair=BUYER, **changes) -> RFC9421Case:
    signature = ["Signature", f"own={serialize_byte_sequence(pair.sign(BASE), 'base64')}"]
    members = {"message": message(*FIELDS, signature), "label": "own", "signature_base": BASE, "valid": True}
    return case("vectors", {**members, "key": pair.kid, "alg": pair.algorithm, **changes})


@pytest.mark.parametrize("given", [component(), base(), vector(), vector(BUYER_P256)])
def test_correct_case_has_no_difference(given):
    assert (given.set_aside, given.signature_set_aside) == ("", "")
    assert grade(given).difference is None


@pytest.mark.parametrize(
    ("given", "subject"),
    [
        (component(expected_line='"@path": /q'), "component"),
        (base(expected_base=BASE.replace("a, b", "a,b")), "signature base"),
        (vector(signature_base=BASE + " "), "signature base"),
        (vector(valid=False), "signature valid"),
        (vector(message=message(*FIELDS)), "signature valid"),
        (vector(BUYER_P256, key=BUYER.kid, alg="ed25519"), "signature valid"),
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


def test_responses_and_cases_that_the_profiles_reject_are_set_aside():
    assert component(message=message(kind="response")).set_aside == RESPONSE
    assert component(id="2.2.1-lowercase-method").set_aside == METHOD_CASE


def test_signature_by_another_algorithm_is_set_aside_but_its_base_compared():
    given = vector(alg="rsa-pss-sha512")
    assert (given.set_aside, given.signature_set_aside) == ("", OTHER_ALGORITHM)
    assert grade(given).passed
    assert grade(vector(alg="rsa-pss-sha512", signature_base="x")).difference.subject == "signature base"


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (component(message=None), "message is not an object"),
        (component(message={}), "method is not a string"),
        (component(component=None), "component is not a string"),
        (component(component='"a" "b"'), "component must be exactly one identifier"),
        (component(component=""), "component must be exactly one identifier"),
        (base(label="other"), "label is not a member"),
        (base(message=message()), "an error"),
        (vector(key="nobody"), "nobody is not an object"),
        (vector(alg=None), "alg is not a string"),
        (vector(alg=[]), "alg is not a string"),
        (vector(valid=None), "valid is not true or false"),
    ],
)
def test_malformed_case_fails_with_its_fault(given, fault):
    assert given.set_aside == ""
    assert grade(given).difference.found.startswith(fault)
