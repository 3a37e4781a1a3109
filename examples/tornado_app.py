"""A Tornado service that knows who calls it.

Run it with a JWK set of the callers' public keys, as `undersigned keygen --out keys` writes one:

    python examples/tornado_app.py --jwks keys/public.jwks.json --port 8000

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import argparse
import asyncio
import json
from pathlib import Path

from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_tornado import SignatureMiddleware, signature_required, verified_signature


class Welcome(RequestHandler):
    """The page that everybody may read."""

    def get(self) -> None:
        self.write({"service": "plans"})


class Plans(RequestHandler):
    """The plans, which only a known caller may buy."""

    @signature_required
    async def post(self, plan: str) -> None:
        signature = verified_signature(self.request)
        self.write({"plan": plan, "caller": signature.keyid, "signed": signature.target_uri})


async def serve(app: SignatureMiddleware, port: int) -> None:
    HTTPServer(app).listen(port, "127.0.0.1")
    await asyncio.Event().wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jwks", type=Path, required=True, help="the callers' public keys, a JWK set")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    keys = KeySet.from_jwks(json.loads(options.jwks.read_text()))
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = f"http://127.0.0.1:{options.port}"
    app = Application([("/", Welcome), ("/plans/(.*)", Plans)])
    app = SignatureMiddleware(app, verifier=verifier, origins=[origin], mode="optional")
    asyncio.run(serve(app, options.port))


if __name__ == "__main__":
    main()
