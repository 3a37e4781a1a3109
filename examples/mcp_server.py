"""An MCP server whose tools know who calls them.

    pip install 'undersigned[starlette]' mcp uvicorn
    undersigned keygen --out keys
    python examples/mcp_server.py

Every request must be signed. `mcp_client.py` calls the tool.
"""

import uvicorn
from mcp.server.mcpserver import Context, MCPServer

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.asgi import SignatureMiddleware, verified_signature

server = MCPServer("plans")


@server.tool()
def buy(plan: str, context: Context) -> str:
    """Buy a plan."""
    # The request that carried this very call, not the one that began the session.
    signature = verified_signature(context.request_context.request.scope)
    return f"{signature.signer} bought {plan}"


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    origin = "http://127.0.0.1:8000"
    app = SignatureMiddleware(server.streamable_http_app(), verifier=verifier, origins=[origin])
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
