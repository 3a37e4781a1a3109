from __future__ import annotations

import json

import pytest

from undersigned import canonicalize, same_url
from undersigned.cli.doctor.checks import CONTENTS, SPELLINGS

ORIGIN = "https://seller.example.com/undersigned-doctor"


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: spelling.target)
def test_spelling_and_its_rewritings_have_different_canonical_forms(spelling):
    canonicalize(ORIGIN + spelling.target)
    for arrives in spelling.rewritings:
        assert not same_url(ORIGIN + spelling.target, ORIGIN + arrives)


def test_every_check_has_a_distinct_name():
    names = [check.name for check in (*SPELLINGS, *CONTENTS)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("content", CONTENTS, ids=lambda content: content.name)
def test_content_is_json_and_differs_from_its_rewritings(content):
    assert json.loads(content.sent)["undersigned"] == "doctor"
    assert content.sent not in content.rewritings
    assert len(content.rewritings) == 6
