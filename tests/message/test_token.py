"""The characters of a token."""

import re
import string

import pytest

from undersigned.message import token

SYMBOLS = "!#$%&'*+-.^_`|~" + string.digits


@pytest.mark.parametrize(
    ("pattern", "letters"), [(token.LOWER, string.ascii_lowercase), (token.UPPER, string.ascii_uppercase)]
)
def test_token_has_the_characters_of_rfc_9110_in_one_case(pattern, letters):
    found = {chr(code) for code in range(0x3000) if re.fullmatch(pattern, chr(code))}
    assert found == {*SYMBOLS, *letters}
