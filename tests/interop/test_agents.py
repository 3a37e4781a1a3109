"""The example agents, server and client each in a process of its own: a tool call is signed, verified, and its caller
known to the tool."""

from __future__ import annotations

import asyncio
import json
import socket

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from tests.examples.programs import ran_in, start_example
from tests.interop.test_agents_http2 import mcp_app
from tests.keys import JSON
from tests.servers.hypercorn_server import hypercorn
from tests.wire import ask, assert_rejected, raw_request

from undersigned import KeyPair, KeySet, MemoryReplayStore, Request, Signer, Verifier, profiles
from undersigned.asgi import SignatureMiddleware
from undersigned.discovery import KeySources
from undersigned_httpx.httpx2 import AsyncSignatureTransport

MESSAGE = {"messageId": "1", "role": "ROLE_USER", "parts": [{"text": "gold"}]}
ENVELOPE = {"protocolVersion": "2026-07-28", "clientCapabilities": {}}
CALLS = {
    "mcp": ("/mcp", {"method": "tools/call", "params": {"name": "buy", "arguments": {"plan": "gold"}}}),
    "fastmcp": ("/mcp", {"method": "tools/call", "params": {"name": "buy", "arguments": {"plan": "gold"}}}),
    "a2a": ("/a2a", {"method": "SendMessage", "params": {"message": MESSAGE}}),
}


@pytest.fixture(scope="module")
def buyers() -> list[KeyPair]:
    return [KeyPair.generate("ed25519", keyid=keyid) for keyid in ("buyer-a", "buyer-b")]


@pytest.fixture(scope="module", params=CALLS)
def agent(request, buyers, tmp_path_factory):
    """The name of an agent, and the port that its server serves."""
    jwks = tmp_path_factory.mktemp("keys") / "jwks.json"
    jwks.write_text(json.dumps({"keys": [key for buyer in buyers for key in buyer.public["keys"]]}))
    with start_example(f"{request.param}_server.py", jwks=jwks) as port:
        yield request.param, port


def signer(buyer: KeyPair) -> Signer:
    return Signer(buyer.signing_key(), profile=profiles.ADCP_3_2)


def test_tool_knows_who_called_it(agent, buyers, tmp_path):
    name, port = agent
    (tmp_path / "keys").mkdir()
    # Both keys are of one signer, as before and after a rotation.
    for buyer in buyers:
        (tmp_path / "keys/private.jwk.json").write_text(json.dumps(buyer.private))
        ran = ran_in(tmp_path, f"{name}_client", f"http://127.0.0.1:{port}")
        assert ran.stdout.strip() == "acme bought gold", ran.stderr


def call(name: str, plan: str) -> tuple[str, bytes]:
    path, message = CALLS[name]
    return path, json.dumps({"jsonrpc": "2.0", "id": 1, **message}).replace("gold", plan).encode()


def test_call_that_is_unsigned_or_changed_reaches_no_tool(agent, buyers):
    name, port = agent
    host = f"127.0.0.1:{port}"
    path, body = call(name, "gold")
    accepted = [("Accept", "application/json, text/event-stream"), ("A2A-Version", "1.0"), *JSON]
    assert_rejected(ask(port, raw_request("POST", path, accepted, body, host=host)), "request_signature_required")
    signed = [*accepted, *signer(buyers[0]).sign(Request("POST", f"http://{host}{path}", accepted, body))]
    changed = call(name, "lead")[1]
    rejected = ask(port, raw_request("POST", path, signed, changed, host=host))
    assert_rejected(rejected, "request_signature_digest_mismatch")


def test_call_whose_headers_name_another_tool_reaches_no_tool(buyers, tmp_path):
    jwks = tmp_path / "jwks.json"
    jwks.write_text(json.dumps(buyers[0].public))
    envelope = {f"io.modelcontextprotocol/{key}": value for key, value in ENVELOPE.items()}
    path, message = CALLS["mcp"]
    sent = {"jsonrpc": "2.0", "id": 1, **message, "params": {**message["params"], "_meta": envelope}}
    body = json.dumps(sent).encode()
    answers = {}
    with start_example("mcp_server.py", jwks=jwks) as port:
        host = f"127.0.0.1:{port}"
        for told in (("tools/call", "buy"), ("tools/call", "sell"), ("tools/list", "buy")):
            names = zip(("Mcp-Method", "Mcp-Name"), told, strict=True)
            version = ("MCP-Protocol-Version", ENVELOPE["protocolVersion"])
            fields = [("Accept", "application/json, text/event-stream"), *JSON, *names, version]
            signed = [*fields, *signer(buyers[0]).sign(Request("POST", f"http://{host}{path}", fields, body))]
            answer = ask(port, raw_request("POST", path, signed, body, host=host))
            answers[told] = answer.status, b"acme bought gold" in answer.content
    assert answers == {
        ("tools/call", "buy"): (200, True),
        ("tools/call", "sell"): (400, False),
        ("tools/list", "buy"): (400, False),
    }


def test_session_of_one_caller_gives_another_no_name(buyers):
    """Each call names who signed it, whoever began the session."""
    keys = KeySources(
        {name: KeySet.from_jwks(buyer.public) for name, buyer in zip(("acme", "other"), buyers, strict=True)}
    )
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    bound = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{bound.getsockname()[1]}"
    app = SignatureMiddleware(mcp_app(origin), verifier=verifier, origins=[origin])

    async def calls(url: str) -> list[str]:
        origins = [url.removesuffix("/mcp")]
        told, current = [], [signer(buyers[0])]
        transport = AsyncSignatureTransport(httpx2.AsyncHTTPTransport(), lambda: current[-1], origins=origins)
        async with (
            httpx2.AsyncClient(transport=transport) as http_client,
            Client(streamable_http_client(url, http_client=http_client)) as client,
        ):
            told.append((await client.call_tool("buy", {"plan": "gold"})).content[0].text)
            current.append(signer(buyers[1]))
            told.append((await client.call_tool("buy", {"plan": "gold"})).content[0].text)
        return told

    with hypercorn(app, bound):
        assert asyncio.run(calls(f"{origin}/mcp")) == ["acme bought gold", "other bought gold"]
