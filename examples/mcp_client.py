"""An MCP client that signs every request.

Install `undersigned[httpx2]` and `mcp`, start `mcp_server.py`, then run:

    python examples/mcp_client.py --key keys/private.jwk.json --url http://127.0.0.1:8000/mcp

It prints who the server says has called.
"""

import argparse
import asyncio

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from undersigned import Signer, SigningKey, profiles
from undersigned_httpx.httpx2 import AsyncSignatureTransport


async def buy(url: str, signer: Signer, plan: str) -> str:
    transport = AsyncSignatureTransport(httpx2.AsyncHTTPTransport(), signer, origins=[url.removesuffix("/mcp")])
    async with (
        httpx2.AsyncClient(transport=transport) as http_client,
        Client(streamable_http_client(url, http_client=http_client)) as client,
    ):
        result = await client.call_tool("buy", {"plan": plan})
        return result.content[0].text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="the caller's private JWK")
    parser.add_argument("--url", required=True, help="the server's URL, such as http://127.0.0.1:8000/mcp")
    options = parser.parse_args()
    signer = Signer(SigningKey.from_file(options.key), profile=profiles.ADCP_3_2)
    print(asyncio.run(buy(options.url, signer, "gold")))


if __name__ == "__main__":
    main()
