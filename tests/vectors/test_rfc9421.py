"""RFC 9421 as data, read as AdCP asks for it: strictness is an argument, and what the RFC leaves open is rejected."""

from __future__ import annotations

import json

import pytest
from tests.conformance.messages import OTHERWISE, component
from tests.vectors.corpora import ROOT

from undersigned.message import STRICT
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField
from undersigned.signature import UnresolvableComponent

READ = json.loads((ROOT / "rfc9421_vectors.json").read_text("utf-8"))
STRICTER = {
    "2.1.2-key-repeated-last-wins": "a label or key is repeated",
    "2.2.1-lowercase-method": "the method is not an upper-case token",
    **dict.fromkeys([case["id"] for case in READ["components"] if case.get("sf_type")], "the type of a field"),
}
"""The components that have a value in the file, and none as AdCP reads them without types of the application."""


@pytest.mark.parametrize("case", READ["components"], ids=lambda case: case["id"])
def test_component_is_read_strictly_as_the_rfc_has_it_or_rejected(case):
    if case["id"] in STRICTER and case["id"] != "2.1.1-sf-content-digest":
        with pytest.raises(UnresolvableComponent, match=STRICTER[case["id"]]):
            component(case, STRICT)
    elif "error" in case:
        with pytest.raises((UnresolvableComponent, MalformedField)):
            component(case, STRICT)
    else:
        assert component(case, STRICT) == OTHERWISE.get(case["id"], case["expected_line"])


@pytest.mark.parametrize("name", ["base-duplicate-label", "base-duplicate-param"])
def test_repeated_label_or_parameter_is_rejected_by_default(name):
    [case] = [case for case in READ["bases"] if case["id"] == name]
    [value] = [value for field, value in case["message"]["fields"] if field == "Signature-Input"]
    with pytest.raises(MalformedField, match="is repeated"):
        parse_signature_input(value)
