"""A FastMCP client that signs every request.

Install `undersigned[httpx2]` and `fastmcp`, start `fastmcp_server.py`, then run it where `undersigned keygen --out`
wrote the keys:

    python examples/fastmcp_client.py

It prints who the server says has called.
"""

import asyncio
from typing import Any

import httpx2
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport

from undersigned import Signer, SigningKey, profiles
from undersigned_httpx.httpx2 import AsyncSignatureTransport


async def buy(url: str, signer: Signer, plan: str) -> str:
    def sign(**options: Any) -> httpx2.AsyncClient:
        signing = AsyncSignatureTransport(httpx2.AsyncHTTPTransport(), signer, origins=[url.removesuffix("/mcp")])
        return httpx2.AsyncClient(**options, transport=signing)

    async with Client(StreamableHttpTransport(url, httpx_client_factory=sign)) as client:
        result = await client.call_tool("buy", {"plan": plan})
        return result.data


def main() -> None:
    signer = Signer(SigningKey.from_file("keys/private.jwk.json"), profile=profiles.ADCP_3_2)
    print(asyncio.run(buy("http://127.0.0.1:8000/mcp", signer, "gold")))


if __name__ == "__main__":
    main()
