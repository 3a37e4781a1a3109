"""An MCP client that signs every request.

Install `undersigned[httpx2]` and `mcp`, start `mcp_server.py`, then run it where `undersigned keygen --out keys`
wrote the keys:

    python examples/mcp_client.py

It prints who the server says has called.
"""

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
    signer = Signer(SigningKey.from_file("keys/private.jwk.json"), profile=profiles.ADCP_3_2)
    print(asyncio.run(buy("http://127.0.0.1:8000/mcp", signer, "gold")))


if __name__ == "__main__":
    main()
