from __future__ import annotations

import json

import pytest

from undersigned import canonicalize, same_url
from undersigned.cli.doctor.spellings import CONTENTS, SPELLINGS

ORIGIN = "https://seller.example.com/undersigned-doctor"


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.target)
def test_a_spelling_has_a_canonical_form_and_no_rewriting_has_the_same(spelling):
    canonicalize(ORIGIN + spelling.target)
    for arrives in spelling.rewritings:
        assert not same_url(ORIGIN + spelling.target, ORIGIN + arrives)


def test_every_check_has_a_name_of_its_own():
    names = [check.name for check in (*SPELLINGS, *CONTENTS)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content.name)
def test_content_is_json_and_no_rewriting_is_the_same_bytes(content):
    assert json.loads(content.sent)["undersigned"] == "doctor"
    assert content.sent not in content.rewritings
    assert len(content.rewritings) == 6
