r"""A FastAPI service that fetches its callers' keys from where they publish them, and publishes keys of its own.

Run it with the URL of a caller's JWK set, and with the key pair that `undersigned keygen --out keys` writes:

    BUYER_JWKS=https://buyer.example.com/.well-known/jwks.json JWKS=keys/public.jwks.json REPLAY=replay.sqlite \
        uvicorn --app-dir examples --factory fastapi_remote_keys_app:app --workers 4 --port 8000

The keys are fetched again in the background, a little before they expire. `POST /plans/{plan}` needs a
signature; `GET /.well-known/jwks.json` does not.
"""

import os

from fastapi import FastAPI

from undersigned import AsyncVerifier, SqliteReplayStore, profiles
from undersigned.discovery import KeySources, Network, RemoteJWKS
from undersigned.publishing import PublishedKeys
from undersigned_fastapi import Signature, SignatureMiddleware, jwks_route


def app() -> FastAPI:
    # Key servers with public addresses need no KEY_NETWORKS; those inside your own network need its address range.
    network = Network(allowed=os.environ.get("KEY_NETWORKS", "").split())
    keys = KeySources({"buyer.example.com": RemoteJWKS(os.environ["BUYER_JWKS"], network=network)})

    service = FastAPI()
    service.routes.append(jwks_route(PublishedKeys(os.environ["JWKS"])))

    @service.post("/plans/{plan}")
    async def buy(plan: str, signature: Signature) -> dict[str, str]:
        return {"plan": plan, "caller": signature.signer, "key": signature.keyid}

    verifier = AsyncVerifier(profiles.ADCP_3_2, keys=keys, replay=SqliteReplayStore(os.environ["REPLAY"]))
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = os.environ.get("ORIGIN", "http://127.0.0.1:8000")
    service.add_middleware(SignatureMiddleware, verifier=verifier, origins=[origin], mode="optional")
    return service
