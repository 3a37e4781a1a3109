"""An A2A client that signs every request.

Install `undersigned[httpx]` and `a2a-sdk`, start `a2a_server.py`, then run it where `undersigned keygen --out keys`
wrote the keys:

    python examples/a2a_client.py

It prints who the server says has called.
"""

import asyncio

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.types import a2a_pb2

from undersigned import Signer, SigningKey, profiles
from undersigned_httpx import AsyncSignatureTransport


async def buy(url: str, signer: Signer, plan: str) -> str:
    transport = AsyncSignatureTransport(httpx.AsyncHTTPTransport(), signer, origins=[url])
    async with httpx.AsyncClient(transport=transport) as http_client:
        client = await ClientFactory(ClientConfig(httpx_client=http_client)).create_from_url(url)
        message = a2a_pb2.Message(message_id="1", role=a2a_pb2.ROLE_USER, parts=[a2a_pb2.Part(text=plan)])
        events = client.send_message(a2a_pb2.SendMessageRequest(message=message))
        return "".join([event.message.parts[0].text async for event in events])


def main() -> None:
    signer = Signer(SigningKey.from_file("keys/private.jwk.json"), profile=profiles.ADCP_3_2)
    print(asyncio.run(buy("http://127.0.0.1:8000", signer, "gold")))


if __name__ == "__main__":
    main()
