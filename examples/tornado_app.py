"""A Tornado service that knows who calls it.

Run it where `undersigned keygen --out keys` wrote the callers' public keys:

    python examples/tornado_app.py

`POST /plans/{plan}` needs a signature; `GET /` does not.
"""

import asyncio

from tornado.httpserver import HTTPServer
from tornado.web import Application, RequestHandler

from undersigned import KeySet, MemoryReplayStore, Verifier, profiles
from undersigned_tornado import Undersigned, signature_required, verified_signature


class Welcome(RequestHandler):
    """The page that everybody may read."""

    def get(self) -> None:
        self.write({"service": "plans"})


class Plans(RequestHandler):
    """The plans, which only a known caller may buy."""

    @signature_required
    async def post(self, plan: str) -> None:
        signature = verified_signature(self.request)
        self.write({"plan": plan, "caller": signature.signer, "signed": signature.target_uri})


async def serve(app: Undersigned, port: int) -> None:
    HTTPServer(app).listen(port, "127.0.0.1")
    await asyncio.Event().wait()


def main() -> None:
    keys = KeySet.from_file("keys/public.jwks.json", owner="acme")
    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=MemoryReplayStore())
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = "http://127.0.0.1:8000"
    app = Application([("/", Welcome), ("/plans/(.*)", Plans)])
    app = Undersigned(app, verifier=verifier, origins=[origin], mode="optional")
    asyncio.run(serve(app, 8000))


if __name__ == "__main__":
    main()
