"""A seller who takes requests of AdCP 3.2 at /plans, and still those of AdCP 3.1 at /v3.1/plans.

Run it with a JWK set of the buyers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/adcp_versions_app.py

A request does not choose its profile: each path has its own verifier. Both share the keys and the replay store.
"""

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from undersigned import KeySet, MemoryReplayStore, Profile, Verifier, profiles
from undersigned.middleware import ConfiguredOrigins
from undersigned_starlette import SignatureMiddleware, verified_signature


async def buy(request: Request) -> JSONResponse:
    signature = verified_signature(request)
    # AdCP 3.1 lets a buyer leave the content unsigned. Somebody between could have changed it: let that buy nothing.
    if '"content-digest"' not in signature.components:
        return JSONResponse({"error": "sign the content as well"}, status_code=403)
    return JSONResponse({"plan": request.path_params["plan"], "caller": signature.signer})


def seller(keys: KeySet, origins: ConfiguredOrigins) -> Starlette:
    replay = MemoryReplayStore()

    def plans(path: str, profile: Profile) -> Mount:
        verifier = Verifier(profile, keys=keys, replay=replay)
        signed = Middleware(SignatureMiddleware, verifier=verifier, origins=origins)
        return Mount(path, routes=[Route("/{plan}", buy, methods=["POST"])], middleware=[signed])

    return Starlette(routes=[plans("/plans", profiles.ADCP_3_2), plans("/v3.1/plans", profiles.ADCP_3_1)])


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    uvicorn.run(seller(keys, ["http://127.0.0.1:8000"]), host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
