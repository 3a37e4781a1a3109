"""The pages for partners and about capturing requests: their snippets run."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from pathlib import Path

from tests.cli.command import invoke
from tests.drive import call_asgi

from undersigned import KeyPair, MemoryReplayStore, Request, Signer, Verifier
from undersigned.asgi import SignatureMiddleware

DOCS = Path(__file__).parents[2] / "docs"
ORIGIN = "https://shop.example"


def snippet(page: str) -> str:
    return re.search(r"```python\n(.*?)```", (DOCS / f"{page}.md").read_text("utf-8"), re.DOTALL)[1]


def scope_of(request: Request) -> dict:
    """Return the scope of a request under uvicorn."""
    path, _, query = request.url.removeprefix(ORIGIN).partition("?")
    fields = [("Host", "shop.example"), ("Content-Length", str(len(request.body))), *request.fields]
    headers = [(name.lower().encode(), value.encode()) for name, value in fields]
    return {
        "type": "http", "http_version": "1.1", "method": request.method, "scheme": "http", "path": path,
        "root_path": "", "raw_path": path.encode(), "query_string": query.encode(), "headers": headers,
        "server": ("shop.example", 80),
    }  # fmt: skip


def test_partners_keys_are_accepted_in_five_lines():
    source, made = snippet("partners"), {}
    assert len([line for line in source.splitlines() if line]) <= 5
    exec(source, made)  # noqa: S102 - the page's own snippet
    assert isinstance(made["verifier"], Verifier)


def test_command_of_the_page_writes_the_page_for_a_partner():
    page = (DOCS / "partners.md").read_text("utf-8")
    command = re.search(r"^\$ undersigned (.*) > partners.md$", page, re.MULTILINE)[1].split()
    assert invoke(*command).stdout.startswith("# Signing requests to https://shop.example.com/")


def test_captured_line_is_what_explain_reads(caplog, tmp_path):
    pair, made = KeyPair.generate(), {}
    exec(snippet("explain"), made)  # noqa: S102 - the page's own snippet
    received = []

    async def app(_scope, receive, send):
        received.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body"})

    verifier = Verifier(keys=pair.key_set(), replay=MemoryReplayStore())
    captured = made["Capture"](SignatureMiddleware(app, verifier=verifier, origins=[ORIGIN]), ORIGIN)
    request = Request("POST", f"{ORIGIN}/a?b=1", [("Content-Type", "application/json")], b'{"a": 1}')
    signed = Request(
        request.method, request.url, [*request.fields, *Signer(pair.signing_key()).sign(request)], request.body
    )
    with caplog.at_level(logging.WARNING, "captured"):
        answer = asyncio.run(call_asgi(captured, scope_of(signed), signed.body))
    assert (answer.status, received) == (200, [request.body])
    for name, text in (("request.json", caplog.messages[0]), ("public.json", json.dumps(pair.public))):
        (tmp_path / name).write_text(text)
    done = invoke("explain", "--jwks", str(tmp_path / "public.json"), str(tmp_path / "request.json"))
    assert done.exit_code == 0, done.output
