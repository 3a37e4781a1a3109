"""A FastMCP server whose tools know who calls them.

    pip install 'undersigned[starlette]' fastmcp uvicorn
    python examples/fastmcp_server.py --jwks keys/public.jwks.json --port 8000

Every request must be signed. `fastmcp_client.py` calls the tool.
"""

import argparse

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.dependencies import get_http_request

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.asgi import SignatureMiddleware, required_signature

server = FastMCP("plans")


@server.tool
def buy(plan: str) -> str:
    """Buy a plan."""
    signature = required_signature(get_http_request().scope)
    return f"{signature.keyid} bought {plan}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    keys = KeySet.from_file(options.jwks)
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    origin = f"http://127.0.0.1:{options.port}"
    app = SignatureMiddleware(server.http_app(), verifier=verifier, origins=[origin])
    uvicorn.run(app, host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
