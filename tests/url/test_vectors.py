"""The published vectors of the AdCP request-signing profile."""

from __future__ import annotations

import json

import pytest
from tests.vectors.corpora import ROOT

from undersigned.url import MalformedURL, canonicalize

_PUBLISHED = ROOT / "adcp-3.2.4/request-signing/canonicalization.json"


def published_cases():
    cases = json.loads(_PUBLISHED.read_text(encoding="utf-8"))["cases"]
    return [pytest.param(case, id=case["name"]) for case in cases]


@pytest.mark.parametrize("case", published_cases())
def test_published_case_gives_its_published_answer(case):
    if case.get("reject"):
        with pytest.raises(MalformedURL) as caught:
            canonicalize(case["input_url"])
        assert f"request_{caught.value.code}" == case["expected_error_code"]
    else:
        canonical = canonicalize(case["input_url"])
        assert canonical.target_uri == case["expected_target_uri"]
        assert canonical.authority == case["expected_authority"]
