"""The project's own cases, as data: `cases.json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from undersigned.url import ADCP, ADCP_RECEIVED, URL, MalformedURL, canonicalize, explain

CASES = json.loads(Path(__file__).with_name("cases.json").read_text(encoding="utf-8"))
ACCEPTED = [case for case in CASES if "target_uri" in case]
REJECTED = [case for case in CASES if "rejected_by" in case]


def rules_of(case):
    return ADCP_RECEIVED if case.get("received") else ADCP


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: case["name"])
def test_accepted_url_has_the_expected_form_and_changes(case):
    canonical = canonicalize(case["url"], received=case.get("received", False))
    assert (canonical.target_uri, canonical.authority) == (case["target_uri"], case["authority"])
    explanation = explain(case["url"], rules_of(case))
    assert [change.rule.name for change in explanation.changes] == case["changed_by"]
    assert explanation.result == case["target_uri"]


@pytest.mark.parametrize("case", REJECTED, ids=lambda case: case["name"])
def test_rejected_url_names_its_rule_in_a_short_printable_message(case):
    with pytest.raises(MalformedURL) as caught:
        canonicalize(case["url"], received=case.get("received", False))
    assert caught.value.rule == case["rejected_by"]
    assert caught.value.code == "target_uri_malformed"
    message = str(caught.value)
    assert message.isascii()
    assert message.isprintable()
    assert len(message) < 160


def test_every_rule_of_the_rule_set_has_a_case():
    fired = {name for case in ACCEPTED for name in case["changed_by"]} | {case["rejected_by"] for case in REJECTED}
    assert fired == {rule.name for rule in ADCP_RECEIVED}


def test_parts_of_every_case_join_to_its_text():
    assert [str(URL.parse(case["url"])) for case in CASES] == [case["url"] for case in CASES]
