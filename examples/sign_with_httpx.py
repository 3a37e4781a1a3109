"""A buyer who signs what httpx sends: by an auth, and by a transport that signs redirected requests as well.

With a key that `undersigned keygen --out keys` wrote, and one of the example services running:

    python examples/sign_with_httpx.py --key keys/private.jwk.json --seller http://127.0.0.1:8000

For httpx2, import httpx2 and take the same names from `undersigned_httpx.httpx2`.
"""

import argparse
import asyncio
import json
from pathlib import Path

import httpx

from undersigned import Signer, SigningKey, profiles
from undersigned_httpx import AsyncSignatureTransport, SignatureAuth


def buy(seller: str, signer: Signer) -> httpx.Response:
    with httpx.Client(base_url=seller, auth=SignatureAuth(signer, origins=[seller])) as client:
        return client.post("/plans/gold", json={"budget": 1000})


async def buy_wherever_it_moved(seller: str, signer: Signer) -> httpx.Response:
    transport = AsyncSignatureTransport(httpx.AsyncHTTPTransport(), signer, origins=[seller])
    async with httpx.AsyncClient(base_url=seller, transport=transport, follow_redirects=True) as client:
        return await client.post("/plans/silver", json={"budget": 100})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the buyer's private JWK")
    parser.add_argument("--seller", required=True, help="the seller's origin, such as https://seller.example.com")
    options = parser.parse_args()
    signer = Signer(SigningKey.from_jwk(json.loads(options.key.read_text())), profile=profiles.ADCP_3_2)
    answers = [buy(options.seller, signer), asyncio.run(buy_wherever_it_moved(options.seller, signer))]
    for answer in answers:
        print(answer.status_code, answer.text)
    return 0 if all(answer.is_success for answer in answers) else 1


if __name__ == "__main__":
    raise SystemExit(main())
