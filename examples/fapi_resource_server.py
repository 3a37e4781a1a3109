"""A FAPI 2.0 resource server: it looks for the keys of the client that a token was issued to, and signs its responses.

Run it where `undersigned keygen` wrote the client's key (`--out keys`) and the server's (`--out server`):

    python examples/fapi_resource_server.py
"""

from collections.abc import Mapping, Sequence

from flask import Flask
from waitress import serve

from undersigned import KeyLookup, KeySet, MemoryReplayStore, Signer, SigningKey, VerificationKey, Verifier, profiles
from undersigned.middleware import ConfiguredOrigins
from undersigned.wsgi import ResponseSigningMiddleware, SignatureMiddleware


class ClientKeys:
    """The keys of the client that an access token was issued to. A token of another client finds other keys."""

    blocking = False

    def __init__(self, clients: Mapping[str, KeySet]) -> None:
        self.clients = clients

    def find(self, lookup: KeyLookup) -> Sequence[VerificationKey]:
        keys = self.clients.get((lookup.covered_value("authorization") or "").removeprefix("Bearer "))
        return () if keys is None else keys.find(lookup)


def resource_server(keys: ClientKeys, key: SigningKey, origins: ConfiguredOrigins) -> Flask:
    app = Flask(__name__)

    @app.post("/payments")
    def pay() -> dict[str, str]:
        return {"payment": "accepted"}

    verifier = Verifier(profiles.FAPI_2_REQUEST, keys=keys, replay=MemoryReplayStore())
    verified = SignatureMiddleware(app.wsgi_app, verifier=verifier, origins=origins)
    signer = Signer(key, profile=profiles.FAPI_2_RESPONSE)
    app.wsgi_app = ResponseSigningMiddleware(verified, signer=signer, origins=origins)
    return app


def main() -> None:
    keys = ClientKeys({"t0k3n": KeySet.from_file("keys/public.jwks.json")})
    key = SigningKey.from_file("server/private.jwk.json")
    serve(resource_server(keys, key, ["http://127.0.0.1:8000"]), host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
