"""The page about clients: its snippets run as printed, and send signed requests to a server that requires them."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import re
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.integrations.capture import capturing
from tests.serving import uvicorn_server

from undersigned import KeyPair, KeySet, MemoryReplayStore, SignatureError, Verifier
from undersigned.asgi import SignatureMiddleware, verified_signature

PAGE = (Path(__file__).parents[2] / "docs" / "clients.md").read_text("utf-8")
MADE, REQUESTS, HTTPX, AIOHTTP, OTHER, BOT, CURRENT, RESPONSES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
PAIR = KeyPair.generate(keyid="buyer-2026")


@pytest.fixture
def orders() -> list[str]:
    return []


@pytest.fixture
def origin(orders):
    async def app(scope, _receive, send) -> None:
        orders.append(f"{verified_signature(scope).keyid} {scope['method']} {scope['path']}")
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    verifier = Verifier(keys=KeySet.from_jwks(PAIR.public), replay=MemoryReplayStore())
    with uvicorn_server(SignatureMiddleware(app, verifier=verifier, origins="http://{}".format)) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def names(tmp_path, monkeypatch, origin) -> dict:
    """Return the names that the first snippet defines."""
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "private.jwk.json").write_text(json.dumps(PAIR.private))
    monkeypatch.chdir(tmp_path)
    return run(MADE, {}, origin)


def run(snippet: str, names: dict, origin: str) -> dict:
    """Run a snippet, whose `await` may be outside a function, with the origin of the server."""
    source = snippet.replace("https://seller.example.com", origin).replace("[...]", f"[{origin!r}]")
    code = compile(source, "docs/clients.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    waiting = eval(code, names)  # noqa: S307 - the page's own words
    if inspect.iscoroutine(waiting):
        asyncio.run(waiting)
    return names


SEND = 'send("POST", "https://seller.example.com/orders", [("Content-Type", "application/json")], b"{}").close()'


@pytest.mark.parametrize("snippet", [AIOHTTP, HTTPX, REQUESTS + "session.close()\n", OTHER + SEND])
def test_snippet_sends_a_request_that_the_server_verifies(snippet, names, origin, orders):
    run(snippet, names, origin)
    assert orders == ["buyer-2026 POST /orders"]


def test_row_of_requests_signs_by_its_auth(names, origin, orders):
    call = "requests.post(url, json=order, auth=auth)"
    assert call in PAGE
    made = (
        "import requests\nfrom undersigned_requests import SignatureAuth\nauth = SignatureAuth(signer, origins=[...])\n"
    )
    run(made + call, {**names, "url": f"{origin}/orders", "order": {}}, origin)
    assert orders == ["buyer-2026 POST /orders"]


def test_any_other_client_follows_no_redirect(names, origin):
    with capturing(first=[b"HTTP/1.1 302 Moved\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"]) as capture:
        made = run(OTHER, names, origin)
        assert made["send"]("GET", f"http://127.0.0.1:{capture.port}/", [], b"").status == HTTPStatus.FOUND
    assert len(capture.sent) == 1


def test_bot_of_the_snippet_sends_signature_agent(names, origin):
    with capturing() as capture:
        given = {**names, "key": KeyPair.generate().signing_key()}
        made = run(HTTPX.partition("transport =")[0] + BOT, given, origin)
        with made["httpx"].Client(transport=made["transport"]) as client:
            client.get(f"http://127.0.0.1:{capture.port}/")
    assert capture.only.lines("signature-agent") == ['"https://bot.example"']


def test_snippet_with_a_function_for_the_signer_signs_by_what_it_returns(names, origin, orders):
    current = SimpleNamespace(signer=names["signer"])
    run(AIOHTTP.replace(*lines_of_the_hook()), {**names, "current": current}, origin)
    assert orders == ["buyer-2026 POST /orders"]


def lines_of_the_hook() -> tuple[str, str]:
    """Return the line that makes the hook, and the one to put in its place."""
    (line,) = (line for line in AIOHTTP.splitlines() if line.startswith("signing = "))
    return line, CURRENT.strip()


def test_snippet_for_responses_rejects_one_that_is_not_signed(names, origin, orders):
    seller_keys = KeySet.from_jwks(KeyPair.generate().public)
    made = run(REQUESTS + RESPONSES, {**names, "seller_keys": seller_keys}, origin)
    session = made["session"]
    session.mount(origin, made["adapter"])
    with session, pytest.raises(SignatureError):
        session.get(f"{origin}/orders", timeout=10)
    assert orders[-1] == "buyer-2026 GET /orders"
