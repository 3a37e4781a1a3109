"""The page on proxies shows the tested configurations and the real log lines."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from mangum import Mangum
from tests import keys
from tests.drive import Message, call_wsgi, environ_of
from tests.proxies import haproxy, nginx

from undersigned import asgi, profiles, wsgi

PAGE = Path(__file__).parents[2] / "docs" / "proxies.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text()


def find_fenced(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("language", "run"),
    [("nginx", [nginx.KEPT, nginx.STRIPPED_MAP, nginx.STRIPPED]), ("haproxy", [haproxy.KEPT, haproxy.STRIPPED])],
)
def test_page_shows_exactly_the_tested_configurations(page, language, run):
    assert find_fenced(page, language) == [rules.removeprefix("\n") for rules in run]


def test_page_shows_the_log_line_of_a_foreign_authority(page, party, caplog):
    app = wsgi.SignatureMiddleware(None, verifier=party.verifier(profiles.DEFAULT), origins=[keys.ORIGIN])
    environ = environ_of(Message("/orders", "GET", party.fields("GET", "/orders")), "gunicorn")
    with caplog.at_level("WARNING", "undersigned"):
        call_wsgi(app, {**environ, "HTTP_HOST": "127.0.0.1:8000"})
    assert f"{caplog.records[-1].getMessage()}\n" in page


@pytest.mark.parametrize("path", ["/orders/7", "/a%2Fb", "/caf%C3%A9"])
def test_page_shows_what_verifies_under_mangum_on_lambda(page, party, path):
    (code,) = find_fenced(page, "python")
    found: dict[str, object] = {}
    exec(code, found)  # noqa: S102 - the page is ours
    seen = []

    async def app(scope, _receive, send):
        seen.append(scope["undersigned"].signature)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    verified = asgi.SignatureMiddleware(app, verifier=party.verifier(), origins=[keys.ORIGIN])
    http = {"method": "GET", "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"}
    event = {"version": "2.0", "rawPath": path, "rawQueryString": "q=1", "requestContext": {"http": http}}
    headers = {"host": keys.ORIGIN.removeprefix("https://")} | dict(party.fields("GET", f"{path}?q=1"))
    # Mangum takes the thread's event loop, or makes one and leaves it open.
    with asyncio.Runner() as runner:
        runner.get_loop()
        handler = Mangum(found["with_raw_path"](verified), lifespan="off")
        answer = handler({**event, "headers": headers, "isBase64Encoded": False}, None)
    assert (answer["statusCode"], len(seen), seen[0] is None) == (200, 1, False)
