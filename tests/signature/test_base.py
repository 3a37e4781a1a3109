from __future__ import annotations

import pytest

from undersigned import Request, canonicalize
from undersigned.message.signature_input import parse_signature_input
from undersigned.signature.components import ComponentValues, UnresolvableComponent, signature_base


def base(text: str, *, headers=()) -> str:
    request = Request("POST", "https://www.example.com/path?q=1", headers)
    read = parse_signature_input(f"s={text}")["s"]
    return signature_base(ComponentValues(request, canonicalize(request.url)), read.components, read.text)


def test_a_line_stands_for_each_component_and_the_parameters_come_last():
    assert base('("@method" "x-a" "@query-param";name="q");created=1', headers=[("X-A", "v")]) == (
        '"@method": POST\n"x-a": v\n"@query-param";name="q": 1\n'
        '"@signature-params": ("@method" "x-a" "@query-param";name="q");created=1'
    )


def test_a_base_without_components_is_its_parameters():
    assert base("();created=1") == '"@signature-params": ();created=1'


def test_one_component_without_a_value_leaves_no_base():
    with pytest.raises(UnresolvableComponent):
        base('("@method" "x-none")')
