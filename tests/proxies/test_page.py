"""The page on proxies shows the tested configurations and the real log lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests import keys
from tests.drive import Message, call_wsgi, environ_of
from tests.proxies import haproxy, nginx

from undersigned import Request, SignatureError, wsgi

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


def test_page_shows_the_log_line_of_a_foreign_authority(page, party, caplog):
    app = wsgi.SignatureMiddleware(None, verifier=party.verifier(), origins=[keys.ORIGIN])
    environ = environ_of(Message("/adcp/a", "GET", party.fields("GET", "/adcp/a")), "gunicorn")
    with caplog.at_level("WARNING", "undersigned"):
        call_wsgi(app, {**environ, "HTTP_HOST": "127.0.0.1:8000"})
    assert f"{caplog.records[-1].getMessage()}\n" in page


def test_page_shows_the_start_of_the_log_line_of_a_wrong_base(page):
    signed = keys.signed_request("GET", "https://seller.example.com/a%2Fb//c", (), b"")
    arrived = keys.replace_parts(signed, url="https://seller.example.com/a/b/c")
    with pytest.raises(SignatureError) as rejected:
        keys.verifier().verify(Request("GET", arrived.url, arrived.fields))
    explained = rejected.value.explain()
    start, _, _ = explained.partition("line by line.")
    assert f"evidence: {start}line by line. ..." in page
    assert '  "@target-uri": https://seller.example.com/a/b/c\n' in explained
    assert '  "@target-uri": https://seller.example.com/a/b/c\n' in page
