"""The content of an answer."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from undersigned.middleware import ErrorResponse


@given(st.text())
def test_content_is_an_object_with_the_code(code):
    assert ErrorResponse(401, code).body == json.dumps({"error": code}).encode("ascii")
