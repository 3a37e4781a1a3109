"""A Sanic service on Sanic's own server, which knows who calls it.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/sanic_server_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/{plan}` needs a signature; `GET /` does not. `sanic_app.py` is the same on another ASGI server.
"""

import argparse
import json
from pathlib import Path

from sanic import HTTPResponse, Request, Sanic
from sanic import json as json_response

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_sanic import signature_required, verified_signature, verify_signatures

app = Sanic("plans")


@app.get("/")
async def welcome(_request: Request) -> HTTPResponse:
    return json_response({"service": "plans"})


@app.post("/plans/<plan>")
@signature_required
async def buy(request: Request, plan: str) -> HTTPResponse:
    signature = verified_signature(request)
    return json_response({"plan": plan, "caller": signature.keyid, "signed": signature.target_uri})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    keys = KeySet.from_jwks(json.loads(options.jwks.read_text()))
    # Nonces are kept in this process: several workers need a replay store that they share.
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = f"http://127.0.0.1:{options.port}"
    verify_signatures(app, verifier=verifier, origins=[origin], mode="optional")
    app.run("127.0.0.1", options.port, single_process=True, motd=False, access_log=False)


if __name__ == "__main__":
    main()
