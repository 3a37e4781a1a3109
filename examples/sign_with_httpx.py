"""A buyer who signs what httpx sends, sync and async, and redirected requests as well.

Run it where `undersigned keygen --out keys` wrote a key, while one of the example services is running:

    python examples/sign_with_httpx.py

For httpx2, import httpx2 and take the same names from `undersigned_httpx.httpx2`.
"""

import asyncio

import httpx

from undersigned import Signer, SigningKey, profiles
from undersigned_httpx import AsyncSignatureTransport, SignatureTransport

SELLER = "http://127.0.0.1:8000"
"""The seller's origin, such as https://seller.example.com."""


def buy(seller: str, signer: Signer) -> httpx.Response:
    transport = SignatureTransport(httpx.HTTPTransport(), signer, origins=[seller])
    with httpx.Client(base_url=seller, transport=transport) as client:
        return client.post("/plans/gold", json={"budget": 1000})


async def buy_wherever_it_moved(seller: str, signer: Signer) -> httpx.Response:
    transport = AsyncSignatureTransport(httpx.AsyncHTTPTransport(), signer, origins=[seller])
    async with httpx.AsyncClient(base_url=seller, transport=transport, follow_redirects=True) as client:
        return await client.post("/plans/silver", json={"budget": 100})


def main() -> int:
    signer = Signer(SigningKey.from_file("keys/private.jwk.json"), profile=profiles.ADCP_3_2)
    answers = [buy(SELLER, signer), asyncio.run(buy_wherever_it_moved(SELLER, signer))]
    for answer in answers:
        print(answer.status_code, answer.text)
    return 0 if all(answer.is_success for answer in answers) else 1


if __name__ == "__main__":
    raise SystemExit(main())
