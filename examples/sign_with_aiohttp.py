"""A buyer who signs what aiohttp's client sends.

Run it where `undersigned keygen --out keys` wrote a key, while one of the example services is running:

    python examples/sign_with_aiohttp.py
"""

import asyncio

import aiohttp

from undersigned import Signer, SigningKey, profiles
from undersigned_aiohttp import SigningMiddleware

SELLER = "http://127.0.0.1:8000"
"""The seller's origin, such as https://seller.example.com."""


async def buy(seller: str, signer: Signer) -> list[tuple[bool, str]]:
    signing = SigningMiddleware(signer, origins=[seller])
    answers: list[tuple[bool, str]] = []
    async with aiohttp.ClientSession(seller, middlewares=[signing]) as session:
        for plan in ("gold", "silver"):
            async with session.post(f"/plans/{plan}", json={"budget": 1000}) as response:
                answers.append((response.ok, f"{response.status} {await response.text()}"))
    return answers


def main() -> int:
    signer = Signer(SigningKey.from_file("keys/private.jwk.json"), profile=profiles.ADCP_3_2)
    answers = asyncio.run(buy(SELLER, signer))
    for _, text in answers:
        print(text)
    return 0 if all(ok for ok, _ in answers) else 1


if __name__ == "__main__":
    raise SystemExit(main())
