"""An agent, its operator and its publisher, all on one key server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.discovery.key_server import response
from tests.keys import JWKS

if TYPE_CHECKING:
    import ssl

    from tests.discovery.key_server import KeyServer

EVENTS = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n{session}\r\n"


class Operator:
    """What an agent, its operator's brand.json and its JWK set say; a test changes what it is about."""

    def __init__(
        self, server: KeyServer, host: str = "agent.example.com", brand_host: str = "brand.example.com"
    ) -> None:
        self.server = server
        self.url = server.url("/mcp", host)
        self.brand_url = server.url("/brand.json", brand_host)
        self.jwks_url = server.url("/jwks.json", "keys.example.com")
        self.capabilities: dict = {
            "adcp": {"major_versions": [3]},
            "identity": {
                "brand_json_url": self.brand_url,
                "key_origins": {"request_signing": f"https://keys.example.com:{server.port}"},
            },
        }
        self.brand: dict = {"agents": [{"type": "buying", "url": self.url, "id": "b", "jwks_uri": self.jwks_url}]}
        self.jwks: dict = JWKS
        self.events = False
        self.modern = False
        self.result: dict = {}
        self.refusal: dict | bytes = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no session"}}
        """What a request of MCP 2026-07-28 gets, if the server does not speak it."""
        self.session = ""
        server.answers |= {"/mcp": self.speak, "/a2a": self.speak}
        self.publish()

    def publish(self) -> None:
        self.server.answers |= {"/brand.json": response(self.brand), "/jwks.json": response(self.jwks)}

    def speak(self, connection: ssl.SSLSocket, request: bytes) -> None:
        """Answer a request of MCP or A2A."""
        head, _, content = request.partition(b"\r\n\r\n")
        message = json.loads(content) if content else {}
        results = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {}},
            "tools/call": {"content": [], "structuredContent": self.capabilities, **self.result},
            "SendMessage": {"task": {"artifacts": [{"parts": [{"text": "?"}, {"data": self.capabilities}]}]}},
            "message/send": {"kind": "task", "artifacts": [{"parts": [{"kind": "data", "data": self.capabilities}]}]},
        }
        if head.startswith(b"DELETE") or "id" not in message:
            connection.sendall(response(b"", status="202 Accepted"))
            return
        if b"MCP-Protocol-Version: 2026-07-28\r\n" in head and not self.modern:
            connection.sendall(response(self.refusal, status="400 Bad Request"))
            return
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
        session = f"Mcp-Session-Id: {self.session}\r\n" if self.session else ""
        if self.events:
            # The server keeps the stream open after the response.
            noise = b": hello\r\n\r\nevent: message\r\ndata: {}\r\n\r\n"
            self.server.endlessly(
                EVENTS.format(session=session).encode() + noise + b"data: " + json.dumps(answer).encode() + b"\r\n\r\n",
                b": still here\n\n",
            )(connection, request)
        else:
            connection.sendall(response(answer, "Content-Type: application/json", *filter(None, [session.strip()])))

    def card(self, card: dict) -> None:
        self.server.answers["/.well-known/agent-card.json"] = response(card)
