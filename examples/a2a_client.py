"""An A2A client that signs every request.

Install `undersigned[httpx]` and `a2a-sdk`, start `a2a_server.py`, then run:

    python examples/a2a_client.py --key keys/private.jwk.json --url http://127.0.0.1:8000

It prints who the server says has called.
"""

import argparse
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="the caller's private JWK")
    parser.add_argument("--url", required=True, help="the agent's URL, such as http://127.0.0.1:8000")
    options = parser.parse_args()
    signer = Signer(SigningKey.from_file(options.key), profile=profiles.ADCP_3_2)
    print(asyncio.run(buy(options.url, signer, "gold")))


if __name__ == "__main__":
    main()
