from __future__ import annotations

import pytest

from undersigned import UndersignedError
from undersigned.message import parse_accept_signature


def test_member_has_its_label_components_and_parameters():
    # RFC 9421 section 5.1
    value = (
        'sig1=("@method" "@target-uri" "@authority" "content-digest" "cache-control");keyid="test-key-rsa-pss";created;'
        'tag="app-123", b=("x";sf)'
    )
    first, second = parse_accept_signature(value)
    assert [component.name for component in first.components][3:] == ["content-digest", "cache-control"]
    assert (first.label, first.parameters) == (
        "sig1", {"keyid": "test-key-rsa-pss", "created": True, "tag": "app-123"},
    )  # fmt: skip
    assert [component.text for component in second.components] == ['"x";sf']


@pytest.mark.parametrize(
    "value", ['sig1=("a"', 'sig1="a"', 'sig1=("a" "a")', 'sig1=("A")', "sig1=(a)", "a=(), a=()", f"{'a' * 5000}=()"]
)
def test_other_value_is_malformed(value):
    with pytest.raises(UndersignedError):
        parse_accept_signature(value)
