"""The table of SECURITY.md that says what each profile covers, against the profiles."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from undersigned import profiles

PAGE = (Path(__file__).parents[2] / "SECURITY.md").read_text("utf-8")
PARTS = {
    "method": {"@method"},
    "authority": {"@authority", "@target-uri"},
    "path": {"@path", "@request-target", "@target-uri"},
    "query": {"@query", "@request-target", "@target-uri"},
}
ROWS = {
    cells[0].strip("`"): cells[1:]
    for line in PAGE.splitlines()
    if len(cells := re.findall(r"[^|]*[^| ]", line)) == 6 and re.fullmatch(r" `[A-Z0-9_]+`", cells[0])
}
ROWS = {name.strip(" `"): [cell.strip() for cell in cells] for name, cells in ROWS.items()}


@pytest.mark.parametrize("name", ROWS)
def test_table_says_what_a_signature_covers_at_least(name):
    profile = getattr(profiles, name)
    rule = profile.coverage
    always = {*rule.always, *rule.with_query}
    for wanted, said in zip(PARTS.values(), ROWS[name], strict=False):
        one_of = [set(components) <= wanted for components in rule.any_of]
        if wanted & always or any(one_of):
            assert said == "yes"
        else:
            assert said == ("by `wimse-aud`" if wanted is PARTS["authority"] and profile.parameters.audience else "no")
    assert ROWS[name][-1] == ("yes" if profile.digest.policy == "required" else "if the sender covers it")


def test_table_has_every_profile_for_requests():
    named = {name for name in profiles.__all__ if getattr(getattr(profiles, name), "message", "") == "request"}
    assert named - {"UCP_MCP"} == {*ROWS}
