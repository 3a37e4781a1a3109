"""A buyer whose private key never leaves a key management service.

With examples/fake_kms_app.py running on port 9000, and a seller who knows its public key:

    python examples/sign_with_kms.py
"""

import asyncio
import base64

import httpx

from undersigned import Signer, profiles
from undersigned_httpx import AsyncSignatureTransport

KMS = "http://127.0.0.1:9000"
SELLER = "http://127.0.0.1:8000"


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


async def buy() -> httpx.Response:
    async with httpx.AsyncClient(base_url=KMS) as kms:
        signer = Signer(KMSKey(kms, "buyer-kms"), profile=profiles.ADCP_3_2)
        transport = AsyncSignatureTransport(httpx.AsyncHTTPTransport(), signer, origins=[SELLER])
        async with httpx.AsyncClient(base_url=SELLER, transport=transport) as client:
            return await client.post("/plans/gold", json={"budget": 1000})


def main() -> int:
    answer = asyncio.run(buy())
    print(answer.status_code, answer.text)
    return 0 if answer.is_success else 1


if __name__ == "__main__":
    raise SystemExit(main())
