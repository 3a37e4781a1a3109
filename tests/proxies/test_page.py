"""The page on proxies shows the tested configurations and the real log lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.proxies import haproxy, nginx

from undersigned import Decision, KeySet, MemoryReplayStore, Request, Verifier, profiles
from undersigned.errors import MalformedURL, SignatureError
from undersigned.message import HeaderFields
from undersigned.middleware.authority import matched_origin, target_error
from undersigned.middleware.decision import line_of
from undersigned.url import Origins

PAGE = Path(__file__).parents[2] / "docs" / "proxies.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text()


def find_fenced(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("language", "run"),
    [
        ("nginx", [nginx.KEPT, nginx.STRIPPED_MAP, nginx.STRIPPED]),
        ("haproxy", [haproxy.KEPT, haproxy.STRIPPED]),
    ],
)
def test_page_shows_exactly_the_tested_configurations(page, language, run):
    assert find_fenced(page, language) == [rules.removeprefix("\n") for rules in run]


def test_page_shows_the_log_line_of_a_foreign_authority(page):
    with pytest.raises(MalformedURL) as malformed:
        matched_origin(Origins(["https://seller.example.com"]), HeaderFields([("host", "127.0.0.1:8000")]), "1.1")
    rejected = target_error(profiles.ADCP_3_2, malformed.value, hosts=["127.0.0.1:8000"], target="/adcp/a")
    named = {"method": "GET", "target": "/adcp/a", "client": "127.0.0.1", "status": 401, "keyid": "buyer-2026"}
    decision = Decision(outcome="rejected", profile="adcp-3.2", seconds=0.0, **named)
    assert f"request rejected: {line_of(rejected, decision)}\n" in page


def test_page_shows_the_start_of_the_log_line_of_a_wrong_base(page):
    from tests import keys  # noqa: PLC0415 - this test alone needs them

    signed = keys.signed_request("GET", "https://seller.example.com/a%2Fb//c", (), b"")
    arrived = keys.replace_parts(signed, url="https://seller.example.com/a/b/c")
    verifier = Verifier(
        profiles.ADCP_3_2, keys=KeySet.from_jwks(keys.JWKS), replay=MemoryReplayStore(), clock=lambda: keys.NOW
    )
    with pytest.raises(SignatureError) as rejected:
        verifier.verify(Request("GET", arrived.url, arrived.fields))
    explained = rejected.value.explain()
    start, _, _ = explained.partition("line by line.")
    assert f"evidence: {start}line by line. ..." in page
    assert '  "@target-uri": https://seller.example.com/a/b/c\n' in explained
    assert '  "@target-uri": https://seller.example.com/a/b/c\n' in page
