"""A service inside a company, with a profile of its own: every signature covers the tenant, and is valid for 30 s.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/own_profile_app.py

A caller signs with the same profile: `Signer(key, profile=INTERNAL)`.
"""

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.middleware import ConfiguredOrigins
from undersigned.signature.rules import CoverageRule, Selection, Validity
from undersigned_starlette import SignatureMiddleware, verified_signature

INTERNAL = profiles.DEFAULT.derive(
    name="internal-2026",
    selection=Selection(tags=("internal",)),
    coverage=CoverageRule(always=("@method", "@authority", "@path", "x-tenant"), with_query=("@query",)),
    validity=Validity(longest=30, ahead=5, behind=5, signed_for=30),
)


async def invoices(request: Request) -> JSONResponse:
    # The profile makes every caller sign the tenant. Ask here whether this caller may act for it.
    return JSONResponse({"invoices of": request.headers["x-tenant"], "caller": verified_signature(request).signer})


def service(keys: KeySet, origins: ConfiguredOrigins) -> Starlette:
    verifier = Verifier(INTERNAL, keys=keys, replay=MemoryReplayStore())
    signed = Middleware(SignatureMiddleware, verifier=verifier, origins=origins)
    return Starlette(routes=[Route("/invoices", invoices)], middleware=[signed])


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    uvicorn.run(service(keys, ["http://127.0.0.1:8000"]), host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
