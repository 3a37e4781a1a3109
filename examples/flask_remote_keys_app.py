r"""A Flask service that fetches its callers' keys from where they publish them, and publishes keys of its own.

Run it with the URL of a caller's JWK set, and with the key pair that `undersigned keygen --out keys` writes:

    BUYER_JWKS=https://buyer.example.com/.well-known/jwks.json JWKS=keys/public.jwks.json REPLAY=replay.sqlite \
        gunicorn --chdir examples --workers 4 --threads 8 --bind 127.0.0.1:8000 'flask_remote_keys_app:app()'

The keys are fetched again in the background, a little before they expire. `POST /plans/<plan>` needs a
signature; `GET /.well-known/jwks.json` does not.
"""

import os

from flask import Flask

from undersigned import SqliteReplayStore, Verifier, profiles
from undersigned.discovery import KeySources, Network, RemoteJWKS
from undersigned_flask import Undersigned, current_signature, jwks_route, signature_required


def app() -> Flask:
    # Key servers with public addresses need no KEY_NETWORKS; those inside your own network need its address range.
    network = Network(allowed=os.environ.get("KEY_NETWORKS", "").split())
    keys = KeySources({"buyer.example.com": RemoteJWKS(os.environ["BUYER_JWKS"], network=network)})

    service = Flask(__name__)
    service.register_blueprint(jwks_route(os.environ["JWKS"]))

    @service.post("/plans/<plan>")
    @signature_required
    def buy(plan: str) -> dict[str, str]:
        return {"plan": plan, "caller": current_signature.signer, "key": current_signature.keyid}

    verifier = Verifier(profiles.ADCP_3_2, keys=keys, replay=SqliteReplayStore(os.environ["REPLAY"]))
    # Give the public origin: if a proxy ends TLS, that is https and the name that callers use.
    origin = os.environ.get("ORIGIN", "http://127.0.0.1:8000")
    Undersigned(service, verifier=verifier, origins=[origin], mode="optional")
    return service
