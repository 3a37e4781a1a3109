r"""A FastAPI service of several worker processes on one host, which share a replay store in a SQLite file.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    JWKS=keys/public.jwks.json REPLAY=replay.sqlite \
        uvicorn --app-dir examples --factory fastapi_sqlite_app:app --workers 4 --port 8000

`POST /plans/{plan}` needs a signature, and takes each only once, whichever worker it reaches.
"""

import os

from fastapi import FastAPI

from undersigned import KeySet, SqliteReplayStore, Verifier, profiles
from undersigned_fastapi import Signature, SignatureMiddleware


def app() -> FastAPI:
    service = FastAPI()

    @service.post("/plans/{plan}")
    async def buy(plan: str, signature: Signature) -> dict[str, str | int]:
        return {"plan": plan, "caller": signature.signer, "worker": os.getpid()}

    keys = KeySet.from_file(os.environ["JWKS"], owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=SqliteReplayStore(os.environ["REPLAY"]))
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = os.environ.get("ORIGIN", "http://127.0.0.1:8000")
    service.add_middleware(SignatureMiddleware, verifier=verifier, origins=[origin])
    return service
