"""The content of an answer."""

from __future__ import annotations

import json
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from undersigned import profiles
from undersigned.errors import Reason
from undersigned.middleware import ErrorResponse


@given(st.text())
def test_content_is_an_object_with_the_code(code):
    assert ErrorResponse(401, code).body == json.dumps({"error": code}).encode("ascii")


def test_every_503_says_when_to_try_again_and_no_other_answer_does():
    for profile in profiles.BY_NAME.values():
        for reason in get_args(Reason):
            response = ErrorResponse.of(profile.error(reason, step=1, detail=""))
            assert (dict(response.fields).get("Retry-After") == "2") == (response.status == 503)
