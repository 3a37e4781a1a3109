"""SDK differential, MCP: the official server runs and registers nothing unsigned that has to be signed."""

# The annotations of tools are read while they run.
import asyncio
import contextlib
import json
import logging

from tests.attack import bodies
from tests.drive import Message, call_asgi, scope_of
from tests.keys import HOST, ORIGIN, sign_unread, signer, verifier

from undersigned import JSONRPCResolver, Policy, Request, asgi

ACCEPT = ("Accept", "application/json, text/event-stream")
VERSIONS = ("", "2025-06-18", "2026-07-28")


def call(name: str, arguments: dict) -> dict:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


BUY = call("create_media_buy", {"plan_id": "plan_001"})
DOCUMENTS = (
    BUY,
    call("update_preferences", bodies.REGISTRATION),
    call("update_typed", bodies.REGISTRATION),
    call("update_nested", {"request": bodies.REGISTRATION}),
)


HARMLESS = (
    call("get_products", {"brief": "spring"}),
    call("update_preferences", {"push_notification_config": {"url": "https://buyer.example.com/hook"}, "note": "n"}),
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
)


class Server:
    """An MCP server of the official SDK, with a policy in front, and what it did."""

    def __init__(self) -> None:
        from mcp.server.mcpserver import MCPServer
        from mcp.server.transport_security import TransportSecuritySettings
        from pydantic import BaseModel, Field

        logging.getLogger("mcp").setLevel(logging.CRITICAL)
        self.did: list[str] = []
        server = MCPServer("seller", log_level="CRITICAL")

        class Config(BaseModel):
            url: str = ""
            authentication: dict | None = None

        class Preferences(BaseModel):
            push_notification_config: Config | None = Field(None, alias="push_notification_config")

        def registered(config) -> str:
            if config is not None:
                self.did.append("registered")
            return "ok"

        @server.tool()
        def create_media_buy(plan_id: str = "") -> str:
            self.did.append("bought")
            return plan_id

        @server.tool()
        def update_preferences(push_notification_config: dict | list | None = None, note: str = "") -> str:
            found = json.dumps(push_notification_config)
            return registered(note if '"authentication": {' in found else None)

        @server.tool()
        def update_typed(push_notification_config: Config | None = None) -> str:
            return registered(push_notification_config and push_notification_config.authentication)

        @server.tool()
        def update_nested(request: Preferences) -> str:
            config = request.push_notification_config
            return registered(config and config.authentication)

        settings = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self.app = server.streamable_http_app(json_response=True, stateless_http=True, transport_security=settings)
        self.called = 0
        policy = Policy(required_for=["create_media_buy"], resolver=JSONRPCResolver())
        self.guarded = asgi.SignatureMiddleware(self._called, verifier=verifier(), origins=[ORIGIN], policy=policy)

    async def _called(self, scope, receive, send) -> None:
        self.called += 1
        with contextlib.suppress(Exception):
            await self.app(scope, receive, send)

    async def ask(self, message: Message) -> list[str]:
        """Return what the server did."""
        await call_asgi(self.guarded, scope_of(message), message.body)
        did, self.did[:] = list(self.did), []
        return did


def message_of(made: bodies.Message, version: str = "") -> Message:
    fields, content = made
    extra = [("MCP-Protocol-Version", version)] if version else []
    return Message("/mcp", "POST", [ACCEPT, *extra, *fields], content)


def signed(document: dict) -> Message:
    message = message_of(bodies.plain(document))
    added = sign_unread(signer(), Request("POST", f"{ORIGIN}/mcp", [("Host", HOST), *message.fields], message.body))
    return Message("/mcp", "POST", [*message.fields, *added], message.body)


def test_the_mcp_server_does_nothing_unsigned_that_must_be_signed(search):
    async def run() -> None:
        server = Server()
        async with server.app.router.lifespan_context(server.app):
            for document in DOCUMENTS:
                assert len(await server.ask(signed(document))) == 1, document
                assert await server.ask(message_of(bodies.plain(document))) == [], document
            first = ((made, "") for document in DOCUMENTS for made in bodies.first(document))

            def mutated(random) -> tuple[bodies.Message, str]:
                version = random.choice(VERSIONS)
                if random.random() < 0.5:
                    return bodies.graft(random, random.choice(HARMLESS), random.choice(DOCUMENTS)), version
                return bodies.mutate(random, random.choice(DOCUMENTS)), version

            for made, version in search.of(first, mutated):
                before = server.called
                if did := await server.ask(message_of(made, version)):
                    search.find(f"{did} {version}", repr(made))
                if server.called > before:
                    search.reach()

    asyncio.run(run())
    search.finish(reached=10)
