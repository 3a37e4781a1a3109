"""The examples of the documents that define the rule sets, as data: one file of `documents` for each document.

A case quotes its document (`text`) and contains one of these:

- `url` and a `rule_set`, or a `url` and a list of `rules`. `parameter` is what a rule takes. `result` is
  the expected result, `rejected_by` the rule that rejects the URL.
- `same` or `different`: URLs that the rule set makes equal, or keeps different.
- `compare`: two identifiers, and the `rung` on which they are equal, if any.

`garbled` describes a fault in the document's text and names the standard that decides.
"""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from undersigned import normalization
from undersigned.normalization import CATALOGUE, compare
from undersigned.normalization.heuristics import default_parameters, directory_index, unused_parameters
from undersigned.normalization.reference import resolved_against
from undersigned.url import ADCP, ADCP_RECEIVED, MalformedURL, explain

FILES = {
    path.stem: json.loads(path.read_text()) for path in sorted(Path(__file__).with_name("documents").glob("*.json"))
}
RULES = {rule.name: rule for rule in CATALOGUE}
RULE_SETS = {**vars(normalization), "ADCP": ADCP, "ADCP_RECEIVED": ADCP_RECEIVED}
MAKERS = {
    "default-parameters": default_parameters,
    "directory-index": directory_index,
    "resolved": resolved_against,
    "unused-parameters": unused_parameters,
}


def cases(*keys):
    return [
        pytest.param(case, id=f"{name}-{number}")
        for name, file in FILES.items()
        for number, case in enumerate(file["cases"])
        if any(key in case for key in keys)
    ]


def rules_of(case):
    if "rule_set" in case:
        return RULE_SETS[case["rule_set"].upper().replace("-", "_")]
    return tuple(MAKERS[name](case["parameter"]) if name in MAKERS else RULES[name] for name in case["rules"])


@pytest.mark.parametrize("case", cases("url"))
def test_example_of_a_document_has_the_expected_form(case):
    explanation = explain(case["url"], rules_of(case))
    assert explanation.result == case.get("result")
    assert (explanation.error and explanation.error.rule) == case.get("rejected_by")


@pytest.mark.parametrize("case", cases("same"))
def test_examples_of_a_document_are_the_same(case):
    forms = {explain(url, rules_of(case)).result for url in case["same"]}
    assert len(forms) == 1
    assert None not in forms
    assert all(case["rule_set"] != "iri" or compare(a, b) for a, b in pairwise(case["same"]))


@pytest.mark.parametrize("case", cases("different"))
def test_examples_of_a_document_are_different(case):
    for a, b in combinations(case["different"], 2):
        one, other = explain(a, rules_of(case)).result, explain(b, rules_of(case)).result
        assert None not in {one, other}
        assert one != other


@pytest.mark.parametrize("case", cases("compare"))
def test_examples_of_a_document_are_equal_on_the_expected_rung(case):
    a, b = case["compare"]
    if "rejected_by" in case:
        with pytest.raises(MalformedURL) as caught:
            compare(a, b)
        assert caught.value.rule == case["rejected_by"]
        return
    found = compare(a, b, purpose=case.get("purpose", "reference"))
    assert found.rung == case["rung"]
    assert found.equivalent == case.get("equivalent", case["rung"] is not None)


def test_every_document_has_examples():
    assert set(FILES) == {"adcp", "wikipedia", "masinter", "archer", "walton"}
    assert all(file["cases"] for file in FILES.values())
