"""A buyer who signs what niquests sends, over HTTP/2 if the seller has it, sync and async.

With a key that `undersigned keygen --out keys` wrote, and one of the example services running:

    python examples/sign_with_niquests.py --key keys/private.jwk.json --seller http://127.0.0.1:8000
"""

import argparse
import asyncio
import json
from pathlib import Path

import niquests

from undersigned import Signer, SigningKey, profiles
from undersigned_niquests import AsyncSignatureAdapter, SignatureAdapter


def buy(seller: str, signer: Signer) -> niquests.Response:
    adapter = SignatureAdapter(signer, origins=[seller])
    with niquests.Session() as session:
        # For both schemes, so that no redirect leaves without being asked.
        session.mount("https://", adapter)
        session.mount("http://", adapter)
        return session.post(f"{seller}/plans/gold", json={"budget": 1000})


async def buy_async(seller: str, signer: Signer) -> niquests.Response:
    adapter = AsyncSignatureAdapter(signer, origins=[seller])
    async with niquests.AsyncSession() as session:
        session.mount("https://", adapter)
        session.mount("http://", adapter)
        return await session.post(f"{seller}/plans/silver", json={"budget": 100})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the buyer's private JWK")
    parser.add_argument("--seller", required=True, help="the seller's origin, such as https://seller.example.com")
    options = parser.parse_args()
    signer = Signer(SigningKey.from_jwk(json.loads(options.key.read_text())), profile=profiles.ADCP_3_2)
    answers = [buy(options.seller, signer), asyncio.run(buy_async(options.seller, signer))]
    for answer in answers:
        print(answer.status_code, answer.text)
    return 0 if all(answer.ok for answer in answers) else 1


if __name__ == "__main__":
    raise SystemExit(main())
