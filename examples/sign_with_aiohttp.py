"""A buyer who signs what aiohttp's client sends.

With a key that `undersigned keygen --out keys` wrote, and one of the example services running:

    python examples/sign_with_aiohttp.py --key keys/private.jwk.json --seller http://127.0.0.1:8000
"""

import argparse
import asyncio
import json
from pathlib import Path

import aiohttp

from undersigned import Signer, SigningKey, profiles
from undersigned_aiohttp import SigningMiddleware


async def buy(seller: str, signer: Signer) -> list[tuple[bool, str]]:
    signing = SigningMiddleware(signer, origins=[seller])
    answers: list[tuple[bool, str]] = []
    async with aiohttp.ClientSession(seller, middlewares=[signing]) as session:
        for plan in ("gold", "silver"):
            async with session.post(f"/plans/{plan}", json={"budget": 1000}) as response:
                answers.append((response.ok, f"{response.status} {await response.text()}"))
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", type=Path, required=True, help="the buyer's private JWK")
    parser.add_argument("--seller", required=True, help="the seller's origin, such as https://seller.example.com")
    options = parser.parse_args()
    signer = Signer(SigningKey.from_jwk(json.loads(options.key.read_text())), profile=profiles.ADCP_3_2)
    answers = asyncio.run(buy(options.seller, signer))
    for _, text in answers:
        print(text)
    return 0 if all(ok for ok, _ in answers) else 1


if __name__ == "__main__":
    raise SystemExit(main())
