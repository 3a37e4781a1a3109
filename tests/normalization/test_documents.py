"""The examples of the documents the policies come from, as data: one file of `documents` for each.

A case quotes its document (`text`) and holds one of these:

- `url` under a `policy`, or under `rules` (`told`, for a family, is what it is told; `learn`, the list it learns from),
  with its `result` or the rule that it is `refused_by`;
- `same` or `different`: URLs that a policy makes one, or keeps apart from each other;
- `compare`: two identifiers, with the `rung` on which they become equal, if any.

`garbled` says what is wrong in the document's text, and which standard decides.
"""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from undersigned.normalization import CATALOGUE, RULE_SETS, compare, learn_rules
from undersigned.url import Family, MalformedURL, explain

FILES = {
    path.stem: json.loads(path.read_text()) for path in sorted(Path(__file__).with_name("documents").glob("*.json"))
}
ENTRIES = {entry.name: entry for entry in CATALOGUE}


def cases(*keys):
    return [
        pytest.param(case, id=f"{name}-{number}")
        for name, file in FILES.items()
        for number, case in enumerate(file["cases"])
        if any(key in case for key in keys)
    ]


def policy_of(case):
    if "policy" in case:
        return RULE_SETS[case["policy"]]
    if "learn" in case:
        return tuple(learned.rule for learned in learn_rules(case["learn"], min_support=1))
    entries = [ENTRIES[name] for name in case["rules"]]
    return tuple(entry(case["told"]) if isinstance(entry, Family) else entry for entry in entries)


@pytest.mark.parametrize("case", cases("url"))
def test_example_of_a_document_has_this_form(case):
    explanation = explain(case["url"], policy_of(case))
    assert explanation.result == case.get("result")
    assert (explanation.error and explanation.error.rule) == case.get("refused_by")


@pytest.mark.parametrize("case", cases("same"))
def test_examples_of_a_document_are_the_same(case):
    forms = {explain(url, policy_of(case)).result for url in case["same"]}
    assert len(forms) == 1
    assert None not in forms
    assert all(case["policy"] != "iri" or compare(a, b) for a, b in pairwise(case["same"]))


@pytest.mark.parametrize("case", cases("different"))
def test_examples_of_a_document_are_different(case):
    for a, b in combinations(case["different"], 2):
        one, other = explain(a, policy_of(case)).result, explain(b, policy_of(case)).result
        assert None not in {one, other}
        assert one != other


@pytest.mark.parametrize("case", cases("compare"))
def test_examples_of_a_document_meet_on_this_rung(case):
    a, b = case["compare"]
    if "refused_by" in case:
        with pytest.raises(MalformedURL) as caught:
            compare(a, b)
        assert caught.value.rule == case["refused_by"]
        return
    found = compare(a, b, purpose=case.get("purpose", "reference"))
    assert found.rung == case["rung"]
    assert found.equivalent == case.get("equivalent", case["rung"] is not None)


def test_every_document_has_its_examples():
    assert set(FILES) == {"adcp", "wikipedia", "masinter", "archer", "walton"}
    assert all(file["cases"] for file in FILES.values())
