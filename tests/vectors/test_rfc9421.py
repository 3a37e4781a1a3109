"""What is set aside of RFC 9421 as data, and what becomes of it here; `test_published` runs the rest."""

from __future__ import annotations

import json

import pytest
from tests.vectors.corpora import ROOT

from undersigned.conformance.document import Document
from undersigned.conformance.rfc9421 import OTHER_FORM, SET_ASIDE, RFC9421Case
from undersigned.message.structured_fields import MalformedField
from undersigned.signature.components import UnresolvableComponent

_FILE = ROOT / "rfc9421_vectors.json"
ORIGIN_FORM = {
    "2.2.5-absolute-form": '"@request-target": /path?param=value',
    "2.2.5-asterisk-form": '"@request-target": /',
}
"""The values of a target in another form: requests are verified in origin-form, the one a canonical URL has."""


def cases(kind: str) -> list:
    """A parameter a case about a request that is set aside."""
    read = json.loads(_FILE.read_text("utf-8"))
    found = [
        RFC9421Case(f"{kind}/{case['id']}", kind, Document(case), Document(read["keys"]))
        for case in read[kind]
        if case["id"] in SET_ASIDE
    ]
    return [pytest.param(case, id=case.name) for case in found]


@pytest.mark.parametrize("case", cases("components"))
def test_component_that_is_set_aside_is_rejected_or_has_its_origin_form_value(case):
    if case.set_aside == OTHER_FORM:
        assert case.line() == ORIGIN_FORM[case.document.text("id")]
    else:
        with pytest.raises((UnresolvableComponent, MalformedField)):
            case.line()


@pytest.mark.parametrize("case", cases("bases"))
def test_base_that_is_set_aside_is_rejected(case):
    with pytest.raises(MalformedField):
        case.base()


def test_every_case_that_is_set_aside_has_a_value_in_the_file():
    found = [param.values[0] for kind in ("components", "bases") for param in cases(kind)]
    assert {case.document.text("id") for case in found} == SET_ASIDE.keys()
    assert not [case.name for case in found if "error" in case.document]
