"""A FastAPI service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/fastapi_app.py

`/docs` shows which operations need a signature. `POST /plans/{plan}` needs one; `GET /` does not.
"""

import uvicorn
from fastapi import FastAPI

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_fastapi import Signature, SignatureMiddleware

app = FastAPI()


@app.get("/")
async def welcome() -> dict[str, str]:
    return {"service": "plans"}


@app.post("/plans/{plan}")
async def buy(plan: str, signature: Signature) -> dict[str, str]:
    return {"plan": plan, "caller": signature.signer, "signed": signature.target_uri}


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    app.add_middleware(SignatureMiddleware, verifier=verifier, origins=[origin], mode="optional")
    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
