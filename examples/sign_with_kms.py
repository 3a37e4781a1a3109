"""A buyer whose private key never leaves a key management service.

With examples/fake_kms_app.py running on port 9000, and a seller who knows its public key:

    python examples/sign_with_kms.py --kms http://127.0.0.1:9000 --seller http://127.0.0.1:8000
"""

import argparse
import asyncio
import base64

import httpx

from undersigned import Signer, profiles
from undersigned_httpx import AsyncSignatureTransport


class KMSKey:
    """A key by its name in the service. It satisfies `undersigned.AsyncRemoteKey`."""

    algorithm = "ecdsa-p256-sha256"

    def __init__(self, kms: httpx.AsyncClient, keyid: str) -> None:
        self._kms = kms
        self.keyid = keyid

    async def sign(self, base: bytes) -> bytes:
        # The service hashes the message. Its signature is DER, which the signer converts.
        asked = {"message": base64.b64encode(base).decode()}
        answer = await self._kms.post(f"/keys/{self.keyid}/sign", json=asked)
        return base64.b64decode(answer.raise_for_status().json()["signature"])


async def buy(kms_url: str, seller: str) -> httpx.Response:
    async with httpx.AsyncClient(base_url=kms_url) as kms:
        signer = Signer(KMSKey(kms, "buyer-kms"), profile=profiles.ADCP_3_2)
        transport = AsyncSignatureTransport(httpx.AsyncHTTPTransport(), signer, origins=[seller])
        async with httpx.AsyncClient(base_url=seller, transport=transport) as client:
            return await client.post("/plans/gold", json={"budget": 1000})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kms", required=True, help="the URL of the key management service")
    parser.add_argument("--seller", required=True, help="the seller's origin, such as https://seller.example.com")
    options = parser.parse_args()
    answer = asyncio.run(buy(options.kms, options.seller))
    print(answer.status_code, answer.text)
    return 0 if answer.is_success else 1


if __name__ == "__main__":
    raise SystemExit(main())
