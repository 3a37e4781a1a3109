"""Canonicalization cases in the published format, of the cases that the canonicalizer's own tests hold by hand."""

from __future__ import annotations

import json
from pathlib import Path

CASES = Path(__file__).resolve().parents[2] / "url" / "cases.json"


def document() -> dict[str, object]:
    return {
        "spec_reference": "tests/url/cases.json; rule names the rules that change the URL, or the one that rejects it",
        "cases": [_case(case) for case in json.loads(CASES.read_text("utf-8"))],
    }


def _case(case: dict) -> dict[str, object]:
    received = {"received": True} if case.get("received") else {}
    if "rejected_by" in case:
        return {
            "name": case["name"],
            "rule": case["rejected_by"],
            "input_url": case["url"],
            **received,
            "reject": True,
            "rejected_by": case["rejected_by"],
            "expected_error_code": "request_target_uri_malformed",
        }
    return {
        "name": case["name"],
        "rule": ", ".join(case["changed_by"]),
        "input_url": case["url"],
        **received,
        "expected_target_uri": case["target_uri"],
        "expected_authority": case["authority"],
    }
