"""A FAPI 2.0 resource server: it looks for the keys of the client that a token was issued to, and signs its responses.

python examples/fapi_resource_server.py --key server.jwk.json --jwks client.jwks.json --token t0k3n --port 8000
"""

import argparse
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--key", required=True, help="the server's private JWK")
    parser.add_argument("--jwks", required=True, help="the client's public keys, a JWK set")
    parser.add_argument("--token", required=True, help="the client's access token")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    keys = ClientKeys({options.token: KeySet.from_file(options.jwks)})
    key = SigningKey.from_file(options.key)
    app = resource_server(keys, key, [f"http://127.0.0.1:{options.port}"])
    serve(app, host="127.0.0.1", port=options.port)


if __name__ == "__main__":
    main()
