"""A Sanic service on Sanic's own server, which knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/sanic_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

from sanic import HTTPResponse, Request, Sanic
from sanic import json as json_response

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_sanic import Undersigned, signature_required, verified_signature

app = Sanic("plans")


@app.get("/")
async def welcome(_request: Request) -> HTTPResponse:
    return json_response({"service": "plans"})


@app.post("/plans/<plan>")
@signature_required
async def buy(request: Request, plan: str) -> HTTPResponse:
    signature = verified_signature(request)
    return json_response({"plan": plan, "caller": signature.signer, "signed": signature.target_uri})


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    # Nonces are kept in this process: several workers need a replay store that they share.
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    Undersigned(app, verifier=verifier, origins=[origin], mode="optional")
    app.run("127.0.0.1", 8000, single_process=True, motd=False, access_log=False)


if __name__ == "__main__":
    main()
