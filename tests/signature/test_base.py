from __future__ import annotations

import pytest

from undersigned import Request, canonicalize
from undersigned.message import parse_accept_signature
from undersigned.signature import ComponentValues, UnresolvableComponent, signature_base


def base(text: str, *, headers=()) -> str:
    request = Request("POST", "https://www.example.com/path?q=1", headers)
    [read] = parse_accept_signature(f"s={text}")
    return signature_base(ComponentValues(request, canonicalize(request.url)), read.components, text)


def test_base_has_one_line_for_each_component_and_the_parameters_last():
    assert base('("@method" "x-a" "@query-param";name="q");created=1', headers=[("X-A", "v")]) == (
        '"@method": POST\n"x-a": v\n"@query-param";name="q": 1\n'
        '"@signature-params": ("@method" "x-a" "@query-param";name="q");created=1'
    )


def test_base_without_components_has_only_the_parameters():
    assert base("();created=1") == '"@signature-params": ();created=1'


def test_base_cannot_be_built_when_one_component_has_no_value():
    with pytest.raises(UnresolvableComponent):
        base('("@method" "x-none")')
