"""The example agents over HTTP/2, client and server: a signed tool call is verified, its caller known to the tool."""

from __future__ import annotations

import asyncio
import socket

import httpx
import httpx2
import pytest
from a2a.client import ClientConfig, ClientFactory
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import a2a_pb2
from fastmcp import Client as FastMCPClient
from fastmcp.client.transports import StreamableHttpTransport
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.authentication import AuthenticationMiddleware
from tests.examples.programs import example
from tests.integrations.clients import HTTP_2
from tests.seller import KEYS, make_signer, make_verifier
from tests.servers.hypercorn_server import hypercorn

import undersigned_httpx
import undersigned_httpx.httpx2
from undersigned.asgi import SignatureMiddleware
from undersigned.discovery import KeySources
from undersigned_starlette import SignatureBackend

MESSAGE = a2a_pb2.Message(message_id="1", role=a2a_pb2.ROLE_USER, parts=[a2a_pb2.Part(text="gold")])


def mcp_app(_origin: str):
    return example("mcp_server").server.streamable_http_app()


def fastmcp_app(_origin: str):
    return example("fastmcp_server").server.http_app()


def a2a_app(origin: str):
    interface = a2a_pb2.AgentInterface(url=f"{origin}/a2a", protocol_binding="JSONRPC", protocol_version="1.0")
    card = a2a_pb2.AgentCard(name="plans", version="1", supported_interfaces=[interface])
    handler = DefaultRequestHandler(example("a2a_server").Plans(), InMemoryTaskStore(), card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/a2a")]
    return Starlette(routes=routes, middleware=[Middleware(AuthenticationMiddleware, backend=SignatureBackend())])


async def call_mcp(origin: str) -> str:
    inner = httpx2.AsyncHTTPTransport(**HTTP_2)
    transport = undersigned_httpx.httpx2.AsyncSignatureTransport(inner, make_signer(), origins=[origin])
    async with (
        httpx2.AsyncClient(transport=transport) as http_client,
        Client(streamable_http_client(f"{origin}/mcp", http_client=http_client)) as client,
    ):
        return (await client.call_tool("buy", {"plan": "gold"})).content[0].text


async def call_fastmcp(origin: str) -> str:
    def http_client(**options) -> httpx2.AsyncClient:
        inner = httpx2.AsyncHTTPTransport(**HTTP_2)
        signing = undersigned_httpx.httpx2.AsyncSignatureTransport(inner, make_signer(), origins=[origin])
        return httpx2.AsyncClient(**options, transport=signing)

    transport = StreamableHttpTransport(f"{origin}/mcp", httpx_client_factory=http_client)
    async with FastMCPClient(transport) as client:
        return (await client.call_tool("buy", {"plan": "gold"})).data


async def call_a2a(origin: str) -> str:
    inner = httpx.AsyncHTTPTransport(**HTTP_2)
    transport = undersigned_httpx.AsyncSignatureTransport(inner, make_signer(), origins=[origin])
    async with httpx.AsyncClient(transport=transport) as http_client:
        client = await ClientFactory(ClientConfig(httpx_client=http_client)).create_from_url(origin)
        events = client.send_message(a2a_pb2.SendMessageRequest(message=MESSAGE))
        return "".join([event.message.parts[0].text async for event in events])


AGENTS = {"mcp": (mcp_app, call_mcp), "fastmcp": (fastmcp_app, call_fastmcp), "a2a": (a2a_app, call_a2a)}


@pytest.mark.parametrize("name", AGENTS)
def test_tool_knows_who_called_it_over_http_2(name):
    make, call = AGENTS[name]
    bound = socket.create_server(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{bound.getsockname()[1]}"
    options = {"verifier": make_verifier(KeySources({"acme": KEYS})), "origins": [origin], "http2_server": "hypercorn"}
    app = SignatureMiddleware(make(origin), **options)
    versions = set()

    async def noting(scope, receive, send):
        if scope["type"] == "http":
            versions.add(scope["http_version"])
        await app(scope, receive, send)

    with hypercorn(noting, bound):
        assert asyncio.run(call(origin)) == "acme bought gold"
    assert versions == {"2"}
