"""`undersigned partner`: the page for a partner has what the profile asks for."""

from __future__ import annotations

import pytest
from tests.cli.command import invoke, usage_error

from undersigned import profiles

URL = "https://shop.example.com/orders"
SENT = ('Signature-Agent: sig1="https://bot.example/"', "Authorization: Bearer a", "Workload-Identity-Token: a")


@pytest.mark.parametrize("name", [profile.name for profile in profiles.FOR_REQUESTS])
def test_page_lists_what_a_signature_covers_and_has_and_which_keys_sign(name):
    by = profiles.BY_NAME[name]
    fields = [option for line in SENT for option in ("-H", line)]
    done = invoke("partner", "--profile", name, *fields, URL)
    assert done.exit_code == 0, done.output
    rows = done.output.splitlines()
    assert {f"- `{one}`" for one in by.required_components[False]} <= set(rows)
    assert {f"| `{one}` |" for one in by.written} <= {
        row.rpartition("`")[0] + "` |" for row in rows if row[:3] == "| `"
    } | {f"{row.partition('` |')[0]}` |" for row in rows}
    assert {row[2:].partition(":")[0] for row in rows if row[2:].partition(":")[0] in by.algorithms} == by.algorithms
    assert [row for row in rows if row.startswith("Signature-Input: ")]
    assert ('"adcp_use"' in done.output) == bool(by.key.purposes)
    assert ("thumbprint" in done.output) == by.key.is_thumbprint


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(("--profile", "fapi-2-request", URL), "give the header with -H"), (("shop.example.com",), "write all of it")],
)
def test_page_needs_a_url_and_the_headers_of_its_profile(arguments, told):
    assert told in usage_error("partner", *arguments)
