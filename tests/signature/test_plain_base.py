"""Plain bases: which values they leave to `signature_base`."""

from __future__ import annotations

import pytest
from tests.keys import URL

from undersigned import Request, canonicalize
from undersigned.message.signature_input import parse_signature_input
from undersigned.signature.plain_base import PlainBase

TARGET = canonicalize(URL)


@pytest.mark.parametrize("covered", ['("@method" "x")', '("x" "@method")', '("@method" "x" "@authority")', '("x" "y")'])
@pytest.mark.parametrize(("value", "is_plain"), [("a b", True), ("caf\u00e9", False), ("a\tb", False)])
def test_base_is_plain_if_every_field_is_printable_ascii_wherever_it_is_covered(covered, value, is_plain):
    plain = PlainBase.of(parse_signature_input(f"a={covered};b=1")["a"].coverage.components)
    text = plain.text(Request("GET", URL, [("x", value), ("y", "1")]), TARGET, None, covered)
    assert (text is not None) is is_plain
