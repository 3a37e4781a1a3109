"""A FastMCP server whose tools know who calls them.

    pip install 'undersigned[starlette]' fastmcp uvicorn
    undersigned keygen --out keys
    python examples/fastmcp_server.py

Every request must be signed. `fastmcp_client.py` calls the tool.
"""

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.dependencies import get_http_request

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.asgi import SignatureMiddleware, verified_signature

server = FastMCP("plans")


@server.tool
def buy(plan: str) -> str:
    """Buy a plan."""
    signature = verified_signature(get_http_request().scope)
    return f"{signature.signer} bought {plan}"


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    origin = "http://127.0.0.1:8000"
    app = SignatureMiddleware(server.http_app(), verifier=verifier, origins=[origin])
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
