"""Agents of the official MCP and A2A SDKs on real servers: their keys are found from their URL."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import ssl
from typing import Any

import pytest
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import a2a_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from tests.keys import JWKS, lookup
from tests.serving import https_server

from undersigned.discovery import Network
from undersigned.discovery.adcp import AdCPAgent
from undersigned.errors import KeySourceError
from undersigned.publishing import PublishedKeys
from undersigned_starlette import jwks_route

HOST = "agent.example.com"
TASK = "get_adcp_capabilities"


class Agent:
    """What an agent says of itself, and where its operator and its keys are; known when its server runs."""

    def __init__(self, path: str) -> None:
        self.path, self.port = path, 0

    def url(self, path: str = "") -> str:
        return f"https://{HOST}:{self.port}{path or self.path}"

    def capabilities(self) -> dict:
        origins = {"request_signing": HOST}
        return {
            "adcp": {"major_versions": [3]},
            "identity": {"brand_json_url": self.url("/.well-known/brand.json"), "key_origins": origins},
        }

    def routes(self) -> list:
        """The operator's brand.json, and the keys at the agent's well-known place."""

        def brand(_request) -> JSONResponse:
            return JSONResponse({"agents": [{"type": "buying", "id": "b", "url": self.url()}]})

        return [Route("/.well-known/brand.json", brand), jwks_route(PublishedKeys(JWKS))]


def mcp_app(agent: Agent, *, structured: bool, modern: bool = True, **options):

    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    server = MCPServer("agent", log_level="CRITICAL")

    @server.tool(name=TASK, structured_output=structured)
    def task() -> dict[str, Any]:
        return agent.capabilities()

    settings = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server.streamable_http_app(transport_security=settings, **options)
    app.routes.extend(agent.routes())
    return app if modern else before_2026_07_28(app)


def before_2026_07_28(app):
    """The SDK's server as it was: without the header field, it answers as its versions with sessions do."""

    async def older(scope, receive, send):
        version = (b"mcp-protocol-version", b"2026-07-28")
        kept = [field for field in scope.get("headers", ()) if tuple(field) != version]
        await app({**scope, "headers": kept} if scope["type"] == "http" else scope, receive, send)

    return older


def a2a_app(agent: Agent, *, version: str, as_task: bool):

    logging.getLogger("a2a").setLevel(logging.CRITICAL + 1)

    class Executor(AgentExecutor):
        async def execute(self, context, event_queue):
            [part] = context.message.parts
            asked = MessageToDict(part)["data"]
            assert asked == {"skill": TASK, "input": {}}, asked
            answer = ParseDict({"data": agent.capabilities()}, a2a_pb2.Part())
            if not as_task:
                message = a2a_pb2.Message(message_id="a", role=a2a_pb2.ROLE_AGENT, parts=[answer])
                await event_queue.enqueue_event(message)
                return
            done = a2a_pb2.TaskStatus(state=a2a_pb2.TASK_STATE_COMPLETED)
            artifact = a2a_pb2.Artifact(artifact_id="x", parts=[answer])
            task = a2a_pb2.Task(id=context.task_id, context_id=context.context_id, status=done, artifacts=[artifact])
            await event_queue.enqueue_event(task)

        async def cancel(self, context, event_queue):
            del context, event_queue

    def card() -> a2a_pb2.AgentCard:
        interface = a2a_pb2.AgentInterface(url=agent.url(), protocol_binding="JSONRPC", protocol_version=version)
        other = a2a_pb2.AgentInterface(url=agent.url("/rest"), protocol_binding="HTTP+JSON", protocol_version=version)
        return a2a_pb2.AgentCard(name="agent", version="1", supported_interfaces=[other, interface])

    async def now(_card) -> a2a_pb2.AgentCard:
        return card()

    handler = DefaultRequestHandler(Executor(), InMemoryTaskStore(), card())
    return Starlette(
        routes=[
            *create_agent_card_routes(card(), now),
            *create_jsonrpc_routes(handler, agent.path, enable_v0_3_compat=version == "0.3"),
            *agent.routes(),
        ]
    )


AGENTS = {
    "mcp 2026-07-28, structured content": ("mcp", lambda agent: mcp_app(agent, structured=True)),
    "mcp 2026-07-28, text": ("mcp", lambda agent: mcp_app(agent, structured=False)),
    "mcp, a session and event streams": ("mcp", lambda agent: mcp_app(agent, structured=True, modern=False)),
    "mcp, a session and JSON": ("mcp", lambda agent: mcp_app(agent, structured=True, modern=False, json_response=True)),
    "mcp, no session and event streams": (
        "mcp",
        lambda agent: mcp_app(agent, structured=True, modern=False, stateless_http=True),
    ),
    "mcp, text instead of structured content": (
        "mcp",
        lambda agent: mcp_app(agent, structured=False, modern=False, json_response=True, stateless_http=True),
    ),
    "a2a 1.0, a message": ("a2a", lambda agent: a2a_app(agent, version="1.0", as_task=False)),
    "a2a 1.0, a task": ("a2a", lambda agent: a2a_app(agent, version="1.0", as_task=True)),
    "a2a 0.3, a message": ("a2a", lambda agent: a2a_app(agent, version="0.3", as_task=False)),
    "a2a 0.3, a task": ("a2a", lambda agent: a2a_app(agent, version="0.3", as_task=True)),
}


@contextlib.contextmanager
def running(name: str, pem):
    """Run an agent; yields it, and the options of its source."""
    protocol, make = AGENTS[name]
    agent = Agent("/mcp" if protocol == "mcp" else "/a2a")
    tls = ssl.create_default_context(cafile=pem)
    network = Network(allowed=["127.0.0.0/8"], resolve=lambda _host, _port: ["127.0.0.1"], tls=tls, wait_timeout=60)
    with https_server(make(agent), pem, lifespan="on") as agent.port:
        yield agent, {"protocol": protocol, "network": network}


@pytest.mark.parametrize("name", AGENTS)
def test_keys_of_an_sdks_agent_are_found_from_its_url(name, key_server_certificate):
    with running(name, key_server_certificate) as (agent, options):
        keys = AdCPAgent(agent.url(), **options).find(lookup())
        assert [key.keyid for key in keys] == ["buyer-ed25519"]

        async def find():
            return await AdCPAgent(agent.url(), **options).async_find(lookup("buyer-es256"))

        assert [key.algorithm for key in asyncio.run(find())] == ["ecdsa-p256-sha256"]


@pytest.mark.parametrize("name", ["mcp 2026-07-28, text", "mcp, a session and JSON", "a2a 1.0, a message"])
def test_agent_that_does_not_know_the_task_has_no_keys(name, key_server_certificate, monkeypatch):
    monkeypatch.setattr("undersigned.discovery.adcp.agent.TASK", "get_something_else")
    with running(name, key_server_certificate) as (agent, options), pytest.raises(KeySourceError) as raised:
        AdCPAgent(agent.url(), **options).find(lookup())
    assert raised.value.reason == "signature_capabilities_unreachable"
    assert json.dumps(TASK) not in str(raised.value)
